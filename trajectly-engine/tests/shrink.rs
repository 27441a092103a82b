//! Shrinking: what is left of a failing run fails alike, and nothing more can be left out.

mod common;

use common::{event, json, run, spec, text, vectors};
use trajectly_engine::json::{Json, Object};
use trajectly_engine::shrink::{ddmin, shrink};
use trajectly_engine::spec::Spec;
use trajectly_engine::trace::{Event, Trace};
use trajectly_engine::verdict::judge;

/// More than any of these traces needs.
const ENOUGH: usize = 10_000;

fn number(case: &Json, key: &str) -> usize {
    case.get(key).and_then(Json::as_u64).and_then(|n| n.try_into().ok()).unwrap_or_else(|| panic!("{key} in {case}"))
}

fn numbers(case: &Json, key: &str) -> Vec<usize> {
    let items = case.get(key).and_then(Json::as_array).unwrap_or_else(|| panic!("{key} in {case}"));
    items.iter().filter_map(|item| item.as_u64()?.try_into().ok()).collect()
}

#[test]
fn the_algorithm_agrees_with_the_cases() {
    for case in vectors("functions/ddmin.jsonl") {
        let (need, mode) = (numbers(&case, "need"), text(&case, "mode"));
        let least = match mode {
            "any" => 1,
            "all" => need.len(),
            "atleast" => number(&case, "k"),
            other => panic!("{other} in {case}"),
        };
        let fails = |kept: &[usize]| need.iter().filter(|item| kept.contains(item)).count() >= least;
        let found = ddmin(number(&case, "n"), number(&case, "max_iterations"), || true, fails);
        assert_eq!(found.kept, numbers(&case, "reduced"), "{case}");
        assert_eq!(found.iterations, number(&case, "iterations"), "{case}");
        assert!(!found.interrupted);
    }
}

#[test]
fn it_stops_when_it_is_told_to() {
    let mut left = 3;
    let go_on = || {
        left -= 1;
        left >= 0
    };
    let found = ddmin(100, ENOUGH, go_on, |kept| kept.contains(&50));
    assert_eq!((found.iterations, found.interrupted), (3, true));
    assert!(found.kept.contains(&50) && found.kept.len() < 100);
}

