//! How closely a call meets its fixture, by what a spec says does not count.

mod common;

use std::sync::Arc;

use common::{event, json};
use trajectly_engine::canonical::{Strip, hash};
use trajectly_engine::fixture::{
    CallKind, Fixture, Fixtures, MatchMode, MatchOptions, Matcher, MissCode, Policy, Tier, Usage, VolatileValue,
};
use trajectly_engine::json::Object;
use trajectly_engine::trace::{Event, Trace};

const MODEL: &str = "openai:m";

fn fixture(kind: CallKind, name: &str, input: &str) -> Fixture {
    let input = json(input);
    let input_hash = hash(&input, Strip::Keep);
    let (output, inside, extra) = Default::default();
    Fixture { kind, name: name.into(), input, input_hash, output, error: None, inside, extra }
}

fn matcher(recorded: &[&str], options: MatchOptions) -> Matcher {
    let entries = recorded.iter().map(|input| fixture(CallKind::Llm, MODEL, input)).collect();
    Matcher::new(Arc::new(Fixtures { entries }), options)
}

/// The tier at which one call meets one fixture; `None` for a miss.
fn tier(kind: CallKind, recorded: &str, asked: &str, options: &MatchOptions) -> Option<Tier> {
    let entries = vec![fixture(kind, MODEL, recorded)];
    let mut matcher = Matcher::new(Arc::new(Fixtures { entries }), options.clone());
    matcher.take(kind, MODEL, &json(asked)).ok().map(|hit| hit.tier)
}

