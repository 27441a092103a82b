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
            let key = if call.kind == CallKind::Tool { "input" } else { "request" };
            let payload = named(call).with(key, call.input.clone());
            self.emit(called, payload, meta.clone().with("parent", parent));
            self.replay_inside(call, &call_id);
            let mut payload = named(call);
            for (key, value) in call.output.iter().filter(|(key, _)| !NOTES.contains(key)) {
                payload.insert(key, value.clone());
            }
            self.emit(returned, payload, meta);
        }
    }
}

/// A payload with the members that name what was called.
fn named(call: &Fixture) -> Object {
    match (call.kind, call.name.split_once(':')) {
        (CallKind::Llm, Some((provider, model))) => Object::new().with("provider", provider).with("model", model),
        _ => Object::new().with("tool_name", call.name.as_str()),
    }
}
