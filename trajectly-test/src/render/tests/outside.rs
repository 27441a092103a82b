//! Failures outside the verdict, whole.

use trajectly_engine::code::Code;
use trajectly_engine::spec::{Location, Problem, SpecError};

use super::samples::*;
use super::{assert_text, drifted};
use crate::render::trouble::spec_error;
use crate::render::{Paint, Trouble, trouble};

#[test]
fn failures_outside_the_verdict() {
    let text = trouble(
        &Trouble {
            name: "triage",
            code: Code::RecordingRejected,
            message: "this run cannot be a baseline",
            place: Some("specs/triage.agent.yaml"),
            body: &["CONTRACT_TOOL_DENIED at event 3:\n`unsafe_export` is denied".to_owned(), "no network".to_owned()],
            help: &[
                "mend the agent, or the spec".to_owned(),
                "the run is kept in .trajectly/rejected/triage".to_owned(),
            ],
            output: "bye\n",
            commands: &commands(),
        },
        Paint::plain(),
    );
    assert_text(
        &text,
        r#"
ERROR triage

error[RECORDING_REJECTED]: this run cannot be a baseline
  --> specs/triage.agent.yaml
   |
   | CONTRACT_TOOL_DENIED at event 3:
   | `unsafe_export` is denied
   | no network
   |
   = help: mend the agent, or the spec
   = help: the run is kept in .trajectly/rejected/triage

   the agent printed:
   | bye

   reproduce  TRAJECTLY_UPDATE=1 cargo test --test agents -- --exact triage
"#,
    );
}

#[test]
fn failures_without_a_place() {
    let text = trouble(
        &Trouble {
            name: "triage",
            code: Code::BaselineMissing,
            message: "there is no baseline",
            place: None,
            body: &[],
            help: &["record one: TRAJECTLY_UPDATE=1 cargo test".to_owned()],
            output: "",
            commands: &commands(),
        },
        Paint::plain(),
    );
    assert_text(
        &text,
        r#"
ERROR triage

error[BASELINE_MISSING]: there is no baseline
   = help: record one: TRAJECTLY_UPDATE=1 cargo test

   reproduce  cargo test --test agents -- --exact triage
"#,
    );
}

#[test]
fn drift_to_be_reviewed() {
    assert_text(
        &drifted(Some("specs/snapshots/triage.snap.new"), Paint::plain()),
        r#"
FAIL triage: the run has drifted

error[SNAPSHOT_DRIFT]: no rule is broken, but the run differs from its accepted snapshot
  --> specs/snapshots/triage.snap
   |
   |   1. fetch_ticket(ticket_id="T-1042")
   | - 2. store_triage(priority="high")
   | + 2. store_triage(priority="low")
   |
   |   answer: "done"
   |
   = help: look at it with `cargo insta review`, and accept it there if it is intended

   pending         specs/snapshots/triage.snap.new
   reproduce       cargo test --test agents -- --exact triage
   accept instead  TRAJECTLY_UPDATE=accept cargo test --test agents -- --exact triage
"#,
    );
}

#[test]
fn specs_that_cannot_be_used() {
    let location = Location {
        file: "specs/triage.agent.yaml".to_owned(),
        line: 12,
        column: 9,
        width: 3,
        text: "strict: yes".to_owned(),
    };
    let problem = |location, path: &str, message: &str| Problem {
        location,
        path: path.to_owned(),
        message: message.to_owned(),
        help: None,
    };
    let error = SpecError {
        file: "specs/triage.agent.yaml".to_owned(),
        problems: vec![
            Problem { help: Some("write `true`".to_owned()), ..problem(Some(location), "strict", "`yes` is no flag") },
            problem(None, "contracts", "contracts are missing"),
        ],
        omitted: 3,
    };
    assert_text(
        &spec_error("triage", &error, &commands(), Paint::plain()),
        r#"
ERROR triage: 5 problems in its spec

error[SPEC_INVALID]: `yes` is no flag
   --> specs/triage.agent.yaml:12:9
    |
 12 | strict: yes
    |         ^^^
    = help: write `true`

error[SPEC_INVALID]: contracts are missing
  --> specs/triage.agent.yaml: contracts

   … and 3 more

   reproduce  cargo test --test agents -- --exact triage
"#,
    );
    let nowhere = SpecError { file: String::new(), problems: vec![problem(None, "", "it is empty")], omitted: 0 };
    assert_text(
        &spec_error("triage", &nowhere, &commands(), Paint::plain()),
        r#"
ERROR triage: 1 problem in its spec

error[SPEC_INVALID]: it is empty

   reproduce  cargo test --test agents -- --exact triage
"#,
    );
}

#[test]
fn drift_where_nothing_is_pending() {
    assert_text(
        &drifted(None, Paint::plain()),
        r#"
FAIL triage: the run has drifted

error[SNAPSHOT_DRIFT]: no rule is broken, but the run differs from its accepted snapshot
  --> specs/snapshots/triage.snap
   |
   |   1. fetch_ticket(ticket_id="T-1042")
   | - 2. store_triage(priority="high")
   | + 2. store_triage(priority="low")
   |
   |   answer: "done"
   |
   = help: if it is intended, accept it with the command below

   reproduce       cargo test --test agents -- --exact triage
   accept instead  TRAJECTLY_UPDATE=accept cargo test --test agents -- --exact triage
"#,
    );
}
