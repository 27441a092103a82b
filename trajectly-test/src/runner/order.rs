//! Which recordings of a run must come before what: two tests may share a baseline, but only one may record it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// The recordings of one process, by baseline. Under libtest each test is run for itself, and knows of the others by this
/// alone.
#[derive(Debug, Default)]
pub(super) struct Recordings {
    claims: Mutex<HashMap<PathBuf, Claim>>,
    done: Condvar,
}

#[derive(Debug)]
struct Claim {
    by: String,
    /// Whether the recording is still to come.
    pending: bool,
}

impl Recordings {
    pub(super) fn of_this_process() -> &'static Self {
        static THE: OnceLock<Recordings> = OnceLock::new();
        THE.get_or_init(Self::default)
    }

    /// Announces a recording. An error names the test that records the same baseline, or has recorded it.
    pub(super) fn announce(&self, baseline: PathBuf, by: &str) -> Result<(), String> {
        let mut claims = self.lock();
        match claims.get(&baseline) {
            Some(claim) if claim.by != by => Err(claim.by.clone()),
            _ => {
                claims.insert(baseline, Claim { by: by.to_owned(), pending: true });
                Ok(())
            }
        }
    }

    /// Says that a recording is over, whatever came of it.
    pub(super) fn finished(&self, baseline: &PathBuf) {
        if let Some(claim) = self.lock().get_mut(baseline) {
            claim.pending = false;
        }
        self.done.notify_all();
    }

    /// Waits until no recording of the baseline is to come.
    pub(super) fn wait(&self, baseline: &PathBuf) {
        let mut claims = self.lock();
        while claims.get(baseline).is_some_and(|claim| claim.pending) {
            claims = self.done.wait(claims).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Claim>> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
