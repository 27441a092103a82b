//! Which return answers which call.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Event, EventType, Trace};

/// Calls of one kind, by what they are known by.
type Open<'t> = HashMap<(EventType, Cow<'t, str>), Vec<usize>>;

impl Trace {
    /// For each event, the index of the call that it answers; `None` for all but returns, and for a return without a call.
    ///
    /// A call and its return have the same `call_id` in their `meta`. Where one of them has none, the innermost open call of
    /// the same tool or model is meant.
    pub fn answered_calls(&self) -> Vec<Option<usize>> {
        let mut is_open = vec![false; self.events.len()];
        let (mut by_id, mut by_name, mut by_name_alone) = (Open::new(), Open::new(), Open::new());
        let mut answered = Vec::with_capacity(self.events.len());
        for (index, event) in self.events.iter().enumerate() {
            let id = event.meta.str("call_id").map(Cow::Borrowed);
            let asks = match event.event_type {
                EventType::ToolReturned => EventType::ToolCalled,
                EventType::LlmReturned => EventType::LlmCalled,
                called => called,
            };
            let call = match event.event_type {
                EventType::ToolCalled | EventType::LlmCalled => {
                    is_open[index] = true;
                    by_name.entry((asks, name(event))).or_default().push(index);
                    let known_by = match id {
                        Some(id) => by_id.entry((asks, id)),
                        None => by_name_alone.entry((asks, name(event))),
                    };
                    known_by.or_default().push(index);
                    None
                }
                EventType::ToolReturned | EventType::LlmReturned => {
                    let named = (asks, name(event));
                    match id {
                        Some(id) => innermost(&mut by_id, &is_open, &(asks, id)).max(innermost(
                            &mut by_name_alone,
                            &is_open,
                            &named,
                        )),
                        None => innermost(&mut by_name, &is_open, &named),
                    }
                }
                _ => None,
            };
            if let Some(call) = call {
                is_open[call] = false;
            }
            answered.push(call);
        }
        answered
    }
}

/// The last of the calls under a key that is still open. Those that are not are forgotten.
fn innermost<'t>(open: &mut Open<'t>, is_open: &[bool], key: &(EventType, Cow<'t, str>)) -> Option<usize> {
    let calls = open.get_mut(key)?;
    while calls.last().is_some_and(|call| !is_open[*call]) {
        calls.pop();
    }
    calls.last().copied()
}

fn name(event: &Event) -> Cow<'_, str> {
    match event.tool_name() {
        Some(tool) => Cow::Borrowed(tool),
        None => Cow::Owned(event.model_name().unwrap_or_default()),
    }
}
