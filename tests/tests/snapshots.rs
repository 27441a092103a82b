//! Drift that no rule forbids: shown, left for review in insta's form, accepted as users of insta accept.

use trajectly_tests::{Binary, Project};

const SNAPSHOT: &str = "specs/snapshots/greet.snap";
const PENDING: &str = "specs/snapshots/greet.snap.new";

fn snapshots(project: &Project) -> Vec<String> {
    let files = std::fs::read_dir(project.path("specs/snapshots")).expect("there are snapshots").flatten();
    let mut names: Vec<_> = files.map(|file| file.file_name().into_string().expect("names are UTF-8")).collect();
    names.sort();
    names
}

/// The answer that a baseline says the agent gave.
fn accepted_answer(project: &Project) -> String {
    let events = project.store().events("baselines/greet.jsonl");
    let answer = &events.last().expect("a trace has events")["payload"]["output"];
    answer.as_str().expect("the answer is a text").to_owned()
}

#[test]
fn a_drift_is_shown_and_left_for_review() {
    for binary in Binary::BOTH_HARNESSES {
        let project = Project::recorded(&["greet"]);
        let run = project.run(binary).args(["--exact", "greet"]).env("EDIT", "answer");
        let output = run.output().fails().says(&["- answer: \"Hello, ada!\"", "+ answer: \"ada\""]);
        assert_eq!(output.row("pending"), PENDING);
        let pending = project.read(PENDING);
        let (header, content) =
            pending.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).expect("a header");
        assert!(header.starts_with("source: "), "{header}");
        assert_eq!(content, "1. lookup(name=\"ada\")\n\nanswer: \"ada\"\n");
        assert_eq!(accepted_answer(&project), "Hello, ada!");
    }
}

#[test]
fn trace_and_fixtures_follow_an_accepted_snapshot() {
    for binary in Binary::BOTH_HARNESSES {
        let project = Project::recorded(&["greet"]);
        let edited = || project.run(binary).args(["--exact", "greet"]).env("EDIT", "answer");
        edited().output().fails();
        // What `cargo insta accept` does.
        std::fs::rename(project.path(PENDING), project.path(SNAPSHOT)).expect("both lie in one folder");
        edited().output().passes();
        assert_eq!(accepted_answer(&project), "ada");
        assert_eq!(snapshots(&project), ["greet.snap"]);
        let before = project.store().baseline("specs", "greet");
        edited().output().passes();
        assert_eq!(project.store().baseline("specs", "greet"), before, "once is enough");
    }
}

#[test]
fn a_drift_that_was_mended_leaves_nothing_to_review() {
    let project = Project::recorded(&["greet"]);
    project.agents(&["greet"]).env("EDIT", "answer").output().fails();
    assert_eq!(snapshots(&project), ["greet.snap", "greet.snap.new"]);
    project.agents(&["greet"]).output().passes();
    assert_eq!(snapshots(&project), ["greet.snap"]);
}

#[test]
fn insta_may_be_told_to_accept_at_once() {
    let project = Project::recorded(&["greet"]);
    project.agents(&["greet"]).env("EDIT", "answer").env("INSTA_UPDATE", "always").output().passes();
    assert_eq!(accepted_answer(&project), "ada");
    assert_eq!(snapshots(&project), ["greet.snap"]);
    project.agents(&["greet"]).env("EDIT", "answer").output().passes();
}

#[test]
fn insta_may_be_told_to_leave_nothing() {
    let project = Project::recorded(&["greet"]);
    project.agents(&["greet"]).env("EDIT", "answer").env("INSTA_UPDATE", "no").output().fails();
    assert_eq!(snapshots(&project), ["greet.snap"]);
}

