//! Whole texts, as people see them.

mod alignment;
mod outside;
mod samples;
mod texts;

use trajectly_engine::code::Code;
use trajectly_engine::verdict::Violation;

use super::diff::prompt_diff;
use super::text::{self, WIDTH};
use super::{Paint, drift};
use samples::*;

#[test]
fn broken_rules_with_their_places() {
    assert_text(
        &denied().plain(),
        r#"
FAIL triage: 3 violations at event 5, the first that breaks a rule

error[REFINEMENT_BASELINE_CALL_MISSING]: the baseline calls `store_triage` here; this run never does
  ::: .trajectly/baselines/triage.jsonl:6
   |
 6 | event 5  CALL store_triage(priority="high", ticket_id="T-1042")
   |               ^^^^^^^^^^^^ required by refinement.mode: skeleton

error[CONTRACT_TOOL_DENIED]: `unsafe_export` is denied
  --> specs/agent.yaml:6:12
   |
 6 |     deny: [unsafe_export]
   |            ^^^^^^^^^^^^^ denied here
  ::: .trajectly/current/agent.jsonl:6
   |
 6 | event 5  CALL unsafe_export(ticket_id="T-1042")
   |               ^^^^^^^^^^^^^ witness
   = help: drop the call, or take the tool out of `deny` if it is now intended

   … and REFINEMENT_EXTRA_TOOL_CALL (unsafe_export)

   baseline                                 candidate
   1  CALL fetch_ticket("T-1042")           1  CALL fetch_ticket("T-1042")
   3  LLM  openai:gpt-4o-mini  212 tok      3  LLM  openai:gpt-4o-mini  212 tok
   5  CALL store_triage("high", "T-1042") ✗ 5  CALL unsafe_export("T-1042")

   counterexample  .trajectly/repros/agent.counterexample.min.jsonl (4 of 8 events)
   reproduce       cargo test --test agents -- --exact triage
"#,
    );
}

#[test]
fn calls_that_may_change_places_stand_beside_their_counterparts() {
    let text = denied_in_parallel().plain();
    let (_, columns) = text.split_once("   baseline").unwrap_or_else(|| panic!("{text}"));
    let (columns, _) = columns.split_once("\n\n").unwrap_or_else(|| panic!("{text}"));
    let expected = "                     candidate
   1  LLM  openai:gpt-4o-mini   1  LLM  openai:gpt-4o-mini
   3  CALL weather()            5  CALL weather()
   5  CALL news()               3  CALL news()
                              ✗ 7  CALL export()";
    assert_eq!(columns, expected, "{text}");
}

#[test]
fn one_violation_and_what_follows() {
    assert_text(
        &over_the_limit().plain(),
        r#"
FAIL triage: 1 violation at event 3, the first that breaks a rule

error[CONTRACT_MAX_CALLS_TOTAL_EXCEEDED]: too many tool calls
  --> specs/agent.yaml:6:22
   |
 6 |     max_calls_total: 1  # per run
   |                      ^ the limit
  ::: .trajectly/current/agent.jsonl:4
   |
 4 | event 3  CALL search(query="cup")
   |               ^^^^^^ witness
   = observed: 3

   … later REFINEMENT_EXTRA_TOOL_CALL at events 5, 7

   baseline                candidate
   1  CALL search("mug")   1  CALL search("mug")
                         ✗ 3  CALL search("cup")
                           5  CALL search()
                           7  CALL search()

   = note: the network guard was not in force

   counterexample  .trajectly/repros/agent.counterexample.prefix.jsonl (first 4 of 10 events)
   reproduce       cargo test --test agents -- --exact triage
"#,
    );
}

#[test]
fn a_request_that_was_never_recorded() {
    assert_text(
        &edited_prompt().plain(),
        r#"
FAIL triage: 1 violation at event 4, the first that breaks a rule

error[FIXTURE_MISSING]: this call of `openai:gpt-4o-mini` was not recorded
  ::: .trajectly/current/agent.jsonl:5
   |
 4 | event 3  LLM openai:gpt-4o-mini
 5 | event 4  RETURN openai:gpt-4o-mini failed: FIXTURE_MISSING
   |                 ^^^^^^^^^^^^^^^^^^ nothing recorded answers this call
   |
   | - the nearest recorded call, entries[2] of the fixtures
   | + this call
   |
   | $.messages[0].content
   |   You buy things.
   |   Be brief.
   | - Never spend more than 50 dollars on one order.
   | + Never spend more than 60 dollars on one order.
   |   Check the stock first.
   |
   | $.temperature
   | - 0.2
   | + 0.7
   |
   | $.model
   | - "gpt-4o"
   | + "gpt-4o-mini"
   |
   | $.seed
   | - (nothing)
   | + 7
   |
   = help: record again if the call is now intended

   … later AGENT_RUN_FAILED at event 5
     the agent ended with exit code 1

   baseline                             candidate
   1  CALL search("mug")                1  CALL search("mug")
   3  LLM  openai:gpt-4o-mini  90 tok ✗ 3  LLM  openai:gpt-4o-mini
   5  CALL checkout(7)

   the agent printed:
   | thinking…
   | Error: 400 Bad Request

   counterexample  .trajectly/repros/agent.counterexample.prefix.jsonl (first 5 of 6 events)
   reproduce       cargo test --test agents -- --exact triage
   record again    TRAJECTLY_UPDATE=1 cargo test --test agents -- --exact triage
"#,
    );
}

