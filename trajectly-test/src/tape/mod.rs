//! A session's memory: what every call is answered with, and the events that say so.
//!
//! Recording, a call goes through to the real tool or model. Replaying, it is answered from the fixtures, or refused
//! with an explanation. Either way it is written to the session's event file, in the order in which calls came in.

mod inside;
mod lookup;
mod miss;
mod threads;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use trajectly_engine::fixture::{CallKind, Fixtures, Hit, MatchOptions, Matcher, Usage};
use trajectly_engine::json::{Json, Object};
use trajectly_engine::spec::Contracts;
use trajectly_engine::trace::Trace;

use crate::gateway::{CallId, Exchange, LlmCall, LlmDecision, LlmReturn, Requested, read_response};
use crate::protocol::SESSION_LOST;
use threads::Threads;

/// Where a recording's model calls go: base URL and bearer key of a provider.
pub(crate) type Route = Arc<dyn Fn(&str) -> Result<Upstream, String> + Send + Sync>;

/// A live model.
#[derive(Debug, Clone)]
pub(crate) struct Upstream {
    pub(crate) base_url: String,
    /// `None` passes on the key that the client sent.
    pub(crate) key: Option<String>,
}

/// What a session answers calls from.
pub(crate) enum Source {
    /// The real tools, and the real models that the route names.
    Live(Route),
    /// What was recorded.
    Recorded(Arc<Fixtures>, MatchOptions),
}

/// Something that went wrong beside the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A live model could not be reached, or hung up.
    Upstream(String),
    /// The agent tried to go to a host through the gateway.
    Refused(String),
    /// Events could not be written.
    Events(String),
}

pub(crate) struct Tape {
    answers: Answers,
    contracts: Contracts,
    events: Mutex<File>,
    started: Instant,
    next: AtomicU64,
    open: Mutex<HashMap<u64, Open>>,
    threads: Mutex<Threads>,
    trouble: Mutex<Vec<Trouble>>,
}

enum Answers {
    Live(Route),
    Recorded { fixtures: Arc<Fixtures>, matcher: Box<Mutex<Matcher>> },
}

/// A model call that the upstream has yet to answer.
struct Open {
    thread: u64,
    provider: &'static str,
    model: String,
}

impl Tape {
    /// Opens the event file at `events`, which must not exist yet.
    pub(crate) fn new(source: Source, contracts: Contracts, events: &Path) -> io::Result<Self> {
        let events = File::options().append(true).create_new(true).open(events)?;
        let answers = match source {
            Source::Live(route) => Answers::Live(route),
            Source::Recorded(fixtures, options) => {
                let matcher = Box::new(Mutex::new(Matcher::new(Arc::clone(&fixtures), options)));
                Answers::Recorded { fixtures, matcher }
            }
        };
        Ok(Self {
            answers,
            contracts,
            events: Mutex::new(events),
            started: Instant::now(),
            next: AtomicU64::new(1),
            open: Mutex::default(),
            threads: Mutex::default(),
            trouble: Mutex::default(),
        })
    }

    /// What went wrong beside the agent, each once, in the order in which it first happened.
    pub(crate) fn trouble(&self) -> Vec<Trouble> {
        lock(&self.trouble).clone()
    }

    /// How the calls of the session's trace used the fixtures; `None` where there were none to use.
    pub(crate) fn usage(&self, trace: &Trace) -> Option<Usage> {
        match &self.answers {
            Answers::Live(_) => None,
            Answers::Recorded { matcher, .. } => Some(Usage::new(&lock(matcher), trace)),
        }
    }

    fn troubled(&self, what: Trouble) {
        let mut trouble = lock(&self.trouble);
        if !trouble.contains(&what) {
            trouble.push(what);
        }
    }

