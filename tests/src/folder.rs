//! A folder in which the command line runs.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::build::{copy_folder, repository};
use crate::files::{Store, read, write};
use crate::run::Run;

/// An empty folder, gone when dropped.
pub struct Folder {
    folder: TempDir,
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Folder {
    /// A folder with nothing in it.
    pub fn new() -> Self {
        Self { folder: tempfile::Builder::new().prefix("trajectly-cli-").tempdir().expect("a temporary folder") }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// A path in the folder.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root().join(relative)
    }

    /// The content of a file.
    #[track_caller]
    pub fn read(&self, relative: &str) -> String {
        read(&self.path(relative))
    }

    /// Writes a file, and makes the folders above it.
    #[track_caller]
    pub fn write(&self, relative: &str, content: &str) {
        write(&self.path(relative), content);
    }

    /// Copies a file of `tests/python/agents` here, under its own name.
    #[track_caller]
    pub fn add_agent(&self, name: &str) {
        let agent = repository().join("tests/python/agents").join(name);
        self.write(name, &read(&agent));
    }

    /// The same files in a folder of their own.
    #[track_caller]
    pub fn copy(&self) -> Self {
        let copy = Self::new();
        copy_folder(self.root(), copy.root());
        copy
    }

    /// The lines that agents wrote to `$JOURNAL`: what they really ran, in order.
    pub fn journal(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("journal")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The public Python tool, run here.
    pub fn python_tool<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Run {
        self.python(["-m", "trajectly"]).args(args)
    }

    /// Python with the packages of the agents, run here.
    pub fn python<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Run {
        Run::new("python").args(args).current_dir(self.root()).with_python().env("JOURNAL", self.path("journal"))
    }

    /// Its `.trajectly/`.
    pub fn store(&self) -> Store {
        Store::new(self.root())
    }

    /// The command line, run here.
    pub fn trajectly<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Run {
        Run::new(Self::program()).args(args).current_dir(self.root())
    }

    /// The built command line.
    pub fn program() -> PathBuf {
        let tests = std::env::current_exe().expect("a test binary has a path");
        let built = tests.ancestors().nth(2).expect("cargo builds tests in a folder beside its programs");
        built.join("command_line")
    }
}
