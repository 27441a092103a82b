//! Threads that share work.

use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use super::outcome::CliError;

/// The most threads, however many are asked for.
pub(super) const MOST: usize = 256;

/// Starts threads that all do this, as many as are wanted and can be had.
///
/// # Errors
///
/// If not even one can be started.
pub(super) fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    wanted: usize,
    work: impl Fn() -> T + Copy + Send + 'scope,
) -> io::Result<Vec<ScopedJoinHandle<'scope, T>>> {
    let mut started = Vec::new();
    while started.len() < wanted.min(MOST) {
        match Builder::new().spawn_scoped(scope, work) {
            Ok(worker) => started.push(worker),
            Err(error) if started.is_empty() => return Err(error),
            Err(_) => break,
        }
    }
    Ok(started)
}

/// What is said if no thread can be started.
pub(super) fn none(error: &io::Error) -> CliError {
    CliError::new(format!("no thread can be started: {error}"))
        .help("end other programs, or raise the limit of processes")
}
