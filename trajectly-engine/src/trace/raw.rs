//! Raw rows: what a running agent appends, before it is put in order and numbered.

use std::sync::Arc;

use super::adopt::LOOKS_UP;
use super::event::{Envelope, Event, EventError, EventType, check_tool_name};
use super::{Trace, TraceError, lines};
use crate::json::{Json, Object, Scratch};

/// The notes that serve the making of fixtures and are no part of a trace.
const RECORDING_NOTES: [&str; 4] = ["answered", "cluster", LOOKS_UP, "stream"];

/// One row: an event without number, run and identity.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What the row reports.
    pub event_type: EventType,
    /// Milliseconds since the run began, by the clock of whoever wrote the row.
    pub rel_ms: u64,
    /// What happened.
    pub payload: Object,
    /// Notes about it, such as `call_id`.
    pub meta: Object,
}

/// Reads the rows that a run appended, in the order of the file.
///
/// Lenient where the writers are: blanks around a type do not count, a payload that is no object is wrapped as
/// `{"value": …}`, notes that are none are empty, a time that is no number is that of the row before. If the writer
/// `was_killed`, a last line without its newline that does not read is what the kill left, and is left out.
///
/// # Errors
///
/// At the first other line that is not JSON, no object, of no known type, or a tool row that names no tool.
pub fn parse_rows(text: &str, source: &str, was_killed: bool) -> Result<Vec<Row>, TraceError> {
    let mut rows: Vec<Row> = Vec::new();
    let mut scratch = Scratch::default();
    let may_be_torn = was_killed && !text.ends_with('\n');
    let torn = may_be_torn.then(|| lines(text).last().map(|(line, _)| line)).flatten();
    for (line, text) in lines(text) {
        let envelope = match Envelope::parse(text, &mut scratch) {
            Ok(envelope) => envelope,
            Err(_) if torn == Some(line) => break,
            Err(error) => return Err(TraceError::not_json(source, line, error)),
        };
        let before = rows.last().map_or(0, |row| row.rel_ms);
        rows.push(envelope.into_row(before).map_err(|error| TraceError::not_an_event(source, line, error))?);
    }
    Ok(rows)
}

/// Makes a trace of ordered rows: numbered from 1, times never falling, without the notes that only a recording needs.
pub fn number(rows: Vec<Row>, run_id: &str) -> Trace {
    let run_id: Arc<str> = run_id.into();
    let mut latest = 0;
    let event = |(seq, mut row): (u64, Row)| {
        latest = row.rel_ms.max(latest);
        row.meta.retain(|key, _| !RECORDING_NOTES.contains(&key));
        Event {
            event_type: row.event_type,
            seq,
            run_id: Arc::clone(&run_id),
            rel_ms: latest,
            payload: row.payload,
            meta: row.meta,
            event_id: None,
        }
    };
    Trace { events: (1..).zip(rows).map(event).collect() }
}

impl Envelope {
    /// The row that these members make, after one of the time `before`.
    fn into_row(self, before: u64) -> Result<Row, EventError> {
        let event_type = self.row_type()?;
        let payload = match self.payload {
            None => Object::new(),
            Some(Json::Object(payload)) => payload,
            Some(other) => Object::new().with("value", other),
        };
        let meta = match self.meta {
            Some(Json::Object(meta)) => meta,
            _ => Object::new(),
        };
        check_tool_name(event_type, &payload)?;
        let rel_ms = self.rel_ms.as_ref().and_then(milliseconds).unwrap_or(before);
        Ok(Row { event_type, rel_ms, payload, meta })
    }
}

/// A time as the writers of rows put it: a number, or a text that is an integer. One before the start is the start.
fn milliseconds(value: &Json) -> Option<u64> {
    match value {
        Json::Number(number) if number.is_integer() => number.as_u64().or_else(|| number.as_i64().map(|_| 0)),
        // A cast saturates, so that an odd time stays a time.
        Json::Number(number) => number.as_f64().map(|float| float as u64),
        Json::String(text) => text.trim().parse().ok().map(|time: i64| time.max(0).unsigned_abs()),
        _ => None,
    }
}