    fn emit(&self, event_type: &str, payload: Object, meta: Object) {
        let rel_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let row = Object::new()
            .with("event_type", event_type)
            .with("rel_ms", rel_ms)
            .with("payload", payload)
            .with("meta", meta);
        let mut line = Json::from(row).to_compact();
        line.push('\n');
        if let Err(error) = lock(&self.events).write_all(line.as_bytes()) {
            self.troubled(Trouble::Events(error.to_string()));
        }
    }

    fn emit_llm_returned(&self, call: &Open, id: u64, answer: LlmReturn, mut meta: Object) {
        lock(&self.threads).returned(call.thread, answer.requested.iter().map(|call| call.id.as_str()));
        let payload = Object::new()
            .with("provider", call.provider)
            .with("model", call.model.as_str())
            .with("response", answer.response)
            .with("usage", answer.usage)
            .with("stop_reason", answer.stop_reason)
            .with("error", answer.error);
        meta.insert("call_id", format!("g{id}"));
        if !answer.requested.is_empty() {
            meta.insert("requested", answer.requested.into_iter().map(requested).collect::<Vec<_>>());
        }
        if answer.status != 200 {
            meta.insert("status", u64::from(answer.status));
        }
        if let Some(stream) = answer.stream {
            meta.insert("stream", stream);
        }
        self.emit("llm_returned", payload, meta);
    }

    /// A model call that came to nothing, for a reason that is not the model's.
    fn emit_llm_failed(&self, call: &Open, id: u64, message: &str, code: &str, details: Option<Object>) {
        let mut payload = Object::new()
            .with("provider", call.provider)
            .with("model", call.model.as_str())
            .with("response", Json::Null)
            .with("usage", Object::new())
            .with("error", message)
            .with("error_code", code);
        if let Some(details) = details {
            payload.insert("error_details", details);
        }
        self.emit("llm_returned", payload, Object::new().with("call_id", format!("g{id}")));
    }

    /// Takes the recorded answer of a call.
    fn take(
        fixtures: &Fixtures,
        matcher: &Mutex<Matcher>,
        kind: CallKind,
        name: &str,
        input: &Json,
    ) -> Result<Hit, miss::Refusal> {
        lock(matcher).take(kind, name, input).map_err(|miss| miss::Refusal::new(&miss, fixtures))
    }

    fn replay_llm(
        &self,
        fixtures: &Fixtures,
        matcher: &Mutex<Matcher>,
        call: &LlmCall,
        open: &Open,
        id: u64,
    ) -> LlmDecision {
        let name = format!("{}:{}", call.provider, call.model);
        match Self::take(fixtures, matcher, CallKind::Llm, &name, &call.request) {
            Ok(hit) => {
                let output = &fixtures.entries[hit.index].output;
                let status = output.get("status").and_then(Json::as_u64).and_then(|status| u16::try_from(status).ok());
                let answer = read_response(status.unwrap_or(200), output.get("response").unwrap_or(&Json::Null));
                self.emit_llm_returned(open, id, answer, replayed(hit.index));
                LlmDecision::Replay { output: output.clone() }
            }
            Err(refusal) => {
                let details = Some(refusal.details);
                self.emit_llm_failed(open, id, &refusal.message, refusal.code, details);
                LlmDecision::Refuse { code: refusal.code, message: refusal.message }
            }
        }
    }

