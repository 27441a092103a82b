//! Changes to the files of a baseline, all of them or none, and who waits for whom.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::atomic::{self, replace};
use super::{FOLDER, Store, StoreError};

/// What is done to one file.
pub(super) enum Change {
    Put(PathBuf, String),
    Drop(PathBuf),
}

impl Store {
    /// Carries out changes to the files of a slug: after a kill at any moment all of them are made, or none.
    ///
    /// What cannot be ended is not begun, as whoever comes next would fail to end it: the places of the files are looked at
    /// first. Then new content is staged and synced. Then a commit record is written, and only then are files moved to their
    /// places. Whoever comes next finishes what the record of another says. The caller holds the slug's lock.
    pub(super) fn apply(&self, slug: &str, changes: &[Change]) -> Result<(), StoreError> {
        for Change::Put(path, _) | Change::Drop(path) in changes {
            atomic::check_place(path)?;
        }
        let mut record = String::new();
        for (n, change) in changes.iter().enumerate() {
            let (word, path) = match change {
                Change::Put(path, text) => {
                    atomic::write_synced(&self.staged_path(slug, n), text.as_bytes())?;
                    ("put", path)
                }
                Change::Drop(path) => ("drop", path),
            };
            record.push_str(&format!("{word} {}\n", self.display(path)));
        }
        replace(&self.record_path(slug), record.as_bytes(), true)?;
        self.finish_commit(slug)
    }

    /// Carries out what a commit record says, if there is one.
    pub(super) fn finish_commit(&self, slug: &str) -> Result<(), StoreError> {
        let record = self.record_path(slug);
        let changes = match super::read_text(&record) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(StoreError::new("read", &record, error)),
        };
        for (n, line) in changes.lines().enumerate() {
            let staged = self.staged_path(slug, n);
            match line.split_once(' ') {
                Some(("put", target)) if staged.exists() => atomic::move_synced(&staged, &self.root.join(target))?,
                Some(("drop", target)) => remove_if_there(&self.root.join(target))?,
                _ => {}
            }
        }
        fs::remove_file(&record).map_err(|error| StoreError::new("remove", &record, error))
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

    pub(super) fn exclusive(&self, name: &str) -> Result<File, StoreError> {
        let lock = self.lock_file(name)?;
        lock.lock().map_err(|error| StoreError::new("lock", &self.lock_path(name), error))?;
        Ok(lock)
    }

    /// A shared lock over the files of one baseline, with no commit left half done. `None` where there is nothing to
    /// guard: no folder yet, or one that cannot be written to.
    pub(super) fn read_lock(&self, slug: &str) -> Result<Option<File>, StoreError> {
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
}

pub(super) fn remove_if_there(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Err(StoreError::new("remove", path, error))
        }
        _ => Ok(()),
    }
}
