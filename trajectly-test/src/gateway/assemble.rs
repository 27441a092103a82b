//! Chunks of a chat completion put together to the response that they spell out.
//!
//! Nothing is tied to the members known today. In a choice's `delta` every string is text, and its pieces are joined:
//! `content`, `refusal`, `reasoning_content`, a tool call's `arguments`, whatever comes next. Exceptions are the few
//! that identify rather than say something. Lists grow, other values are replaced, tool calls are told apart.

use std::collections::BTreeMap;

use trajectly_engine::json::{Json, Object};

use super::stream::Event;

/// The response that `events` amount to, in the shape of one that was not streamed: `choices[].message` in place of
/// `delta`, and `object` without its `.chunk`. Events that are no JSON objects add nothing.
pub(super) fn assemble(events: &[Event]) -> Json {
    let mut whole = Assembly::default();
    for event in events {
        if let Ok(Json::Object(chunk)) = Json::parse(&event.data) {
            whole.add(&chunk);
        }
    }
    whole.response().into()
}

/// What a chunk's `object` has more than the response's.
pub(super) const CHUNK: &str = ".chunk";

#[derive(Default)]
struct Assembly {
    /// Members of the response other than `choices`: the last value that is not null.
    head: Object,
    choices: Option<BTreeMap<u64, Choice>>,
    slots: Slots,
}

#[derive(Default)]
struct Choice {
    message: Object,
    rest: Object,
}

impl Assembly {
    fn add(&mut self, chunk: &Object) {
        for (key, value) in chunk.iter().filter(|(key, _)| !matches!(*key, "choices" | PADDING)) {
            if !value.is_null() || !self.head.contains_key(key) {
                self.head.insert(key, value.clone());
            }
        }
        let Some(choices) = chunk.get("choices").and_then(Json::as_array) else { return };
        let known = self.choices.get_or_insert_default();
        for (position, choice) in choices.iter().enumerate() {
            let Some(choice) = choice.as_object() else { continue };
            let index = index(choice, position);
            let Choice { message, rest } = known.entry(index).or_default();
            for (key, value) in choice.iter() {
                match (key, value) {
                    ("index", _) => {}
                    ("delta", Json::Object(delta)) => self.slots.join(index, message, delta),
                    _ => join(rest, key, value, Strings::Replaced),
                }
            }
        }
    }

    fn response(self) -> Object {
        let mut response = self.head;
        if let Some(Json::String(object)) = response.get_mut("object")
            && object.ends_with(CHUNK)
        {
            object.truncate(object.len() - CHUNK.len());
        }
        if let Some(choices) = self.choices {
            let choices = choices.into_iter().map(|(index, Choice { mut message, rest })| {
                for (key, default) in [("role", Json::from("assistant")), ("content", Json::Null)] {
                    if !message.contains_key(key) {
                        message.insert(key, default);
                    }
                }
                rest.with("index", index).with("message", message)
            });
            response.insert("choices", choices.collect::<Vec<_>>());
        }
        response
    }
}

/// A member that fills chunks with random characters to hide their lengths. It says nothing, and would make every
/// recording differ from the last, so it is not kept.
pub(super) const PADDING: &str = "obfuscation";

/// Strings in a `delta` that identify something: the first that is not empty holds, others are repetitions.
fn identifies(key: &str) -> bool {
    matches!(key, "id" | "role" | "type" | "index" | "object")
}

#[derive(Clone, Copy, PartialEq)]
enum Strings {
    Joined,
    Replaced,
}

fn join(into: &mut Object, key: &str, value: &Json, strings: Strings) {
    let Some(old) = into.get_mut(key) else {
        into.insert(key, value.clone());
        return;
    };
    match (old, value) {
        (_, Json::Null) => {}
        (Json::Object(old), Json::Object(new)) => {
            for (key, value) in new.iter() {
                join(old, key, value, strings);
            }
        }
        (Json::Array(old), Json::Array(new)) => old.extend(new.iter().cloned()),
        (Json::String(old), Json::String(new)) if strings == Strings::Joined => {
            let repeated = identifies(key) && !old.is_empty() || key == "name" && old == new;
            if !repeated {
                old.push_str(new);
            }
        }
        (old, new) => *old = new.clone(),
    }
}

/// A choice's own number, else its place in the chunk.
pub(super) fn index(choice: &Object, position: usize) -> u64 {
    choice.get("index").and_then(Json::as_u64).unwrap_or(position as u64)
}

/// Which tool call of the message a piece of one belongs to, for every choice.
#[derive(Default)]
pub(super) struct Slots(BTreeMap<u64, Vec<Slot>>);

struct Slot {
    index: Option<u64>,
    id: String,
}