    /// What a `#[tool]` or `session.llm` in the agent is to do.
    fn answer(&self, question: &Json) -> Option<Object> {
        let name = question.get("name")?.as_str()?;
        let input = question.get("input")?;
        let kind = match question.get("kind")?.as_str()? {
            "tool" => CallKind::Tool,
            "llm" => CallKind::Llm,
            _ => return None,
        };
        if kind == CallKind::Tool
            && let Some(code) = self.contracts.forbid_tool(name)
        {
            let message = format!("the spec forbids `{name}`, so it was not run");
            return Some(refuse(code.as_str(), message, None));
        }
        let Answers::Recorded { fixtures, matcher } = &self.answers else {
            return Some(Object::new().with("do", "run"));
        };
        let hit = match Self::take(fixtures, matcher, kind, name, input) {
            Ok(hit) => hit,
            Err(refusal) => return Some(refuse(refusal.code, refusal.message, Some(refusal.details))),
        };
        let fixture = fixtures.entries.get(hit.index)?;
        if let Some(call_id) = question.get("call_id").and_then(Json::as_str) {
            self.replay_inside(fixture, call_id);
        }
        let answer = Object::new().with("fixture", hit.index);
        Some(match &fixture.error {
            Some(error) => answer
                .with("do", "raise")
                .with("error", error.as_str())
                .with("cause", fixture.output.str("error_cause")),
            None => {
                let key = if kind == CallKind::Tool { "output" } else { "response" };
                let output = fixture.output.get(key).cloned().unwrap_or(Json::Null);
                answer.with("do", "return").with("output", output)
            }
        })
    }
}

impl Exchange for Tape {
    fn llm_called(&self, call: LlmCall) -> LlmDecision {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let quoted = call.answered.iter().map(|answered| answered.id.as_str());
        let thread = lock(&self.threads).of_request(quoted, call.request.get("messages").and_then(Json::as_array));
        let payload = Object::new()
            .with("provider", call.provider)
            .with("model", call.model.as_str())
            .with("request", call.request.clone());
        let mut meta = Object::new().with("call_id", format!("g{id}")).with("thread", thread);
        if !call.answered.is_empty() {
            let answered = call.answered.iter().map(|answered| {
                Json::from(Object::new().with("id", answered.id.as_str()).with("content", answered.content.clone()))
            });
            meta.insert("answered", answered.collect::<Vec<_>>());
        }
        self.emit("llm_called", payload, meta);
        let open = Open { thread, provider: call.provider, model: call.model.clone() };
        match &self.answers {
            Answers::Recorded { fixtures, matcher } => self.replay_llm(fixtures, matcher, &call, &open, id),
            Answers::Live(route) => match route(call.provider) {
                Ok(upstream) => {
                    lock(&self.open).insert(id, open);
                    LlmDecision::Forward { id: CallId(id), upstream: upstream.base_url, key: upstream.key }
                }
                Err(message) => {
                    self.fail(&open, id, &message);
                    LlmDecision::Refuse { code: "UPSTREAM_UNREACHABLE", message }
                }
            },
        }
    }

    fn llm_returned(&self, id: CallId, answer: LlmReturn) {
        let Some(open) = lock(&self.open).remove(&id.0) else { return };
        self.emit_llm_returned(&open, id.0, answer, Object::new());
    }

    fn upstream_failed(&self, id: CallId, message: String) {
        if let Some(open) = lock(&self.open).remove(&id.0) {
            self.fail(&open, id.0, &message);
        }
    }

    fn tool(&self, body: &Json) -> Json {
        let answer = self.answer(body).unwrap_or_else(|| {
            refuse(SESSION_LOST, "the harness was asked about a call in a form it does not know".to_owned(), None)
        });
        answer.into()
    }

    fn refused(&self, host: &str) {
        self.troubled(Trouble::Refused(host.to_owned()));
    }
}

impl Tape {
    fn fail(&self, open: &Open, id: u64, message: &str) {
        self.troubled(Trouble::Upstream(message.to_owned()));
        self.emit_llm_failed(open, id, message, "UPSTREAM_UNREACHABLE", None);
    }
}

fn requested(call: Requested) -> Json {
    Object::new().with("id", call.id).with("name", call.name).with("arguments", call.arguments).into()
}

fn replayed(fixture: usize) -> Object {
    Object::new().with("replayed", true).with("fixture", fixture)
}

fn refuse(code: &str, message: String, details: Option<Object>) -> Object {
    let answer = Object::new().with("do", "refuse").with("code", code).with("message", message);
    match details {
        Some(details) => answer.with("details", details),
        None => answer,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
