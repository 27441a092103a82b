//! A client and an exchange that do exactly what a test tells them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use trajectly_engine::json::{Json, Object};

use crate::gateway::{CallId, Exchange, Gateway, LlmCall, LlmDecision, LlmReturn, SessionUrl};

/// How long a test waits for something that has to happen; only a failure takes that long.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

pub(super) fn object(text: &str) -> Object {
    json(text).as_object().unwrap().clone()
}

/// What an exchange was told.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Heard {
    Called(LlmCall),
    Returned(CallId, LlmReturn),
    Failed(CallId, String),
    Tool(Json),
    Refused(String),
}

type Decide = dyn Fn(&LlmCall) -> LlmDecision + Send + Sync;

/// An exchange that decides by a closure and remembers everything.
pub(super) struct Recorder {
    decide: Box<Decide>,
    pub(super) heard: Mutex<Vec<Heard>>,
    pub(super) news: Condvar,
}

impl Recorder {
    pub(super) fn new(decide: impl Fn(&LlmCall) -> LlmDecision + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { decide: Box::new(decide), heard: Mutex::default(), news: Condvar::new() })
    }

    /// Records from `upstream`.
    pub(super) fn forwarding(upstream: String, key: Option<&'static str>) -> Arc<Self> {
        Self::new(move |_| LlmDecision::Forward {
            id: CallId(7),
            upstream: upstream.clone(),
            key: key.map(str::to_owned),
        })
    }

    /// Replays one fixture's output.
    pub(super) fn replaying(output: &str) -> Arc<Self> {
        let output = object(output);
        Self::new(move |_| LlmDecision::Replay { output: output.clone() })
    }

    /// For a test in which no model is called.
    pub(super) fn idle() -> Arc<Self> {
        Self::new(|call| panic!("no model call was expected: {call:?}"))
    }

    pub(super) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }

    fn hear(&self, what: Heard) {
        self.heard.lock().unwrap().push(what);
        self.news.notify_all();
    }
}

impl Exchange for Recorder {
    fn llm_called(&self, call: LlmCall) -> LlmDecision {
        let decision = (self.decide)(&call);
        self.hear(Heard::Called(call));
        decision
    }

    fn llm_returned(&self, id: CallId, answer: LlmReturn) {
        self.hear(Heard::Returned(id, answer));
    }

    fn upstream_failed(&self, id: CallId, message: String) {
        self.hear(Heard::Failed(id, message));
    }

    fn tool(&self, body: &Json) -> Json {
        self.hear(Heard::Tool(body.clone()));
        Object::new().with("heard", body.clone()).into()
    }

    fn refused(&self, host: &str) {
        self.hear(Heard::Refused(host.to_owned()));
    }
}

/// A gateway with one session, and a way to talk to it.
pub(super) struct House {
    pub(super) url: SessionUrl,
    pub(super) gateway: Gateway,
}

impl House {
    pub(super) fn with(exchange: &Arc<Recorder>) -> Self {
        let gateway = Gateway::start().unwrap();
        let url = gateway.open(exchange.clone());
        Self { url, gateway }
    }

    pub(super) fn client(&self) -> Client {
        Client::connect(self.gateway.port())
    }

    /// A path under the session, as it stands on a request line.
    pub(super) fn path(&self, rest: &str) -> String {
        let token = self.url.base().rsplit('/').next().unwrap();
        format!("/s/{token}{rest}")
    }

    /// One chat completion on a connection of its own.
    pub(super) fn chat(&self, body: &str) -> Reply {
        let mut client = self.client();
        client.post(&self.path("/openai/v1/chat/completions"), &[], body);
        client.reply()
    }
}

/// A client that writes what it likes.
pub(super) struct Client(pub(super) BufReader<TcpStream>);

/// A response, as far as it came.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// The body's pieces, where it came in chunks.
    pub(super) chunks: Vec<String>,
    /// Whether the body came to its announced end.
    pub(super) complete: bool,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn json(&self) -> Json {
        Json::parse_slice(&self.body).unwrap()
    }

    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// The message of an error in the provider's shape, with all that such an error has.
    pub(super) fn error(&self, status: u16, code: &str) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/json"));
        assert_eq!(self.header("x-should-retry"), Some("false"));
        assert_eq!(self.header("x-trajectly-error"), Some(code));
        let body = self.json();
        let error = body.get("error").unwrap();
        assert_eq!(error.get("code"), Some(&code.into()));
        assert_eq!(error.get("type"), Some(&"trajectly".into()));
        assert_eq!(error.get("param"), Some(&Json::Null));
        error.get("message").unwrap().as_str().unwrap().to_owned()
    }
}

impl Client {
    pub(super) fn connect(port: u16) -> Self {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(BufReader::new(stream))
    }

    pub(super) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.get_mut().write_all(bytes.as_ref()).unwrap();
    }

    pub(super) fn post(&mut self, path: &str, headers: &[&str], body: &str) {
        let mut head = format!("POST {path} HTTP/1.1\r\nhost: x\r\n");
        for header in headers {
            head += &format!("{header}\r\n");
        }
        head += &format!("content-length: {}\r\n\r\n", body.len());
        self.send(head + body);
    }

    /// The status line and the headers of a response.
    pub(super) fn head(&mut self) -> Reply {
        let status = self.line();
        let (version, status) = status.split_once(' ').unwrap();
        assert_eq!(version, "HTTP/1.1");
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(": ").unwrap();
            headers.push((name.to_owned(), value.to_owned()));
        }
        Reply {
            status: status.split(' ').next().unwrap().parse().unwrap(),
            headers,
            body: Vec::new(),
            chunks: Vec::new(),
            complete: false,
        }
    }

    /// A response to a request other than HEAD.
    pub(super) fn reply(&mut self) -> Reply {
        let mut reply = self.head();
        if let Some(length) = reply.header("content-length") {
            reply.body.resize(length.parse().unwrap(), 0);
            self.0.read_exact(&mut reply.body).unwrap();
            reply.complete = true;
        } else if reply.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk() {
                if chunk.is_empty() {
                    reply.complete = true;
                    break;
                }
                reply.body.extend_from_slice(chunk.as_bytes());
                reply.chunks.push(chunk);
            }
        } else {
            self.0.read_to_end(&mut reply.body).unwrap();
            reply.complete = true;
        }
        reply
    }

    /// The next chunk of a body, the last being empty; `None` if the body breaks off.
    pub(super) fn chunk(&mut self) -> Option<String> {
        let mut size = String::new();
        if self.0.read_line(&mut size).ok()? == 0 {
            return None;
        }
        let size = usize::from_str_radix(size.trim_end(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        self.0.read_exact(&mut chunk).ok()?;
        assert_eq!(chunk.split_off(size), b"\r\n");
        Some(String::from_utf8(chunk).unwrap())
    }

    /// Whether the other side has closed the connection, and sent nothing more.
    pub(super) fn is_closed(&mut self) -> bool {
        matches!(self.0.fill_buf(), Ok([]))
            || self.0.fill_buf().is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset)
    }

    pub(super) fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.strip_suffix("\r\n").unwrap().to_owned()
    }
}
