//! The child's link to its session: appends events, asks the harness about calls.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::pinned::Pinned;
use crate::protocol;

static LINK: OnceLock<Option<Arc<Link>>> = OnceLock::new();

/// The session this process belongs to, if any. Outside a session this is one atomic load.
pub(crate) fn current() -> Option<&'static Arc<Link>> {
    LINK.get_or_init(Link::from_env).as_ref()
}

/// One process's end of a session.
#[derive(Debug)]
pub(crate) struct Link {
    url: String,
    events: Mutex<File>,
    started: Instant,
    calls: AtomicU64,
    pinned: Pinned,
}

/// What a child says before it runs a tool or a model.
#[derive(Serialize)]
pub(crate) struct Question<'a> {
    pub(crate) kind: &'static str,
    pub(crate) call_id: &'a str,
    /// A tool's name; a model's `provider:model`.
    pub(crate) name: &'a str,
    pub(crate) input: &'a RawValue,
}

/// What the harness answers.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Make the call for real.
    Run,
    /// Return the recorded output.
    Return { output: Box<RawValue>, fixture: usize },
    /// Return the recorded error; `cause` is the end of its text that tells the causes.
    Raise { error: String, cause: Option<String>, fixture: usize },
    /// Do not make the call: it is denied, or nothing was recorded for it.
    Refuse { code: String, message: String, details: Option<Box<RawValue>> },
}

/// An [`Answer`] as it is sent. (serde reads no raw value inside a tagged enum.)
#[derive(Deserialize)]
struct Reply {
    r#do: String,
    output: Option<Box<RawValue>>,
    error: Option<String>,
    cause: Option<String>,
    fixture: Option<usize>,
    code: Option<String>,
    message: Option<String>,
    details: Option<Box<RawValue>>,
}

impl Reply {
    fn into_answer(self) -> Option<Answer> {
        Some(match self.r#do.as_str() {
            "run" => Answer::Run,
            "return" => Answer::Return {
                // A recorded `null` reads as no output.
                output: self.output.unwrap_or_else(|| RawValue::NULL.to_owned()),
                fixture: self.fixture?,
            },
            "raise" => Answer::Raise { error: self.error?, cause: self.cause, fixture: self.fixture? },
            "refuse" => Answer::Refuse { code: self.code?, message: self.message?, details: self.details },
            _ => return None,
        })
    }
}

#[derive(Serialize)]
struct Row<'a, P, M> {
    event_type: &'a str,
    rel_ms: u64,
    payload: P,
    meta: M,
}

impl Link {
    fn from_env() -> Option<Arc<Self>> {
        let url = std::env::var(protocol::SESSION_URL).ok()?;
        let path = std::env::var_os(protocol::EVENTS_FILE)?;
        match OpenOptions::new().append(true).create(true).open(&path) {
            Ok(file) => Some(Arc::new(Self {
                url,
                events: Mutex::new(file),
                started: Instant::now(),
                calls: AtomicU64::new(0),
                pinned: Pinned::from_env(),
            })),
            Err(error) => {
                // Going on without a session would call real tools behind the test's back.
                eprintln!("trajectly: cannot append to {}: {error}", path.to_string_lossy());
                std::process::exit(70);
            }
        }
    }

    /// The session's URL on the gateway, without a trailing slash.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// What of the surroundings is the same in every run.
    pub(crate) fn pinned(&self) -> Pinned {
        self.pinned
    }

    /// An id for a call, unique among all processes of the session.
    pub(crate) fn next_call_id(&self, prefix: char) -> String {
        let n = self.calls.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}{}-{n}", std::process::id())
    }

    /// Appends one event as a single write, so that lines of several threads and processes never mix.
    pub(crate) fn emit(&self, event_type: &str, payload: impl Serialize, meta: impl Serialize) {
        let rel_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let row = Row { event_type, rel_ms, payload, meta };
        let written = serde_json::to_vec(&row).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            self.lock().write_all(&line)
        });
        if let Err(error) = written {
            eprintln!("trajectly: cannot write a `{event_type}` event: {error}");
            std::process::exit(70);
        }
    }

    /// Asks the harness what to do with a call.
    pub(crate) fn ask(&self, question: &Question<'_>) -> io::Result<Answer> {
        let body = serde_json::to_vec(question)?;
        let reply = self.post(protocol::CALL_ROUTE, &body)?;
        let reply: Reply = serde_json::from_slice(&reply)?;
        reply.into_answer().ok_or_else(|| invalid("the harness answered in a form this version does not know"))
    }

    fn lock(&self) -> MutexGuard<'_, File> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A single request on a connection of its own, so the reply ends where the connection does.
    fn post(&self, route: &str, body: &[u8]) -> io::Result<Vec<u8>> {
        let rest = self.url.strip_prefix("http://").ok_or_else(|| invalid("the session's URL is not http"))?;
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let mut stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut request = format!(
            "POST {path}{route} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(body);
        stream.write_all(&request)?;
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply)?;
        let head = reply.windows(4).position(|w| w == b"\r\n\r\n").ok_or_else(|| invalid("the harness hung up"))?;
        let status = reply.get(9..12).unwrap_or_default();
        if status != b"200" {
            let said = String::from_utf8_lossy(reply.get(head + 4..).unwrap_or_default()).into_owned();
            return Err(invalid(&format!("the harness answered {}: {said}", String::from_utf8_lossy(status))));
        }
        Ok(reply.split_off(head + 4))
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}
