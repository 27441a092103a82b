//! The gateway: a loopback HTTP server that stands where an agent expects its model provider.
//!
//! One listener serves every session of a harness process. A session is a path prefix that cannot be guessed,
//! `/s/<token>`, and an [`Exchange`] that decides whether a call is recorded from the upstream or answered from
//! fixtures. Connections are threads: a test has a handful of them, and a slow one holds up nobody else.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use trajectly_engine::json::Json;

mod assemble;
mod http;
mod layout;
mod openai;
mod relay;
mod route;
mod session;
mod stream;
#[cfg(test)]
mod tests;
mod types;
#[allow(dead_code, reason = "a build with `record` has no use for `NotBuilt`, one without it for the rest")]
mod upstream;

pub(crate) use openai::read_response;
pub(crate) use types::{CallId, LlmCall, LlmDecision, LlmReturn, Requested};

use http::{Connection, Fault};
use session::Session;

/// What a session does with what its agent says. Called from the connections' threads, several at a time.
pub(crate) trait Exchange: Send + Sync {
    /// A model is called. A `Forward` obliges the gateway to call `llm_returned` or `upstream_failed` once.
    fn llm_called(&self, call: LlmCall) -> LlmDecision;

    /// The upstream answered. For a stream this comes before the client can see its end.
    fn llm_returned(&self, id: CallId, answer: LlmReturn);

    /// The upstream did not answer, or not to the end; the client was told.
    fn upstream_failed(&self, id: CallId, message: String);

    /// The agent's side of a tool hook speaks: a JSON body in, a JSON body out.
    fn tool(&self, body: &Json) -> Json;

    /// The agent asked for a way to `host` through the gateway as a proxy, and was refused.
    fn refused(&self, host: &str);
}

/// A running server on 127.0.0.1; dropping it ends every connection.
pub(crate) struct Gateway {
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl Gateway {
    /// Listens on a port that the system picks.
    ///
    /// # Errors
    ///
    /// Where the system has no port or no thread left.
    pub(crate) fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let shared = Arc::new(Shared {
            port: listener.local_addr()?.port(),
            tokens: RandomState::new(),
            sessions: Mutex::default(),
            connections: Mutex::default(),
            next: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
        });
        let acceptor = thread::Builder::new().name("gateway".into()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.accept(&listener)
        })?;
        Ok(Self { shared, acceptor: Some(acceptor) })
    }

    /// The port on 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        self.shared.port
    }

    /// Opens a session, which closes when the returned address is dropped.
    pub(crate) fn open(&self, exchange: Arc<dyn Exchange>) -> SessionUrl {
        let token = self.shared.new_token();
        let session = Arc::new(Session::new(exchange));
        lock(&self.shared.sessions).insert(token.clone(), session);
        SessionUrl {
            base: format!("http://127.0.0.1:{}/s/{token}", self.shared.port),
            token,
            shared: Arc::clone(&self.shared),
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // The acceptor sits in `accept`; a connection of our own wakes it.
        let woken = TcpStream::connect((Ipv4Addr::LOCALHOST, self.shared.port)).is_ok();
        if let Some(acceptor) = self.acceptor.take().filter(|_| woken) {
            // A panic there has been reported by its own thread.
            let _ = acceptor.join();
        }
        self.shared.hang_up(|_| true);
    }
}

/// The address of an open session. Dropping it closes the session.
pub(crate) struct SessionUrl {
    base: String,
    token: String,
    shared: Arc<Shared>,
}

impl SessionUrl {
    /// `http://127.0.0.1:PORT/s/TOKEN`, without a slash at the end.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The base URL for OpenAI clients, as `OPENAI_BASE_URL` wants it.
    pub(crate) fn openai(&self) -> String {
        format!("{}/{}/v1", self.base, openai::PROVIDER)
    }

    /// Where a tool hook posts its questions.
    #[cfg(test)]
    pub(crate) fn tool(&self) -> String {
        format!("{}{}", self.base, crate::protocol::CALL_ROUTE)
    }