#[test]
fn a_forced_pass_lets_drift_through_and_nothing_else() {
    let project = Project::recorded(&["greet"]);
    // As `cargo insta test` runs tests, to collect what is pending.
    let forced = |edit| project.agents(&["greet"]).env("EDIT", edit).env("INSTA_FORCE_PASS", "1").output();
    forced("answer").passes();
    assert_eq!(snapshots(&project), ["greet.snap", "greet.snap.new"]);
    assert_eq!(accepted_answer(&project), "Hello, ada!");
    forced("denied call").fails().says(&["CONTRACT_TOOL_DENIED"]);
    forced("error").fails().says(&["AGENT_RUN_FAILED"]);
}

#[test]
fn a_ci_writes_no_snapshot() {
    for variables in [[("CI", "1"), ("TRAJECTLY_CI", "")], [("CI", ""), ("TRAJECTLY_CI", "1")]] {
        for update in ["auto", "always", "new", "unseen"] {
            let project = Project::recorded(&["greet"]);
            let before = project.read(SNAPSHOT);
            let run = project.agents(&["greet"]).envs(&variables).env("EDIT", "answer").env("INSTA_UPDATE", update);
            run.output().fails().says(&["SNAPSHOT_DRIFT", "+ answer: \"ada\""]);
            assert_eq!(snapshots(&project), ["greet.snap"], "{variables:?} {update}");
            assert_eq!(project.read(SNAPSHOT), before);
        }
    }
}

#[test]
fn what_breaks_a_rule_is_not_held_against_the_snapshot() {
    let project = Project::recorded(&["greet"]);
    let output = project.agents(&["greet"]).env("EDIT", "extra call").output().fails();
    output.never_says(&["SNAPSHOT_DRIFT"]);
    assert_eq!(snapshots(&project), ["greet.snap"]);
}

#[test]
fn a_spec_says_how_much_a_snapshot_shows() {
    let project = Project::new();
    let spec = project.read("specs/greet.agent.yaml");
    for (level, content) in [
        ("skeleton", "1. lookup\n"),
        ("args", "1. lookup(name=\"ada\")\n\nanswer: \"Hello, ada!\"\n"),
        (
            "full",
            "1. lookup(name=\"ada\")\n   → {\"greeting\":\"Hello, ada!\",\"name\":\"ada\"}\n\nanswer: \"Hello, ada!\"\n",
        ),
    ] {
        project.write("specs/greet.agent.yaml", &format!("{spec}snapshot: {level}\n"));
        project.agents(&["greet"]).update("1").output().passes();
        let snapshot = project.read(SNAPSHOT);
        assert_eq!(snapshot.split_once("\n---\n").map(|(_, content)| content), Some(content), "{level}");
        project.agents(&["greet"]).output().passes();
    }
    let project = Project::new();
    project.add_to_spec("greet", "snapshot: off\n");
    project.agents(&["greet"]).update("1").output().passes();
    project.agents(&["greet"]).env("EDIT", "answer").output().passes();
    assert!(!project.path("specs/snapshots").exists());
}

#[test]
fn a_lost_snapshot_is_a_drift_from_nothing() {
    let project = Project::recorded(&["greet"]);
    std::fs::remove_file(project.path(SNAPSHOT)).expect("it was recorded");
    project.agents(&["greet"]).output().fails().says(&["SNAPSHOT_DRIFT", "no accepted snapshot", PENDING]);
    project.agents(&["greet"]).update("accept").output().passes();
    assert_eq!(snapshots(&project), ["greet.snap"]);
    project.agents(&["greet"]).output().passes();
}

#[test]
fn a_spoilt_snapshot_is_told_and_can_be_mended() {
    let project = Project::recorded(&["greet"]);
    let good = project.read(SNAPSHOT);
    let conflict = good.replace("1. lookup", "<<<<<<< ours\n1. lookup");
    for (spoilt, told) in [(conflict.as_str(), "- <<<<<<< ours"), ("---\n{\n---\n1. lookup\n", "is no insta snapshot")]
    {
        project.write(SNAPSHOT, spoilt);
        project.agents(&["greet"]).output().fails().says(&["SNAPSHOT_DRIFT", SNAPSHOT, told]);
        project.agents(&["greet"]).update("accept").output().passes();
        project.agents(&["greet"]).output().passes();
    }
}