impl Slots {
    /// The place, in the message's list, of the tool call that `piece` continues or begins.
    ///
    /// Pieces of one call have its `index` in common. Some providers give all calls the same one, and then a new id
    /// together with a name tells that another call begins; some give none, and then the id tells, or the call is
    /// the last one.
    fn of(&mut self, choice: u64, piece: &Object) -> usize {
        let calls = self.0.entry(choice).or_default();
        let index = piece.get("index").and_then(Json::as_u64);
        let id = piece.str("id").unwrap_or_default();
        let named = piece
            .get("function")
            .or_else(|| piece.get("custom"))
            .and_then(|call| call.get("name")?.as_str())
            .is_some_and(|name| !name.is_empty());
        let found = if index.is_some() {
            calls.iter().rposition(|call| call.index == index)
        } else if id.is_empty() {
            calls.len().checked_sub(1)
        } else {
            calls.iter().position(|call| call.id == id)
        };
        let continues = |at: &usize| {
            let known = &calls[*at].id;
            !named || id.is_empty() || known.is_empty() || known == id
        };
        if let Some(at) = found.filter(continues) {
            if calls[at].id.is_empty() {
                calls[at].id = id.to_owned();
            }
            return at;
        }
        calls.push(Slot { index, id: id.to_owned() });
        calls.len() - 1
    }

    /// Adds a choice's `delta` to its message.
    fn join(&mut self, choice: u64, message: &mut Object, delta: &Object) {
        for (key, value) in delta.iter() {
            match value {
                Json::Array(pieces) if key == "tool_calls" => {
                    let mut calls = match message.remove(key) {
                        Some(Json::Array(calls)) => calls,
                        _ => Vec::new(),
                    };
                    for piece in pieces.iter().filter_map(Json::as_object) {
                        let slot = self.of(choice, piece);
                        if slot == calls.len() {
                            calls.push(Object::new().into());
                        }
                        if let Some(Json::Object(call)) = calls.get_mut(slot) {
                            for (key, value) in piece.iter().filter(|(key, _)| *key != "index") {
                                join(call, key, value, Strings::Joined);
                            }
                        }
                    }
                    message.insert(key, calls);
                }
                _ => join(message, key, value, Strings::Joined),
            }
        }
    }
}

/// Where in a response a text stands: the choice's number, then the way from its message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    choice: u64,
    path: Vec<String>,
}

impl Place {
    /// The text there.
    pub(super) fn text<'a>(&self, response: &'a Json) -> Option<&'a str> {
        let choices = response.get("choices")?.as_array()?;
        let choice = choices
            .iter()
            .enumerate()
            .find(|(n, choice)| choice.as_object().is_some_and(|choice| index(choice, *n) == self.choice))?
            .1;
        self.path
            .iter()
            .try_fold(choice.get("message")?, |value, step| match value {
                Json::Array(items) => items.get(step.parse::<usize>().ok()?),
                _ => value.get(step),
            })?
            .as_str()
    }

    fn below(&self, step: impl Into<String>) -> Self {
        let mut place = self.clone();
        place.path.push(step.into());
        place
    }
}

/// Visits, in a fixed order, every text of a chunk whose pieces [`assemble`] joins, with its place in the response.
/// Between the chunks of one stream `slots` is kept.
pub(super) fn texts(chunk: &mut Object, slots: &mut Slots, visit: &mut dyn FnMut(Place, &mut String)) {
    let Some(Json::Array(choices)) = chunk.get_mut("choices") else { return };
    for (position, choice) in choices.iter_mut().enumerate() {
        let Json::Object(choice) = choice else { continue };
        let index = index(choice, position);
        let Some(Json::Object(delta)) = choice.get_mut("delta") else { continue };
        let message = Place { choice: index, path: Vec::new() };
        for (key, value) in delta.iter_mut() {
            let place = message.below(key);
            match value {
                Json::Array(pieces) if key == "tool_calls" => {
                    for piece in pieces {
                        let Json::Object(piece) = piece else { continue };
                        let slot = slots.of(index, piece);
                        texts_in(piece, &place.below(slot.to_string()), visit);
                    }
                }
                Json::Object(inner) => texts_in(inner, &place, visit),
                Json::String(text) if is_text(key) => visit(place, text),
                _ => {}
            }
        }
    }
}

fn texts_in(object: &mut Object, place: &Place, visit: &mut dyn FnMut(Place, &mut String)) {
    for (key, value) in object.iter_mut() {
        match value {
            Json::Object(inner) => texts_in(inner, &place.below(key), visit),
            Json::String(text) if is_text(key) => visit(place.below(key), text),
            _ => {}
        }
    }
}

/// A name comes whole nearly always, and is then told better where it stands than by a length.
fn is_text(key: &str) -> bool {
    !identifies(key) && key != "name"
}
