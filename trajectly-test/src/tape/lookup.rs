//! Calls that the agent answers itself, from the fixture file: what they took, and why they found nothing.

use std::collections::{HashMap, HashSet};

use trajectly_engine::fixture::{CallKind, Fixture, Fixtures};
use trajectly_engine::json::{Json, Object};
use trajectly_engine::trace::{EventType, LOOKS_UP, Row};

use super::inside::{answered, asked};
use super::{Answers, Tape, lock};

/// How the errors begin with which the SDK refuses a call before it looks for an answer.
const FORBIDDEN: &str = "CONTRACT_";
/// And those with which it says that it found none.
const NOT_FOUND: [&str; 3] = ["FIXTURE_EXHAUSTED", "Missing fixture for ", "by_index mismatch for "];

/// A call that found its answer.
struct Found {
    /// The row that begins it.
    called: usize,
    fixture: usize,
}

impl Tape {
    /// Notes on the calls of a replay which fixtures answered them, and what is wrong with those that none did. The calls
    /// that were made inside of an answered one, when it was recorded, are added: they happened all the same.
    ///
    /// `rows` are as [`adopt`](trajectly_engine::trace::adopt) leaves them. Those of a recording stay as they are.
    pub(crate) fn look_up(&self, mut rows: Vec<Row>) -> Vec<Row> {
        let Answers::Recorded { fixtures, .. } = &self.answers else { return rows };
        let mut open: HashMap<String, usize> = HashMap::new();
        let mut calls = Vec::new();
        for (place, row) in rows.iter().enumerate().filter(|(_, row)| row.meta.contains_key(LOOKS_UP)) {
            let id = row.meta.str("call_id").unwrap_or_default().to_owned();
            match row.event_type {
                EventType::ToolCalled | EventType::LlmCalled => drop(open.insert(id, place)),
                _ => calls.extend(open.remove(&id).map(|called| (called, place))),
            }
        }
        calls.sort_unstable();
        let mut found = Vec::new();
        for (called, returned) in calls {
            let (before, after) = rows.split_at_mut(returned);
            if let (Some(call), Some(answer)) = (before.get(called), after.first_mut())
                && let Some(fixture) = self.explain(call, answer)
            {
                found.push(Found { called, fixture });
            }
        }
        self.add_inside(rows, &found, fixtures)
    }

    /// Notes on a return what answered the call, and returns the fixture; or says that nothing could.
    fn explain(&self, call: &Row, answer: &mut Row) -> Option<usize> {
        let Answers::Recorded { fixtures, matcher } = &self.answers else { return None };
        let (kind, name, input) = match call.event_type {
            EventType::LlmCalled => {
                let part = |key| call.payload.str(key).unwrap_or("unknown");
                (CallKind::Llm, format!("{}:{}", part("provider"), part("model")), call.payload.get("request"))
            }
            _ => (
                CallKind::Tool,
                call.payload.str("tool_name").unwrap_or("unknown").to_owned(),
                call.payload.get("input"),
            ),
        };
        let is_answered = answer.meta.get("replayed").and_then(Json::as_bool) == Some(true);
        let error = answer.payload.str("error").filter(|_| !is_answered);
        let is_forbidden = error.is_some_and(|error| error.starts_with(FORBIDDEN));
        if kind == CallKind::Tool
            && is_forbidden
            && let Some(code) = self.contracts.forbid_tool(&name)
        {
            fail(answer, code.as_str(), &format!("the spec forbids `{name}`, so it was not run"), None);
            return None;
        }
        // The SDK was told to run none but those that were recorded.
        let is_unrecorded = fixtures.entries.iter().all(|fixture| fixture.kind != kind || fixture.name != name);
        let is_not_found = error.is_some_and(|error| NOT_FOUND.iter().any(|beginning| error.starts_with(beginning)));
        // What it did not find, and could not be told not to run. Nobody else gives a `result`.
        let was_made = !is_answered && error.is_none() && answer.payload.contains_key("result");
        if !(is_answered || is_not_found || was_made || (is_forbidden && is_unrecorded)) {
            return None;
        }
        let nothing = Json::from(Object::new());
        match Self::take(fixtures, matcher, kind, &name, input.unwrap_or(&nothing)) {
            Ok(hit) if is_answered => {
                answer.meta.insert("fixture", hit.index);
                Some(hit.index)
            }
            Ok(_) => {
                let message = format!(
                    "this call of `{name}` was recorded with other volatile values, and the agent's SDK compares them too"
                );
                fail(answer, "FIXTURE_MISSING", &message, None);
                None
            }
            Err(refusal) => {
                fail(answer, refusal.code, &refusal.message, Some(refusal.details));
                None
            }
        }
    }

    /// Adds the calls that nobody made because the call around them was answered.
    fn add_inside(&self, rows: Vec<Row>, found: &[Found], fixtures: &Fixtures) -> Vec<Row> {
        let made = found.iter().map(|found| found.fixture).collect();
        let by_row: HashMap<usize, usize> = found.iter().map(|found| (found.called, found.fixture)).collect();
        let mut whole = Whole { tape: self, fixtures, made, rows: Vec::with_capacity(rows.len()) };
        for (place, row) in rows.into_iter().enumerate() {
            let (rel_ms, id) = (row.rel_ms, row.meta.str("call_id").unwrap_or_default().to_owned());
            whole.rows.push(row);
            if let Some(&fixture) = by_row.get(&place) {
                let depth = fixtures.entries.get(fixture).map_or(0, Fixture::depth);
                whole.add_after(fixture + 1, depth, &id, rel_ms);
            }
        }
        whole.rows
    }

    /// Counts a fixture as used.
    fn use_up(&self, call: &Fixture) {
        if let Answers::Recorded { matcher, .. } = &self.answers {
            let _ = lock(matcher).take(call.kind, &call.name, &call.input);
        }
    }
}

/// The rows of a run, with those that it did not make itself.
struct Whole<'a> {
    tape: &'a Tape,
    fixtures: &'a Fixtures,
    /// The fixtures of the calls that were made.
    made: HashSet<usize>,
    rows: Vec<Row>,
}

impl Whole<'_> {
    /// Adds the calls from a fixture on that are deeper than `depth`, made in the call `parent`.
    fn add_after(&mut self, from: usize, depth: u64, parent: &str, rel_ms: u64) {
        let fixtures = self.fixtures;
        let deeper = fixtures.entries.iter().enumerate().skip(from).take_while(|(_, call)| call.depth() > depth);
        for (index, call) in deeper.filter(|(_, call)| call.depth() == depth + 1) {
            if self.made.contains(&index) {
                continue;
            }
            self.tape.use_up(call);
            let id = format!("inside-{index}-of-{parent}");
            let meta = Object::new().with("call_id", id.as_str()).with("replayed", true);
            let (called, returned) = match call.kind {
                CallKind::Tool => (EventType::ToolCalled, EventType::ToolReturned),
                CallKind::Llm => (EventType::LlmCalled, EventType::LlmReturned),
            };
            let (payload, of_call) = (asked(call), meta.clone().with("parent", parent));
            self.rows.push(Row { event_type: called, rel_ms, payload, meta: of_call });
            self.add_after(index + 1, call.depth(), &id, rel_ms);
            let (payload, of_return) = (answered(call), meta.with("fixture", index));
            self.rows.push(Row { event_type: returned, rel_ms, payload, meta: of_return });
        }
    }
}

fn fail(answer: &mut Row, code: &str, message: &str, details: Option<Object>) {
    answer.payload.insert("error", message);
    answer.payload.insert("error_code", code);
    if let Some(details) = details {
        answer.payload.insert("error_details", details);
    }
}
