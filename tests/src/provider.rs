//! A scripted model provider on loopback, which speaks OpenAI's chat API.

use std::io::{self, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::{Value, json};

use crate::http::receive;

/// A request that a provider got.
#[derive(Clone, Debug)]
pub struct Request {
    /// Such as `/v1/chat/completions`.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, which is JSON.
    pub body: Value,
    /// How many requests came before it.
    pub index: usize,
}

impl Request {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What a provider answers.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A status with headers and a JSON body.
    Plain(u16, Vec<(&'static str, String)>, Value),
    /// An event stream of these chunks, and `[DONE]`.
    Stream(Vec<Value>),
    /// An event stream that ends after these chunks as if the machine had died.
    Cut(Vec<Value>),
    /// Nothing, until the provider stops.
    Silence,
}

impl Answer {
    /// A message of the model.
    pub fn text(text: &str) -> Self {
        Self::message(json!({ "role": "assistant", "content": text }), "stop")
    }

    /// A request of the model to call functions: id, name and arguments of each.
    pub fn calls(calls: &[(&str, &str, Value)]) -> Self {
        Self::message(json!({ "role": "assistant", "content": null, "tool_calls": tool_calls(calls) }), "tool_calls")
    }

    fn message(message: Value, finish_reason: &str) -> Self {
        Self::Plain(
            200,
            Vec::new(),
            json!({
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1_700_000_000,
                "model": "gpt-4o-mini",
                "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason }],
                "usage": { "prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25 },
            }),
        )
    }

    /// An error in the provider's shape.
    pub fn error(status: u16, message: &str) -> Self {
        let body = json!({ "error": { "message": message, "type": "api_error", "param": null, "code": null } });
        Self::Plain(status, Vec::new(), body)
    }

    /// The same answer with a header more.
    #[must_use]
    pub fn with_header(self, name: &'static str, value: &str) -> Self {
        match self {
            Self::Plain(status, mut headers, body) => {
                headers.push((name, value.to_owned()));
                Self::Plain(status, headers, body)
            }
            other => other,
        }
    }

    /// A message of the model as a stream, piece by piece.
    pub fn streamed(pieces: &[&str]) -> Self {
        let mut chunks = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
        chunks.extend(pieces.iter().map(|piece| chunk(json!({ "content": piece }), None)));
        chunks.push(chunk(json!({}), Some("stop")));
        Self::Stream(chunks)
    }

    /// A stream that breaks off after these pieces.
    pub fn cut_after(pieces: &[&str]) -> Self {
        match Self::streamed(pieces) {
            Self::Stream(mut chunks) => {
                chunks.pop();
                Self::Cut(chunks)
            }
            other => other,
        }
    }
}

fn tool_calls(calls: &[(&str, &str, Value)]) -> Vec<Value> {
    let call = |(id, name, arguments): &(&str, &str, Value)| {
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        json!({ "id": id, "type": "function", "function": function })
    };
    calls.iter().map(call).collect()
}

fn chunk(delta: Value, finish_reason: Option<&str>) -> Value {
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "gpt-4o-mini",
        "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason }],
    })
}

type Script = dyn Fn(&Request) -> Answer + Send + Sync;

struct Shared {
    script: Box<Script>,
    requests: Mutex<Vec<Request>>,
    arrived: Condvar,
    silent: Mutex<Vec<TcpStream>>,
    stopped: AtomicBool,
}

/// A provider that is there until it is stopped or dropped.
pub struct Provider {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: Option<thread::JoinHandle<()>>,
}

impl Provider {
    /// Starts a provider that answers as the script says.
    pub fn start(script: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port is free");
        let address = listener.local_addr().expect("a listener has an address");
        let shared = Arc::new(Shared {
            script: Box::new(script),
            requests: Mutex::default(),
            arrived: Condvar::new(),
            silent: Mutex::default(),
            stopped: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        let listening = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if serving.stopped.load(Ordering::Relaxed) {
                    break;
                }
                let shared = Arc::clone(&serving);
                thread::spawn(move || shared.serve(stream));
            }
        });
        Self { address, shared, listening: Some(listening) }
    }

    /// A provider whose model always says the same.
    pub fn saying(text: &str) -> Self {
        let text = text.to_owned();
        Self::start(move |_| Answer::text(&text))
    }

    /// What `OPENAI_BASE_URL` is to say.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// Waits until there have been this many requests.
    pub fn wait_for_requests(&self, count: usize) {
        let mut requests = lock(&self.shared.requests);
        while requests.len() < count {
            requests = self.shared.arrived.wait(requests).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Leaves nobody at the provider's address.
    pub fn stop(mut self) {
        self.shut_down();
    }

    fn shut_down(&mut self) {
        let Some(listening) = self.listening.take() else { return };
        self.shared.stopped.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
        let _ = listening.join();
        for stream in lock(&self.shared.silent).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.shut_down();
    }
}

impl Shared {
    /// A client that has gone away needs no answer.
    fn serve(&self, stream: TcpStream) {
        let Ok(Some(received)) = receive(&stream) else { return };
        let body = serde_json::from_slice(&received.body).unwrap_or(Value::Null);
        let request = {
            let mut requests = lock(&self.requests);
            let (path, headers, index) = (received.path, received.headers, requests.len());
            requests.push(Request { path, headers, body, index });
            requests[index].clone()
        };
        self.arrived.notify_all();
        if received.method != "POST" || request.path != "/v1/chat/completions" {
            let _ = send(&stream, Answer::error(404, "there is nothing here"));
            return;
        }
        match (self.script)(&request) {
            Answer::Silence => lock(&self.silent).push(stream),
            answer => drop(send(&stream, answer)),
        }
    }
}

fn send(mut stream: &TcpStream, answer: Answer) -> io::Result<()> {
    match answer {
        Answer::Plain(status, headers, body) => {
            let body = body.to_string();
            let length = body.len();
            let mut head = format!("HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\n");
            for (name, value) in headers {
                head += &format!("{name}: {value}\r\n");
            }
            write!(stream, "{head}content-length: {length}\r\nconnection: close\r\n\r\n{body}")
        }
        Answer::Stream(chunks) => {
            send_chunks(stream, &chunks)?;
            send_chunk(stream, "data: [DONE]\n\n")?;
            stream.write_all(b"0\r\n\r\n")
        }
        // Without the last chunk, of length 0, no client takes the body for complete.
        Answer::Cut(chunks) => send_chunks(stream, &chunks),
        Answer::Silence => Ok(()),
    }
}

fn send_chunks(mut stream: &TcpStream, chunks: &[Value]) -> io::Result<()> {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes())?;
    chunks.iter().try_for_each(|chunk| send_chunk(stream, &format!("data: {chunk}\n\n")))
}

fn send_chunk(mut stream: &TcpStream, text: &str) -> io::Result<()> {
    write!(stream, "{:x}\r\n{text}\r\n", text.len())?;
    stream.flush()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
