//! One event: its envelope, what makes it valid, and its identity.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::canonical::{Hash, Strip, hash_with};
use crate::fixture::{CallKind, call_input};
use crate::json::{Json, JsonError, Object, Reader, Scratch, push_string};

/// The version of the envelope that is read and written.
const SCHEMA_VERSION: &str = "v1";

/// What an event reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// The run began.
    RunStarted,
    /// The agent reported a step of its own.
    AgentStep,
    /// A model was asked.
    LlmCalled,
    /// A model answered, or failed to.
    LlmReturned,
    /// A tool was called.
    ToolCalled,
    /// A tool returned, or failed.
    ToolReturned,
    /// The run ended.
    RunFinished,
}

impl EventType {
    /// All types, in the order in which a simple run shows them.
    pub const ALL: [EventType; 7] = [
        EventType::RunStarted,
        EventType::AgentStep,
        EventType::LlmCalled,
        EventType::LlmReturned,
        EventType::ToolCalled,
        EventType::ToolReturned,
        EventType::RunFinished,
    ];

    /// The name that files use: `tool_called`.
    pub const fn as_str(self) -> &'static str {
        match self {
            EventType::RunStarted => "run_started",
            EventType::AgentStep => "agent_step",
            EventType::LlmCalled => "llm_called",
            EventType::LlmReturned => "llm_returned",
            EventType::ToolCalled => "tool_called",
            EventType::ToolReturned => "tool_returned",
            EventType::RunFinished => "run_finished",
        }
    }

    /// Whether the payload must name a tool.
    pub const fn is_tool(self) -> bool {
        matches!(self, EventType::ToolCalled | EventType::ToolReturned)
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for EventType {
    type Err = UnknownEventType;

    fn from_str(text: &str) -> Result<EventType, UnknownEventType> {
        EventType::ALL.into_iter().find(|known| known.as_str() == text).ok_or(UnknownEventType)
    }
}

/// A text that names no [`EventType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownEventType;

impl fmt::Display for UnknownEventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = EventType::ALL.map(EventType::as_str).join(", ");
        write!(f, "an event is one of {names}")
    }
}

impl std::error::Error for UnknownEventType {}

/// One event of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What the event reports.
    pub event_type: EventType,
    /// The event's number, from 1; neither unique nor ascending unless the writer saw to it.
    pub seq: u64,
    /// The run that the event belongs to.
    pub run_id: Arc<str>,
    /// Milliseconds since the run began.
    pub rel_ms: u64,
    /// What happened; its members depend on the type.
    pub payload: Object,
    /// Notes about the event that are no part of what happened, such as `call_id`.
    pub meta: Object,
    /// The identity that the file gave the event; see [`Event::id`].
    pub event_id: Option<String>,
}

impl Event {
    /// Reads an event from its JSON form. Unknown members are dropped, an absent `meta` is empty.
    ///
    /// # Errors
    ///
    /// When a member is missing, of another type, or out of range. Only one problem is reported, in the order of the
    /// members in the type.
    pub fn from_json(value: Json) -> Result<Event, EventError> {
        let envelope = match value {
            Json::Object(members) => {
                let mut envelope = Envelope::default();
                for (key, value) in members {
                    match envelope.slot(&key) {
                        Some(Slot::Word(slot)) => *slot = Some(value.into()),
                        Some(Slot::Value(slot)) => *slot = Some(value),
                        None => {}
                    }
                }
                envelope
            }
            other => Envelope { not_an_object: Some(other), ..Envelope::default() },
        };
        envelope.into_event()
    }

