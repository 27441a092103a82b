//! Which event breaks which rule, and what is said of it.

mod common;

use common::{event, run, spec, told};
use trajectly_engine::code::{Class, Code};
use trajectly_engine::json::{Json, Object};
use trajectly_engine::spec::{Expect, ExpectedStatus};
use trajectly_engine::trace::Trace;
use trajectly_engine::verdict::{Status, Violation, judge};

/// Judges runs by contracts alone. The events of `a b end` are: 0 call a, 1 return a, 2 call b, 3 return b, 4 end.
#[track_caller]
fn contracts(cases: &[(&str, &str, &[&str])]) {
    for (keys, words, expected) in cases {
        let spec = spec(&format!("contracts: {{{keys}}}"));
        assert_eq!(told(&judge(&spec, None, &run(words))), *expected, "{keys} on {words}");
    }
}

#[test]
fn tools() {
    contracts(&[
        ("tools: {}", "a b end", &[]),
        (
            "tools: {deny: [x, a]}",
            "a b a end",
            &[
                "0 CONTRACT_TOOL_DENIED contracts.tools.deny[1]: `a` is denied",
                "4 CONTRACT_TOOL_DENIED contracts.tools.deny[1]: `a` is denied",
            ],
        ),
        ("tools: {allow: []}", "a end", &[]),
        (
            "tools: {allow: [a]}",
            "a b end",
            &["2 CONTRACT_TOOL_NOT_ALLOWED contracts.tools.allow: `b` is not in `allow`"],
        ),
        ("tools: {max_calls_total: 2}", "a b end", &[]),
        (
            "tools: {max_calls_total: 1}",
            "a llm b c end",
            &[
                "4 CONTRACT_MAX_CALLS_TOTAL_EXCEEDED contracts.tools.max_calls_total: 3 tool calls, and `max_calls_total` is 1",
            ],
        ),
        (
            "tools: {max_calls_total: 0}",
            "llm a end",
            &[
                "2 CONTRACT_MAX_CALLS_TOTAL_EXCEEDED contracts.tools.max_calls_total: 1 tool call, and `max_calls_total` is 0",
            ],
        ),
        (
            "tools: {max_calls_per_tool: {b: 1, ns.a: 0, c: 0}}",
            "b ns.a b b end",
            &[
                "2 CONTRACT_MAX_CALLS_PER_TOOL_EXCEEDED contracts.tools.max_calls_per_tool[\"ns.a\"]: `ns.a` is called once, and its limit is 0",
                "4 CONTRACT_MAX_CALLS_PER_TOOL_EXCEEDED contracts.tools.max_calls_per_tool.b: `b` is called 3 times, and its limit is 1",
            ],
        ),
    ]);
}

#[test]
fn sequences_that_must_happen() {
    contracts(&[
        ("sequence: {require: [a, b], eventually: [b, llm:openai:gpt, step:plan]}", "a llm step:plan b end", &[]),
        ("sequence: {require: [tool:a, llm:openai:gpt]}", "x a llm end", &[]),
        (
            "sequence: {require: [a, c, b]}",
            "a b end",
            &["4 CONTRACT_SEQUENCE_REQUIRED_MISSING contracts.sequence.require[1]: `c` is required and never happens"],
        ),
        (
            "sequence: {require: [a, b, a]}",
            "a b end",
            &[
                "4 CONTRACT_SEQUENCE_REQUIRED_MISSING contracts.sequence.require[2]: `a` is required after `b`, and does not happen there",
            ],
        ),
        (
            "sequence: {eventually: [a, b]}",
            "a end",
            &["2 CONTRACT_SEQUENCE_EVENTUALLY_MISSING contracts.sequence.eventually[1]: `b` never happens"],
        ),
        (
            "sequence: {require: [a]}",
            "",
            &["0 CONTRACT_SEQUENCE_REQUIRED_MISSING contracts.sequence.require[0]: `a` is required and never happens"],
        ),
        // A tool may have a name that looks like an operation.
        ("sequence: {require: ['tool:a'], eventually: ['tool:tool:a']}", "tool:a end", &[]),
    ]);
}