#[test]
fn a_call_beyond_what_was_recorded() {
    assert_text(
        &used_up().plain(),
        r#"
FAIL triage: 1 violation at event 7, the first that breaks a rule

error[FIXTURE_EXHAUSTED]: `poll` was called 2 times, and now once more
  ::: .trajectly/current/agent.jsonl:8
   |
 6 | event 5  CALL poll()
   | ⋮
 8 | event 7  RETURN poll failed: FIXTURE_EXHAUSTED
   |                 ^^^^ no recorded answer is left

   baseline         candidate
   1  CALL poll()   1  CALL poll()
   3  CALL poll()   3  CALL poll()
                  ✗ 5  CALL poll()
                    6  STEP waiting

   counterexample  .trajectly/repros/agent.counterexample.prefix.jsonl (first 8 of 9 events)
   reproduce       cargo test --test agents -- --exact triage
   record again    TRAJECTLY_UPDATE=1 cargo test --test agents -- --exact triage
"#,
    );
}

#[test]
fn an_agent_that_failed() {
    assert_text(
        &panicked().plain(),
        r#"
FAIL triage: 1 violation at event 3, the first that breaks a rule

error[AGENT_RUN_FAILED]: the agent failed: panicked at src/main.rs:7:5:
     | index out of bounds: the len is 0 but the index is 0
  ::: .trajectly/current/agent.jsonl:4
   |
 4 | event 3  RUN finished with code 101
   |              ^^^^^^^^ witness

   baseline                             candidate
   1  LLM  openai:gpt-4o-mini  10 tok   1  LLM  openai:gpt-4o-mini  10 tok
   3  RUN  finished                   ✗ 3  RUN  finished with code 101

   the agent printed:
   | step 1
   | step 2

   counterexample  .trajectly/repros/agent.counterexample.prefix.jsonl (all 4 events)
   reproduce       cargo test --test agents -- --exact triage
"#,
    );
}

#[test]
fn a_window_around_the_end_of_a_long_run() {
    assert_text(
        &never_met().plain(),
        r#"
FAIL triage: 1 violation at event 43, the first that breaks a rule

error[CONTRACT_SEQUENCE_EVENTUALLY_MISSING]: `store` never happens
   --> specs/agent.yaml:7:9
    |
  7 |       - 'store'
    |         ^^^^^^^ required here
   ::: .trajectly/current/agent.jsonl:44
    |
 44 | event 43  RUN finished
    |               ^^^^^^^^ the run ends here

   baseline                               candidate
   ⋮
   33  LLM  openai:gpt-4o-mini  100 tok   35  LLM  openai:gpt-4o-mini  100 tok
   35  CALL look(8)                       37  CALL look(4)
   37  LLM  openai:gpt-4o-mini  100 tok   39  LLM  openai:gpt-4o-mini  100 tok
   39  CALL look(9)                       41  CALL look(5)
   41  CALL store()
   43  RUN  finished                    ✗ 43  RUN  finished

   counterexample  .trajectly/repros/agent.counterexample.prefix.jsonl (all 44 events)
   reproduce       cargo test --test agents -- --exact triage
"#,
    );
}

fn drifted(pending: Option<&str>, paint: Paint) -> String {
    let old = "1. fetch_ticket(ticket_id=\"T-1042\")\n2. store_triage(priority=\"high\")\n\nanswer: \"done\"\n";
    let new = "1. fetch_ticket(ticket_id=\"T-1042\")\n2. store_triage(priority=\"low\")\n\nanswer: \"done\"\n";
    drift("triage", "specs/snapshots/triage.snap", pending, old, new, &commands(), paint)
}

