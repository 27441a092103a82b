//! One event in one line.

use trajectly_engine::json::{Json, Object};
#[cfg(feature = "cli")]
use trajectly_engine::trace::Trace;
use trajectly_engine::trace::{Event, EventType};

#[cfg(feature = "cli")]
use super::text::WIDTH;
use super::text::{clean, fit};

/// Columns of a name.
const NAME: usize = 60;
/// Columns of one argument.
const ARGUMENT: usize = 40;

/// An event as people read it: `CALL fetch_ticket("T-1")` is verb, name and detail.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) verb: &'static str,
    pub(super) name: String,
    pub(super) detail: String,
}

/// How the arguments of a call are written.
#[derive(Clone, Copy)]
pub(super) enum Arguments {
    /// `id="T-1"`
    Named,
    /// `"T-1"`
    Values,
}

/// An event where it stands alone.
pub(super) fn line(event: &Event, arguments: Arguments) -> Line {
    let (verb, name, detail) = match event.event_type {
        EventType::ToolCalled => ("CALL", name_of(event), format!("({})", call_arguments(event, arguments))),
        EventType::LlmCalled => ("LLM", name_of(event), String::new()),
        EventType::ToolReturned | EventType::LlmReturned => ("RETURN", name_of(event), outcome(event)),
        EventType::AgentStep => ("STEP", event.payload.str("name").unwrap_or("step").to_owned(), String::new()),
        EventType::RunStarted => ("RUN", "started".to_owned(), String::new()),
        EventType::RunFinished => ("RUN", "finished".to_owned(), exit(event)),
    };
    Line { verb, name: fit(&name, NAME), detail }
}

/// The events of a part of a trace, a line each, with their indices in the whole: `event 6  CALL store("T-1")`.
#[cfg(feature = "cli")]
pub(crate) fn outline(part: &Trace) -> String {
    let row = |event: &Event| {
        let Line { verb, name, detail } = line(event, Arguments::Named);
        fit(&format!("event {}  {verb} {name}{detail}", event.seq.saturating_sub(1)), WIDTH - 3)
    };
    part.events.iter().map(|event| format!("   {}\n", row(event))).collect()
}

/// A value in one line: strings quoted, containers compact, cut to `width` columns.
pub(super) fn value(value: &Json, width: usize) -> String {
    match value {
        Json::String(text) => quoted(text, width),
        other => fit(&other.to_compact(), width),
    }
}

/// A string with its closing quote, however much of it is left out.
fn quoted(text: &str, width: usize) -> String {
    // What is beyond the width is not looked at: a tool may have been given a whole file.
    let start: String = text.chars().take(width + 1).collect();
    let whole = clean(&Json::from(start).to_compact());
    if text.chars().nth(width).is_none() && super::text::width_of(&whole) <= width {
        return whole;
    }
    let open = whole.strip_suffix('"').unwrap_or(&whole);
    let mut cut = fit(open, width.saturating_sub(2));
    if !cut.ends_with('…') {
        cut.push('…');
    }
    cut.push('"');
    cut
}

fn name_of(event: &Event) -> String {
    match event.tool_name() {
        Some(name) => name.to_owned(),
        None => event.model_name().unwrap_or_default(),
    }
}

fn call_arguments(event: &Event, arguments: Arguments) -> String {
    let Some(input) = event.payload.get("input") else { return String::new() };
    let list = input.get("args").and_then(Json::as_array);
    let named = input.get("kwargs").and_then(Json::as_object);
    if list.is_none() && named.is_none() {
        return value(input, ARGUMENT);
    }
    let mut parts: Vec<String> = list.unwrap_or_default().iter().map(|item| value(item, ARGUMENT)).collect();
    for (key, item) in named.into_iter().flat_map(Object::iter) {
        parts.push(match arguments {
            Arguments::Named => format!("{}={}", fit(key, ARGUMENT), value(item, ARGUMENT)),
            Arguments::Values => value(item, ARGUMENT),
        });
    }
    parts.join(", ")
}

fn outcome(event: &Event) -> String {
    if let Some(code) = event.payload.str("error_code") {
        return format!(" failed: {}", fit(code, ARGUMENT));
    }
    if let Some(error) = event.payload.str("error") {
        return format!(" failed: {}", value(&error.into(), 2 * ARGUMENT));
    }
    match event.payload.get("output") {
        Some(output) if event.event_type == EventType::ToolReturned => format!(" -> {}", value(output, 2 * ARGUMENT)),
        _ => String::new(),
    }
}

fn exit(event: &Event) -> String {
    match event.payload.get("returncode").and_then(Json::as_i64) {
        Some(code) if code != 0 => format!(" with code {code}"),
        _ => String::new(),
    }
}
