//! Traces: what one run of an agent did, as an ordered list of events, and their form as JSON Lines.

mod adopt;
mod calls;
mod event;
mod linear;
mod raw;

use std::fmt;
use std::io::BufRead;

use crate::json::{JsonError, Scratch};
pub use adopt::{LOOKS_UP, adopt};
use event::Envelope;
pub use event::{Event, EventError, EventType};
pub use linear::{OrderHints, linearize};
pub use raw::{Row, number, parse_rows};

/// The ordered events of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The events. An *event index* is always a position in this list, counted from 0; it is never [`Event::seq`].
    pub events: Vec<Event>,
}

impl Trace {
    /// Reads a trace from JSON Lines: one event a line, blank lines skipped.
    ///
    /// `source` names the text in errors; a path as the user would write it.
    ///
    /// # Errors
    ///
    /// At the first line that is not JSON or not an event.
    ///
    /// ```
    /// use trajectly_engine::trace::Trace;
    ///
    /// let error = Trace::parse("\n{\"event_type\": \"tool_call\"}\n", "run.jsonl").unwrap_err();
    /// assert!(error.to_string().starts_with("run.jsonl:2: "));
    /// ```
    pub fn parse(text: &str, source: &str) -> Result<Trace, TraceError> {
        let mut events = Vec::new();
        let mut scratch = Scratch::default();
        for (line, text) in lines(text) {
            events.push(event(text, &mut scratch, source, line)?);
        }
        Ok(Trace { events })
    }

    /// As [`Trace::parse`], from a reader, so that the text is never in memory as a whole.
    ///
    /// # Errors
    ///
    /// As [`Trace::parse`], and at the first line that cannot be read or is not UTF-8.
    pub fn read(mut reader: impl BufRead, source: &str) -> Result<Trace, TraceError> {
        let mut events = Vec::new();
        let mut bytes = Vec::new();
        let mut scratch = Scratch::default();
        for line in 1.. {
            bytes.clear();
            let unread = |error| TraceError::said(source, line, format!("the line cannot be read: {error}"));
            if reader.read_until(b'\n', &mut bytes).map_err(unread)? == 0 {
                break;
            }
            let text = std::str::from_utf8(&bytes).map_err(|error| {
                let after = error.valid_up_to();
                TraceError::said(source, line, format!("the line is not UTF-8: byte {after} begins no character"))
            })?;
            // An error at the end of the line is in the line, not in the next.
            let text = text.trim_end_matches(['\r', '\n']);
            if !is_blank(text) {
                events.push(event(text, &mut scratch, source, line)?);
            }
        }
        Ok(Trace { events })
    }

    /// Writes the trace as JSON Lines, each line ended by a newline; the members of an event are sorted by key.
    pub fn to_jsonl(&self) -> String {
        let mut out = String::new();
        for event in &self.events {
            event.write(&mut out);
            out.push('\n');
        }
        out
    }
}

/// The lines of a text that hold anything, with their numbers counted from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.split('\n').enumerate().map(|(before, line)| (before + 1, line));
    numbered.filter(|(_, line)| !is_blank(line))
}

fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| byte.is_ascii_whitespace())
}

fn event(text: &str, scratch: &mut Scratch, source: &str, line: usize) -> Result<Event, TraceError> {
    // What is torn off ends where the line does, not after it.
    Envelope::parse(text.trim_end_matches(['\n', '\r']), scratch)
        .map_err(|error| TraceError::not_json(source, line, error))?
        .into_event()
        .map_err(|error| TraceError::not_an_event(source, line, error))
}

/// A line of a trace, or of the raw rows of a run, that is not what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The file, as it was named to the reader.
    pub source: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The character of the line, counted from 1, when the line is not JSON.
    pub column: Option<usize>,
    /// The JSON path of the member at fault, such as `$.payload.tool_name`, when the line is JSON but no event.
    pub path: Option<String>,
    /// What is wrong, as the fragment of a sentence.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl TraceError {
    /// `file:line:column: what is wrong (where in the value)`, without what to do about it.
    pub fn headline(&self) -> String {
        let column = self.column.map(|column| format!("{column}:")).unwrap_or_default();
        let path = self.path.as_deref().filter(|path| *path != "$");
        let place = path.map(|path| format!(" (at `{path}`)")).unwrap_or_default();
        format!("{}:{}:{column} {}{place}", self.source, self.line, self.message)
    }

    fn said(source: &str, line: usize, message: String) -> TraceError {
        let help = Some("restore the file, or record the trace again".to_owned());
        TraceError { source: source.to_owned(), line, column: None, path: None, message, help }
    }

    fn not_json(source: &str, line: usize, error: JsonError) -> TraceError {
        TraceError {
            source: source.to_owned(),
            line,
            column: Some(error.column),
            path: None,
            message: error.message,
            help: Some("a trace is JSON Lines: one event a line, each a JSON object".to_owned()),
        }
    }

    fn not_an_event(source: &str, line: usize, error: EventError) -> TraceError {
        TraceError {
            source: source.to_owned(),
            line,
            column: None,
            path: Some(error.path),
            message: error.message,
            help: error.help,
        }
    }
}

impl fmt::Display for TraceError {
    /// The headline, and the help on a line of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline())?;
        if let Some(help) = &self.help {
            write!(f, "\n  = help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for TraceError {}