#[test]
fn volatile_values_do_not_count_where_the_spec_names_them() {
    let [a, b] = ["4f9c2b1e-1111-4222-8333-0123456789ab", "4F9C2B1E-9999-4222-8333-0123456789AB"];
    let all = VolatileValue::ALL.to_vec();
    for (recorded, asked, normalize, same) in [
        (format!(r#"["id {a}."]"#), format!(r#"["id {b}."]"#), vec![VolatileValue::Uuid], true),
        (format!(r#"["id {a}."]"#), format!(r#"["id {b}."]"#), vec![VolatileValue::Timestamp], false),
        (format!(r#"["id {a}."]"#), format!(r#"["id {b}."]"#), vec![], false),
        (format!(r#"["{a} {a}"]"#), format!(r#"["{b} {b}"]"#), all.clone(), true),
        (format!(r#"["{a}", "{a}"]"#), format!(r#"["{a}", "{b}"]"#), all.clone(), false),
        (format!(r#"["{a}"]"#), r#"["no id"]"#.to_owned(), all.clone(), false),
        (format!(r#"["x{a}"]"#), format!(r#"["x{b}"]"#), all.clone(), false),
        (format!(r#"{{"{a}": 1}}"#), format!(r#"{{"{b}": 1}}"#), all.clone(), false),
    ] {
        let options = MatchOptions { normalize: normalize.clone(), ..MatchOptions::default() };
        for kind in [CallKind::Llm, CallKind::Tool] {
            let expected = same.then_some(Tier::Normalized);
            assert_eq!(tier(kind, &recorded, &asked, &options), expected, "{recorded} {asked} {normalize:?}");
        }
    }
}

#[test]
fn timestamps_are_known_in_the_forms_that_agents_write() {
    let options = MatchOptions { normalize: vec![VolatileValue::Timestamp], ..MatchOptions::default() };
    for (recorded, asked, same) in [
        ("2024-05-01", "2026-11-20", true),
        ("2024-05-01T09:00:00Z", "2024-05-01T09:00:01.250Z", true),
        ("2024-05-01T09:00:00+02:00", "2026-11-20 23:59", true),
        ("2024-05-01 09:00:00,123", "2024-05-02 09:00:00", true),
        ("Wed, 01 May 2024 12:30:00 GMT", "Fri, 20 Nov 2026 01:02:03 +0000", true),
        ("from 2024-05-01 to 2024-05-01", "from 2024-05-01 to 2024-05-02", true),
        ("2024-05-01", "2024-13-01", false),
        ("2024-05-01", "1-2-3", false),
        ("12024-05-01", "12024-05-02", false),
    ] {
        let text = |text: &str| format!(r#"{{"messages":[{{"role":"user","content":"Today is {text}, a day"}}]}}"#);
        let tier = tier(CallKind::Llm, &text(recorded), &text(asked), &options);
        assert_eq!(tier, same.then_some(Tier::Normalized), "{recorded} and {asked}");
    }
}

#[test]
fn ignored_paths_do_not_count() {
    for (path, recorded, asked, same) in [
        ("$.metadata.trace_id", r#"{"metadata":{"trace_id":1}}"#, r#"{"metadata":{"trace_id":2}}"#, true),
        ("$.metadata.trace_id", r#"{"metadata":{"trace_id":1}}"#, r#"{"metadata":{}}"#, true),
        ("$.metadata.trace_id", r#"{"metadata":{"trace_id":1}}"#, r#"{"metadata":{"x":2}}"#, false),
        ("$.messages[*].name", r#"{"messages":[{"name":1},{}]}"#, r#"{"messages":[{"name":2},{"name":3}]}"#, true),
        ("$.messages[1].name", r#"{"messages":[{"name":1},{}]}"#, r#"{"messages":[{"name":2},{"name":3}]}"#, false),
        ("$.messages[1]", r#"{"messages":[1,2,3]}"#, r#"{"messages":[1,9,3]}"#, true),
        ("$.tags[*]", r#"{"tags":[1,2,3]}"#, r#"{"tags":[]}"#, true),
        ("$.*.at", r#"{"a":{"at":1},"b":[{"at":1}]}"#, r#"{"a":{"at":2},"b":[{"at":1}]}"#, true),
        (r#"$["x.y"]['z']"#, r#"{"x.y":{"z":1}}"#, r#"{"x.y":{"z":2}}"#, true),
        ("$.kwargs.now", r#"{"args":[],"kwargs":{"now":1}}"#, r#"{"args":[],"kwargs":{"now":2}}"#, true),
        ("$.a.b", r#"{"a":"text"}"#, r#"{"a":"other"}"#, false),
    ] {
        let options = MatchOptions { ignore_paths: vec![path.parse().unwrap()], ..MatchOptions::default() };
        for kind in [CallKind::Llm, CallKind::Tool] {
            let expected = same.then_some(Tier::Normalized);
            assert_eq!(tier(kind, recorded, asked, &options), expected, "{path} of {recorded}");
        }
        assert_eq!(tier(CallKind::Tool, recorded, recorded, &options), Some(Tier::Exact), "{path}");
    }
}

/// A request with this prompt, and what came after it.
fn request(prompt: &str, rest: &str) -> String {
    let comma = if rest.is_empty() { "" } else { "," };
    format!(r#"{{"model":"m","messages":[{{"role":"system","content":"{prompt}"}}{comma}{rest}]}}"#)
}

/// What a model asked a tool, and what the tool said.
fn asked(id: &str, result: &str) -> String {
    format!(
        r#"{{"role":"assistant","tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"t","arguments":"{{}}"}}}}]}},
        {{"role":"tool","tool_call_id":"{id}","content":"{result}"}}"#
    )
}

#[test]
fn a_drifted_request_is_answered_by_its_turn_where_that_is_allowed() {
    let first = request("Be brief.", "");
    let second = request("Be brief.", &asked("call_1", "sunny"));
    let allowed = MatchOptions { drift: true, ..MatchOptions::default() };
    for (now, expected) in [
        (request("Be kind.", ""), Some((0, Tier::Structural))),
        (request("Be kind.", "").replace("\"m\"", "\"m\",\"temperature\":1"), Some((0, Tier::Structural))),
        (request("Be kind.", &asked("call_9", "sunny")), Some((1, Tier::Structural))),
        (request("Be kind.", &asked("call_1", "rainy")), None),
        (request("Be kind.", &[asked("call_1", "sunny"), asked("call_2", "sunny")].join(",")), None),
        (request("Be brief.", &asked("call_9", "sunny")), Some((1, Tier::Normalized))),
        (request("Be brief.", ""), Some((0, Tier::Exact))),
    ] {
        let matcher_of = |options: &MatchOptions| {
            let mut matcher = matcher(&[&first, &second], options.clone());
            matcher.take(CallKind::Llm, MODEL, &json(&now)).ok().map(|hit| (hit.index, hit.tier))
        };
        assert_eq!(matcher_of(&allowed), expected, "{now}");
        let without = expected.filter(|(_, tier)| *tier != Tier::Structural);
        assert_eq!(matcher_of(&MatchOptions::default()), without, "{now}");
        let strict = MatchOptions { policy: Policy::ByIndex, strict: true, ..allowed.clone() };
        let in_turn = expected.filter(|(index, _)| *index == 0);
        assert_eq!(matcher_of(&strict), in_turn, "{now}");
    }
    assert_eq!(tier(CallKind::Tool, &first, &request("Be kind.", ""), &allowed), None, "never for tools");
}

#[test]
fn other_shapes_of_conversations_are_told_apart_by_their_turns_too() {
    let allowed = MatchOptions { drift: true, ..MatchOptions::default() };
    for (recorded, drifted, other) in [
        (
            r#"{"system":"a","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"1"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"u1","content":"r"},{"type":"text","text":"x"}]}]}"#,
            r#"{"system":"b","messages":[{"role":"user","content":"p"},{"role":"assistant","content":"1"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"u9","content":"r"},{"type":"text","text":"y"}]}]}"#,
            r#"{"system":"b","messages":[{"role":"user","content":"p"},{"role":"assistant","content":"1"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"u9","content":"s"},{"type":"text","text":"y"}]}]}"#,
        ),
        (
            r#"{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"text":"1"}]},{"role":"user","parts":[{"functionResponse":{"name":"t","response":{"r":1}}}]}]}"#,
            r#"{"contents":[{"role":"user","parts":[{"text":"p"}]},{"role":"model","parts":[{"text":"1"}]},{"role":"user","parts":[{"functionResponse":{"name":"t","response":{"r":1}}}]}]}"#,
            r#"{"contents":[{"role":"user","parts":[{"text":"p"}]},{"role":"model","parts":[{"text":"1"}]},{"role":"user","parts":[{"functionResponse":{"name":"t","response":{"r":2}}}]}]}"#,
        ),
        (
            r#"{"previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"c","output":"r"},{"role":"user","content":"q"}]}"#,
            r#"{"previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"c","output":"r"},{"role":"user","content":"p"}]}"#,
            r#"{"previous_response_id":"resp_2","input":[{"type":"function_call_output","call_id":"c","output":"r"},{"role":"user","content":"p"}]}"#,
        ),
    ] {
        assert_eq!(tier(CallKind::Llm, recorded, drifted, &allowed), Some(Tier::Structural), "{drifted}");
        assert_eq!(tier(CallKind::Llm, recorded, other, &allowed), None, "{other}");
    }
}

#[test]
fn of_several_first_turns_the_one_most_alike_answers() {
    let prompts = ["Summarise the report on rain.", "Summarise the report on snow."];
    let recorded = prompts.map(|prompt| request(prompt, ""));
    for order in [[0, 1], [1, 0]] {
        let options = MatchOptions { drift: true, ..MatchOptions::default() };
        let mut matcher = matcher(&[&recorded[0], &recorded[1]], options);
        for index in order {
            let asked = request(&prompts[index].replace("Summarise", "Sum up"), "");
            let hit = matcher.take(CallKind::Llm, MODEL, &json(&asked)).unwrap();
            assert_eq!((hit.index, hit.tier), (index, Tier::Structural));
        }
    }
}

#[test]
fn a_call_whose_recordings_are_used_up_does_not_fall_back_on_its_turn() {
    let recorded = [request("a", ""), request("b", "")];
    let options = MatchOptions { drift: true, ..MatchOptions::default() };
    let mut matcher = matcher(&[&recorded[0], &recorded[1]], options);
    matcher.take(CallKind::Llm, MODEL, &json(&recorded[0])).unwrap();
    let miss = matcher.take(CallKind::Llm, MODEL, &json(&recorded[0])).unwrap_err();
    assert_eq!(miss.code, MissCode::Exhausted);
}

/// A call that took a fixture, and its return.
fn taken(kind: CallKind, fixture: usize) -> [Event; 2] {
    let events = match kind {
        CallKind::Llm => ["llm_called", "llm_returned"],
        CallKind::Tool => ["tool_called", "tool_returned"],
    };
    let meta = Object::new().with("call_id", format!("c{fixture}"));
    let metas = [meta.clone(), meta.with("fixture", fixture)];
    let mut metas = metas.into_iter();
    events.map(|name| Event {
        meta: metas.next().unwrap_or_default(),
        ..event(name, Object::new().with("tool_name", MODEL))
    })
}

#[test]
fn usage_says_which_tier_answered_each_call_and_what_was_left() {
    let entries = vec![
        fixture(CallKind::Llm, MODEL, &request("Be brief.", "")),
        fixture(CallKind::Tool, MODEL, r#"{"args":[],"kwargs":{"city":"Oslo","run_id":1}}"#),
        fixture(CallKind::Tool, MODEL, r#"{"args":[],"kwargs":{"city":"Bergen"}}"#),
        fixture(CallKind::Llm, MODEL, &request("Be brief.", r#"{"role":"user","content":"And  then?"}"#)),
    ];
    let options = MatchOptions { drift: true, tool_mode: MatchMode::Signature, ..MatchOptions::default() };
    let mut matcher = Matcher::new(Arc::new(Fixtures { entries }), options);
    matcher.take(CallKind::Llm, MODEL, &json(&request("Be kind.", ""))).unwrap();
    let again = json(r#"{"args":[],"kwargs":{"city":"Oslo","run_id":2}}"#);
    matcher.take(CallKind::Tool, MODEL, &again).unwrap();
    let trace = Trace { events: [taken(CallKind::Llm, 0), taken(CallKind::Tool, 1)].concat() };
    let usage = Usage::new(&matcher, &trace).to_json();
    let expected = r#"{
        "total": 4, "consumed": 2,
        "by_tier": {"exact": 0, "normalized": 1, "structural": 1, "position": 0},
        "inexact": [
            {"event_index": 0, "kind": "llm", "name": "openai:m", "tier": "structural", "fixture": 0, "differences_left_out": 0,
             "differences": [{"path": "$.messages[0].content", "recorded": "Be brief.", "actual": "Be kind."}]},
            {"event_index": 2, "kind": "tool", "name": "openai:m", "tier": "normalized", "fixture": 1, "differences_left_out": 0,
             "differences": [{"path": "$.kwargs.run_id", "recorded": 1, "actual": 2}]}
        ],
        "unused": [
            {"index": 2, "kind": "tool", "name": "openai:m", "input": "{\"city\":\"Bergen\"}"},
            {"index": 3, "kind": "llm", "name": "openai:m", "input": "And then?"}
        ]
    }"#;
    assert_eq!(usage, json(expected), "{}", usage.to_pretty());
}
