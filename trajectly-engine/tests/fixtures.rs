//! Fixtures: their file, their making, and finding the one that answers a call.

mod common;

use std::sync::Arc;

use common::{json, text, vectors};
use trajectly_engine::canonical::{Strip, hash};
use trajectly_engine::fixture::{
    CallKind, Fixture, Fixtures, Hit, MatchMode, MatchOptions, Matcher, Miss, MissCode, Policy, Tier,
};
use trajectly_engine::json::Json;
use trajectly_engine::redact::Redactor;
use trajectly_engine::trace::Trace;

/// The Python tool answers an unmatched call with "no fixture", and then runs it live unless it is strict; here that is
/// [`MissCode::Missing`] in either case. Its lookup error is [`MissCode::Mismatch`]. An unknown policy is by hash.
#[test]
fn matching_agrees_with_the_vectors() {
    for case in vectors("functions/fixture-matching.jsonl") {
        let store = case.get("store").unwrap().to_compact();
        let fixtures = Arc::new(Fixtures::parse(&store, "store.json").unwrap());
        let options = MatchOptions {
            policy: if text(&case, "policy") == "by_index" { Policy::ByIndex } else { Policy::ByHash },
            strict: case.get("strict").and_then(Json::as_bool).unwrap(),
            ..MatchOptions::default()
        };
        let mut matcher = Matcher::new(fixtures, options);
        for call in case.get("calls").and_then(Json::as_array).unwrap() {
            let kind = text(call, "kind").parse().unwrap();
            let found = matcher.take(kind, text(call, "name"), call.get("input").unwrap());
            let expected = call.get("result").unwrap();
            let context = || format!("{call} in {}", text(&case, "id"));
            if let Some(details) = expected.get("exhausted") {
                let miss = found.expect_err(&context());
                assert_eq!(miss.code, MissCode::Exhausted, "{}", context());
                let count = |key| details.get(key).and_then(Json::as_u64).unwrap() as usize;
                assert_eq!(miss.consumed, count("consumed_count"), "{}", context());
                assert_eq!(miss.available, count("available_count"), "{}", context());
                assert_eq!(miss.signature.to_string(), text(details, "expected_signature"), "{}", context());
            } else if expected.get("lookup_error").is_some() {
                assert_eq!(found.expect_err(&context()).code, MissCode::Mismatch, "{}", context());
            } else if let Some(index) = expected.get("match").and_then(Json::as_u64) {
                assert_eq!(found.map(|hit| hit.index).ok(), Some(index as usize), "{}", context());
            } else {
                assert_eq!(found.expect_err(&context()).code, MissCode::Missing, "{}", context());
            }
        }
    }
}

#[test]
fn a_file_reads_back_as_it_was_written() {
    for case in vectors("functions/fixture-matching.jsonl").iter().take(20) {
        let fixtures = Fixtures::parse(&case.get("store").unwrap().to_compact(), "f.json").unwrap();
        let written = fixtures.to_pretty();
        assert!(written.ends_with("}\n"));
        assert_eq!(json(&written), *case.get("store").unwrap());
        assert_eq!(Fixtures::parse(&written, "f.json").unwrap(), fixtures);
    }
}

#[test]
fn an_entry_needs_kind_and_name_and_keeps_what_it_does_not_know() {
    let text = r#"{"entries":[{"kind":"tool","name":"t","input_hash":"","order":{"cluster":3},"x":1}]}"#;
    let fixtures = Fixtures::parse(text, "f.json").unwrap();
    let [entry] = &fixtures.entries[..] else { panic!("one entry") };
    assert_eq!(entry.input, json("{}"));
    assert_eq!(entry.input_hash, hash(&json("{}"), Strip::Keep));
    assert_eq!((entry.output.len(), &entry.error), (0, &None));
    assert_eq!(entry.cluster(), Some(3));
    assert!(fixtures.to_pretty().contains("\"x\": 1"));
}

