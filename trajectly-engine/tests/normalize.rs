//! What makes two model requests the same request.

mod common;

use common::json;
use trajectly_engine::fixture::normalize_request;

#[test]
fn ids_are_numbered_by_first_occurrence_in_every_dialect() {
    for (request, normalized) in [
        // Volatile keys go, at every depth; other ids stay.
        (
            r#"{"request_id":"r","user":"u","messages":[{"role":"user","content":"hi","timestamp":5}],"metadata":{"id":"m"}}"#,
            r#"{"messages":[{"content":"hi","role":"user"}],"metadata":{"id":"m"},"user":"u"}"#,
        ),
        // OpenAI chat completions: results in the order in which they were asked for.
        (
            r#"{"messages":[
                {"role":"assistant","tool_calls":[
                    {"id":"call_b","type":"function","function":{"name":"f","arguments":"{}"}},
                    {"id":"call_a","type":"function","function":{"name":"g","arguments":"{}"}}]},
                {"role":"tool","tool_call_id":"call_a","content":"a"},
                {"role":"tool","tool_call_id":"call_b","content":"b"},
                {"role":"user","content":"go on"}],
               "tools":[{"type":"function","id":"mine","function":{"name":"f"}}]}"#,
            r#"{"messages":[
                {"role":"assistant","tool_calls":[
                    {"id":"<id:1>","type":"function","function":{"name":"f","arguments":"{}"}},
                    {"id":"<id:2>","type":"function","function":{"name":"g","arguments":"{}"}}]},
                {"role":"tool","tool_call_id":"<id:1>","content":"b"},
                {"role":"tool","tool_call_id":"<id:2>","content":"a"},
                {"role":"user","content":"go on"}],
               "tools":[{"type":"function","id":"mine","function":{"name":"f"}}]}"#,
        ),
        // Results that something stands between keep their places.
        (
            r#"{"messages":[
                {"role":"assistant","tool_calls":[{"id":"x","function":{}},{"id":"y","function":{}}]},
                {"role":"tool","tool_call_id":"y"},{"role":"user"},{"role":"tool","tool_call_id":"x"}]}"#,
            r#"{"messages":[
                {"role":"assistant","tool_calls":[{"id":"<id:1>","function":{}},{"id":"<id:2>","function":{}}]},
                {"role":"tool","tool_call_id":"<id:2>"},{"role":"user"},{"role":"tool","tool_call_id":"<id:1>"}]}"#,
        ),
        // OpenAI responses.
        (
            r#"{"previous_response_id":"resp_1","input":[
                {"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{}"},
                {"type":"function_call","id":"fc_2","call_id":"call_2","name":"f","arguments":"{}"},
                {"type":"function_call_output","call_id":"call_2","output":"2"},
                {"type":"function_call_output","call_id":"call_1","output":"1"}]}"#,
            r#"{"previous_response_id":"<id:5>","input":[
                {"type":"function_call","id":"<id:2>","call_id":"<id:1>","name":"f","arguments":"{}"},
                {"type":"function_call","id":"<id:4>","call_id":"<id:3>","name":"f","arguments":"{}"},
                {"type":"function_call_output","call_id":"<id:1>","output":"1"},
                {"type":"function_call_output","call_id":"<id:3>","output":"2"}]}"#,
        ),
        // Anthropic: the input of a tool is the user's, whatever it looks like.
        (
            r#"{"messages":[
                {"role":"assistant","content":[
                    {"type":"tool_use","id":"toolu_1","name":"f","input":{"id":"T-1","type":"refund","call_id":"k"}},
                    {"type":"tool_use","id":"toolu_2","name":"f","input":{}}]},
                {"role":"user","content":[
                    {"type":"tool_result","tool_use_id":"toolu_2","content":"2"},
                    {"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"1"}]}]}]}"#,
            r#"{"messages":[
                {"role":"assistant","content":[
                    {"type":"tool_use","id":"<id:1>","name":"f","input":{"id":"T-1","type":"refund","call_id":"k"}},
                    {"type":"tool_use","id":"<id:2>","name":"f","input":{}}]},
                {"role":"user","content":[
                    {"type":"tool_result","tool_use_id":"<id:1>","content":[{"type":"text","text":"1"}]},
                    {"type":"tool_result","tool_use_id":"<id:2>","content":"2"}]}]}"#,
        ),
        // Gemini, with ids.
        (
            r#"{"contents":[
                {"role":"model","parts":[
                    {"functionCall":{"id":"g1","name":"f","args":{"id":"T-1"}}},
                    {"functionCall":{"id":"g2","name":"f","args":{}}}]},
                {"role":"user","parts":[
                    {"functionResponse":{"id":"g2","name":"f","response":{"id":"T-2"}}},
                    {"functionResponse":{"id":"g1","name":"f","response":{"id":"T-1"}}}]}]}"#,
            r#"{"contents":[
                {"role":"model","parts":[
                    {"functionCall":{"id":"<id:1>","name":"f","args":{"id":"T-1"}}},
                    {"functionCall":{"id":"<id:2>","name":"f","args":{}}}]},
                {"role":"user","parts":[
                    {"functionResponse":{"id":"<id:1>","name":"f","response":{"id":"T-1"}}},
                    {"functionResponse":{"id":"<id:2>","name":"f","response":{"id":"T-2"}}}]}]}"#,
        ),
        // A stored prompt is the user's own.
        (r#"{"prompt":{"id":"pmpt_1","version":"2"}}"#, r#"{"prompt":{"id":"pmpt_1","version":"2"}}"#),
        ("[1,\"x\"]", "[1,\"x\"]"),
    ] {
        assert_eq!(normalize_request(&json(request)), json(normalized), "{request}");
    }
}

#[test]
fn normalising_again_changes_nothing() {
    let request = json(
        r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"b","function":{}},{"id":"a","function":{}}]},
        {"role":"tool","tool_call_id":"a"},{"role":"tool","tool_call_id":"b"}]}"#,
    );
    let once = normalize_request(&request);
    assert_eq!(normalize_request(&once), once);
}
