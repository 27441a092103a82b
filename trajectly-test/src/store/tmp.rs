//! A run's temporary files: unredacted, so they do not outlive it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, test_kill_process};

use super::{FOLDER, Store, StoreError};

static RUNS: AtomicU64 = AtomicU64::new(0);
static SWEPT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A folder that is removed when the run is over, or, if the harness was killed, by the next one.
#[derive(Debug)]
pub(crate) struct RunDir {
    path: PathBuf,
}

impl RunDir {
    pub(crate) fn new(store: &Store) -> Result<Self, StoreError> {
        store.ensure()?;
        let all = store.root().join(FOLDER).join("tmp");
        sweep(&all);
        let name = format!("{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
        let path = all.join(name);
        fs::create_dir_all(&path).map_err(|error| StoreError::new("make", &path, error))?;
        Ok(Self { path })
    }

    pub(crate) fn events(&self) -> PathBuf {
        self.path.join("events.jsonl")
    }

    pub(crate) fn fixtures(&self) -> PathBuf {
        self.path.join("fixtures.json")
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Once a process: removes what killed runs left. Their names begin with the id of a process that is gone.
fn sweep(all: &Path) {
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if swept.iter().any(|done| done == all) {
        return;
    }
    swept.push(all.to_owned());
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_string_lossy().split('-').next().and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw);
        let gone = owner.is_none_or(|pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH));
        if gone {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
