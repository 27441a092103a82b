//! The user's crate, built once for all tests.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::run::clean;

/// A test binary of the user's crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `tests/agents.rs` with Trajectly's harness.
    Agents,
    /// The same source with cargo's own harness.
    Plain,
    /// `tests/second.rs`: another binary, and specs without functions.
    Second,
    /// [`Binary::Second`] with cargo's own harness.
    Forgotten,
    /// `tests/duplicates.rs`: two tests of one name.
    Duplicates,
    /// The library's unit tests.
    Library,
}

impl Binary {
    /// The two harnesses over one source.
    pub const BOTH_HARNESSES: [Self; 2] = [Self::Agents, Self::Plain];

    fn target(self) -> &'static str {
        match self {
            Self::Agents => "agents",
            Self::Plain => "plain",
            Self::Second => "second-binary",
            Self::Forgotten => "forgotten-harness",
            Self::Duplicates => "duplicates",
            Self::Library => "e2e_agents",
        }
    }

    /// The built file.
    pub fn path(self) -> &'static Path {
        built(&built_crate().tests, self.target())
    }
}

/// The agent as a program, which knows nothing of tests.
pub fn agent_program() -> &'static Path {
    built(&built_crate().programs, "e2e-agents")
}

/// The folder of the user's crate as it was built.
pub(crate) fn crate_folder() -> &'static Path {
    &built_crate().folder
}

/// [`Binary::Agents`] with link-time optimisation over all crates.
pub fn fat_lto_binary() -> PathBuf {
    let folder = crate_folder();
    let _lock = lock("build");
    let artifacts = cargo(folder, &["--test", "agents", "--profile", "fat-lto", "--no-default-features"]);
    artifacts.tests["agents"].clone()
}

struct Built {
    folder: PathBuf,
    tests: HashMap<String, PathBuf>,
    programs: HashMap<String, PathBuf>,
}

fn built<'a>(artifacts: &'a HashMap<String, PathBuf>, name: &str) -> &'a Path {
    artifacts.get(name).unwrap_or_else(|| panic!("cargo built no {name}, only {artifacts:?}"))
}

fn built_crate() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let _lock = lock("build");
        let folder = e2e_folder().join("crate");
        copy_crate(&folder);
        cargo(&folder, &[])
    })
}

/// Everything the end-to-end tests leave behind, in the target folder of this workspace.
pub(crate) fn e2e_folder() -> PathBuf {
    repository_target().join("e2e")
}

/// The target folder of this workspace, where these tests were built.
pub(crate) fn repository_target() -> PathBuf {
    let exe = std::env::current_exe().expect("a test binary has a path");
    let target = exe.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    target.expect("cargo marks its target folder").to_owned()
}

/// Keeps others out, in other processes too, until it is dropped.
pub(crate) fn lock(what: &str) -> File {
    let e2e = e2e_folder();
    fs::create_dir_all(&e2e).expect("the target folder can be written to");
    let lock = File::create(e2e.join(format!("{what}.lock"))).expect("the target folder can be written to");
    lock.lock().expect("the file system knows locks");
    lock
}

/// The repository's folder.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package lies in a workspace")
}

/// Source folder of the user's crate, in this repository.
pub(crate) fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("user-crate")
}

/// Copies the user's crate, with the repository's versions of all dependencies.
pub(crate) fn copy_crate(to: &Path) {
    copy_folder(&source(), to);
    let manifest = fs::read_to_string(source().join("Cargo.toml")).expect("the crate has a manifest");
    let here = format!("path = \"{}/", repository().display());
    write_if_changed(&to.join("Cargo.toml"), manifest.replace("path = \"../../", &here).as_bytes());
    lock_versions(to);
}

/// Gives a crate the repository's versions of all dependencies.
pub(crate) fn lock_versions(to: &Path) {
    // Cargo drops from the lock file what the crate does not use; a copy tells when the versions are others.
    let lock = fs::read(repository().join("Cargo.lock")).expect("the workspace has a lock file");
    if write_if_changed(&to.join("repository.lock"), &lock) {
        write_if_changed(&to.join("Cargo.lock"), &lock);
    }
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("the crate can be read") {
        let entry = entry.expect("the crate can be read");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else if entry.file_name() != "Cargo.toml" {
            write_if_changed(&target, &fs::read(entry.path()).expect("the crate can be read"));
        }
    }
}

/// Cargo goes by the time of a change. Returns whether there was one.
pub(crate) fn write_if_changed(path: &Path, content: &[u8]) -> bool {
    let changed = fs::read(path).map_or(true, |old| old != content);
    if changed {
        fs::write(path, content).expect("the copy can be written");
    }
    changed
}

/// Builds tests without running them.
fn cargo(folder: &Path, arguments: &[&str]) -> Built {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    clean(&mut cargo);
    cargo.args(["test", "--no-run", "--offline", "--quiet", "--message-format=json-render-diagnostics"]);
    cargo.args(arguments).current_dir(folder).env("CARGO_TARGET_DIR", target_folder());
    let output = cargo.output().expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the user's crate does not build:\n{errors}");
    let mut built = Built { folder: folder.to_owned(), tests: HashMap::new(), programs: HashMap::new() };
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message: Value = serde_json::from_str(line).expect("cargo speaks JSON");
        let (Some(name), Some(file)) = (message["target"]["name"].as_str(), message["executable"].as_str()) else {
            continue;
        };
        let is_program = message["target"]["kind"][0] == "bin" && message["profile"]["test"] == false;
        let artifacts = if is_program { &mut built.programs } else { &mut built.tests };
        artifacts.insert(name.to_owned(), file.into());
    }
    built
}

/// Where the crate is built, dependencies included.
pub(crate) fn target_folder() -> PathBuf {
    e2e_folder().join("target")
}
