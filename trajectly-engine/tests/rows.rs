//! Raw rows: what is read leniently and what is refused, and how a trace is made of them.

mod common;

use common::json;
use trajectly_engine::trace::{EventType, Row, Trace, number, parse_rows};

#[test]
fn rows_are_read_as_their_writers_mean_them() {
    for (line, expected) in [
        (
            r#"{"event_type":"agent_step","rel_ms":3,"payload":{"name":"s"},"meta":{"a":1}}"#,
            r#"3 {"name":"s"} {"a":1}"#,
        ),
        (r#"{"event_type":" agent_step ","rel_ms":7.9,"payload":{}}"#, "7 {} {}"),
        (r#"{"event_type":"agent_step","rel_ms":" 12 ","payload":{},"meta":[]}"#, "12 {} {}"),
        (r#"{"event_type":"agent_step","rel_ms":"soon","payload":[1]}"#, r#"2 {"value":[1]} {}"#),
        (r#"{"event_type":"agent_step","payload":null,"meta":null}"#, r#"2 {"value":null} {}"#),
        (r#"{"event_type":"agent_step","rel_ms":true}"#, "2 {} {}"),
        (r#"{"event_type":"agent_step","rel_ms":-5}"#, "0 {} {}"),
        (r#"{"event_type":"agent_step","rel_ms":1e300}"#, "18446744073709551615 {} {}"),
    ] {
        let first = r#"{"event_type":"run_started","rel_ms":2,"payload":{},"meta":{}}"#;
        let rows = parse_rows(&format!("{first}\n{line}\n"), "r.jsonl", false).unwrap();
        let [_, Row { rel_ms, payload, meta, .. }] = &rows[..] else { panic!("two rows of {line}") };
        assert_eq!(format!("{rel_ms} {payload} {meta}"), expected, "{line}");
    }
}

#[test]
fn what_is_no_row_is_refused() {
    for (line, error) in [
        ("[1]", "r.jsonl:3: an event is an object, found an array"),
        ("7", "r.jsonl:3: an event is an object, found 7"),
        ("{}", "r.jsonl:3: an event needs `event_type`, a string (at `$.event_type`)"),
        (r#"{"event_type":7}"#, "r.jsonl:3: `event_type` must be a string, found 7 (at `$.event_type`)"),
        (r#"{"event_type":"tool_call"}"#, "r.jsonl:3: unknown event type \"tool_call\" (at `$.event_type`)"),
    ] {
        for was_killed in [false, true] {
            let text = format!("\n{{\"event_type\":\"run_started\"}}\r\n{line}\n");
            let found = parse_rows(&text, "r.jsonl", was_killed).unwrap_err();
            assert_eq!(found.headline(), error);
            assert!(found.help.unwrap().contains("tool_called"), "{line}");
        }
    }
}

#[test]
fn only_a_kill_excuses_a_torn_last_line_and_nothing_else() {
    let step = r#"{"event_type":"agent_step","rel_ms":0,"payload":{},"meta":{}}"#;
    for cut in 1..step.len() {
        let torn = format!("{step}\n{}", &step[..cut]);
        assert_eq!(parse_rows(&torn, "r.jsonl", true).unwrap().len(), 1, "{torn}");
        assert_eq!(parse_rows(&torn, "r.jsonl", false).unwrap_err().line, 2, "{torn}");
    }
    for was_killed in [false, true] {
        let rows = parse_rows(&format!("{step}\n{step}"), "r.jsonl", was_killed).unwrap();
        assert_eq!(rows.len(), 2, "a whole line needs no newline");
    }
    for (text, error) in [
        (
            format!("{step}\n{{\"event\n{step}\n"),
            "r.jsonl:2:8: expected the closing quote of a string, found the end of the text",
        ),
        (
            format!("{step}\n{{\"event\n"),
            "r.jsonl:2:8: expected the closing quote of a string, found the end of the text",
        ),
        (
            "{\"event_type\":\"tool_called\",\"payload\":{}}".to_owned(),
            "r.jsonl:1: an event needs `tool_name`, a string that is not empty (at `$.payload.tool_name`)",
        ),
    ] {
        assert_eq!(parse_rows(&text, "r.jsonl", true).unwrap_err().headline(), error);
    }
}

#[test]
fn a_trace_is_numbered_its_times_never_fall_and_recording_notes_are_gone() {
    let row = |rel_ms, meta: &str| Row {
        event_type: EventType::AgentStep,
        rel_ms,
        payload: json(r#"{"name":"s"}"#).as_object().cloned().unwrap(),
        meta: json(meta).as_object().cloned().unwrap(),
    };
    let notes = r#"{"answered":[],"call_id":"c1","cluster":1,"replayed":true,"stream":[],"thread":2}"#;
    let trace = number(vec![row(5, "{}"), row(3, notes), row(9, "{}")], "run-1");
    let found: Vec<(u64, u64)> = trace.events.iter().map(|event| (event.seq, event.rel_ms)).collect();
    assert_eq!(found, [(1, 5), (2, 5), (3, 9)]);
    assert_eq!(trace.events[1].meta.to_string(), r#"{"call_id":"c1","replayed":true,"thread":2}"#);
    assert_eq!(Trace::parse(&trace.to_jsonl(), "t.jsonl").unwrap().to_jsonl(), trace.to_jsonl());
}
