//! A trace as a person reviews it.

use std::fmt::Write as _;

use trajectly_engine::canonical::VOLATILE_KEYS;
use trajectly_engine::json::{Json, Object};
use trajectly_engine::spec::{SnapshotLevel, Spec};
use trajectly_engine::trace::{Event, EventType, Trace};

use crate::render::clean;

/// Renders calls of the trace, given as event indices, and the answer; `None` renders all calls but those of ignored tools.
///
/// With the calls that refinement requires, allowed extra calls are left out: refinement has spoken of them already.
pub(crate) fn text_of(spec: &Spec, trace: &Trace, calls: Option<&[usize]>) -> String {
    let mut out = String::new();
    let ignored = |name: &str| spec.refinement.ignore_call_tools.iter().any(|ignored| ignored == name);
    let all =
        || (0..trace.events.len()).filter(|&index| called(&trace.events[index]).is_some_and(|name| !ignored(name)));
    let calls = calls.map_or_else(|| all().collect(), <[usize]>::to_vec);
    for (before, index) in calls.into_iter().enumerate() {
        let event = &trace.events[index];
        let name = clean(event.tool_name().unwrap_or_default());
        let _ = write!(out, "{}. {name}", before + 1);
        if spec.snapshot != SnapshotLevel::Skeleton {
            let _ = write!(out, "({})", arguments(event));
        }
        out.push('\n');
        if spec.snapshot == SnapshotLevel::Full
            && let Some(result) = result_of(trace, index)
        {
            let _ = writeln!(out, "   {result}");
        }
    }
    let answer = trace.events.last().and_then(|event| event.payload.get("output"));
    if spec.snapshot != SnapshotLevel::Skeleton
        && let Some(answer) = answer
    {
        let _ = write!(out, "\nanswer: {}", steady(answer).to_pretty());
    }
    out
}

fn called(event: &Event) -> Option<&str> {
    (event.event_type == EventType::ToolCalled).then(|| event.tool_name()).flatten()
}

fn arguments(event: &Event) -> String {
    let input = event.payload.get("input");
    let list = input.and_then(|input| input.get("args")).and_then(Json::as_array).unwrap_or_default();
    let named = input.and_then(|input| input.get("kwargs")).and_then(Json::as_object);
    let mut parts: Vec<String> = list.iter().map(|value| steady(value).to_compact()).collect();
    for (key, value) in named.into_iter().flat_map(Object::iter) {
        let value = if is_volatile(key) { VOLATILE.to_owned() } else { steady(value).to_compact() };
        parts.push(format!("{}={value}", clean(key)));
    }
    parts.join(", ")
}

/// What the call at `index` came to.
fn result_of(trace: &Trace, index: usize) -> Option<String> {
    let call_id = trace.events.get(index)?.meta.str("call_id");
    let returned = trace.events[index + 1..].iter().find(|event| {
        event.event_type == EventType::ToolReturned && (call_id.is_none() || event.meta.str("call_id") == call_id)
    })?;
    Some(match returned.payload.str("error") {
        Some(error) => format!("✗ {}", clean(error)),
        None => format!("→ {}", steady(returned.payload.get("output").unwrap_or(&Json::Null)).to_compact()),
    })
}

const VOLATILE: &str = "[volatile]";

fn is_volatile(key: &str) -> bool {
    VOLATILE_KEYS.contains(&key)
}

/// The value with what changes from run to run blanked out.
fn steady(value: &Json) -> Json {
    match value {
        Json::Array(items) => Json::Array(items.iter().map(steady).collect()),
        Json::Object(object) => {
            let steady = |(key, value): (&str, &Json)| {
                (key.to_owned(), if is_volatile(key) { VOLATILE.into() } else { steady(value) })
            };
            Json::Object(object.iter().map(steady).collect())
        }
        other => other.clone(),
    }
}
