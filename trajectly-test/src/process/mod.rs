//! One child process: spawned in a group of its own, its output captured, ended with everything it started.

use std::io::{self, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How long output is still read after the child and its group are gone. Only a process that left the group can
/// hold the pipe open longer.
const DRAIN: Duration = Duration::from_secs(1);

/// How a child ended.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Exit code; for a child ended by a signal, the signal's number, negated.
    pub(crate) code: i32,
    /// The signal that ended it, if one did and it was not ours.
    pub(crate) signal: Option<i32>,
    /// Whether it was killed at its time limit.
    pub(crate) timed_out: bool,
    pub(crate) took: Duration,
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
}

impl Finished {
    /// A run that had no process of its own.
    pub(crate) fn here(code: i32, took: Duration) -> Self {
        let (stdout, stderr) = Default::default();
        Self { code, signal: None, timed_out: false, took, stdout, stderr }
    }
}

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

/// Runs a command to its end, or to its time limit, keeping at most `keep` bytes of each output stream.
///
/// Nothing that stays in the child's process group outlives this call.
pub(crate) fn run(command: &mut Command, limit: Duration, keep: usize) -> io::Result<Finished> {
    use std::os::unix::process::CommandExt as _;

    let started = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn()?;
    let pid = Pid::from_child(&child);
    let stdout = Capture::start(child.stdout.take(), keep);
    let stderr = Capture::start(child.stderr.take(), keep);

    let (exited, wait) = mpsc::channel();
    // Waiting without reaping keeps the group's id taken until the group has been killed.
    let waiter = std::thread::spawn(move || {
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let _ = exited.send(());
    });
    let timed_out = wait.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
    let took = started.elapsed();
    // Fails only where nobody is left in the group.
    let _ = kill_process_group(pid, Signal::KILL);
    let _ = waiter.join();
    let status = child.wait()?;
    Ok(Finished {
        code: code_of(status),
        signal: if timed_out { None } else { signal_of(status) },
        timed_out,
        took,
        stdout: stdout.end(keep),
        stderr: stderr.end(keep),
    })
}

fn code_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| -signal_of(status).unwrap_or(1))
}

fn signal_of(status: ExitStatus) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal()
}

/// A stream that is being read on a thread of its own.
struct Capture {
    buffer: Arc<Mutex<Captured>>,
    ended: mpsc::Receiver<()>,
}

impl Capture {
    fn start(stream: Option<impl Read + Send + 'static>, keep: usize) -> Self {
        let buffer = Arc::new(Mutex::new(Captured::default()));
        let (end, ended) = mpsc::channel();
        let shared = Arc::clone(&buffer);
        std::thread::spawn(move || {
            if let Some(mut stream) = stream {
                let mut chunk = [0; 8192];
                loop {
                    match stream.read(&mut chunk) {
                        Ok(0) => break,
                        Ok(n) => shared.lock().unwrap_or_else(PoisonError::into_inner).push(&chunk[..n], keep),
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(_) => break,
                    }
                }
            }
            let _ = end.send(());
        });
        Self { buffer, ended }
    }

    /// What was read until the stream's end, or until nobody in the group could write to it any more.
    fn end(self, keep: usize) -> Captured {
        let _ = self.ended.recv_timeout(DRAIN);
        std::mem::take(&mut *self.buffer.lock().unwrap_or_else(PoisonError::into_inner)).trim(keep)
    }
}
