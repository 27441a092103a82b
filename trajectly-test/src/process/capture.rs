//! A child's output, as it comes.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::named;

/// How long output is still read after the child and its group are gone. Only a process that left the group can
/// hold the pipe open longer.
const DRAIN: Duration = Duration::from_secs(1);

/// The end of a stream, and how much of it there was.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    kept: Vec<u8>,
    total: u64,
}

impl Captured {
    /// The kept end as text; what is no UTF-8 is replaced.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.kept).into_owned()
    }

    /// How many bytes were dropped from the front.
    pub(crate) fn dropped(&self) -> u64 {
        self.total - self.kept.len() as u64
    }

    fn push(&mut self, bytes: &[u8], limit: usize) {
        self.total += bytes.len() as u64;
        self.kept.extend_from_slice(bytes);
        if self.kept.len() > 2 * limit {
            self.kept.drain(..self.kept.len() - limit);
        }
    }

    fn trim(mut self, limit: usize) -> Self {
        if self.kept.len() > limit {
            self.kept.drain(..self.kept.len() - limit);
        }
        self
    }
}

/// How much a child may print to all of its streams together.
pub(super) struct Allowance {
    limit: u64,
    printed: AtomicU64,
}

impl Allowance {
    pub(super) fn new(limit: Option<u64>) -> Arc<Self> {
        Arc::new(Self { limit: limit.unwrap_or(u64::MAX), printed: AtomicU64::new(0) })
    }

    /// Whether more was printed than there may be.
    pub(super) fn is_exceeded(&self) -> bool {
        self.printed.load(Ordering::Relaxed) > self.limit
    }

    fn add(&self, bytes: usize) {
        self.printed.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// A stream that is being read on a thread of its own.
pub(super) struct Capture {
    buffer: Arc<Mutex<Captured>>,
    ended: Receiver<()>,
    keep: usize,
}

impl Capture {
    /// Reads a stream, of which `keep` bytes are kept. `exceeded` is called whenever the allowance has been.
    pub(super) fn start(
        stream: impl Read + Send + 'static,
        keep: usize,
        allowance: Arc<Allowance>,
        exceeded: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        let buffer = Arc::new(Mutex::new(Captured::default()));
        let (end, ended) = mpsc::channel();
        let shared = Arc::clone(&buffer);
        named("agent output").spawn(move || {
            read(stream, |bytes| {
                shared.lock().unwrap_or_else(PoisonError::into_inner).push(bytes, keep);
                allowance.add(bytes.len());
                if allowance.is_exceeded() {
                    exceeded();
                }
            });
            let _ = end.send(());
        })?;
        Ok(Self { buffer, ended, keep })
    }

    /// What was read until the stream's end, or until nobody in the group could write to it any more.
    pub(super) fn end(self) -> Captured {
        let _ = self.ended.recv_timeout(DRAIN);
        std::mem::take(&mut *self.buffer.lock().unwrap_or_else(PoisonError::into_inner)).trim(self.keep)
    }
}

fn read(mut stream: impl Read, mut take: impl FnMut(&[u8])) {
    let mut chunk = [0; 8192];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => take(&chunk[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
}
