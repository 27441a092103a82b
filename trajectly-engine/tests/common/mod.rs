//! What several test files share.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::Path;

use trajectly_engine::json::{Json, Object};
use trajectly_engine::spec::Spec;
use trajectly_engine::trace::{Event, Trace};
use trajectly_engine::verdict::{Verdict, Violation};

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

/// A run from its words: `search` calls a tool and returns from it (two events), `llm` asks a model and is answered (two
/// events), `step:plan` is a step of the agent, `end` is the end of a run that went well.
pub(crate) fn run(words: &str) -> Trace {
    let mut events = Vec::new();
    for word in words.split_whitespace() {
        let model = || Object::new().with("provider", "openai").with("model", "gpt");
        match word.split_once(':') {
            Some(("step", name)) => events.push(event("agent_step", Object::new().with("name", name))),
            None if word == "end" => events.push(event("run_finished", Object::new().with("returncode", 0))),
            None if word == "llm" => {
                events.push(event("llm_called", model()));
                events.push(event("llm_returned", model()));
            }
            _ => {
                events.push(event("tool_called", Object::new().with("tool_name", word)));
                events.push(event("tool_returned", Object::new().with("tool_name", word)));
            }
        }
    }
    Trace { events }
}

/// A spec whose keys beside `schema_version` are these.
pub(crate) fn spec(keys: &str) -> Spec {
    Spec::parse(&format!("schema_version: 0.4\n{keys}"), "specs/a.yaml").unwrap_or_else(|error| panic!("{error}"))
}

/// What is broken, a line each: `EVENT CODE rule: message`.
pub(crate) fn told(verdict: &Verdict) -> Vec<String> {
    let told = |violation: &Violation| {
        let rule = violation.rule.as_deref().unwrap_or("-");
        format!("{} {} {rule}: {}", violation.event_index, violation.code, violation.message)
    };
    verdict.violations.iter().map(told).collect()
}
