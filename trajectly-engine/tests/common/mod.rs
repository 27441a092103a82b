//! What several test files share.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::Path;

use trajectly_engine::json::{Json, Object};
use trajectly_engine::trace::Event;

/// The lines of a file under `tests/vectors/` of the repository.
pub(crate) fn vectors(file: &str) -> Vec<Json> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cases: Vec<Json> = text.lines().map(json).collect();
    assert!(!cases.is_empty(), "{} holds no case", path.display());
    cases
}

/// A value from its text.
pub(crate) fn json(text: &str) -> Json {
    Json::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The string `key` of a case.
pub(crate) fn text<'a>(case: &'a Json, key: &str) -> &'a str {
    case.get(key).and_then(Json::as_str).unwrap_or_else(|| panic!("{key} is a string in {case}"))
}

/// An event whose number, run and time do not matter.
pub(crate) fn event(event_type: &str, payload: Object) -> Event {
    let envelope = Object::new().with("event_type", event_type).with("payload", payload);
    let envelope = envelope.with("seq", 1).with("run_id", "r").with("rel_ms", 0);
    Event::from_json(Json::from(envelope)).unwrap_or_else(|error| panic!("{error}"))
}