#[test]
fn sequences_that_must_not_happen() {
    contracts(&[
        ("sequence: {forbid: [tool:b], never: [step:stop], at_most_once: [a]}", "a step:plan end", &[]),
        (
            "sequence: {forbid: [a, tool:a]}",
            "b a a end",
            &[
                "2 CONTRACT_SEQUENCE_FORBIDDEN_SEEN contracts.sequence.forbid[0]: `a` happens, and `forbid` lists it",
                "4 CONTRACT_SEQUENCE_FORBIDDEN_SEEN contracts.sequence.forbid[0]: `a` happens, and `forbid` lists it",
            ],
        ),
        (
            "sequence: {never: [step:plan, llm:openai:gpt]}",
            "a llm step:plan end",
            &[
                "2 CONTRACT_SEQUENCE_NEVER_SEEN contracts.sequence.never[1]: `llm:openai:gpt` happens, and `never` lists it",
                "4 CONTRACT_SEQUENCE_NEVER_SEEN contracts.sequence.never[0]: `step:plan` happens, and `never` lists it",
            ],
        ),
        (
            "sequence: {at_most_once: [a, tool:b]}",
            "a b a a end",
            &[
                "4 CONTRACT_SEQUENCE_AT_MOST_ONCE_EXCEEDED contracts.sequence.at_most_once[0]: `a` happens a second time, and may happen once",
            ],
        ),
    ]);
}

#[test]
fn sequences_in_order() {
    let code = "CONTRACT_SEQUENCE_REQUIRE_BEFORE_VIOLATED contracts.sequence.require_before[0]";
    for (words, expected) in [
        ("a b end", None),
        ("a b a b end", None),
        ("b a end", Some(format!("0 {code}: `b` happens before `a`"))),
        ("x b b end", Some(format!("2 {code}: `b` happens, and `a` never does"))),
        ("a end", Some(format!("2 {code}: `b` never happens after `a`"))),
        ("x end", Some(format!("2 {code}: neither `a` nor `b` happens"))),
    ] {
        let spec = spec("contracts: {sequence: {require_before: [{before: a, after: tool:b}]}}");
        let expected: Vec<String> = expected.into_iter().map(|line| line.replace("`b`", "`tool:b`")).collect();
        assert_eq!(told(&judge(&spec, None, &run(words))), expected, "{words}");
    }
}

/// Judges runs against the baseline `a llm b end` by these keys of `refinement`.
#[track_caller]
fn refinement(cases: &[(&str, &str, &[&str])]) {
    for (keys, words, expected) in cases {
        let spec = spec(&format!("refinement: {{{keys}}}"));
        assert_eq!(told(&judge(&spec, Some(&run("a llm b end")), &run(words))), *expected, "{keys} on {words}");
    }
}

#[test]
fn a_skeleton_must_survive() {
    refinement(&[
        ("", "a b end", &[]),
        ("", "llm a llm llm b llm end", &[]),
        ("mode: none", "x end", &[]),
        (
            "",
            "a llm end",
            &["0 REFINEMENT_BASELINE_CALL_MISSING refinement.mode: the baseline calls `b` here; this run never does"],
        ),
        (
            "",
            "llm end",
            &["2 REFINEMENT_BASELINE_CALL_MISSING refinement.mode: the baseline calls `a` here; this run never does"],
        ),
        (
            "allow_extra_tools: [a, b]",
            "b a end",
            &[
                "2 REFINEMENT_BASELINE_CALL_MISSING refinement.mode: the baseline calls `b` after `a`; this run does not",
            ],
        ),
        ("ignore_call_tools: [b]", "a end", &[]),
    ]);
    let vacuous = judge(&spec(""), Some(&run("llm end")), &run("a end"));
    assert_eq!((vacuous.status, vacuous.skeleton_vacuous), (Status::Pass, true));
    let repeated = judge(&spec(""), Some(&run("a a end")), &run("a end"));
    assert_eq!(repeated.violations[0].message, "the baseline calls `a` once more; this run does not");
    assert_eq!(repeated.violations[0].baseline_index, Some(2));
}

