//! Events and traces: what is valid, what an event's identity is, what an error says.

mod common;

use common::{json, vectors};
use trajectly_engine::json::{Json, Object};
use trajectly_engine::trace::{Event, EventType, Trace};

#[test]
fn validation_and_identity_agree_with_the_vectors() {
    for case in vectors("functions/events.jsonl") {
        let value = case.get("event").cloned().unwrap_or_else(|| panic!("{case}"));
        match (Event::from_json(value), case.get("ok")) {
            (Ok(event), Some(expected)) => assert_eq!(event.to_json(), *expected, "{case}"),
            (Err(_), None) => {}
            (found, _) => panic!("{found:?} in {case}"),
        }
    }
}

const EVENT: &str = r#"{"event_type":"tool_called","seq":1,"run_id":"r","rel_ms":0,"payload":{"tool_name":"t"}}"#;

/// `EVENT` with some members set.
fn event_with(changes: &str) -> Json {
    let (Json::Object(mut members), Json::Object(changes)) = (json(EVENT), json(changes)) else { panic!("objects") };
    for (key, value) in changes {
        members.insert(key, value);
    }
    Json::Object(members)
}

#[test]
fn a_malformed_event_is_refused_with_its_path() {
    for (changes, error) in [
        (r#"{"schema_version":"v2"}"#, "`schema_version` must be \"v1\", found \"v2\" (at `$.schema_version`)"),
        (r#"{"schema_version":1}"#, "`schema_version` must be \"v1\", found 1 (at `$.schema_version`)"),
        (r#"{"event_type":null}"#, "`event_type` must be a string, found null (at `$.event_type`)"),
        (r#"{"event_type":"tool"}"#, "unknown event type \"tool\" (at `$.event_type`)"),
        (r#"{"seq":0}"#, "`seq` must be a positive integer, found 0 (at `$.seq`)"),
        (r#"{"seq":true}"#, "`seq` must be a positive integer, found true (at `$.seq`)"),
        (r#"{"seq":1.0}"#, "`seq` must be a positive integer, found 1.0 (at `$.seq`)"),
        (r#"{"run_id":" \t"}"#, "`run_id` must be a string that is not blank, found \" \\t\" (at `$.run_id`)"),
        (r#"{"rel_ms":-1}"#, "`rel_ms` must be a count of milliseconds, found -1 (at `$.rel_ms`)"),
        (r#"{"rel_ms":false}"#, "`rel_ms` must be a count of milliseconds, found false (at `$.rel_ms`)"),
        (r#"{"payload":[]}"#, "`payload` must be an object, found an array (at `$.payload`)"),
        (r#"{"payload":{}}"#, "an event needs `tool_name`, a string that is not empty (at `$.payload.tool_name`)"),
        (
            r#"{"payload":{"tool_name":""}}"#,
            "`tool_name` must be a string that is not empty, found an empty string (at `$.payload.tool_name`)",
        ),
        (
            r#"{"event_type":"tool_returned","payload":{"tool_name":7}}"#,
            "`tool_name` must be a string that is not empty, found 7 (at `$.payload.tool_name`)",
        ),
        (r#"{"meta":null}"#, "`meta` must be an object, found null (at `$.meta`)"),
        (r#"{"event_id":[]}"#, "`event_id` must be a string, found an array (at `$.event_id`)"),
    ] {
        let found = Event::from_json(event_with(changes)).expect_err(changes);
        assert_eq!(found.to_string(), error, "{changes}");
    }
    let found = Event::from_json(json("[1]")).unwrap_err();
    assert_eq!(found.to_string(), "an event is an object, found an array (at `$`)");
}

#[test]
fn an_event_needs_no_more_than_it_must_have() {
    for changes in
        ["{}", r#"{"schema_version":null,"event_id":null}"#, r#"{"schema_version":"v1","event_id":"","unknown":1}"#]
    {
        let event = Event::from_json(event_with(changes)).expect(changes);
        assert_eq!(event.event_type, EventType::ToolCalled);
        assert_eq!(event.meta, Object::new());
        assert_eq!(event.event_id, None);
        assert_eq!(event.id().len(), 64);
    }
    for (given, id) in [("\"x\"", "x"), ("5", "5"), ("false", "False")] {
        let event = Event::from_json(event_with(&format!(r#"{{"event_id":{given}}}"#))).expect(given);
        assert_eq!(event.id(), id, "an identity that was given is kept");
    }
}

#[test]
fn identity_leaves_out_times_and_notes_only() {
    let id = |changes| Event::from_json(event_with(changes)).expect(changes).id().into_owned();
    let same = id("{}");
    assert_eq!(id(r#"{"rel_ms":99,"meta":{"call_id":"c1"}}"#), same);
    for changes in [
        r#"{"seq":2}"#,
        r#"{"run_id":"other"}"#,
        r#"{"event_type":"tool_returned"}"#,
        r#"{"payload":{"tool_name":"t","timestamp":1}}"#,
    ] {
        assert_ne!(id(changes), same, "{changes}");
    }
}

#[test]
fn names_come_from_the_payload_of_the_events_that_have_them() {
    let event = |changes| Event::from_json(event_with(changes)).expect(changes);
    assert_eq!(event("{}").tool_name(), Some("t"));
    assert_eq!(event("{}").model_name(), None);
    let call = event(r#"{"event_type":"llm_called","payload":{"provider":"openai","tool_name":"t"}}"#);
    assert_eq!(call.tool_name(), None);
    assert_eq!(call.model_name().as_deref(), Some("openai:unknown"));
}

#[test]
fn a_trace_reads_back_as_it_was_written() {
    let text = format!("\n{EVENT}\r\n  \n  {EVENT}  \n{EVENT}");
    let trace = Trace::parse(&text, "t.jsonl").unwrap();
    assert_eq!(trace.events.len(), 3);
    let written = trace.to_jsonl();
    assert_eq!(written.lines().count(), 3);
    assert!(written.ends_with("}\n"));
    for (line, event) in written.lines().zip(&trace.events) {
        assert_eq!(&Event::from_json(json(line)).unwrap(), event);
        assert_eq!(json(line).to_compact(), line, "lines are in the compact form");
    }
    assert_eq!(Trace::parse(&written, "t.jsonl").unwrap().to_jsonl(), written);
    assert_eq!(Trace::parse("", "t.jsonl").unwrap().events, []);
}

#[test]
fn a_malformed_line_is_named() {
    for (text, error) in [
        (format!("{EVENT}\n\n{{\"seq\": }}\n"), "t.jsonl:3:9: expected a value, found '}'"),
        (format!("{EVENT}\n  [1]"), "t.jsonl:2: an event is an object, found an array"),
        (EVENT.replace("tool_called", "tool_call"), "t.jsonl:1: unknown event type \"tool_call\" (at `$.event_type`)"),
        (EVENT.replace("1", "true"), "t.jsonl:1: `seq` must be a positive integer, found true (at `$.seq`)"),
        (format!("{EVENT}{EVENT}"), "t.jsonl:1:89: expected the end of the text, found '{'"),
    ] {
        let said = Trace::parse(&text, "t.jsonl").unwrap_err();
        assert_eq!(said.headline(), error);
        assert!(said.to_string().starts_with(&format!("{error}\n  = help: ")), "{said}");
    }
}
