//! Streams taken apart into a response and a layout, and made again.

use trajectly_engine::json::Json;

use super::support::json;
use crate::gateway::assemble::assemble;
use crate::gateway::layout;
use crate::gateway::stream::{End, Event};

const HEAD: &str =
    r#""id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"gpt-4o-mini-2024""#;

/// A chunk with one choice.
fn delta(delta: &str) -> String {
    format!(r#"{{{HEAD},"choices":[{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":null}}],"usage":null}}"#)
}

fn finish(reason: &str) -> String {
    format!(
        r#"{{{HEAD},"choices":[{{"index":0,"delta":{{}},"logprobs":null,"finish_reason":"{reason}"}}],"usage":null}}"#
    )
}

fn usage() -> String {
    format!(r#"{{{HEAD},"choices":[],"usage":{{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}}}}"#)
}

fn events(data: &[String]) -> Vec<Event> {
    data.iter().map(Event::unnamed).collect()
}

/// Takes a stream apart and holds what is made of it against what it was; gives the response and the layout.
fn round_trip(events: &[Event], end: End) -> (Json, Json) {
    let response = assemble(events);
    let layout = layout::of(events, &response, end);
    // Both live in a JSON file between recording and replay.
    let (response, layout) = (json(&response.to_pretty()), json(&layout.to_pretty()));
    let made = layout::replay(&response, Some(&layout), false);
    assert_eq!(made.end, end);
    let values = |events: &[Event]| -> Vec<_> {
        let value = |event: &Event| match Json::parse(&event.data) {
            Ok(Json::Object(mut chunk)) => {
                chunk.remove("obfuscation");
                chunk.into()
            }
            _ => Json::from(event.data.as_str()),
        };
        events.iter().map(|event| (event.name.clone(), value(event))).collect()
    };
    assert_eq!(values(&made.events), values(events), "{layout}");
    (response, layout)
}

/// Whether a layout keeps events as they came because nothing better could be found.
fn is_verbatim(layout: &Json) -> bool {
    let frames = layout.get("frames").unwrap().as_array().unwrap();
    !frames.is_empty() && frames.iter().all(|frame| frame.get("text").is_some())
}

#[test]
fn a_text_is_joined_and_its_layout_small() {
    let stream = events(&[
        delta(r#"{"role":"assistant","content":"","refusal":null}"#),
        delta(r#"{"content":"Sun"}"#),
        delta(r#"{"content":"ny 🦀"}"#),
        delta(r#"{"content":"é"}"#),
        finish("stop"),
        usage(),
    ]);
    let (response, layout) = round_trip(&stream, End::Done);
    assert_eq!(
        response,
        json(
            r#"{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"gpt-4o-mini-2024",
            "choices":[{"index":0,"message":{"role":"assistant","content":"Sunny 🦀é","refusal":null},
                        "logprobs":null,"finish_reason":"stop"}],
            "usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}}"#
        )
    );
    assert_eq!(
        layout,
        json(
            r#"{"end":"done","events":"0:0 1:3 1:4 1:1 2 3","frames":[
            {"add":{"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},
                                "logprobs":null,"finish_reason":null}],"usage":null}},
            {"add":{"choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":null}],"usage":null}},
            {"add":{"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}},
            {"add":{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}}}]}"#
        )
    );
}

/// `[(id, name, arguments)]` of the first choice.
fn calls(response: &Json) -> Vec<(&str, &str, &str)> {
    let calls = response.at("/choices/0/message/tool_calls").unwrap().as_array().unwrap();
    let text = |call, path| Json::at(call, path).unwrap().as_str().unwrap();
    calls
        .iter()
        .map(|call| (text(call, "/id"), text(call, "/function/name"), text(call, "/function/arguments")))
        .collect()
}

#[test]
fn tool_calls_are_told_apart_in_every_dialect() {
    let begin = |index: &str, id: &str, name: &str, arguments: &str| {
        format!(r#"{{{index}"id":"{id}","type":"function","function":{{"name":"{name}","arguments":"{arguments}"}}}}"#)
    };
    let more = |index: &str, arguments: &str| format!(r#"{{{index}"function":{{"arguments":"{arguments}"}}}}"#);
    let (zero, one) = (r#""index":0,"#, r#""index":1,"#);
    let both = vec![("a", "f", "{\"x\":1}"), ("b", "g", "{}")];
    for (dialect, pieces, expected) in [
        (
            "by index, interleaved",
            vec![
                begin(zero, "a", "f", ""),
                begin(one, "b", "g", "{"),
                more(zero, r#"{\"x\":"#),
                more(one, "}"),
                more(zero, "1}"),
            ],
            both.clone(),
        ),
        (
            "two in one chunk",
            vec![
                format!("{},{}", begin(zero, "a", "f", r#"{\"x\":"#), begin(one, "b", "g", "")),
                format!("{},{}", more(one, "{}"), more(zero, "1}")),
            ],
            both.clone(),
        ),
        (
            "id, type and name repeated",
            vec![
                begin(zero, "a", "f", r#"{\"x\":"#),
                begin(zero, "a", "f", "1}"),
                begin(one, "b", "g", "{"),
                begin(one, "b", "g", "}"),
            ],
            both.clone(),
        ),
        (
            "all at index 0, each whole",
            vec![begin(zero, "a", "f", r#"{\"x\":1}"#), begin(zero, "b", "g", "{}")],
            both.clone(),
        ),
        (
            "no index",
            vec![begin("", "a", "f", r#"{\"x\":"#), more("", "1}"), begin("", "b", "g", "{"), more("", "}")],
            both.clone(),
        ),
        (
            "a fresh id in every piece",
            vec![begin(zero, "a", "f", "{"), r#"{"index":0,"id":"z","function":{"arguments":"}"}}"#.into()],
            vec![("a", "f", "{}")],
        ),
        (
            "the name in pieces, empty ids",
            vec![begin(zero, "a", "get_", ""), begin(zero, "", "weather", "{"), begin(zero, "", "", "}")],
            vec![("a", "get_weather", "{}")],
        ),
        (
            "the id late",
            vec![
                r#"{"index":0,"function":{"name":"f","arguments":"{"}}"#.into(),
                r#"{"index":0,"id":"a","function":{"arguments":"}"}}"#.into(),
            ],
            vec![("a", "f", "{}")],
        ),
    ] {
        let mut stream = vec![delta(r#"{"role":"assistant","content":null}"#)];
        stream.extend(pieces.iter().map(|piece| delta(&format!(r#"{{"tool_calls":[{piece}]}}"#))));
        stream.push(finish("tool_calls"));
        let (response, layout) = round_trip(&events(&stream), End::Done);
        assert_eq!(calls(&response), expected, "{dialect}");
        assert!(!is_verbatim(&layout), "{dialect}");
        let call = response.at("/choices/0/message/tool_calls/0").unwrap();
        assert_eq!(call.get("index"), None, "{dialect}");
    }
}

#[test]
fn whatever_a_stream_holds_comes_out_again() {
    let chunk = |choices: &str| format!(r#"{{{HEAD},"choices":[{choices}]}}"#);
    for (what, data, end, verbatim) in [
        ("nothing", vec![], End::Eof, false),
        ("only usage", vec![usage()], End::Done, false),
        (
            "a refusal",
            vec![delta(r#"{"refusal":"I "}"#), delta(r#"{"refusal":"won't"}"#), finish("stop")],
            End::Done,
            false,
        ),
        (
            "reasoning, under any name",
            vec![
                delta(r#"{"reasoning_content":"hm"}"#),
                delta(r#"{"reasoning_content":"m","thoughts":"?"}"#),
                delta(r#"{"content":"x"}"#),
            ],
            End::Eof,
            false,
        ),
        (
            "two choices, mixed and out of order",
            vec![
                chunk(r#"{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"}}"#),
                chunk(r#"{"index":0,"delta":{"content":"A"}},{"index":1,"delta":{"content":"B"}}"#),
            ],
            End::Done,
            false,
        ),
        (
            "unknown members of every kind",
            vec![
                delta(r#"{"content":"a","audio":{"id":"x","data":"QQ"},"list":[1,{"text":"t"}],"n":1,"flag":true}"#),
                delta(
                    r#"{"content":"b","audio":{"data":"Qg","expires_at":12345678901234567890},"list":[2],"n":2.5,"flag":null}"#,
                ),
                format!(
                    r#"{{{HEAD},"choices":[{{"index":0,"delta":{{}},"content_filter_results":{{"a":[]}}}}],"extra":{{"k":"v"}}}}"#
                ),
            ],
            End::Done,
            false,
        ),
        (
            "log probabilities",
            vec![chunk(r#"{"index":0,"delta":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-0.1}]}}"#)],
            End::Done,
            false,
        ),
        (
            "the old function call",
            vec![
                delta(r#"{"function_call":{"name":"f","arguments":"{"}}"#),
                delta(r#"{"function_call":{"arguments":"}"}}"#),
            ],
            End::Done,
            false,
        ),
        (
            "an error in mid-stream",
            vec![delta(r#"{"content":"a"}"#), r#"{"error":{"message":"overloaded"}}"#.into()],
            End::Eof,
            false,
        ),
        ("a cut", vec![delta(r#"{"content":"a"}"#)], End::Cut, false),
        (
            "other data",
            vec![delta(r#"{"content":"a"}"#), "not json".into(), "3".into(), "two\nlines".into()],
            End::Eof,
            false,
        ),
        (
            "times and ids of their own",
            vec![
                r#"{"id":"1","created":1,"choices":[{"delta":{"content":"a"}}]}"#.into(),
                r#"{"id":"2","created":2,"choices":[{"delta":{"content":"b"}}]}"#.into(),
                r#"{"choices":[{"delta":{"content":"c"}}]}"#.into(),
            ],
            End::Done,
            false,
        ),
        (
            "an object that is not called a chunk",
            vec![r#"{"object":"x","choices":[{"index":0,"delta":{"content":"a"}}]}"#.into()],
            End::Done,
            false,
        ),
        (
            "a text that turns into a list",
            vec![delta(r#"{"content":"a"}"#), delta(r#"{"content":["b"]}"#), delta(r#"{"content":"c"}"#)],
            End::Done,
            true,
        ),
        (
            "shapes nobody sends",
            vec![
                r#"{"choices":[1,{"index":"x","delta":{"tool_calls":[2,{"function":3}]}},{"delta":4}]}"#.into(),
                r#"{"choices":{}}"#.into(),
            ],
            End::Done,
            false,
        ),
    ] {
        let (_, layout) = round_trip(&events(&data), end);
        assert_eq!(is_verbatim(&layout), verbatim, "{what}: {layout}");
    }
    let named = [
        Event { name: Some("error".into()), data: r#"{"error":"x"}"#.into() },
        Event { name: Some("e".into()), data: "y".into() },
    ];
    round_trip(&named, End::Eof);
}

#[test]
fn padding_is_not_kept() {
    let padded = |content: &str, padding: &str| {
        format!(r#"{{{HEAD},"choices":[{{"index":0,"delta":{{"content":"{content}"}}}}],"obfuscation":"{padding}"}}"#)
    };
    let (response, layout) = round_trip(&events(&[padded("a", "Xk2"), padded("b", "q"), padded("c", "")]), End::Done);
    assert!(!response.to_compact().contains("obfuscation"));
    assert!(!layout.to_compact().contains("obfuscation"));
    assert_eq!(layout.get("frames").unwrap().as_array().unwrap().len(), 1);
}

/// Streams drawn at random, seeded: texts of several choices and calls, in pieces of any size, in any order.
#[test]
fn streams_of_any_shape_come_out_again() {
    let mut state = 20_u64;
    let mut draw = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let signs = ['a', '"', '\\', '\n', 'é', '—', '🦀', '\u{0}', '{', ' ', '\u{301}', '\u{2028}'];
    for _ in 0..300 {
        let mut data = Vec::new();
        for _ in 0..draw(40) {
            let text: String = (0..draw(5)).map(|_| signs[draw(signs.len())]).collect();
            let text = Json::from(text).to_compact();
            let choice = draw(2);
            let delta = match draw(6) {
                0 => format!(r#"{{"refusal":{text}}}"#),
                1 => r#"{"role":"assistant","content":null}"#.to_owned(),
                2 => format!(r#"{{"content":{text},"x":{text},"n":{}}}"#, draw(3)),
                _ => {
                    let index = draw(3);
                    let call = match draw(3) {
                        0 => format!(
                            r#"{{"index":{index},"id":"c{index}","type":"function","function":{{"name":"f","arguments":{text}}}}}"#
                        ),
                        _ => format!(r#"{{"index":{index},"function":{{"arguments":{text}}}}}"#),
                    };
                    format!(r#"{{"tool_calls":[{call}]}}"#)
                }
            };
            data.push(format!(r#"{{{HEAD},"choices":[{{"index":{choice},"delta":{delta}}}]}}"#));
        }
        let (_, layout) = round_trip(&events(&data), [End::Done, End::Eof, End::Cut][draw(3)]);
        assert!(!is_verbatim(&layout), "{layout}");
    }
}

/// The texts of a stream's first choice, piece by piece.
fn pieces(stream: &layout::Stream) -> Vec<String> {
    let content = |event: &Event| {
        let chunk = Json::parse(&event.data).unwrap();
        chunk.at("/choices/0/delta/content").and_then(Json::as_str).map(str::to_owned)
    };
    stream.events.iter().filter_map(content).collect()
}

#[test]
fn a_text_that_changed_its_length_loses_nothing() {
    let stream = events(&[
        delta(r#"{"content":"key "}"#),
        delta(r#"{"content":"sk-1"}"#),
        delta(r#"{"content":"234"}"#),
        finish("stop"),
    ]);
    let (response, layout) = round_trip(&stream, End::Done);
    for (text, expected) in
        [("key [REDACTED]", ["key ", "[RED", "ACTED]"]), ("key", ["key", "", ""]), ("", ["", "", ""])]
    {
        let changed = json(&response.to_compact().replace("key sk-1234", text));
        assert_eq!(pieces(&layout::replay(&changed, Some(&layout), false)), expected);
    }
}

#[test]
fn a_layout_that_no_longer_tells_the_response_is_not_used() {
    let begin = r#"{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    let (response, layout) = round_trip(&events(&[delta(begin), finish("tool_calls"), usage()]), End::Done);
    let text = response.to_compact();
    for edited in [
        text.replace("\"f\"", "\"g\""),
        text.replace("\"tool_calls\",\"index\"", "\"stop\",\"index\""),
        text.replace("\"content\":null", "\"content\":\"new\""),
        text.replace("\"total_tokens\":8", "\"total_tokens\":9"),
    ] {
        assert_ne!(edited, text);
        let edited = json(&edited);
        let stream = layout::replay(&edited, Some(&layout), true);
        assert_eq!(assemble(&stream.events), edited);
    }
    for broken in [
        "3",
        "{}",
        r#"{"end":"done","events":"7","frames":[]}"#,
        r#"{"end":"x","events":"","frames":[]}"#,
        r#"{"end":"done","events":"[REDACTED]:1","frames":[{}]}"#,
        r#"{"end":"done","events":"0","frames":[{"add":1}]}"#,
    ] {
        let stream = layout::replay(&response, Some(&json(broken)), true);
        assert_eq!(assemble(&stream.events), response, "{broken}");
    }
}

#[test]
fn a_response_without_a_layout_is_cut_afresh() {
    let response = json(
        r#"{"id":"x","object":"chat.completion","choices":[
            {"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop","logprobs":null},
            {"index":1,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[
                {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
                {"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}}],
           "usage":{"total_tokens":8}}"#,
    );
    let stream = layout::replay(&response, None, true);
    assert_eq!(assemble(&stream.events), response);
    assert_eq!((stream.events.len(), stream.end), (5, End::Done));
    let first = Json::parse(&stream.events[0].data).unwrap();
    assert_eq!(first.get("object"), Some(&"chat.completion.chunk".into()));
    assert_eq!(first.at("/choices/0/finish_reason"), Some(&Json::Null));

    // Usage is sent to those who asked for it.
    assert_eq!(layout::replay(&response, None, false).events.len(), 4);
    // A fixture from elsewhere may hold anything.
    for odd in ["{}", r#"{"choices":[]}"#, r#"{"choices":[1]}"#, r#"{"choices":[{"message":{"tool_calls":[1]}}]}"#] {
        layout::replay(&json(odd), None, true);
    }
}