#[test]
fn extra_calls_need_leave() {
    refinement(&[
        (
            "",
            "a x b end",
            &[
                "2 REFINEMENT_EXTRA_TOOL_CALL refinement.allow_extra_tools: `x` is called beyond the baseline's calls",
                "2 REFINEMENT_NEW_TOOL_NAME_FORBIDDEN refinement.allow_new_tool_names: `x` is a tool that the baseline never calls",
            ],
        ),
        ("allow_extra_tools: [x]", "a x b x end", &[]),
        ("ignore_call_tools: [x]", "a x b x end", &[]),
        (
            "allow_new_tool_names: true",
            "a x b a end",
            &[
                "2 REFINEMENT_EXTRA_TOOL_CALL refinement.allow_extra_tools: `x` is called beyond the baseline's calls",
                "6 REFINEMENT_EXTRA_TOOL_CALL refinement.allow_extra_tools: `a` is called beyond the baseline's calls",
            ],
        ),
        (
            "allow_extra_tools: [checkout]",
            "a b checkout end",
            &[
                "4 REFINEMENT_EXTRA_SIDE_EFFECT_CALL refinement.allow_extra_side_effect_tools: `checkout` has side effects and is called beyond the baseline's calls",
            ],
        ),
        ("allow_extra_tools: [checkout], allow_extra_side_effect_tools: [checkout]", "a b checkout end", &[]),
        (
            "allow_extra_llm_steps: false",
            "llm a llm b llm end",
            &[
                "4 REFINEMENT_EXTRA_LLM_STEP refinement.allow_extra_llm_steps: model call 2 (`openai:gpt`), where the baseline makes 1",
                "8 REFINEMENT_EXTRA_LLM_STEP refinement.allow_extra_llm_steps: model call 3 (`openai:gpt`), where the baseline makes 1",
            ],
        ),
    ]);
}

#[test]
fn strict_means_equal() {
    refinement(&[
        ("mode: strict", "a llm llm b end", &[]),
        ("mode: strict, ignore_call_tools: [x]", "a x b end", &[]),
        (
            "mode: strict, allow_extra_tools: [a], allow_new_tool_names: true",
            "a b a end",
            &["4 REFINEMENT_EXTRA_TOOL_CALL refinement.mode: `a` is called beyond the baseline's calls"],
        ),
    ]);
    let verdict = judge(&spec("refinement: {mode: strict}"), Some(&run("llm end")), &run("a end"));
    assert!(!verdict.skeleton_vacuous);
    assert_eq!(verdict.primary().map(|primary| primary.code), Some(Code::RefinementExtraToolCall));
}

#[test]
fn replay_that_has_no_answer() {
    let miss = |event_type: &str, code: &str, error: &str| {
        let payload = Object::new().with("tool_name", "a").with("error_code", code).with("error", error);
        let details = Object::new().with("expected_signature", "s").with("consumed_count", 2).with("other", 1);
        Trace {
            events: vec![
                event("run_started", Object::new()),
                event(event_type, payload.with("error_details", details)),
            ],
        }
    };
    for (event_type, code, error, expected) in [
        ("tool_returned", "FIXTURE_MISSING", "", Some("1 FIXTURE_MISSING -: no answer was recorded for this call")),
        ("llm_returned", "FIXTURE_EXHAUSTED", "used up", Some("1 FIXTURE_EXHAUSTED -: used up")),
        (
            "tool_returned",
            "FIXTURE_MISMATCH",
            "",
            Some("1 FIXTURE_MISMATCH -: this call differs from the one recorded in its place"),
        ),
        ("tool_returned", "CONTRACT_TOOL_DENIED", "x", None),
        ("tool_called", "FIXTURE_MISSING", "x", None),
    ] {
        let verdict = judge(&spec(""), None, &miss(event_type, code, error));
        assert_eq!(told(&verdict), expected.into_iter().collect::<Vec<_>>());
        if let Some(violation) = verdict.primary() {
            assert_eq!(violation.class(), Class::Contract);
            assert_eq!(violation.expected, Some(Json::from(Object::new().with("expected_signature", "s"))));
            assert_eq!(violation.observed, Some(Json::from(Object::new().with("consumed_count", 2))));
        }
    }
}

