//! A provider that does exactly what a test tells it, and what a test of a recording asks about.

use std::io::{BufReader, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use super::support::{Client, Heard, PATIENCE, Recorder};
use crate::gateway::{CallId, LlmReturn};

/// What a scripted upstream does with one connection, after it has read the request; then it closes.
pub(super) enum Step {
    Send(String),
    /// Waits for the test.
    Await(Receiver<()>),
}

/// A provider on loopback that answers its n-th connection by the n-th script.
pub(super) struct Upstream {
    pub(super) base: String,
    requests: Receiver<String>,
}

impl Upstream {
    pub(super) fn start(scripts: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let (seen, requests) = mpsc::channel();
        thread::spawn(move || {
            for script in scripts {
                let (stream, _) = listener.accept().unwrap();
                let mut connection = Client(BufReader::new(stream));
                // A test that does not look at requests has dropped the other end.
                let _ = seen.send(connection.read_request());
                for step in script {
                    match step {
                        Step::Send(bytes) => connection.send(bytes),
                        Step::Await(gate) => gate.recv_timeout(PATIENCE).unwrap(),
                    }
                }
            }
        });
        Self { base, requests }
    }

    /// Answers every connection with one whole body.
    pub(super) fn answering(answers: &[(u16, &str)]) -> Self {
        Self::start(
            answers
                .iter()
                .map(|(status, body)| {
                    let length = body.len();
                    vec![Step::Send(format!(
                        "HTTP/1.1 {status} Some Reason\r\ncontent-type: application/json\r\n\
                         x-request-id: req_1\r\nset-cookie: a=b\r\ncontent-length: {length}\r\n\r\n{body}"
                    ))]
                })
                .collect(),
        )
    }

    /// The next request, head and body, as it came.
    pub(super) fn request(&self) -> String {
        self.requests.recv_timeout(PATIENCE).unwrap()
    }
}

impl Client {
    /// What is left of a chunked body.
    pub(super) fn rest(&mut self) -> String {
        let mut text = String::new();
        while let Some(chunk) = self.chunk().filter(|chunk| !chunk.is_empty()) {
            text += &chunk;
        }
        text
    }

    fn read_request(&mut self) -> String {
        let mut text = String::new();
        let mut length = 0;
        loop {
            let line = self.line();
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
            text += &line;
            text += "\n";
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        text + std::str::from_utf8(&body).unwrap()
    }
}

impl Recorder {
    /// Waits until `count` things were heard.
    pub(super) fn wait_for(&self, count: usize) -> Vec<Heard> {
        let heard = self.heard.lock().unwrap();
        let (heard, wait) = self.news.wait_timeout_while(heard, PATIENCE, |heard| heard.len() < count).unwrap();
        assert!(!wait.timed_out(), "only {heard:?}");
        heard.clone()
    }

    /// What the upstream's only answer was recorded as.
    pub(super) fn returned(&self) -> LlmReturn {
        match self.wait_for(2).as_slice() {
            [Heard::Called(_), Heard::Returned(CallId(7), answer)] => answer.clone(),
            other => panic!("{other:?}"),
        }
    }
}