    /// The identity of the event: the one it came with, else the hash of its type, number, run and payload.
    ///
    /// Two events with one identity report the same thing in the same place of the same run; times and notes do not
    /// count.
    pub fn id(&self) -> Cow<'_, str> {
        match &self.event_id {
            Some(id) => Cow::Borrowed(id),
            None => Cow::Owned(self.computed_id().to_string()),
        }
    }

    fn computed_id(&self) -> Hash {
        hash_with(Strip::Keep, |writer| {
            writer.raw("{\"event_type\":");
            writer.string(self.event_type.as_str());
            writer.raw(",\"payload\":");
            writer.object(&self.payload);
            writer.raw(",\"run_id\":");
            writer.string(&self.run_id);
            writer.raw(",\"schema_version\":");
            writer.string(SCHEMA_VERSION);
            writer.raw(",\"seq\":");
            writer.integer(self.seq);
            writer.raw("}");
        })
    }

    /// The tool that a `tool_called` or `tool_returned` names.
    pub fn tool_name(&self) -> Option<&str> {
        if self.event_type.is_tool() { self.payload.str("tool_name") } else { None }
    }

    /// The model that an `llm_called` or `llm_returned` names, as `provider:model`; a part that is missing is
    /// `unknown`.
    pub fn model_name(&self) -> Option<String> {
        let (EventType::LlmCalled | EventType::LlmReturned) = self.event_type else {
            return None;
        };
        let part = |key| self.payload.str(key).unwrap_or("unknown");
        Some(format!("{}:{}", part("provider"), part("model")))
    }

    /// What a `tool_called` or `llm_called` says that the call was given: the tool's input, the request to the model.
    pub fn call_input(&self) -> Option<&Json> {
        let kind = match self.event_type {
            EventType::ToolCalled => CallKind::Tool,
            EventType::LlmCalled => CallKind::Llm,
            _ => return None,
        };
        call_input(kind, &self.payload)
    }

    /// The event in its JSON form, with its identity.
    pub fn to_json(&self) -> Json {
        let members = Object::new()
            .with("event_id", self.id().into_owned())
            .with("event_type", self.event_type.as_str())
            .with("meta", self.meta.clone())
            .with("payload", self.payload.clone())
            .with("rel_ms", self.rel_ms)
            .with("run_id", &*self.run_id)
            .with("schema_version", SCHEMA_VERSION)
            .with("seq", self.seq);
        Json::Object(members)
    }

    /// Appends the compact form of the event, without building it. An identity that the event does not carry is left out:
    /// readers compute it, and a file in which only times differ then differs nowhere else.
    pub(super) fn write(&self, out: &mut String) {
        out.push('{');
        if let Some(event_id) = &self.event_id {
            out.push_str("\"event_id\":");
            push_string(event_id, out);
            out.push(',');
        }
        out.push_str("\"event_type\":\"");
        out.push_str(self.event_type.as_str());
        out.push_str("\",\"meta\":");
        self.meta.write_compact(out);
        out.push_str(",\"payload\":");
        self.payload.write_compact(out);
        out.push_str(",\"rel_ms\":");
        out.push_str(&self.rel_ms.to_string());
        out.push_str(",\"run_id\":");
        push_string(&self.run_id, out);
        out.push_str(",\"schema_version\":\"");
        out.push_str(SCHEMA_VERSION);
        out.push_str("\",\"seq\":");
        out.push_str(&self.seq.to_string());
        out.push('}');
    }
}

/// An event as it is written, for whoever has written another.
const SAMPLE: &str = r#"{"event_type":"tool_called","payload":{"tool_name":"search"},"rel_ms":0,"run_id":"r","seq":1}"#;

/// Why a JSON value is not an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventError {
    /// The JSON path of the member at fault: `$.payload.tool_name`, or `$` for the whole value.
    pub path: String,
    /// What is wrong, as the fragment of a sentence.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl EventError {
    fn new(path: &str, message: String) -> EventError {
        EventError { path: path.to_owned(), message, help: Some(format!("an event is a line such as {SAMPLE}")) }
    }

    /// `member` holds something other than `wanted`, or is missing.
    fn wants(member: &str, wanted: &str, found: Option<&Json>) -> EventError {
        let name = member.rsplit('.').next().unwrap_or(member);
        let message = match found {
            None => format!("an event needs `{name}`, {wanted}"),
            Some(value) => format!("`{name}` must be {wanted}, found {}", brief(value)),
        };
        EventError::new(&format!("$.{member}"), message)
    }
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at `{}`)", self.message, self.path)
    }
}

impl std::error::Error for EventError {}

/// A value in a few words: scalars as they are, cut short; containers by kind.
fn brief(value: &Json) -> String {
    match value {
        Json::String(text) if text.is_empty() => "an empty string".to_owned(),
        Json::String(text) if text.chars().count() > 40 => {
            format!("{}…", Json::from(text.chars().take(40).collect::<String>()))
        }
        Json::Array(_) => "an array".to_owned(),
        Json::Object(_) => "an object".to_owned(),
        scalar => scalar.to_compact(),
    }
}

/// The members of a line, whatever they are; what an event is read from.
#[derive(Default)]
pub(super) struct Envelope {
    schema_version: Option<Word>,
    pub(super) event_type: Option<Word>,
    seq: Option<Json>,
    run_id: Option<Word>,
    pub(super) rel_ms: Option<Json>,
    pub(super) payload: Option<Json>,
    pub(super) meta: Option<Json>,
    event_id: Option<Json>,
    /// The value itself, where it has no members.
    not_an_object: Option<Json>,
}

/// A member that mostly is a text, and the same one in many lines.
pub(super) enum Word {
    Text(Arc<str>),
    Other(Json),
}

impl Word {
    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Word::Text(text) => Some(text),
            Word::Other(_) => None,
        }
    }

    fn to_json(&self) -> Json {
        match self {
            Word::Text(text) => Json::from(&**text),
            Word::Other(value) => value.clone(),
        }
    }
}

impl From<Json> for Word {
    fn from(value: Json) -> Word {
        match value {
            Json::String(text) => Word::Text(text.into()),
            other => Word::Other(other),
        }
    }
}

