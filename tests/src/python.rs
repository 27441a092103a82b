//! The Python that agents of these tests run on, with their packages.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use crate::build::{lock, repository, repository_target};

/// The folder with `python`, which knows the packages of `tests/python/requirements.txt`. It is made on first use.
///
/// # Panics
///
/// If there is no Python on this machine, or its packages cannot be had.
fn python_folder() -> PathBuf {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let _lock = lock("python");
        let folder = repository_target().join("python");
        let install = repository().join("tests/python/install");
        let output =
            Command::new(&install).arg(&folder).output().unwrap_or_else(|error| panic!("{install:?}: {error}"));
        assert!(
            output.status.success(),
            "tests with Python agents need python3, 3.11 or later with `venv`, and the package registry on first use:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        folder.join("bin")
    };
    MADE.get_or_init(make).clone()
}

/// `PATH` with that Python before all others.
pub(crate) fn path_with_python() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(python_folder()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).expect("what was a PATH is one with a folder more")
}
