//! How a response was cut into events, kept apart from what it says.
//!
//! A recording stores the assembled response, which can be read, compared, redacted and edited, and beside it a
//! layout from which the events are made again:
//!
//! ```json
//! {"end": "done", "events": "0:0 1:5 1:7 2", "frames": [
//!   {"add": {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": null}]}},
//!   {"add": {"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": null}]}},
//!   {"add": {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}}]}
//! ```
//!
//! - `frames`: the chunks that differ in more than their texts, which are left empty. `add` completes the response's
//!   own members (`choices` and `usage` excepted, `object` with its `.chunk`); `whole` is a chunk by itself; `text`
//!   is the data of an event that is no JSON object; `event` is the event's name.
//! - `events`: frame and, in characters, the length of each text in it. The last piece of a text takes what is left,
//!   so that a response whose texts became longer or shorter loses nothing.
//! - `end`: `done` (`[DONE]` was sent), `eof`, or `cut` (the connection broke).
//!
//! `{"plain": true}` is the layout of an answer in one body to a request for a stream.

use std::collections::{BTreeMap, HashMap};

use trajectly_engine::json::{Json, Object};

use super::assemble::{CHUNK, PADDING, Place, Slots, assemble, texts};
use super::stream::{End, Event};

/// The layout that makes `events` out of `response`, which was assembled from them.
pub(super) fn of(events: &[Event], response: &Json, end: End) -> Json {
    let compact = compact(events, response, end);
    let exact = rebuild(response, &compact).is_some_and(|made| {
        made.events.len() == events.len() && made.events.iter().zip(events).all(|(made, event)| same(made, event))
    });
    if exact { compact } else { verbatim(events, end) }
}

/// `{"plain": true}`
pub(super) fn plain() -> Json {
    Object::new().with("plain", true).into()
}

pub(super) fn is_plain(layout: &Json) -> bool {
    layout.get("plain").and_then(Json::as_bool) == Some(true)
}

/// A stream to be sent.
#[derive(Debug, PartialEq)]
pub(super) struct Stream {
    pub(super) events: Vec<Event>,
    pub(super) end: End,
}

/// Cuts `response` as `layout` says. Where there is no layout, or it no longer tells what the response says (one of
/// them was edited), the response is cut afresh, into as few events as clients understand; `usage` then decides
/// whether its usage is among them.
pub(super) fn replay(response: &Json, layout: Option<&Json>, usage: bool) -> Stream {
    layout
        .and_then(|layout| rebuild(response, layout))
        .filter(|stream| assemble(&stream.events) == *response)
        .unwrap_or_else(|| fresh(response, usage))
}

/// Whether two events say the same, down to the JSON value; padding says nothing.
fn same(a: &Event, b: &Event) -> bool {
    a.name == b.name && (a.data == b.data || chunk(a).is_some_and(|a| Some(a) == chunk(b)))
}

/// An event's chunk, without padding.
fn chunk(event: &Event) -> Option<Object> {
    match Json::parse(&event.data) {
        Ok(Json::Object(mut chunk)) => {
            chunk.remove(PADDING);
            Some(chunk)
        }
        _ => None,
    }
}

/// The members that chunks have from the response.
fn head(response: &Json) -> Object {
    let mut head = response.as_object().cloned().unwrap_or_default();
    head.retain(|key, _| key != "choices" && key != "usage");
    if let Some(Json::String(object)) = head.get_mut("object") {
        object.push_str(CHUNK);
    }
    head
}

fn compact(events: &[Event], response: &Json, end: End) -> Json {
    let head = head(response);
    let mut slots = Slots::default();
    let mut layout = Layout::default();
    for event in events {
        let Some(mut chunk) = chunk(event) else {
            layout.push(text_frame(event), &[]);
            continue;
        };
        let mut lengths = Vec::new();
        texts(&mut chunk, &mut slots, &mut |_, text| {
            lengths.push(text.chars().count());
            text.clear();
        });
        let frame = if head.iter().all(|(key, _)| chunk.contains_key(key)) {
            chunk.retain(|key, value| head.get(key) != Some(value));
            Object::new().with("add", chunk)
        } else {
            Object::new().with("whole", chunk)
        };
        layout.push(named(frame, event), &lengths);
    }
    layout.json(end)
}

/// Every event as it came: for streams whose texts are not where they are expected.
fn verbatim(events: &[Event], end: End) -> Json {
    let mut layout = Layout::default();
    for event in events {
        layout.push(text_frame(event), &[]);
    }
    layout.json(end)
}

fn text_frame(event: &Event) -> Object {
    named(Object::new().with("text", event.data.as_str()), event)
}

fn named(frame: Object, event: &Event) -> Object {
    match &event.name {
        Some(name) => frame.with("event", name.as_str()),
        None => frame,
    }
}

/// A layout in the making.
#[derive(Default)]
struct Layout {
    frames: Vec<Json>,
    known: HashMap<String, usize>,
    events: Vec<String>,
}

