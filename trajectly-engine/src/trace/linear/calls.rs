//! Rows joined into units: a call with its return, or a row that stands alone.

use std::collections::HashMap;

use super::super::{EventType, Row};
use crate::fixture::CallKind;

/// The position of a unit in [`Calls::units`].
pub(super) type UnitId = usize;

/// A call, or a single row.
pub(super) struct Unit {
    /// The row that begins it.
    pub(super) called: usize,
    /// The row that ends it, if it is a call that ended.
    pub(super) returned: Option<usize>,
    /// What was called; `None` for a row that stands alone.
    pub(super) kind: Option<CallKind>,
    /// The call inside of which it was made.
    pub(super) parent: Option<UnitId>,
    /// The conversation that a model call belongs to.
    pub(super) thread: Option<u64>,
    /// The fixture that answered the call.
    pub(super) fixture: Option<usize>,
}

impl Unit {
    /// The last row of the unit that is known; a call that never returned is over when it begins.
    pub(super) fn end(&self) -> usize {
        self.returned.unwrap_or(self.called)
    }
}

/// The units of a run, in the order in which they began.
pub(super) struct Calls {
    pub(super) units: Vec<Unit>,
    /// The units made inside of each unit, in the order in which they began.
    children: Vec<Vec<UnitId>>,
    /// The units made inside of none.
    pub(super) roots: Vec<UnitId>,
}

impl Calls {
    pub(super) fn of(rows: &[Row]) -> Calls {
        let mut calls = Calls { units: Vec::new(), children: Vec::new(), roots: Vec::new() };
        let mut latest: HashMap<&str, UnitId> = HashMap::new();
        let mut open: HashMap<(&str, CallKind), Vec<UnitId>> = HashMap::new();
        for (place, row) in rows.iter().enumerate() {
            let call_id = row.meta.str("call_id");
            if let (Some(id), Some(kind)) = (call_id, returned_kind(row.event_type))
                && let Some(unit) = open.get_mut(&(id, kind)).and_then(Vec::pop)
            {
                let unit = &mut calls.units[unit];
                unit.returned = Some(place);
                unit.fixture = number(row, "fixture").and_then(|index| index.try_into().ok());
                continue;
            }
            // A parent began before its children, so that no call is inside itself.
            let parent = row.meta.str("parent").and_then(|parent| latest.get(parent).copied());
            let kind = call_id.and_then(|_| called_kind(row.event_type));
            let thread = kind.filter(|kind| *kind == CallKind::Llm).and_then(|_| number(row, "thread"));
            let unit = calls.push(Unit { called: place, returned: None, kind, parent, thread, fixture: None });
            if let (Some(id), Some(kind)) = (call_id, kind) {
                latest.insert(id, unit);
                open.entry((id, kind)).or_default().push(unit);
            }
        }
        calls
    }

    fn push(&mut self, unit: Unit) -> UnitId {
        let id = self.units.len();
        match unit.parent {
            Some(parent) => self.children[parent].push(id),
            None => self.roots.push(id),
        }
        self.units.push(unit);
        self.children.push(Vec::new());
        id
    }

    pub(super) fn children(&self, unit: UnitId) -> &[UnitId] {
        &self.children[unit]
    }
}

fn number(row: &Row, note: &str) -> Option<u64> {
    row.meta.get(note)?.as_u64()
}

fn called_kind(event_type: EventType) -> Option<CallKind> {
    match event_type {
        EventType::ToolCalled => Some(CallKind::Tool),
        EventType::LlmCalled => Some(CallKind::Llm),
        _ => None,
    }
}

fn returned_kind(event_type: EventType) -> Option<CallKind> {
    match event_type {
        EventType::ToolReturned => Some(CallKind::Tool),
        EventType::LlmReturned => Some(CallKind::Llm),
        _ => None,
    }
}
