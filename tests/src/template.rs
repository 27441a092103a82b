//! A project that `trajectly enable --template` made.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::build::{e2e_folder, lock, lock_versions, repository, target_folder};
use crate::files::{Store, read, write};
use crate::folder::Folder;
use crate::run::{Output, Run};

/// Where a template is tried. What was built of it before is kept; while this lives, no other test has it.
pub struct Started {
    folder: PathBuf,
    _lock: File,
}

impl Started {
    /// An empty folder of this name.
    pub fn empty(name: &str) -> Self {
        let _lock = lock(&format!("template-{name}"));
        let folder = e2e_folder().join("templates").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("the folder can be made");
        Self { folder, _lock }
    }

    /// The project that a template makes of an empty folder.
    #[track_caller]
    pub fn of(template: &str) -> Self {
        let project = Self::empty(template);
        project.enable(template).passes().says(&["made  specs/triage.agent.yaml"]).never_says(&["Add this", "kept"]);
        if project.path("Cargo.toml").exists() {
            project.settle();
        }
        project
    }

    /// Adds a template.
    pub fn enable(&self, template: &str) -> Output {
        Run::new(Folder::program()).args(["enable", "--template", template]).current_dir(&self.folder).output()
    }

    /// Makes a crate one of its own, inside this repository as it is, with the repository's versions of all
    /// dependencies.
    pub fn settle(&self) {
        self.write("Cargo.toml", &(self.read("Cargo.toml") + "\n[workspace]\n"));
        lock_versions(&self.folder);
    }

    /// A path in the project.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.folder.join(relative)
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

    /// Its `.trajectly/`.
    pub fn store(&self) -> Store {
        Store::new(&self.folder)
    }

    /// `cargo test` in the project, with this repository in the place of the crates that are to be published.
    pub fn cargo_test(&self) -> Run {
        let ours: &Path = &repository().join("trajectly-test");
        let config = format!("patch.crates-io.trajectly-test.path = {:?}", ours.display().to_string());
        // As the user's crate of the other tests is built, so that they share their dependencies. Those that the
        // workspace itself does not build have to come from the registry the first time.
        Run::shell("cargo test --quiet --config \"$PATCH\" -- --format pretty", &target_folder())
            .env("PATCH", config)
            .env("CARGO_NET_OFFLINE", "false")
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .current_dir(&self.folder)
    }

    /// The command line, with the Python that knows the packages of the templates.
    pub fn trajectly(&self, args: &[&str]) -> Run {
        Run::new(Folder::program()).args(args).with_python().current_dir(&self.folder)
    }
}