#[test]
fn violations_that_only_repeat_are_folded() {
    let full = |sample: &Sample| -> Vec<String> {
        let text = sample.plain();
        let codes = text.lines().filter(|line| line.starts_with("error[") || line.starts_with("   … and "));
        codes.map(|line| line.split(']').next().unwrap_or_default().replace("error[", "")).collect()
    };
    let mut sample = denied();
    let [missing, extra, contract] = &sample.violations[..] else { panic!("the sample has three violations") };
    let (missing, extra, contract) = (missing.clone(), extra.clone(), contract.clone());
    let side_effect = Violation { code: Code::RefinementExtraSideEffectCall, ..extra.clone() };
    let again = Violation { message: "denied once more".to_owned(), ..contract.clone() };
    let (missing_code, extra_code) = ("REFINEMENT_BASELINE_CALL_MISSING", "REFINEMENT_EXTRA_TOOL_CALL");
    for (violations, expected) in [
        // Nothing else shows the call, so the first that is about it does.
        (vec![&missing, &extra], vec![missing_code, extra_code]),
        (
            vec![&missing, &side_effect, &extra],
            vec![
                missing_code,
                "REFINEMENT_EXTRA_SIDE_EFFECT_CALL",
                "   … and REFINEMENT_EXTRA_TOOL_CALL (unsafe_export)",
            ],
        ),
        (
            vec![&extra, &side_effect, &contract, &again],
            vec![
                extra_code,
                "CONTRACT_TOOL_DENIED",
                "   … and REFINEMENT_EXTRA_SIDE_EFFECT_CALL, CONTRACT_TOOL_DENIED (unsafe_export)",
            ],
        ),
    ] {
        sample.violations = violations.into_iter().cloned().collect();
        assert_eq!(full(&sample), expected);
    }
}

#[test]
fn of_much_output_the_end_is_shown() {
    let output: String = (1..=60).map(|n| format!("step {n}\n")).collect();
    let text = Sample { output, ..panicked() }.plain();
    assert!(text.contains("the agent printed (the last 40 of 60 lines):\n   | step 21\n"), "{text}");
    assert!(text.contains("\n   | step 60\n\n   counterexample"), "{text}");
}

/// A terminal is obeyed by control characters alone.
#[test]
fn plain_text_cannot_steer_a_terminal() {
    let mut texts: Vec<String> = samples().iter().map(Sample::plain).collect();
    texts.push(drifted(None, Paint::plain()));
    texts.push(prompt_diff("\u{1b}[31mred\u{7}", "\u{9b}1mbold\u{202e}", Paint::plain()));
    for text in texts {
        let bad =
            |c: &char| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c) || *c == '\u{200b}';
        assert_eq!(text.chars().find(bad), None, "{text:?}");
    }
}

#[test]
fn lines_stay_narrow() {
    let text = hostile().plain();
    // Messages, notes and output wrap as the terminal wraps them; all that is laid out in columns must not.
    let laid_out = text.lines().filter(|line| line.contains(" | ") || line.contains("CALL") || line.contains("STEP"));
    let is_message = |line: &&str| line.starts_with("error[") || line.trim_start().starts_with(['|', '=']);
    for line in laid_out.filter(|line| !is_message(line)) {
        assert!(text::width_of(line) <= WIDTH, "{} columns: {line}", text::width_of(line));
    }
    for line in text.lines() {
        assert!(text::width_of(line) <= 11 * WIDTH, "{line}");
    }
}

#[test]
fn colours_change_no_text() {
    let mut pairs: Vec<(String, String)> =
        samples().iter().map(|sample| (sample.plain(), sample.show(Paint::coloured()))).collect();
    pairs.push((drifted(None, Paint::plain()), drifted(None, Paint::coloured())));
    pairs.push(("- a\n+ b".to_owned(), prompt_diff("a", "b", Paint::coloured())));
    for (plain, coloured) in pairs {
        assert_ne!(plain, coloured);
        assert_text(&text::without_sequences(&coloured), &plain);
    }
}

/// Faults are red, frames blue, and nothing is coloured across a line's end.
#[test]
fn colours_end_with_their_line() {
    let coloured = denied().show(Paint::coloured());
    assert!(coloured.starts_with("\u{1b}[1m\u{1b}[91mFAIL\u{1b}[0m\u{1b}[1m triage"), "{coloured:?}");
    for line in coloured.lines().filter(|line| line.contains('\u{1b}')) {
        assert!(line.rfind("\u{1b}[0m") >= line.rfind('\u{1b}'), "{line:?}");
    }
}

#[test]
fn a_verdict_without_violations_is_shown_too() {
    let sample = Sample { violations: Vec::new(), ..denied() };
    assert!(sample.plain().starts_with("FAIL triage: no rule is broken\n"), "{}", sample.plain());
}

/// The line breaks at both ends of the expected literal are there for the eye.
#[track_caller]
fn assert_text(actual: &str, expected: &str) {
    let expected = expected.strip_prefix('\n').unwrap_or(expected);
    let expected = expected.strip_suffix('\n').unwrap_or(expected);
    let diff = || prompt_diff(expected, actual, Paint::plain());
    assert!(actual == expected, "not as expected (-), but (+):\n{}\n\n{actual}", diff());
}
