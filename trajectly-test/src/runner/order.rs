//! Which recordings of a run must come before what: two tests may share a baseline, but only one may record it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};

/// The recordings of one run that are still to come, by baseline.
#[derive(Debug, Default)]
pub(super) struct Recordings {
    pending: Mutex<HashMap<PathBuf, String>>,
    done: Condvar,
}

impl Recordings {
    /// Announces a recording. An error names the test that was to record the same baseline.
    pub(super) fn announce(&self, baseline: PathBuf, by: &str) -> Result<(), String> {
        match self.lock().insert(baseline, by.to_owned()) {
            Some(other) if other != by => Err(other),
            _ => Ok(()),
        }
    }

    /// Says that a recording is over, whatever came of it.
    pub(super) fn finished(&self, baseline: &PathBuf) {
        self.lock().remove(baseline);
        self.done.notify_all();
    }

    /// Waits until no recording of the baseline is to come.
    pub(super) fn wait(&self, baseline: &PathBuf) {
        let mut pending = self.lock();
        while pending.contains_key(baseline) {
            pending = self.done.wait(pending).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, String>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
