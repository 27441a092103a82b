//! The counterexamples of a failing run: its events up to the first bad one, and the least part of it that fails alike.

use std::time::{Duration, Instant};

use trajectly_engine::report::Reduced;
use trajectly_engine::shrink::shrink;
use trajectly_engine::spec::Spec;
use trajectly_engine::trace::Trace;

use crate::store::{Store, StoreError};

/// How far a failing trace is shrunk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Parts of the trace that are judged.
    pub(crate) max_iterations: usize,
    pub(crate) max_time: Duration,
    /// Whether what was found when the time was up is kept. It depends on the machine, and the files of two runs differ.
    pub(crate) keep_unfinished: bool,
}

impl Effort {
    /// What every failing test makes.
    pub(super) const OF_A_TEST: Effort =
        Effort { max_iterations: 200, max_time: Duration::from_secs(1), keep_unfinished: false };
}

/// A trace that failed, and what it failed against.
#[derive(Clone, Copy)]
pub(crate) struct Failed<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) baseline: &'a Trace,
    pub(crate) candidate: &'a Trace,
}

impl Failed<'_> {
    /// Writes the smallest counterexample that is found, and removes one that was written before. With it comes whether the time
    /// was enough. `None` if the trace does not fail, or nothing is kept.
    pub(crate) fn reduce(
        self,
        store: &Store,
        file_slug: &str,
        effort: Effort,
    ) -> Result<Option<(Reduced, bool)>, StoreError> {
        let start = Instant::now();
        let go_on = || start.elapsed() < effort.max_time;
        let shrunk = shrink(self.spec, Some(self.baseline), self.candidate, effort.max_iterations, go_on);
        let path = store.min_path(file_slug);
        let Some(shrunk) = shrunk.filter(|shrunk| effort.keep_unfinished || !shrunk.interrupted) else {
            store.remove_run_file(&path)?;
            return Ok(None);
        };
        let file = if shrunk.is_shorter() {
            store.write_run_file(&path, &shrunk.events_of(self.candidate).to_jsonl())?;
            Some(store.display(&path))
        } else {
            store.remove_run_file(&path)?;
            None
        };
        Ok(Some((Reduced { file, stats: shrunk.stats }, !shrunk.interrupted)))
    }

    /// Writes the events up to the witness. Returns the file as people see it.
    pub(super) fn cut(self, store: &Store, file_slug: &str, witness: usize) -> Result<String, StoreError> {
        let events = self.candidate.events.iter().take(witness + 1).cloned().collect();
        let path = store.prefix_path(file_slug);
        store.write_run_file(&path, &Trace { events }.to_jsonl())?;
        Ok(store.display(&path))
    }
}

/// Removes the counterexamples of an earlier run.
pub(super) fn remove(store: &Store, file_slug: &str) -> Result<(), StoreError> {
    store.remove_run_file(&store.prefix_path(file_slug))?;
    store.remove_run_file(&store.min_path(file_slug))
}
