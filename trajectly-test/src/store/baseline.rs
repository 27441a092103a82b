//! Reading baselines and replacing them, in either layout.

use std::path::{Path, PathBuf};

use super::commit::Change;
use super::meta;
use super::place::{Place, pointer_text};
use super::{Store, StoreError};

/// The accepted files of a baseline, as text.
#[derive(Debug)]
pub(crate) struct BaselineFiles {
    pub(crate) trace: String,
    /// What it was made with; empty where nothing says so.
    pub(crate) meta: String,
    pub(crate) fixtures: String,
}

impl Store {
    /// Whether there is a baseline to hold a run against.
    pub(crate) fn has_baseline(&self, place: &Place) -> Result<bool, StoreError> {
        let _lock = self.read_lock(&place.slug)?;
        Ok(place.is_meant() && place.trace.exists())
    }

    /// The accepted files, all of one recording, and what `beside` reads of the same one. `None` if there is no baseline.
    pub(crate) fn baseline<T>(
        &self,
        place: &Place,
        beside: impl FnOnce() -> T,
    ) -> Result<Option<(BaselineFiles, T)>, StoreError> {
        let _lock = self.read_lock(&place.slug)?;
        if !place.is_meant() || !place.trace.exists() {
            return Ok(None);
        }
        let files =
            BaselineFiles { trace: read(&place.trace)?, meta: meta::read(place)?, fixtures: read(&place.fixtures)? };
        Ok(Some((files, beside())))
    }

    /// Replaces a baseline as a whole: after a kill at any moment the old files are in force, or the new ones.
    ///
    /// A version beside a flat baseline makes that one the first version.
    pub(crate) fn commit(
        &self,
        place: &Place,
        files: &BaselineFiles,
        snapshot: Option<(&Path, &str)>,
    ) -> Result<(), StoreError> {
        self.ensure()?;
        let slug = place.slug.as_str();
        let _lock = self.exclusive(slug)?;
        self.finish_commit(slug)?;
        let flat = self.flat(slug);
        let mut changes = Vec::new();
        if place.version.is_some() && self.is_flat(slug)? {
            let first = self.first_version(slug);
            let old =
                BaselineFiles { trace: read(&flat.trace)?, meta: meta::read(&flat)?, fixtures: read(&flat.fixtures)? };
            changes.extend(puts(&first, &old));
            changes.extend([flat.trace, flat.meta, flat.fixtures].map(Change::Drop));
            changes.extend(first.version().map(|version| self.point(slug, version)));
        }
        changes.extend(puts(place, files));
        if let Some(version) = place.version()
            && place.is_promoted_by_recording()
            && !place.is_in_force()
        {
            changes.push(self.point(slug, version));
        }
        changes.extend(snapshot.map(|(path, text)| Change::Put(path.to_owned(), text.to_owned())));
        self.apply(slug, &changes)
    }

    /// Makes a version the one in force.
    #[cfg(feature = "cli")]
    pub(crate) fn promote(&self, slug: &str, version: &str) -> Result<(), StoreError> {
        self.ensure()?;
        let _lock = self.exclusive(slug)?;
        self.finish_commit(slug)?;
        match self.in_force(slug)?.as_deref() == Some(version) {
            true => Ok(()),
            false => self.apply(slug, &[self.point(slug, version)]),
        }
    }

    fn point(&self, slug: &str, version: &str) -> Change {
        Change::Put(self.pointer(slug), pointer_text(slug, version))
    }
}

fn puts(place: &Place, files: &BaselineFiles) -> Vec<Change> {
    let put = |path: &PathBuf, text: &str| Change::Put(path.clone(), text.to_owned());
    let mut changes = vec![put(&place.trace, &files.trace), put(&place.fixtures, &files.fixtures)];
    match &place.version {
        None => changes.push(put(&place.meta, &files.meta)),
        Some(version) => {
            let (of_the_trace, of_the_run) = meta::split(&files.meta);
            changes.extend([put(&place.meta, &of_the_trace), put(&version.rest_of_meta, &of_the_run)]);
        }
    }
    changes
}

fn read(path: &Path) -> Result<String, StoreError> {
    super::read_text(path).map_err(|error| StoreError::new("read", path, error))
}