/// Where a member goes.
enum Slot<'e> {
    Word(&'e mut Option<Word>),
    Value(&'e mut Option<Json>),
}

impl Envelope {
    /// Reads the members of an event straight from its text.
    pub(super) fn parse(text: &str, scratch: &mut Scratch) -> Result<Envelope, JsonError> {
        let mut reader = Reader::new(text, scratch);
        let mut envelope = Envelope::default();
        let read = if reader.at_object() {
            reader.members(|key, reader| {
                match envelope.slot(&key) {
                    Some(Slot::Word(slot)) => {
                        *slot = Some(match reader.shared_text()? {
                            Some(text) => Word::Text(text),
                            None => Word::Other(reader.value()?),
                        });
                    }
                    Some(Slot::Value(slot)) => *slot = Some(reader.value()?),
                    None => drop(reader.value()?),
                }
                Ok(())
            })
        } else {
            reader.value().map(|value| envelope.not_an_object = Some(value))
        };
        read.and_then(|()| reader.end()).map_err(|fault| fault.explain(text))?;
        Ok(envelope)
    }

    fn slot(&mut self, key: &str) -> Option<Slot<'_>> {
        Some(match key {
            "schema_version" => Slot::Word(&mut self.schema_version),
            "event_type" => Slot::Word(&mut self.event_type),
            "run_id" => Slot::Word(&mut self.run_id),
            "seq" => Slot::Value(&mut self.seq),
            "rel_ms" => Slot::Value(&mut self.rel_ms),
            "payload" => Slot::Value(&mut self.payload),
            "meta" => Slot::Value(&mut self.meta),
            "event_id" => Slot::Value(&mut self.event_id),
            _ => return None,
        })
    }

    /// The type of a row, whose writers may put blanks around it.
    pub(super) fn row_type(&self) -> Result<EventType, EventError> {
        self.check_is_object()?;
        event_type(self.event_type.as_ref(), |name| name.trim().parse())
    }

    fn check_is_object(&self) -> Result<(), EventError> {
        match &self.not_an_object {
            None => Ok(()),
            Some(value) => Err(EventError::new("$", format!("an event is an object, found {}", brief(value)))),
        }
    }

    /// Checks the members and makes the event of them.
    pub(super) fn into_event(self) -> Result<Event, EventError> {
        self.check_is_object()?;
        check_version(self.schema_version.as_ref())?;
        let event_type = event_type(self.event_type.as_ref(), str::parse)?;
        let seq = match self.seq.as_ref().and_then(Json::as_u64) {
            Some(seq) if seq > 0 => seq,
            _ => {
                return Err(EventError::wants("seq", "a positive integer", self.seq.as_ref()));
            }
        };
        let run_id = match self.run_id {
            Some(Word::Text(run_id)) if !run_id.trim().is_empty() => run_id,
            other => {
                let found = other.as_ref().map(Word::to_json);
                return Err(EventError::wants("run_id", "a string that is not blank", found.as_ref()));
            }
        };
        let rel_ms = self
            .rel_ms
            .as_ref()
            .and_then(Json::as_u64)
            .ok_or_else(|| EventError::wants("rel_ms", "a count of milliseconds", self.rel_ms.as_ref()))?;
        let payload = match self.payload {
            Some(Json::Object(payload)) => payload,
            other => return Err(EventError::wants("payload", "an object", other.as_ref())),
        };
        check_tool_name(event_type, &payload)?;
        let meta = match self.meta {
            None => Object::new(),
            Some(Json::Object(meta)) => meta,
            other => return Err(EventError::wants("meta", "an object", other.as_ref())),
        };
        let event_id = event_id(self.event_id)?;
        Ok(Event { event_type, seq, run_id, rel_ms, payload, meta, event_id })
    }
}

fn check_version(version: Option<&Word>) -> Result<(), EventError> {
    match version {
        None | Some(Word::Other(Json::Null)) => Ok(()),
        Some(version) if version.as_str() == Some(SCHEMA_VERSION) => Ok(()),
        Some(other) => Err(EventError {
            help: Some("record the trace again with this version of Trajectly".to_owned()),
            ..EventError::wants("schema_version", "\"v1\"", Some(&other.to_json()))
        }),
    }
}

fn event_type(
    value: Option<&Word>,
    parse: fn(&str) -> Result<EventType, UnknownEventType>,
) -> Result<EventType, EventError> {
    let Some(Word::Text(name)) = value else {
        return Err(EventError::wants("event_type", "a string", value.map(Word::to_json).as_ref()));
    };
    parse(name).map_err(|error| EventError {
        help: Some(error.to_string()),
        ..EventError::new("$.event_type", format!("unknown event type {}", brief(&Json::from(&**name))))
    })
}

/// A tool event without a usable name would slip past every rule about tools.
pub(super) fn check_tool_name(event_type: EventType, payload: &Object) -> Result<(), EventError> {
    match payload.get("tool_name") {
        _ if !event_type.is_tool() => Ok(()),
        Some(Json::String(name)) if !name.is_empty() => Ok(()),
        found => Err(EventError::wants("payload.tool_name", "a string that is not empty", found)),
    }
}

/// Identities of other types are taken as the Python tool takes them: as their text.
fn event_id(value: Option<Json>) -> Result<Option<String>, EventError> {
    Ok(match value {
        None | Some(Json::Null) => None,
        Some(Json::String(id)) => Some(id).filter(|id| !id.is_empty()),
        Some(Json::Number(id)) => Some(id.to_string()),
        Some(Json::Bool(id)) => Some(if id { "True" } else { "False" }.to_owned()),
        other => return Err(EventError::wants("event_id", "a string", other.as_ref())),
    })
}