#[test]
fn a_run_that_failed() {
    for (end, expected) in [
        (r#"{"returncode": 0, "internal_error": null}"#, None),
        (r#"{"returncode": 0, "internal_error": ""}"#, None),
        (r#"{}"#, None),
        (r#"{"returncode": 3}"#, Some("1 AGENT_RUN_FAILED -: the agent ended with exit code 3")),
        (r#"{"returncode": -9}"#, Some("1 AGENT_RUN_FAILED -: the agent ended with exit code -9")),
        (
            r#"{"returncode": 0, "internal_error": "spawn failed"}"#,
            Some("1 AGENT_RUN_FAILED -: the agent failed: spawn failed"),
        ),
        (r#"{"internal_error": {"kind": "x"}}"#, Some("1 AGENT_RUN_FAILED -: the agent failed: {\"kind\":\"x\"}")),
    ] {
        let Json::Object(payload) = common::json(end) else { panic!("an object") };
        // Only the last end counts.
        let first = event("run_finished", Object::new().with("returncode", 1));
        let verdict = judge(&spec(""), None, &Trace { events: vec![first, event("run_finished", payload)] });
        assert_eq!(told(&verdict), expected.into_iter().collect::<Vec<_>>(), "{end}");
    }
}

#[test]
fn the_witness_is_the_first_event_and_ties_have_an_order() {
    let spec = spec(concat!(
        "contracts:\n",
        "  tools: {deny: [x], max_calls_total: 1}\n",
        "  sequence: {never: [x], require: [z]}\n",
    ));
    let mut candidate = run("a x");
    candidate.events.push(event("run_finished", Object::new().with("returncode", 1)));
    let verdict = judge(&spec, Some(&run("a b end")), &candidate);
    let codes: Vec<_> = verdict.violations.iter().map(|v| (v.event_index, v.code.as_str())).collect();
    assert_eq!(
        codes,
        [
            (2, "REFINEMENT_BASELINE_CALL_MISSING"),
            (2, "REFINEMENT_EXTRA_TOOL_CALL"),
            (2, "REFINEMENT_NEW_TOOL_NAME_FORBIDDEN"),
            (2, "CONTRACT_MAX_CALLS_TOTAL_EXCEEDED"),
            (2, "CONTRACT_SEQUENCE_NEVER_SEEN"),
            (2, "CONTRACT_TOOL_DENIED"),
            (4, "CONTRACT_SEQUENCE_REQUIRED_MISSING"),
            (4, "AGENT_RUN_FAILED"),
        ]
    );
    assert_eq!(verdict.witness(), Some(2));
    assert_eq!(verdict.at_witness().len(), 6);
    assert_eq!(verdict.primary().map(|primary| primary.class()), Some(Class::Refinement));

    let passing = judge(&spec, None, &run("z end"));
    assert_eq!((passing.status, passing.witness(), passing.at_witness().len()), (Status::Pass, None, 0));
}

#[test]
fn a_rule_leads_to_its_place_in_the_spec() {
    let spec = spec("contracts:\n  tools:\n    deny: [x, ns.a]\n    max_calls_per_tool: {ns.a: 0}\n");
    let verdict = judge(&spec, None, &run("ns.a end"));
    let place = |violation: &Violation| {
        let place = violation.rule.as_deref().and_then(|rule| spec.locate(rule)).expect("a place");
        (place.line, place.column, place.width)
    };
    assert_eq!(verdict.violations.iter().map(place).collect::<Vec<_>>(), [(5, 32, 1), (4, 15, 4)]);
}

#[test]
fn an_expected_failure_is_met_by_its_code_at_the_witness() {
    let spec = spec("contracts: {tools: {deny: [x]}, sequence: {require: [z]}}");
    let failing = judge(&spec, None, &run("x end"));
    let passing = judge(&spec, None, &run("z end"));
    let expect = |code, witness_index| Expect { status: ExpectedStatus::Fail, code, witness_index };
    let denied = Some(Code::ContractToolDenied);
    for (expect, verdict, expected) in [
        (expect(denied, None), &failing, Ok(())),
        (expect(denied, Some(0)), &failing, Ok(())),
        (expect(None, None), &failing, Ok(())),
        (expect(denied, Some(1)), &failing, Err("the run fails at event 0, and is expected to fail at event 1")),
        (expect(denied, None), &passing, Err("the run passes, and is expected to fail with CONTRACT_TOOL_DENIED")),
        (
            expect(Some(Code::ContractSequenceRequiredMissing), None),
            &failing,
            Err(
                "the run fails with CONTRACT_TOOL_DENIED, and is expected to fail with CONTRACT_SEQUENCE_REQUIRED_MISSING",
            ),
        ),
        (Expect { status: ExpectedStatus::Pass, code: None, witness_index: None }, &passing, Ok(())),
        (
            Expect { status: ExpectedStatus::Pass, code: None, witness_index: None },
            &failing,
            Err("the run fails with CONTRACT_TOOL_DENIED, and is expected to pass"),
        ),
    ] {
        assert_eq!(expect.met_by(verdict), expected.map_err(str::to_owned));
    }
}

#[test]
fn a_tool_that_may_not_run_is_known_before_it_does() {
    for (tools, forbidden) in [
        ("{}", None),
        ("{deny: [x]}", Some(Code::ContractToolDenied)),
        ("{allow: [a]}", Some(Code::ContractToolNotAllowed)),
        ("{allow: [a, x]}", None),
    ] {
        assert_eq!(spec(&format!("contracts: {{tools: {tools}}}")).contracts.forbid_tool("x"), forbidden, "{tools}");
    }
}
