//! Giving ids to calls whose writers give none, so that they can be put in order as all others are.

use std::collections::{HashMap, HashSet};

use super::event::EventType;
use super::raw::Row;
use crate::fixture::{CallKind, call_name};

/// The note on rows whose writer gave no ids, and looks its fixtures up in the file.
pub const LOOKS_UP: &str = "looks_up";

/// A call without an id.
struct Call {
    kind: CallKind,
    name: String,
    called: usize,
    returned: Option<usize>,
}

/// Gives ids to the calls that have none, as those of the Python SDK; `rows` come in the order of their arrival.
///
/// A return belongs to the innermost open call of its name. A row that lies between a call and its return, as a whole if it
/// is a call, was made in it; calls that overlap otherwise were in flight together. Rows that are given an id get the note
/// [`LOOKS_UP`]. A model call that the gateway saw while a call of the same model was open here is that very call, and is
/// left out.
pub fn adopt(rows: Vec<Row>) -> Vec<Row> {
    let calls = pair(&rows);
    if calls.is_empty() {
        return rows;
    }
    let seen_twice = seen_twice(&rows, &calls);
    let by_row: HashMap<usize, usize> = calls
        .iter()
        .enumerate()
        .flat_map(|(id, call)| [Some((call.called, id)), call.returned.map(|row| (row, id))])
        .flatten()
        .collect();
    let mut open: Vec<usize> = Vec::new();
    let mut out = Vec::with_capacity(rows.len());
    for (place, mut row) in rows.into_iter().enumerate() {
        if seen_twice.contains(&place) {
            continue;
        }
        let id = by_row.get(&place).copied();
        open.retain(|&call| calls[call].returned != Some(place));
        let begins = id.is_none_or(|id| calls[id].called == place);
        if begins && row.meta.str("call_id").is_none() {
            let end = id.and_then(|id| calls[id].returned).unwrap_or(place);
            let parent = open.iter().rfind(|&&call| calls[call].returned.is_some_and(|returned| end < returned));
            if let Some(parent) = parent.filter(|_| !row.meta.contains_key("parent")) {
                row.meta.insert("parent", name_of(*parent));
            }
        }
        if let Some(id) = id {
            row.meta.insert("call_id", name_of(id));
            row.meta.insert(LOOKS_UP, true);
            if begins {
                open.push(id);
            }
        }
        out.push(row);
    }
    out
}

/// An id that no other writer gives.
fn name_of(call: usize) -> String {
    format!("adopted-{call}")
}

fn pair(rows: &[Row]) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (place, row) in rows.iter().enumerate().filter(|(_, row)| row.meta.str("call_id").is_none()) {
        match kind_of(row.event_type) {
            Some((kind, true)) => {
                open.push(calls.len());
                calls.push(Call { kind, name: call_name(kind, &row.payload), called: place, returned: None });
            }
            Some((kind, false)) => {
                let name = call_name(kind, &row.payload);
                let answered = open.iter().rposition(|&call| calls[call].kind == kind && calls[call].name == name);
                if let Some(answered) = answered {
                    calls[open.remove(answered)].returned = Some(place);
                }
            }
            None => {}
        }
    }
    calls
}

/// The rows of model calls that were seen on their way, too.
fn seen_twice(rows: &[Row], calls: &[Call]) -> HashSet<usize> {
    let mut ids = HashSet::new();
    let mut seen = HashSet::new();
    for (place, row) in rows.iter().enumerate() {
        let Some(id) = row.meta.str("call_id") else { continue };
        let is_seen = match row.event_type {
            EventType::LlmCalled => {
                let name = call_name(CallKind::Llm, &row.payload);
                let is_around = |call: &Call| {
                    call.kind == CallKind::Llm
                        && call.name == name
                        && call.called < place
                        && call.returned.is_none_or(|returned| place < returned)
                };
                calls.iter().any(is_around) && ids.insert(id)
            }
            EventType::LlmReturned => ids.contains(id),
            _ => false,
        };
        if is_seen {
            seen.insert(place);
        }
    }
    seen
}

/// What a row is about, and whether it begins the call.
fn kind_of(event_type: EventType) -> Option<(CallKind, bool)> {
    match event_type {
        EventType::ToolCalled => Some((CallKind::Tool, true)),
        EventType::ToolReturned => Some((CallKind::Tool, false)),
        EventType::LlmCalled => Some((CallKind::Llm, true)),
        EventType::LlmReturned => Some((CallKind::Llm, false)),
        EventType::RunStarted | EventType::AgentStep | EventType::RunFinished => None,
    }
}
