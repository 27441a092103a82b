//! How the run itself went: whether the agent failed, and whether replay had an answer for every call.

use super::Input;
use crate::code::Code;
use crate::json::{Json, Object};
use crate::trace::{Event, EventType};
use crate::verdict::Violation;

pub(super) fn check(input: &Input<'_>, violations: &mut Vec<Violation>) {
    let events = input.trace.events.iter().enumerate();
    violations.extend(events.filter_map(|(index, event)| unanswered(index, event)));
    violations.extend(input.finished().and_then(|(index, event)| failed(index, event)));
}

/// A call that replay could not answer, as the event of its return says.
fn unanswered(index: usize, event: &Event) -> Option<Violation> {
    let (EventType::ToolReturned | EventType::LlmReturned) = event.event_type else { return None };
    let (code, default) = match event.payload.str("error_code")?.parse() {
        Ok(code @ Code::FixtureMissing) => (code, "no answer was recorded for this call"),
        Ok(code @ Code::FixtureExhausted) => (code, "every recorded answer for this call is used up"),
        Ok(code @ Code::FixtureMismatch) => (code, "this call differs from the one recorded in its place"),
        _ => return None,
    };
    let message = event.payload.str("error").filter(|error| !error.is_empty()).unwrap_or(default);
    let details = event.payload.get("error_details").and_then(Json::as_object);
    let part = |keys: &[&str]| {
        let found = keys.iter().filter_map(|key| Some(((*key).to_owned(), details?.get(key)?.clone())));
        Some(found.collect::<Object>()).filter(|part| !part.is_empty()).map(Json::from)
    };
    Some(Violation {
        expected: part(&["expected_signature", "available_count"]),
        observed: part(&["consumed_count", "tool_name", "llm_signature"]),
        ..Violation::new(code, index, message.to_owned()).hint("record again if the call is now intended")
    })
}

fn failed(index: usize, event: &Event) -> Option<Violation> {
    let internal = event.payload.get("internal_error").filter(|error| !matches!(error, Json::Null | Json::Bool(false)));
    let (message, observed) = match (internal, event.payload.get("returncode").and_then(Json::as_number)) {
        (Some(Json::String(error)), _) if error.is_empty() => return None,
        (Some(Json::String(error)), _) => (format!("the agent failed: {error}"), error.as_str().into()),
        (Some(error), _) => (format!("the agent failed: {error}"), error.clone()),
        (None, Some(code)) if code.as_f64() != Some(0.0) => {
            (format!("the agent ended with exit code {code}"), Json::Number(code.clone()))
        }
        _ => return None,
    };
    Some(Violation::new(Code::AgentRunFailed, index, message).observed(observed))
}