    /// The gateway as `HTTP_PROXY` and `HTTPS_PROXY` want it: it refuses every host, and knows whose agent asked.
    pub(crate) fn proxy(&self) -> String {
        format!("http://trajectly:{}@127.0.0.1:{}", self.token, self.shared.port)
    }

    /// Closes the session: answers under way are waited for, within reason, and its connections end. The exchange
    /// is not called again once this returns.
    pub(crate) fn close(self) {}

    fn end(&self, grace: Duration) {
        let session = lock(&self.shared.sessions).remove(&self.token);
        if let Some(session) = session {
            session.close(grace);
            self.shared.hang_up(|connection| connection.token.as_ref() == Some(&self.token));
        }
    }
}

impl Drop for SessionUrl {
    fn drop(&mut self) {
        /// For the rest of a stream whose reader has gone; a model that is still thinking is not waited for longer.
        const GRACE: Duration = Duration::from_secs(10);
        self.end(GRACE);
    }
}

/// What the listener and the connections have in common.
struct Shared {
    port: u16,
    /// Keyed with the system's randomness, so that what it hashes to cannot be guessed.
    tokens: RandomState,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    connections: Mutex<HashMap<u64, Open>>,
    /// Numbers connections and tokens.
    next: AtomicU64,
    stopping: AtomicBool,
}

/// A connection that is open, as seen by those who may have to end it.
struct Open {
    stream: TcpStream,
    /// The session that used it last.
    token: Option<String>,
}

impl Shared {
    fn new_token(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let half = |salt: u8| self.tokens.hash_one((number, salt));
        format!("{:016x}{:016x}", half(0), half(1))
    }

    /// The session of `token`; from now on the connection counts as its own.
    fn session(&self, token: &str, connection: u64) -> Option<Arc<Session>> {
        let session = lock(&self.sessions).get(token).cloned()?;
        if let Some(open) = lock(&self.connections).get_mut(&connection) {
            open.token = Some(token.to_owned());
        }
        Some(session)
    }

    fn hang_up(&self, which: impl Fn(&Open) -> bool) {
        for open in lock(&self.connections).values().filter(|open| which(open)) {
            // One that the client closed already needs no ending.
            let _ = open.stream.shutdown(Shutdown::Both);
        }
    }

    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        while !self.stopping.load(Ordering::SeqCst) {
            let Ok((stream, _)) = listener.accept() else {
                // Out of file descriptors, most likely: give connections a moment to end.
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            let shared = Arc::clone(self);
            // Where no thread can be had the connection is dropped, and the client sees that.
            let _ = thread::Builder::new().name("gateway connection".into()).spawn(move || shared.serve(stream));
        }
    }

    /// Serves one connection to its end.
    fn serve(&self, stream: TcpStream) {
        let Ok(handle) = stream.try_clone() else {
            return;
        };
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let _listed = Listed { shared: self, number };
        lock(&self.connections).insert(number, Open { stream: handle, token: None });
        if self.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(mut connection) = Connection::new(stream) else {
            return;
        };
        loop {
            match connection.next_request() {
                Ok(request) => {
                    let responder = connection.responder(&request);
                    match route::serve(self, number, &request, responder) {
                        Ok(true) => {}
                        Ok(false) => return connection.close_after_answer(),
                        Err(_) => return,
                    }
                }
                Err(Fault::Gone) => return,
                Err(Fault::Bad(status, message)) => {
                    let answer = openai::problem(status, "bad_request", &message);
                    if connection.last_responder().send(&answer).is_ok() {
                        connection.close_after_answer();
                    }
                    return;
                }
            }
        }
    }
}

/// Takes a connection off the list when its thread ends, however it ends.
struct Listed<'a> {
    shared: &'a Shared,
    number: u64,
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        lock(&self.shared.connections).remove(&self.number);
    }
}

/// Locks, also after a panic elsewhere: each of our critical sections leaves its map whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
