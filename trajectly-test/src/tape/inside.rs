//! Calls inside of a call: replaying the outer one, nobody makes them, and the trace shows them all the same.

use std::sync::atomic::Ordering;

use trajectly_engine::fixture::{CallKind, Fixture};
use trajectly_engine::json::Object;

use super::Tape;

/// What a fixture's output holds beside the payload of the return it was made of.
const NOTES: [&str; 3] = ["duration_ms", "status", "stream"];

impl Tape {
    /// Writes down the calls that were made inside of the call that `fixture` answers, and those inside of them.
    pub(super) fn replay_inside(&self, fixture: &Fixture, parent: &str) {
        for call in &fixture.inside {
            let call_id = format!("g{}", self.next.fetch_add(1, Ordering::Relaxed));
            let meta = Object::new().with("call_id", call_id.as_str()).with("replayed", true);
            let (called, returned) = match call.kind {
                CallKind::Tool => ("tool_called", "tool_returned"),
                CallKind::Llm => ("llm_called", "llm_returned"),
            };
            self.emit(called, asked(call), meta.clone().with("parent", parent));
            self.replay_inside(call, &call_id);
            self.emit(returned, answered(call), meta);
        }
    }
}

/// The payload of the call that a fixture was made of.
pub(super) fn asked(call: &Fixture) -> Object {
    named(call).with(if call.kind == CallKind::Tool { "input" } else { "request" }, call.input.clone())
}

/// The payload of its return.
pub(super) fn answered(call: &Fixture) -> Object {
    let mut payload = named(call);
    for (key, value) in call.output.iter().filter(|(key, _)| !NOTES.contains(key)) {
        payload.insert(key, value.clone());
    }
    payload
}

/// A payload with the members that name what was called.
fn named(call: &Fixture) -> Object {
    match (call.kind, call.name.split_once(':')) {
        (CallKind::Llm, Some((provider, model))) => Object::new().with("provider", provider).with("model", model),
        _ => Object::new().with("tool_name", call.name.as_str()),
    }
}
