//! A project of its own for each test: the user's crate where it was never built.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::build::{Binary, copy_crate};
use crate::files::{Store, read, write};
use crate::run::Run;

/// A copy of the user's crate, gone when dropped.
///
/// The test binaries were built elsewhere. They are told where the crate lies now in the way in which
/// `cargo nextest run --archive-file … --workspace-remap …` tells it.
pub struct Project {
    folder: TempDir,
}

impl Default for Project {
    fn default() -> Self {
        Self::new()
    }
}

impl Project {
    /// A project in which nothing was recorded yet.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("trajectly-e2e-").tempdir().expect("a temporary folder");
        copy_crate(folder.path());
        Self { folder }
    }

    /// A project in which these tests of [`Binary::Agents`] were recorded. None of them may ask a model.
    #[track_caller]
    pub fn recorded(tests: &[&str]) -> Self {
        let project = Self::new();
        project.agents(tests).update("1").output().passes();
        project
    }

    /// The project's folder.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// A path in the project.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root().join(relative)
    }

    /// The content of a file of the project.
    #[track_caller]
    pub fn read(&self, relative: &str) -> String {
        read(&self.path(relative))
    }

    /// Writes a file of the project.
    #[track_caller]
    pub fn write(&self, relative: &str, content: &str) {
        write(&self.path(relative), content);
    }

    /// Adds to the spec of a name: `greet` is `specs/greet.agent.yaml`.
    #[track_caller]
    pub fn add_to_spec(&self, name: &str, yaml: &str) {
        let file = format!("specs/{name}.agent.yaml");
        self.write(&file, &(self.read(&file) + yaml));
    }

    /// The project's `.trajectly/`.
    pub fn store(&self) -> Store {
        Store::new(self.root())
    }

    /// A run of a test binary.
    pub fn run(&self, binary: Binary) -> Run {
        self.run_file(binary.path())
    }

    /// A run of [`Binary::Agents`] with these tests and no other, by their whole names.
    pub fn agents(&self, tests: &[&str]) -> Run {
        self.run(Binary::Agents).arg("--exact").args(tests)
    }

    /// A run of a built test binary.
    pub fn run_file(&self, binary: &Path) -> Run {
        Run::new(binary)
            .current_dir(self.root())
            .env("CARGO_MANIFEST_DIR", self.root())
            .env("CARGO_PKG_NAME", "e2e-agents")
            .env("JOURNAL", self.path("journal"))
    }

    /// The tools whose bodies really ran, a line each, in order.
    pub fn journal(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("journal")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}
