//! Who is still alive: a connection that lasts as long as a process which holds it.

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// What holds a connection after this long is not about to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// A place to connect to, for processes that a test waits for.
pub struct Lifeline {
    listener: TcpListener,
}

impl Default for Lifeline {
    fn default() -> Self {
        Self::new()
    }
}

impl Lifeline {
    /// A lifeline that nobody holds yet.
    pub fn new() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").expect("a loopback port is free") }
    }

    /// What the environment variable `LIFELINE` is to say.
    pub fn address(&self) -> String {
        self.listener.local_addr().expect("a listener has an address").to_string()
    }

    /// Waits until a process holds the lifeline.
    pub fn held(&self) -> Held {
        Held { stream: self.listener.accept().expect("connections are accepted").0 }
    }
}

/// A connection of a living process.
pub struct Held {
    stream: TcpStream,
}

impl Held {
    /// Waits until every process that held the connection is gone.
    ///
    /// # Panics
    ///
    /// If one lives on.
    pub fn wait_until_released(mut self) {
        self.stream.set_read_timeout(Some(PATIENCE)).expect("a socket has time-outs");
        let end = self.stream.read(&mut [0]);
        let gone = matches!(end, Ok(0)) || end.as_ref().is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionReset);
        assert!(gone, "a process lives on: {end:?}");
    }
}
