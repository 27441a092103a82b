//! The `.trajectly/` folder: what is committed, what a run leaves behind, and how files are written so that neither
//! a kill nor a second writer can spoil them.

mod atomic;
mod tmp;

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

#[cfg(feature = "cli")]
pub(crate) use atomic::create;
pub(crate) use atomic::replace;
pub(crate) use tmp::RunDir;

/// Name of the folder that holds everything.
pub(crate) const FOLDER: &str = ".trajectly";

/// What `.gitignore` says in it.
pub(crate) const IGNORED: &str =
    "# What a run leaves behind. Baselines and fixtures beside this file are to be committed.
/current/
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

    fn help(&self) -> Option<&'static str> {
        match self.error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Some("give the user who runs the tests the right to write there")
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Some("make room on the disk and run again; what was accepted before is untouched")
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

/// The accepted files of a baseline, as text.
#[derive(Debug)]
pub(crate) struct BaselineFiles {
    pub(crate) trace: String,
    pub(crate) meta: String,
    pub(crate) fixtures: String,
}

/// A `.trajectly/` folder.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    root: PathBuf,
    baselines: PathBuf,
    fixtures: PathBuf,
}

impl Store {
    /// The nearest `.trajectly/` above the spec, else the one to be made in `fallback`.
    pub(crate) fn for_spec(spec: &Path, fallback: &Path) -> Self {
        let found = spec.ancestors().skip(1).find(|folder| folder.join(FOLDER).is_dir());
        let root = found.unwrap_or(fallback).to_owned();
        let [baselines, fixtures] = ["baselines", "fixtures"].map(|name| root.join(FOLDER).join(name));
        Self { root, baselines, fixtures }
    }

    /// The same with baselines or fixtures in other folders.
    pub(crate) fn redirected(mut self, baselines: Option<&Path>, fixtures: Option<&Path>) -> Self {
        self.baselines = baselines.map_or(self.baselines, Path::to_owned);
        self.fixtures = fixtures.map_or(self.fixtures, Path::to_owned);
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

    pub(crate) fn baseline_path(&self, slug: &str) -> PathBuf {
        self.baselines.join(format!("{slug}.jsonl"))
    }

    pub(crate) fn meta_path(&self, slug: &str) -> PathBuf {
        self.baselines.join(format!("{slug}.meta.json"))
    }

    pub(crate) fn fixtures_path(&self, slug: &str) -> PathBuf {
        self.fixtures.join(format!("{slug}.json"))
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

    /// Whether a baseline was accepted under this name.
    pub(crate) fn has_baseline(&self, slug: &str) -> Result<bool, StoreError> {
        let _lock = self.read_lock(slug)?;
        Ok(self.baseline_path(slug).exists())
    }

    /// The accepted files, all of one recording, and what `beside` reads of the same one. `None` if there is no baseline.
    pub(crate) fn baseline<T>(
        &self,
        slug: &str,
        beside: impl FnOnce() -> T,
    ) -> Result<Option<(BaselineFiles, T)>, StoreError> {
        let _lock = self.read_lock(slug)?;
        let path = self.baseline_path(slug);
        if !path.exists() {
            return Ok(None);
        }
        let read = |path: PathBuf| fs::read_to_string(&path).map_err(|e| StoreError::new("read", &path, e));
        let files = BaselineFiles {
            trace: read(path)?,
            meta: read(self.meta_path(slug))?,
            fixtures: read(self.fixtures_path(slug))?,
        };
        Ok(Some((files, beside())))
    }

    /// Replaces a baseline as a whole: after a kill at any moment the old files are in force, or the new ones.
    ///
    /// All files are staged and synced first. Then a commit record is written, and only then are they moved to their
    /// places. Whoever comes next finishes the moves of a record that was left behind.
    pub(crate) fn commit(
        &self,
        slug: &str,
        files: &BaselineFiles,
        snapshot: Option<(&Path, &str)>,
    ) -> Result<(), StoreError> {
        self.ensure()?;
        let _lock = self.exclusive(slug)?;
        self.finish_commit(slug)?;
        let mut targets = vec![
            (self.baseline_path(slug), files.trace.as_str()),
            (self.meta_path(slug), files.meta.as_str()),
            (self.fixtures_path(slug), files.fixtures.as_str()),
        ];
        if let Some((path, text)) = snapshot {
            targets.push((path.to_owned(), text));
        }
        let mut record = String::new();
        for (n, (path, text)) in targets.iter().enumerate() {
            atomic::write_synced(&self.staged_path(slug, n), text.as_bytes())?;
            record.push_str(&self.display(path));
            record.push('\n');
        }
        replace(&self.record_path(slug), record.as_bytes(), true)?;
        self.finish_commit(slug)
    }

    /// Rewrites files that several tests add to: `edit` gets what the one at `path` says now, and gives all of them.
    pub(crate) fn edit_shared(
        &self,
        path: &Path,
        edit: impl FnOnce(Option<String>) -> Vec<(PathBuf, String)>,
    ) -> Result<(), StoreError> {
        self.ensure()?;
        let _lock = self.exclusive("reports")?;
        edit(fs::read_to_string(path).ok()).iter().try_for_each(|(path, text)| self.write_run_file(path, text))
    }

    /// Whether a file says just this.
    pub(crate) fn says(&self, path: &Path, text: &str) -> bool {
        fs::read(path).is_ok_and(|old| old == text.as_bytes())
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
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::new("remove", path, error)),
            _ => Ok(()),
        }
    }

