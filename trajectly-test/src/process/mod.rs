//! One child process: spawned in a group of its own and within bounds, its output captured, ended with all that stays
//! in its group.

mod capture;
mod limits;
mod network;
#[cfg(test)]
mod tests;
mod watchdog;

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use trajectly_engine::spec::Limits;

use capture::{Allowance, Capture};
use watchdog::Watched;

pub(crate) use capture::Captured;
pub(crate) use limits::set_in as limits_set_in;
pub(crate) use network::{Guard, Network};

/// What a child may do, and for how long.
#[derive(Debug)]
pub(crate) struct Bounds {
    pub(crate) time: Duration,
    /// How many bytes of the end of each output stream are kept.
    pub(crate) keep: usize,
    pub(crate) limits: Limits,
    pub(crate) network: Network,
    /// Whether the child and its group are killed if this process is. Takes a shell, once a process.
    pub(crate) watched: bool,
}

/// How a child ended.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Exit code; for a child ended by a signal, the signal's number, negated.
    pub(crate) code: i32,
    /// The signal that ended it, if one did and it was not ours.
    pub(crate) signal: Option<i32>,
    /// What was exceeded, if anything was.
    pub(crate) exceeded: Option<Exceeded>,
    pub(crate) took: Duration,
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
    /// What kept it from the network.
    pub(crate) guard: Guard,
    /// The limits that this system cannot hold a process to, by their names in a spec.
    pub(crate) unenforced: Vec<&'static str>,
}

/// A bound at which a child is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exceeded {
    Time,
    Output,
}

impl Finished {
    /// A run that had no process of its own, so that nothing could hold it to its bounds.
    pub(crate) fn here(code: i32, took: Duration, bounds: &Bounds) -> Self {
        let (stdout, stderr) = Default::default();
        let unenforced = limits::set_in(&bounds.limits).map(|(name, _)| name).collect();
        let guard = bounds.network.without_process();
        Self { code, signal: None, exceeded: None, took, stdout, stderr, guard, unenforced }
    }
}

/// What is heard of a child while it runs.
enum News {
    Started(io::Result<(Child, Guard)>),
    Exited,
    /// It has printed more than it may.
    Flooded,
}

/// Runs a command to its end, or to one of its bounds.
///
/// Nothing that stays in the child's process group outlives this call.
pub(crate) fn run(command: &mut Command, bounds: &Bounds) -> io::Result<Finished> {
    use std::os::unix::process::CommandExt as _;

    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let unenforced = limits::set(command, &bounds.limits);
    if bounds.watched {
        watchdog::announce(command);
    }
    let started = Instant::now();
    let (tell, news) = mpsc::channel();
    thread::scope(|scope| {
        let told = tell.clone();
        let keeper = named("agent keeper").spawn_scoped(scope, move || keep(command, bounds, &told))?;
        let (mut child, guard) = match news.recv() {
            Ok(News::Started(started)) => started?,
            _ => return Err(io::Error::other("the thread that was to start it is gone")),
        };
        let pid = Pid::from_child(&child);
        let (watched, group) = (bounds.watched.then(|| Watched::new(pid)), Group(pid));
        let allowance = Allowance::new(bounds.limits.output_bytes);
        let capture = |stream: Box<dyn Read + Send>| {
            let tell = tell.clone();
            let told = move || drop(tell.send(News::Flooded));
            Capture::start(stream, bounds.keep, Arc::clone(&allowance), told)
        };
        let stdout = child.stdout.take().map(|stream| capture(Box::new(stream))).transpose()?;
        let stderr = child.stderr.take().map(|stream| capture(Box::new(stream))).transpose()?;
        let timed_out = matches!(news.recv_timeout(bounds.time), Err(RecvTimeoutError::Timeout));
        let took = started.elapsed();
        drop(group);
        // The child's id is its own until it is waited for; nothing may go by it after that.
        let _ = keeper.join();
        drop(watched);
        let status = child.wait()?;
        let [stdout, stderr] = [stdout, stderr].map(|stream| stream.map(Capture::end).unwrap_or_default());
        let exceeded = match (allowance.is_exceeded(), timed_out) {
            (true, _) => Some(Exceeded::Output),
            (false, true) => Some(Exceeded::Time),
            (false, false) => None,
        };
        Ok(Finished {
            code: code_of(status),
            signal: if exceeded.is_some() { None } else { signal_of(status) },
            exceeded,
            took,
            stdout,
            stderr,
            guard,
            unenforced,
        })
    })
}

/// Starts a child, and stays until it has ended: what restricts a thread is handed on to the processes that it starts,
/// and a child may have asked to die with the thread that started it.
fn keep(command: &mut Command, bounds: &Bounds, tell: &Sender<News>) {
    let guard = bounds.network.restrict_this_thread();
    let started = command.spawn();
    let pid = started.as_ref().ok().map(Pid::from_child);
    let _ = tell.send(News::Started(started.map(|child| (child, guard))));
    if let Some(pid) = pid {
        // Waiting without reaping keeps the group's id taken until the group has been killed.
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let _ = tell.send(News::Exited);
    }
}

/// A child's process group. Dropping it kills who is in it.
struct Group(Pid);

impl Drop for Group {
    fn drop(&mut self) {
        // Fails only where nobody is left in the group.
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

fn named(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.to_owned())
}

fn code_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| -signal_of(status).unwrap_or(1))
}

fn signal_of(status: ExitStatus) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal()
}