#[test]
fn a_file_that_is_none_is_refused_with_its_place() {
    let entry = |members: &str| format!(r#"{{"entries":[{{"kind":"tool","name":"t"}},{{{members}}}]}}"#);
    for (text, error) in [
        ("{\n  \"entries\": [\n".to_owned(), "f.json:3:1: expected a value, found the end of the text"),
        ("[]".to_owned(), "f.json: a fixture file is an object with a list of `entries` (at `$`)"),
        (r#"{"entries":[3]}"#.to_owned(), "f.json: an entry is an object, found number (at `$.entries[0]`)"),
        (
            entry(r#""name":"t""#),
            "f.json: a call is one of a `tool` or an `llm`, found nothing (at `$.entries[1].kind`)",
        ),
        (entry(r#""kind":"llm","name":7"#), "f.json: the name is a string, found number (at `$.entries[1].name`)"),
        (
            entry(r#""kind":"llm","name":"m","input_hash":"abc""#),
            "f.json: a SHA-256 is written as 64 hexadecimal digits (at `$.entries[1].input_hash`)\n  = help: take the \
             member out to have it computed from `input_payload`",
        ),
        (
            entry(r#""kind":"llm","name":"m","output_payload":[]"#),
            "f.json: the output is an object, found array (at `$.entries[1].output_payload`)",
        ),
    ] {
        assert_eq!(Fixtures::parse(&text, "f.json").unwrap_err().to_string(), error);
    }
}

/// A trace of `event_type`, payload, meta.
fn trace(events: &[(&str, &str, &str)]) -> Trace {
    let line = |(seq, (event_type, payload, meta)): (usize, &(&str, &str, &str))| {
        format!(
            r#"{{"event_type":"{event_type}","seq":{},"run_id":"r","rel_ms":0,"payload":{payload},"meta":{meta}}}"#,
            seq + 1
        )
    };
    let lines: Vec<String> = events.iter().enumerate().map(line).collect();
    Trace::parse(&lines.join("\n"), "t.jsonl").expect("the lines are events")
}

fn outputs(fixtures: &Fixtures) -> Vec<String> {
    let shown = |entry: &Fixture| format!("{} {} -> {}", entry.name, entry.input, entry.output);
    fixtures.entries.iter().map(shown).collect()
}

#[test]
fn calls_and_returns_are_paired_by_id_else_innermost_first() {
    let by_id = trace(&[
        ("tool_called", r#"{"tool_name":"t","input":{"n":1}}"#, r#"{"call_id":"c1"}"#),
        ("tool_called", r#"{"tool_name":"t","input":{"n":2}}"#, r#"{"call_id":"c2"}"#),
        ("tool_returned", r#"{"tool_name":"t","output":"one","error":null}"#, r#"{"call_id":"c1"}"#),
        ("tool_returned", r#"{"tool_name":"t","output":"two","error":null}"#, r#"{"call_id":"c2"}"#),
    ]);
    assert_eq!(
        outputs(&Fixtures::from_trace(&by_id)),
        [r#"t {"n":1} -> {"error":null,"output":"one"}"#, r#"t {"n":2} -> {"error":null,"output":"two"}"#]
    );
    let nested = trace(&[
        ("tool_called", r#"{"tool_name":"outer"}"#, "{}"),
        ("tool_called", r#"{"tool_name":"t","input":{"n":1}}"#, "{}"),
        ("tool_called", r#"{"tool_name":"t","input":{"n":2}}"#, "{}"),
        ("tool_returned", r#"{"tool_name":"t","output":"two"}"#, "{}"),
        ("tool_returned", r#"{"tool_name":"t","output":"one"}"#, "{}"),
        ("tool_returned", r#"{"tool_name":"stray","output":0}"#, "{}"),
        ("tool_returned", r#"{"tool_name":"outer","output":"out"}"#, "{}"),
        ("tool_called", r#"{"tool_name":"never_returns"}"#, "{}"),
    ]);
    assert_eq!(
        outputs(&Fixtures::from_trace(&nested)),
        [r#"outer {} -> {"output":"out"}"#, r#"t {"n":1} -> {"output":"one"}"#, r#"t {"n":2} -> {"output":"two"}"#]
    );
}

#[test]
fn a_call_stands_inside_of_the_call_that_made_it() {
    let called = |name: &'static str, meta: &'static str| ("tool_called", name, meta);
    let fixtures = Fixtures::from_trace(&trace(&[
        called(r#"{"tool_name":"outer"}"#, r#"{"call_id":"c1"}"#),
        called(r#"{"tool_name":"middle"}"#, r#"{"call_id":"c2","parent":"c1"}"#),
        called(r#"{"tool_name":"inner"}"#, r#"{"call_id":"c3","parent":"c2"}"#),
        ("tool_returned", r#"{"tool_name":"inner","output":3}"#, r#"{"call_id":"c3"}"#),
        ("tool_returned", r#"{"tool_name":"middle","output":2}"#, r#"{"call_id":"c2"}"#),
        called(r#"{"tool_name":"second"}"#, r#"{"call_id":"c4","parent":"c1"}"#),
        ("tool_returned", r#"{"tool_name":"second","output":4}"#, r#"{"call_id":"c4"}"#),
        ("tool_returned", r#"{"tool_name":"outer","output":1}"#, r#"{"call_id":"c1"}"#),
        called(r#"{"tool_name":"orphan"}"#, r#"{"call_id":"c5","parent":"c9"}"#),
        ("tool_returned", r#"{"tool_name":"orphan","output":5}"#, r#"{"call_id":"c5"}"#),
    ]));
    fn shown(entries: &[Fixture]) -> String {
        let entries = entries.iter().map(|entry| format!("{}({})", entry.name, shown(&entry.inside)));
        entries.collect::<Vec<_>>().join(" ")
    }
    assert_eq!(shown(&fixtures.entries), "outer(middle(inner()) second()) orphan()");
    assert_eq!(Fixtures::parse(&fixtures.to_pretty(), "f.json").as_ref(), Ok(&fixtures));
    let error = Fixtures::parse(&fixtures.to_pretty().replace("\"inner\"", "7"), "f.json").unwrap_err();
    assert_eq!(error.path.as_deref(), Some("$.entries[0].inside[0].inside[0].name"));
}

#[test]
fn a_model_fixture_keeps_what_its_replay_needs_and_wire_calls_give_none() {
    let fixtures = Fixtures::from_trace(&trace(&[
        ("llm_called", r#"{"provider":"openai","model":"m","request":{"q":1}}"#, r#"{"call_id":"c1","cluster":2}"#),
        ("tool_called", r#"{"tool_name":"t"}"#, r#"{"call_id":"c2","observed":"wire"}"#),
        ("tool_returned", r#"{"tool_name":"t"}"#, r#"{"call_id":"c2","observed":"wire"}"#),
        (
            "llm_returned",
            r#"{"provider":"openai","model":"m","response":{"id":"x"},"usage":{},"stop_reason":"stop","error":"boom"}"#,
            r#"{"call_id":"c1","stream":[3,4],"status":200}"#,
        ),
    ]));
    let [entry] = &fixtures.entries[..] else { panic!("one entry") };
    assert_eq!((entry.kind, entry.name.as_str()), (CallKind::Llm, "openai:m"));
    assert_eq!(entry.error.as_deref(), Some("boom"));
    assert_eq!(entry.cluster(), Some(2));
    let output =
        r#"{"error":"boom","response":{"id":"x"},"status":200,"stop_reason":"stop","stream":[3,4],"usage":{}}"#;
    assert_eq!(entry.output.to_string(), output);
}

fn tool(name: &str, input: &str) -> Fixture {
    fixture(CallKind::Tool, name, input)
}

fn fixture(kind: CallKind, name: &str, input: &str) -> Fixture {
    let input = json(input);
    let input_hash = hash(&input, Strip::Keep);
    let (output, inside, extra) = Default::default();
    Fixture { kind, name: name.into(), input, input_hash, output, error: None, inside, extra }
}

fn matcher(entries: Vec<Fixture>, options: MatchOptions) -> Matcher {
    Matcher::new(Arc::new(Fixtures { entries }), options)
}

fn by_index(strict: bool) -> MatchOptions {
    MatchOptions { policy: Policy::ByIndex, strict, ..MatchOptions::default() }
}

fn hit(index: usize, tier: Tier) -> Result<Hit, Miss> {
    Ok(Hit { index, tier })
}

#[test]
fn by_hash_a_call_takes_the_first_unused_fixture_with_its_input() {
    let entries = vec![tool("t", "1"), tool("t", "2"), tool("u", "1"), tool("t", "1")];
    let mut matcher = matcher(entries, MatchOptions::default());
    for (name, input, index) in [("t", "2", 1), ("t", "1", 0), ("u", "1", 2), ("t", "1", 3)] {
        assert_eq!(matcher.take(CallKind::Tool, name, &json(input)), hit(index, Tier::Exact));
    }
    assert_eq!(matcher.consumed(), [1, 0, 2, 3]);
    assert!(matcher.unused().is_empty());
    let miss = matcher.take(CallKind::Tool, "t", &json("1")).unwrap_err();
    assert_eq!((miss.code, miss.consumed, miss.available), (MissCode::Exhausted, 2, 2));
    assert_eq!(miss.to_string(), "every recorded answer of tool `t` to this call is used up (2 of 2)");
    assert_eq!(matcher.consumed().len(), 4, "a miss uses nothing");
}

#[test]
fn by_index_strict_wants_the_input_and_not_strict_does_not() {
    let entries = || vec![tool("t", r#"{"a":1,"timestamp":1}"#), tool("t", r#"{"a":2}"#), tool("t", r#"{"a":3}"#)];
    let calls = [r#"{"a":1,"timestamp":9}"#, r#"{"a":0}"#, r#"{"a":3}"#].map(json);
    let mut relaxed = matcher(entries(), by_index(false));
    let tiers = [Tier::Normalized, Tier::Position, Tier::Exact];
    for ((index, call), tier) in calls.iter().enumerate().zip(tiers) {
        assert_eq!(relaxed.take(CallKind::Tool, "t", call), hit(index, tier));
    }
    let miss = relaxed.take(CallKind::Tool, "t", &calls[0]).unwrap_err();
    assert_eq!((miss.code, miss.consumed, miss.available), (MissCode::Exhausted, 3, 3));

    let mut strict = matcher(entries(), by_index(true));
    assert_eq!(strict.take(CallKind::Tool, "t", &calls[0]), hit(0, Tier::Normalized));
    let miss = strict.take(CallKind::Tool, "t", &calls[1]).unwrap_err();
    assert_eq!((miss.code, miss.code.as_str()), (MissCode::Mismatch, "FIXTURE_MISSING"));
    assert_eq!(
        miss.to_string(),
        "call 2 of tool `t` was recorded with another input\n\
         the nearest is fixture 1, which differs in\n  $.a: recorded 2, now 0"
    );
    assert_eq!(strict.take(CallKind::Tool, "t", &calls[2]), hit(2, Tier::Exact), "the slot stays used");
    assert_eq!(strict.consumed(), [0, 1, 2]);
}

#[test]
fn sequence_mode_takes_the_next_fixture_of_that_kind_whatever_the_input() {
    let entries = vec![tool("t", "1"), fixture(CallKind::Llm, "p:m", "1"), tool("t", "2")];
    for (strict, policy) in [(true, Policy::ByHash), (false, Policy::ByIndex), (true, Policy::ByIndex)] {
        let options = MatchOptions { policy, strict, tool_mode: MatchMode::Sequence, ..MatchOptions::default() };
        let mut matcher = matcher(entries.clone(), options);
        assert_eq!(matcher.take(CallKind::Tool, "t", &json("7")), hit(0, Tier::Position));
        assert_eq!(matcher.take(CallKind::Tool, "t", &json("2")), hit(2, Tier::Exact));
        let other_kind = matcher.take(CallKind::Llm, "p:m", &json("7"));
        assert_eq!(other_kind.is_ok(), !strict && policy == Policy::ByIndex);
    }
}

#[test]
fn provider_ids_are_ignored_in_requests_and_kept_in_tool_arguments() {
    let request = |id: &str, ticket: &str| {
        format!(
            r#"{{"messages":[{{"role":"assistant","tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"t",
            "arguments":"{{\"id\":\"{ticket}\"}}"}}}}]}},{{"role":"tool","tool_call_id":"{id}","content":"ok"}}]}}"#
        )
    };
    let recorded = fixture(CallKind::Llm, "openai:m", &request("call_1", "T-1"));
    let entries = vec![recorded, tool("t", r#"{"kwargs":{"id":"T-1"}}"#)];
    let mut matcher = matcher(entries, MatchOptions::default());
    let other_ticket = matcher.take(CallKind::Llm, "openai:m", &json(&request("call_1", "T-2")));
    assert_eq!(other_ticket.unwrap_err().code, MissCode::Missing);
    let other_id = matcher.take(CallKind::Llm, "openai:m", &json(&request("call_2", "T-1")));
    assert_eq!(other_id, hit(0, Tier::Normalized));
    let other_argument = matcher.take(CallKind::Tool, "t", &json(r#"{"kwargs":{"id":"T-2"}}"#));
    assert_eq!(other_argument.unwrap_err().code, MissCode::Missing);
}

#[test]
fn a_redacted_fixture_is_found_by_the_input_before_redaction_and_by_the_one_after() {
    let redactor = Redactor::new(vec![regex::Regex::new("sk_live_[a-z]+").unwrap()]);
    let secret = json(r#"{"key":"sk_live_abc","run_id":1}"#);
    let mut stored = Fixture { input: secret.clone(), ..tool("t", "{}") };
    stored.input_hash = hash(&secret, Strip::Keep);
    redactor.apply(&mut stored.input);
    let options = MatchOptions { redactor, ..MatchOptions::default() };
    let mut matcher = matcher(vec![stored.clone(), stored], options);
    assert_eq!(matcher.take(CallKind::Tool, "t", &secret), hit(0, Tier::Exact));
    let other_run = json(r#"{"key":"sk_live_abc","run_id":2}"#);
    assert_eq!(matcher.take(CallKind::Tool, "t", &other_run), hit(1, Tier::Normalized));
    let miss = matcher.take(CallKind::Tool, "t", &json(r#"{"key":"sk_live_xyz","n":1}"#)).unwrap_err();
    assert!(!format!("{miss:?}{miss}").contains("sk_live_xyz"), "a miss does not tell secrets: {miss}");
}

#[test]
fn a_miss_names_the_nearest_call_and_the_paths_that_differ() {
    let long = "You are a careful assistant who answers questions about tickets. ";
    let recorded = [
        format!(r#"{{"model":"m","messages":[{{"role":"system","content":"{long}Be brief."}},{{"content":"T-1"}}]}}"#),
        format!(r#"{{"model":"m","messages":[{{"role":"system","content":"{long}Be kind."}},{{"content":"T-2"}}]}}"#),
        r#"{"model":"m","messages":[],"x":1,"y":2}"#.to_owned(),
    ];
    let entries = recorded.iter().map(|input| fixture(CallKind::Llm, "p:m", input)).collect();
    let mut matcher = matcher(entries, MatchOptions::default());
    let asked = json(&recorded[1].replace("Be kind.", "Be kind and quick.").replace("\"model\":\"m\"", "\"a b\":[]"));
    let miss = matcher.take(CallKind::Llm, "p:m", &asked).unwrap_err();
    let nearest = miss.nearest.as_ref().unwrap();
    assert_eq!(nearest.index, 1);
    let paths: Vec<&str> = nearest.differences.iter().map(|difference| difference.path.as_str()).collect();
    assert_eq!(paths, [r#"$["a b"]"#, "$.messages[0].content", "$.model"]);
    assert_eq!(nearest.differences[0].recorded, None);
    assert_eq!(nearest.differences[2].actual, None);
    assert_eq!(
        miss.to_string(),
        "no recorded call of model `p:m` has this input\nthe nearest is fixture 1, which differs in\n  \
         $[\"a b\"]: recorded nothing, now an array of 0\n  \
         $.messages[0].content: recorded …\"tickets. Be kind.\", now …\"tickets. Be kind and quick.\"\n  \
         $.model: recorded \"m\", now nothing"
    );
    let stranger = matcher.take(CallKind::Llm, "p:other", &asked).unwrap_err();
    assert_eq!(stranger.nearest, None);
    assert_eq!(stranger.to_string(), "no call of model `p:other` was recorded");
}

#[test]
fn the_nearest_call_is_an_unused_one_then_the_most_alike() {
    for (recorded, used, asked, nearest) in [
        (&["[1,2,3]", "[1,2,9]", "[9,9,9]"][..], &[][..], "[1,2,4]", 0),
        (&["[1,2,3]", "[7,7,7]"], &[0], "[1,2,4]", 1),
        (&[r#"["hello there"]"#, r#"["hello world"]"#], &[], r#"["hello worlds"]"#, 1),
        (&[r#"["a long common start, A"]"#, r#"["B"]"#], &[], r#"["a long common start, C"]"#, 0),
        (&["1", "[1,2,3,4]", "[1]"], &[], "[1,2,3]", 1),
        (&["{}", "null"], &[0, 1], "7", 0),
    ] {
        let entries = recorded.iter().map(|input| tool("t", input)).collect();
        let mut matcher = matcher(entries, MatchOptions::default());
        for &index in used {
            matcher.take(CallKind::Tool, "t", &json(recorded[index])).unwrap();
        }
        let miss = matcher.take(CallKind::Tool, "t", &json(asked)).unwrap_err();
        assert_eq!(miss.nearest.map(|nearest| nearest.index), Some(nearest), "{asked} beside {recorded:?}");
    }
}

#[test]
fn at_most_twenty_differences_are_told() {
    let list = |from: i64| Json::from_iter(from..from + 30);
    let mut matcher = matcher(vec![tool("t", &list(0).to_compact())], MatchOptions::default());
    let miss = matcher.take(CallKind::Tool, "t", &list(100)).unwrap_err();
    let nearest = miss.nearest.unwrap();
    assert_eq!((nearest.differences.len(), nearest.more), (20, 10));
    assert_eq!(nearest.differences[19].path, "$[19]");
    assert!(nearest.to_string().ends_with("\n  and in 10 more"));
}
