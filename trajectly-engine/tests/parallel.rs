//! Calls that one model response asked for, with `refinement.parallel`.

mod common;

use common::{event, json, spec, told};
use trajectly_engine::json::Object;
use trajectly_engine::refinement::survivors;
use trajectly_engine::trace::{Event, Trace};
use trajectly_engine::verdict::{Status, judge};

/// How a response says what it asks for.
#[derive(Debug, Clone, Copy)]
enum Said {
    /// As the gateway notes it.
    Noted,
    /// In the body alone.
    InBody,
}

/// A run from its words. `ask:a,b` is a model that is asked (event n) and asks for `a` and `b` (n + 1), `a` a call of a tool
/// (one event), `a/b` a call of `b` inside of one of `a`, `end` the end of the run.
fn run(words: &str, said: Said) -> Trace {
    let word = |word: &str| match (word.strip_prefix("ask:"), word.split_once('/')) {
        (Some(tools), _) => {
            let tools = tools.split(',').filter(|tool| !tool.is_empty());
            let mut returned = event("llm_returned", Object::new());
            match said {
                Said::Noted => {
                    let requested: Vec<Object> = tools.map(|tool| Object::new().with("name", tool)).collect();
                    returned.meta.insert("requested", requested);
                }
                Said::InBody => {
                    let calls: Vec<String> =
                        tools.map(|tool| format!(r#"{{"function": {{"name": "{tool}"}}}}"#)).collect();
                    let body = format!(r#"{{"choices": [{{"message": {{"tool_calls": [{}]}}}}]}}"#, calls.join(","));
                    returned.payload.insert("response", json(&body));
                }
            }
            vec![event("llm_called", Object::new()), returned]
        }
        (_, Some((outer, inner))) => {
            let mut call = call(inner);
            call.meta.insert("parent", outer);
            vec![call]
        }
        _ if word == "end" => vec![event("run_finished", Object::new())],
        _ => vec![call(word)],
    };
    Trace { events: words.split_whitespace().flat_map(word).collect() }
}

/// A call that is known by its tool's name.
fn call(tool: &str) -> Event {
    let mut call = event("tool_called", Object::new().with("tool_name", tool));
    call.meta.insert("call_id", tool);
    call
}

/// Baseline, candidate, and what is broken when calls may change places.
const CASES: &[(&str, &str, &[&str])] = &[
    ("ask:a,b a b end", "ask:a,b a b end", &[]),
    ("ask:a,b a b end", "ask:b,a b a end", &[]),
    ("ask:a,b,a a b a end", "ask:b,a,a b a a end", &[]),
    // What one response asked for in one trace may be asked for by two in the other.
    ("ask:a,b a b end", "ask:b b ask:a a end", &[]),
    ("ask:a a ask:b b end", "ask:b,a b a end", &[]),
    // Groups keep their order.
    (
        "ask:a,b a b ask:c c end",
        "ask:b b ask:c c ask:a a end",
        &[
            "5 REFINEMENT_EXTRA_TOOL_CALL refinement.allow_extra_tools: `c` is called beyond the baseline's calls",
            "8 REFINEMENT_BASELINE_CALL_MISSING refinement.mode: the baseline calls `c` after `b`; this run does not",
        ],
    ),
    (
        "ask:a a ask:b b end",
        "ask:b b ask:a a end",
        &[
            "2 REFINEMENT_EXTRA_TOOL_CALL refinement.allow_extra_tools: `b` is called beyond the baseline's calls",
            "5 REFINEMENT_BASELINE_CALL_MISSING refinement.mode: the baseline calls `b` after `a`; this run does not",
        ],
    ),
    // Calls that no model asked for are groups of one.
    (
        "a b end",
        "b a end",
        &[
            "0 REFINEMENT_EXTRA_TOOL_CALL refinement.allow_extra_tools: `b` is called beyond the baseline's calls",
            "1 REFINEMENT_BASELINE_CALL_MISSING refinement.mode: the baseline calls `b` after `a`; this run does not",
        ],
    ),
    ("ask:a,b a x b end", "ask:a,b a x b end", &[]),
    (
        "ask:a,b a x b end",
        "ask:b,a b x a end",
        &[
            "2 REFINEMENT_EXTRA_TOOL_CALL refinement.allow_extra_tools: `b` is called beyond the baseline's calls",
            "3 REFINEMENT_EXTRA_TOOL_CALL refinement.allow_extra_tools: `x` is called beyond the baseline's calls",
            "4 REFINEMENT_BASELINE_CALL_MISSING refinement.mode: the baseline calls `x` after `a`; this run does not",
        ],
    ),
    // What is missing and what is extra is counted.
    (
        "ask:a,a,b a a b end",
        "ask:b,a b a end",
        &["3 REFINEMENT_BASELINE_CALL_MISSING refinement.mode: the baseline calls `a` once more; this run does not"],
    ),
    (
        "ask:a,b a b end",
        "ask:a,b,a b a a end",
        &["4 REFINEMENT_EXTRA_TOOL_CALL refinement.allow_extra_tools: `a` is called beyond the baseline's calls"],
    ),
    // A tool that the model asked for once stands for one request, and another response may ask again.
    ("ask:a,b a b ask:b,a b a end", "ask:b,a b a ask:a,b a b end", &[]),
    // What a tool calls in turn moves with it.
    ("ask:a,b a a/x b end", "ask:b,a b a a/x end", &[]),
];

#[test]
fn calls_of_one_response_may_change_places() {
    for said in [Said::Noted, Said::InBody] {
        for (baseline, candidate, expected) in CASES {
            let (baseline_trace, candidate_trace) = (run(baseline, said), run(candidate, said));
            for mode in ["skeleton", "strict"] {
                let spec = spec(&format!("refinement: {{mode: {mode}, parallel: unordered}}"));
                let verdict = judge(&spec, Some(&baseline_trace), &candidate_trace);
                let expected: Vec<String> = match mode {
                    "strict" => expected.iter().map(|line| line.replace(".allow_extra_tools", ".mode")).collect(),
                    _ => expected.iter().map(|line| (*line).to_owned()).collect(),
                };
                assert_eq!(told(&verdict), expected, "{said:?} {mode}: {baseline} | {candidate}");
            }
        }
    }
}

#[test]
fn by_default_they_may_not() {
    let (baseline, candidate) = (run("ask:a,b a b end", Said::Noted), run("ask:b,a b a end", Said::Noted));
    for (keys, status) in
        [("", Status::Fail), ("parallel: ordered", Status::Fail), ("parallel: unordered", Status::Pass)]
    {
        let verdict = judge(&spec(&format!("refinement: {{{keys}}}")), Some(&baseline), &candidate);
        assert_eq!(verdict.status, status, "{keys}");
    }
}

#[test]
fn allowed_extra_calls_may_stand_anywhere() {
    let spec = spec("refinement: {parallel: unordered, allow_extra_tools: [log]}");
    let (baseline, candidate) =
        (run("ask:a,b a b end", Said::Noted), run("ask:log,b log b ask:a,log a log end", Said::Noted));
    assert_eq!(told(&judge(&spec, Some(&baseline), &candidate)), [] as [&str; 0]);
}

#[test]
fn survivors_come_in_the_order_of_the_baseline() {
    let with = |tool: &str, input: &str| {
        let mut call = call(tool);
        call.payload.insert("input", json(input));
        call
    };
    let asking = run("ask:a,a,b", Said::Noted).events;
    let baseline = [asking.clone(), vec![with("a", "1"), with("a", "2"), with("b", "3")]].concat();
    let candidate = [asking, vec![with("b", "9"), with("x", "0"), with("a", "2"), with("a", "1")]].concat();
    let (baseline, candidate) = (Trace { events: baseline }, Trace { events: candidate });
    let rules = |keys: &str| spec(&format!("refinement: {{{keys}}}")).refinement;
    assert_eq!(survivors(&rules("parallel: unordered"), &baseline, &candidate), [5, 4, 2]);
    assert_eq!(survivors(&rules(""), &baseline, &candidate), [4, 5]);
    assert_eq!(survivors(&rules(""), &baseline, &baseline), [2, 3, 4]);
}