    /// Removes a recording that was rejected earlier: the one that was taken stands for it now.
    pub(crate) fn remove_rejected(&self, slug: &str) -> Result<(), StoreError> {
        let dir = self.rejected_dir(slug);
        match fs::remove_dir_all(&dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::new("remove", &dir, error)),
            _ => Ok(()),
        }
    }

    fn staged_path(&self, slug: &str, n: usize) -> PathBuf {
        self.root.join(FOLDER).join("staged").join(slug).join(n.to_string())
    }

    fn record_path(&self, slug: &str) -> PathBuf {
        self.root.join(FOLDER).join("staged").join(slug).join("commit")
    }

    fn lock_path(&self, name: &str) -> PathBuf {
        self.root.join(FOLDER).join("locks").join(format!("{name}.lock"))
    }

    fn lock_file(&self, name: &str) -> Result<File, StoreError> {
        let path = self.lock_path(name);
        let open = || {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            File::options().read(true).write(true).create(true).truncate(false).open(&path)
        };
        open().map_err(|error| StoreError::new("make the lock file", &path, error))
    }

    fn exclusive(&self, name: &str) -> Result<File, StoreError> {
        let lock = self.lock_file(name)?;
        lock.lock().map_err(|error| StoreError::new("lock", &self.lock_path(name), error))?;
        Ok(lock)
    }

    /// A shared lock over the files of one baseline, with no commit left half done. `None` where there is nothing to
    /// guard: no folder yet, or one that cannot be written to.
    fn read_lock(&self, slug: &str) -> Result<Option<File>, StoreError> {
        if !self.root.join(FOLDER).is_dir() {
            return Ok(None);
        }
        let record = self.record_path(slug);
        let Ok(lock) = self.lock_file(slug) else {
            return if record.exists() { self.finish_commit(slug).map(|()| None) } else { Ok(None) };
        };
        let failed = |error| StoreError::new("lock", &self.lock_path(slug), error);
        loop {
            lock.lock_shared().map_err(failed)?;
            if !record.exists() {
                return Ok(Some(lock));
            }
            lock.unlock().map_err(failed)?;
            lock.lock().map_err(failed)?;
            self.finish_commit(slug)?;
            lock.unlock().map_err(failed)?;
        }
    }

    /// Carries out the moves of a commit record, if there is one.
    fn finish_commit(&self, slug: &str) -> Result<(), StoreError> {
        let record = self.record_path(slug);
        let targets = match fs::read_to_string(&record) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(StoreError::new("read", &record, error)),
        };
        for (n, target) in targets.lines().map(|line| self.root.join(line)).enumerate() {
            let staged = self.staged_path(slug, n);
            if staged.exists() {
                atomic::move_synced(&staged, &target)?;
            }
        }
        fs::remove_file(&record).map_err(|error| StoreError::new("remove", &record, error))
    }
}
