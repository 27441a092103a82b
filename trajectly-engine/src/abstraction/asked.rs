//! Which model response asked for a tool call, in a trace.

use std::collections::HashMap;

use crate::json::Json;
use crate::trace::{Event, EventType, Trace};

/// By event: for a tool call that a model asked for, the index of the response that did.
///
/// A call meets the latest response that asked for a tool of its name and whose requests of that name are not all met. What a tool
/// calls in turn belongs to the response that asked for the outermost call.
pub(crate) fn responses(trace: &Trace) -> Vec<Option<usize>> {
    let mut asked: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut by_call: HashMap<&str, Option<usize>> = HashMap::new();
    let mut responses = vec![None; trace.events.len()];
    for (index, event) in trace.events.iter().enumerate() {
        match event.event_type {
            EventType::LlmReturned => requested(event).for_each(|tool| asked.entry(tool).or_default().push(index)),
            EventType::ToolCalled => {
                let of_parent = event.meta.str("parent").and_then(|parent| by_call.get(parent).copied());
                responses[index] = of_parent.unwrap_or_else(|| asked.get_mut(event.tool_name()?)?.pop());
                if let Some(id) = event.meta.str("call_id") {
                    by_call.insert(id, responses[index]);
                }
            }
            _ => {}
        }
    }
    responses
}

/// The tools that a response asks for: as the gateway noted them, else as an OpenAI body has them.
fn requested(event: &Event) -> impl Iterator<Item = &str> {
    let noted = event.meta.get("requested");
    let of_note = items(noted).iter().filter_map(|request| request.get("name")?.as_str());
    let body = event.payload.get("response").filter(|_| noted.is_none());
    let choices = items(body.and_then(|body| body.get("choices"))).iter();
    let calls = choices.flat_map(|choice| items(choice.at("/message/tool_calls")));
    of_note.chain(calls.filter_map(|call| call.at("/function/name")?.as_str()))
}

fn items(value: Option<&Json>) -> &[Json] {
    value.and_then(Json::as_array).unwrap_or_default()
}