/// The events that are left, in the words of [`run`], each with its index: `0:fetch`, a return without its name.
fn left(spec: &Spec, baseline: &str, candidate: &Trace) -> String {
    let baseline = run(baseline);
    let shrunk = shrink(spec, Some(&baseline), candidate, ENOUGH, || true).expect("the candidate fails");
    let (before, after) =
        (judge(spec, Some(&baseline), candidate), judge(spec, Some(&baseline), &shrunk.events_of(candidate)));
    let (before, after) = (before.primary().expect("it fails"), after.primary().expect("it still fails"));
    assert_eq!((before.code, &before.rule), (after.code, &after.rule));
    assert_eq!(shrunk.kept.get(after.event_index), Some(&before.event_index), "the witness is the same event");
    assert_eq!(shrunk.stats.original_len, candidate.events.len());
    assert_eq!(shrunk.stats.reduced_len, shrunk.kept.len());
    assert_eq!(shrunk.is_shorter(), shrunk.kept.len() < candidate.events.len());
    let word = |index: &usize| {
        let event = &candidate.events[*index];
        let name = event.tool_name().or(event.payload.str("name")).unwrap_or_default();
        let name = if event.event_type.as_str().ends_with("_returned") { "" } else { name };
        let name = match event.event_type.as_str() {
            "llm_called" => "llm",
            "run_finished" => "end",
            _ => name,
        };
        format!("{index}:{name}")
    };
    shrunk.kept.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn only_what_the_failure_needs_is_left() {
    const DENY: &str = "contracts: {tools: {deny: [bad]}}";
    const MANY: &str = "refinement: {allow_extra_tools: [a, b, c], allow_new_tool_names: true}";
    for (why, keys, baseline, candidate, expected) in [
        ("a denied call needs nothing else", DENY, "end", "step:x llm a bad a end", "5:bad 6:"),
        (
            "but a later call, or one that is missing would fail first",
            DENY,
            "a b end",
            "step:x bad a llm b end",
            "1:bad 2: 3:a 4:",
        ),
        (
            "a missing call keeps those that were matched before it, and the last",
            "",
            "a b c end",
            "step:x a llm llm b end",
            "1:a 2: 7:b 8:",
        ),
        ("nothing at all was called", "", "a end", "step:x llm end", "3:end"),
        ("a call that is missing is not one that comes too early", MANY, "a b end", "llm b a end", "2:b 3: 4:a 5:"),
        ("an extra call needs the baseline's", "", "a end", "llm a llm z end", "2:a 3: 6:z 7:"),
        (
            "a limit needs as many calls as it permits, and one more",
            "contracts: {tools: {max_calls_per_tool: {a: 2}}}\nrefinement: {mode: none}",
            "end",
            "a b a llm a a a end",
            "0:a 1: 4:a 5: 8:a 9:",
        ),
        (
            "an order needs both of its calls",
            "contracts: {sequence: {require_before: [{before: a, after: b}]}}\nrefinement: {mode: none}",
            "end",
            "c b c a c end",
            "2:b 3: 6:a 7:",
        ),
        (
            "what never happens needs only the end",
            "contracts: {sequence: {eventually: [a]}}\nrefinement: {mode: none}",
            "end",
            "c b llm end",
            "6:end",
        ),
    ] {
        assert_eq!(left(&spec(keys), baseline, &run(candidate)), expected, "{why}");
    }
}

fn with_id(kind: &str, tool: &str, id: &str) -> Event {
    let mut event = event(kind, Object::new().with("tool_name", tool));
    event.meta.insert("call_id", id);
    event
}

#[test]
fn calls_keep_their_returns() {
    let (called, returned) = ("tool_called", "tool_returned");
    let unnamed = |kind: &str, tool: &str| event(kind, Object::new().with("tool_name", tool));
    let model = |kind: &str| event(kind, Object::new().with("provider", "openai").with("model", "gpt"));
    for (why, events, expected) in [
        (
            "by their ids, in whatever order they come back",
            vec![
                with_id(called, "a", "1"),
                with_id(called, "a", "2"),
                with_id(returned, "a", "1"),
                with_id(returned, "a", "2"),
            ],
            vec![None, None, Some(0), Some(1)],
        ),
        (
            "without ids, the innermost of a name",
            vec![unnamed(called, "a"), unnamed(called, "a"), unnamed(returned, "a"), unnamed(returned, "a")],
            vec![None, None, Some(1), Some(0)],
        ),
        (
            "by name, where only one of them has an id",
            vec![unnamed(called, "a"), with_id(returned, "a", "1"), with_id(called, "b", "2"), unnamed(returned, "b")],
            vec![None, Some(0), None, Some(2)],
        ),
        (
            "but not where both have one, and they differ",
            vec![with_id(called, "a", "1"), with_id(returned, "a", "2"), unnamed(returned, "b")],
            vec![None, None, None],
        ),
        (
            "a model is no tool, and answers once",
            vec![model("llm_called"), unnamed(returned, "unknown"), model("llm_returned"), model("llm_returned")],
            vec![None, None, Some(0), None],
        ),
    ] {
        assert_eq!(Trace { events }.answered_calls(), expected, "{why}");
    }
}

#[test]
fn a_run_that_passes_has_no_counterexample() {
    assert_eq!(shrink(&spec(""), Some(&run("a end")), &run("a llm end"), ENOUGH, || true), None);
}

#[test]
fn a_budget_that_is_used_up_leaves_what_it_found() {
    let (spec, candidate) = (spec("contracts: {tools: {deny: [bad]}}"), run("a b c bad d e f end"));
    let none = shrink(&spec, None, &candidate, 0, || true).expect("it fails");
    assert!(!none.is_shorter() && !none.interrupted);
    assert_eq!(none.stats.iterations, 0);
    let some = shrink(&spec, None, &candidate, 2, || true).expect("it fails");
    assert_eq!(some.stats.iterations, 2);
    assert!(some.is_shorter() && some.kept.len() > 2);
    let stopped = shrink(&spec, None, &candidate, ENOUGH, || false).expect("it fails");
    assert!(stopped.interrupted && !stopped.is_shorter());
}

#[test]
fn what_is_left_is_a_part_of_the_trace_as_it_was() {
    let (spec, candidate) = (spec("contracts: {tools: {deny: [bad]}}"), run("a bad end"));
    let before = candidate.to_jsonl();
    let shrunk = shrink(&spec, None, &candidate, ENOUGH, || true).expect("it fails");
    let lines: Vec<&str> = before.lines().collect();
    let expected: String = shrunk.kept.iter().map(|index| format!("{}\n", lines[*index])).collect();
    assert_eq!(shrunk.events_of(&candidate).to_jsonl(), expected);
    assert_eq!(
        json(&Json::from(shrunk.stats.to_json()).to_compact()),
        json(r#"{"original_len":5,"reduced_len":2,"iterations":3}"#)
    );
}