impl Layout {
    fn push(&mut self, frame: Object, lengths: &[usize]) {
        let frame = Json::from(frame);
        let number = *self.known.entry(frame.to_compact()).or_insert_with(|| {
            self.frames.push(frame);
            self.frames.len() - 1
        });
        let lengths: Vec<String> = lengths.iter().map(usize::to_string).collect();
        self.events.push(match lengths.as_slice() {
            [] => number.to_string(),
            _ => format!("{number}:{}", lengths.join(",")),
        });
    }

    fn json(self, end: End) -> Json {
        let end = match end {
            End::Done => "done",
            End::Eof => "eof",
            End::Cut => "cut",
        };
        Object::new().with("end", end).with("events", self.events.join(" ")).with("frames", self.frames).into()
    }
}

/// An event being made again.
enum Made {
    Chunk(Object),
    Text(String),
}

/// The events of `layout`; `None` where it is not one.
fn rebuild(response: &Json, layout: &Json) -> Option<Stream> {
    let end = match layout.get("end")?.as_str()? {
        "done" => End::Done,
        "eof" => End::Eof,
        "cut" => End::Cut,
        _ => return None,
    };
    let frames = layout.get("frames")?.as_array()?;
    let head = head(response);

    // First where every piece of text goes, then the texts, because a text's last piece is not known before.
    let mut slots = Slots::default();
    let mut made = Vec::new();
    let mut pieces: BTreeMap<Place, usize> = BTreeMap::new();
    for event in layout.get("events")?.as_str()?.split_ascii_whitespace() {
        let (number, lengths) = event.split_once(':').unwrap_or((event, ""));
        let frame = frames.get(number.parse::<usize>().ok()?)?;
        let lengths: Vec<usize> = match lengths {
            "" => Vec::new(),
            _ => lengths.split(',').map(|length| length.parse().ok()).collect::<Option<_>>()?,
        };
        let mut content = content(frame, &head)?;
        let mut places = Vec::new();
        if let Made::Chunk(chunk) = &mut content {
            texts(chunk, &mut slots, &mut |place, _| {
                *pieces.entry(place.clone()).or_default() += 1;
                places.push(place);
            });
        }
        let name = frame.get("event").and_then(Json::as_str).map(str::to_owned);
        made.push((name, content, places, lengths));
    }

    let mut texts_left: BTreeMap<Place, &str> = BTreeMap::new();
    let mut slots = Slots::default();
    let events = made.into_iter().map(|(name, content, places, lengths)| {
        let data = match content {
            Made::Text(data) => data,
            Made::Chunk(mut chunk) => {
                let mut holes = places.iter().zip(lengths.into_iter().chain(std::iter::repeat(0)));
                texts(&mut chunk, &mut slots, &mut |_, text| {
                    let Some((place, length)) = holes.next() else { return };
                    let left =
                        texts_left.entry(place.clone()).or_insert_with(|| place.text(response).unwrap_or_default());
                    let pieces = pieces.entry(place.clone()).or_default();
                    *pieces = pieces.saturating_sub(1);
                    let end = match left.char_indices().nth(length) {
                        Some((at, _)) if *pieces > 0 => at,
                        _ => left.len(),
                    };
                    let (piece, rest) = left.split_at(end);
                    text.push_str(piece);
                    *left = rest;
                });
                Json::from(chunk).to_compact()
            }
        };
        Event { name, data }
    });
    Some(Stream { events: events.collect(), end })
}

fn content(frame: &Json, head: &Object) -> Option<Made> {
    if let Some(Json::String(text)) = frame.get("text") {
        return Some(Made::Text(text.clone()));
    }
    if let Some(Json::Object(whole)) = frame.get("whole") {
        return Some(Made::Chunk(whole.clone()));
    }
    let mut chunk = head.clone();
    for (key, value) in frame.get("add")?.as_object()?.iter() {
        chunk.insert(key, value.clone());
    }
    Some(Made::Chunk(chunk))
}

/// A stream for a response that has no layout: each choice's message at once, then why it stopped.
fn fresh(response: &Json, usage: bool) -> Stream {
    let head = head(response);
    let with = |choices: Vec<Object>| head.clone().with("choices", choices);
    let mut chunks = Vec::new();
    let choices = response.get("choices").and_then(Json::as_array).unwrap_or_default();
    for (position, choice) in choices.iter().enumerate() {
        let mut last = choice.as_object().cloned().unwrap_or_default();
        if !last.contains_key("index") {
            last.insert("index", position);
        }
        let index = last.get("index").cloned();
        let mut delta = match last.remove("message") {
            Some(Json::Object(message)) => message,
            _ => Object::new(),
        };
        if let Some(Json::Array(calls)) = delta.get_mut("tool_calls") {
            for (slot, call) in calls.iter_mut().enumerate() {
                if let Json::Object(call) = call {
                    call.insert("index", slot);
                }
            }
        }
        let first = Object::new().with("index", index).with("delta", delta).with("finish_reason", Json::Null);
        chunks.push(with(vec![first]));
        chunks.push(with(vec![last.with("delta", Object::new())]));
    }
    if let Some(counted @ Json::Object(_)) = response.get("usage").filter(|_| usage) {
        chunks.push(with(Vec::new()).with("usage", counted.clone()));
    }
    Stream { events: chunks.into_iter().map(|chunk| Event::unnamed(chunk.to_string())).collect(), end: End::Done }
}
