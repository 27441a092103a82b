//! The user's crate where it was built, for what needs cargo itself.

use std::fs::{self, File};
use std::path::Path;

use crate::build::{Binary, crate_folder, lock, target_folder};
use crate::run::{Output, Run};

/// The one folder in which cargo finds the crate up to date. While this lives, no other test uses it.
pub struct BuiltCrate {
    folder: &'static Path,
    _lock: File,
}

impl BuiltCrate {
    /// Waits for its turn.
    pub fn lock() -> Self {
        Self { folder: crate_folder(), _lock: lock("crate") }
    }

    /// Removes all that tests recorded here.
    pub fn forget_recordings(&self) {
        for folder in [".trajectly", "specs/snapshots", "specs/calls/snapshots", "commands/snapshots"] {
            let _ = fs::remove_dir_all(self.folder.join(folder));
        }
    }

    /// A run of a test binary from a shell, without cargo.
    pub fn run(&self, binary: Binary) -> Run {
        Run::new(binary.path()).current_dir(self.folder)
    }

    /// Runs a command line as if it had been pasted into a terminal.
    pub fn shell(&self, line: &str) -> Output {
        Run::shell(line, &target_folder()).current_dir(self.folder).output()
    }
}
