//! The `.trajectly/` folder: what is committed, what a run leaves behind, and how files are written so that neither
//! a kill nor a second writer can spoil them.

mod atomic;
mod baseline;
mod commit;
mod meta;
mod place;
mod stale;
mod tmp;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(feature = "cli")]
pub(crate) use atomic::{create, write_named};
pub(crate) use atomic::{read_text, replace};
pub(crate) use baseline::BaselineFiles;
pub(crate) use place::Place;
#[cfg(feature = "cli")]
pub(crate) use place::check_version_name;
pub(crate) use tmp::RunDir;

/// Name of the folder that holds everything.
pub(crate) const FOLDER: &str = ".trajectly";

/// What `.gitignore` says in it.
pub(crate) const IGNORED: &str =
    "# What a run leaves behind. Baselines and fixtures beside this file are to be committed.
/current/*.jsonl
/locks/
/rejected/
/reports/
/repros/
/staged/
/tmp/
.*.new
";

/// A file operation that failed.
#[derive(Debug)]
pub(crate) struct StoreError {
    doing: &'static str,
    path: PathBuf,
    error: io::Error,
}

impl StoreError {
    pub(crate) fn new(doing: &'static str, path: &Path, error: io::Error) -> Self {
        Self { doing, path: path.to_owned(), error }
    }

    /// A file that holds something else than it must.
    fn invalid(path: &Path, what: String) -> Self {
        Self::new("read", path, io::Error::new(io::ErrorKind::InvalidData, what))
    }

    /// What is wrong with a file that could not be read, which is named as people see it; `None` if something else failed.
    pub(crate) fn fault(&self, store: &Store) -> Option<String> {
        let file = store.display(&self.path);
        let is_ours = self.error.get_ref().is_some();
        match self.error.kind() {
            _ if self.doing != "read" => None,
            io::ErrorKind::NotFound => Some(format!("{file} is missing")),
            io::ErrorKind::InvalidData if is_ours => Some(format!("{file}: {}", self.error)),
            io::ErrorKind::InvalidData => Some(format!("{file} is not UTF-8")),
            _ => Some(format!("{file} cannot be read: {}", self.error)),
        }
    }

    fn help(&self) -> Option<&'static str> {
        match self.error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Some("give the user who runs the tests the right to write there")
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Some("make room on the disk and run again; what was accepted before is untouched")
            }
            io::ErrorKind::FileTooLarge => {
                Some("let files grow larger (`ulimit -f`) and run again; what was accepted before is untouched")
            }
            io::ErrorKind::InvalidData => Some("restore it from version control"),
            io::ErrorKind::AlreadyExists => Some("remove it or move it away, and run this again: it makes the folder"),
            io::ErrorKind::NotFound if self.doing != "read" => Some("name a place in a folder that can be made"),
            io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => {
                Some("a file and a folder stand in each other's place there; move one of them")
            }
            _ => None,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: cannot {} {}: {}", self.doing, self.path.display(), self.error)?;
        match self.help() {
            Some(help) => write!(f, "\n  = help: {help}"),
            None => Ok(()),
        }
    }
}

/// A `.trajectly/` folder.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    root: PathBuf,
    baselines: PathBuf,
    /// Where fixtures lie, if they were put elsewhere.
    fixtures: Option<PathBuf>,
}

impl Store {
    /// The nearest `.trajectly/` above the spec, else the one to be made in `fallback`.
    pub(crate) fn for_spec(spec: &Path, fallback: &Path) -> Self {
        let found = spec.ancestors().skip(1).find(|folder| folder.join(FOLDER).is_dir());
        let root = found.unwrap_or(fallback).to_owned();
        let baselines = root.join(FOLDER).join("baselines");
        Self { root, baselines, fixtures: None }
    }

    /// The same with baselines or fixtures in other folders.
    pub(crate) fn redirected(mut self, baselines: Option<&Path>, fixtures: Option<&Path>) -> Self {
        self.baselines = baselines.map_or(self.baselines, Path::to_owned);
        self.fixtures = fixtures.map(Path::to_owned);
        self
    }

    /// The folder that holds `.trajectly/`.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path as people and reports see it: relative to the project where it lies inside.
    pub(crate) fn display(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }

    pub(crate) fn current_path(&self, file_slug: &str) -> PathBuf {
        self.path("current", file_slug, "jsonl")
    }

    pub(crate) fn report_path(&self, file_slug: &str, extension: &str) -> PathBuf {
        self.path("reports", file_slug, extension)
    }

    pub(crate) fn prefix_path(&self, file_slug: &str) -> PathBuf {
        self.path("repros", file_slug, "counterexample.prefix.jsonl")
    }

    pub(crate) fn min_path(&self, file_slug: &str) -> PathBuf {
        self.path("repros", file_slug, "counterexample.min.jsonl")
    }

    pub(crate) fn rejected_dir(&self, slug: &str) -> PathBuf {
        self.root.join(FOLDER).join("rejected").join(slug)
    }

    fn path(&self, folder: &str, stem: &str, extension: &str) -> PathBuf {
        self.root.join(FOLDER).join(folder).join(format!("{stem}.{extension}"))
    }

    /// Makes the folder and its `.gitignore`, where they are missing.
    pub(crate) fn ensure(&self) -> Result<(), StoreError> {
        let ignore = self.root.join(FOLDER).join(".gitignore");
        if ignore.exists() { Ok(()) } else { replace(&ignore, IGNORED.as_bytes(), false) }
    }

    /// Rewrites files that several tests add to: `edit` gets what the one at `path` says now, and gives all of them.
    pub(crate) fn edit_shared(
        &self,
        path: &Path,
        edit: impl FnOnce(Option<String>) -> Vec<(PathBuf, String)>,
    ) -> Result<(), StoreError> {
        self.ensure()?;
        let _lock = self.exclusive("reports")?;
        edit(read_text(path).ok()).iter().try_for_each(|(path, text)| self.write_run_file(path, text))
    }

    /// Whether a file says just this.
    pub(crate) fn says(&self, path: &Path, text: &str) -> bool {
        read_text(path).is_ok_and(|old| old == text)
    }

    /// Writes a file of a run, unless it already says just this.
    pub(crate) fn write_run_file(&self, path: &Path, text: &str) -> Result<(), StoreError> {
        if self.says(path, text) {
            return Ok(());
        }
        self.ensure()?;
        replace(path, text.as_bytes(), false)
    }

    /// Removes a file that an earlier run left and this one has no use for.
    pub(crate) fn remove_run_file(&self, path: &Path) -> Result<(), StoreError> {
        commit::remove_if_there(path)
    }

    /// Removes a recording that was rejected earlier: the one that was taken stands for it now.
    pub(crate) fn remove_rejected(&self, slug: &str) -> Result<(), StoreError> {
        let dir = self.rejected_dir(slug);
        match fs::remove_dir_all(&dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::new("remove", &dir, error)),
            _ => Ok(()),
        }
    }
}
