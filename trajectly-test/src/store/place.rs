//! Where the files of a baseline lie.
//!
//! Flat, one baseline for a slug: `baselines/<slug>.jsonl` and its kin. Or in named versions, as the Python tool keeps
//! them: `baselines/<slug>/<version>/`, with `current/<slug>.json` to say which of them is in force. A flat baseline goes for
//! the version `v1`, and is that once there is another.

use std::fs;
use std::path::{Path, PathBuf};

use trajectly_engine::json::{Json, Object};

use super::{FOLDER, Store, StoreError};

/// The name of the first version, where nobody gave it one.
const FIRST: &str = "v1";
/// The most bytes of a version's name, which is that of a folder.
const LONGEST: usize = 100;

/// Where one baseline lies, or would if it were recorded.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(super) slug: String,
    pub(crate) trace: PathBuf,
    /// What it was made with. In the versioned layout, the part of it that says how it is to be read.
    pub(crate) meta: PathBuf,
    pub(crate) fixtures: PathBuf,
    /// None in the flat layout.
    pub(super) version: Option<Version>,
}

/// One of the named versions.
#[derive(Debug, Clone)]
pub(super) struct Version {
    pub(super) name: String,
    /// The rest of what the baseline was made with.
    pub(super) rest_of_meta: PathBuf,
    /// The version in force.
    promoted: Option<String>,
    /// Whether it was asked for by its name, beside the one in force.
    named: bool,
}

impl Place {
    /// The version's name; `None` in the flat layout.
    pub(crate) fn version(&self) -> Option<&str> {
        self.version.as_ref().map(|version| version.name.as_str())
    }

    /// Whether a test that names no version is held against this one.
    pub(crate) fn is_in_force(&self) -> bool {
        self.version.as_ref().is_none_or(|version| version.promoted.as_ref() == Some(&version.name))
    }

    /// The same version, to be in force once it is recorded.
    pub(crate) fn put_in_force(mut self) -> Self {
        if let Some(version) = &mut self.version {
            version.named = false;
        }
        self
    }

    /// Whether a recording is to be in force from then on: unless it was given a name of its own and there is another.
    pub(crate) fn is_promoted_by_recording(&self) -> bool {
        self.version.as_ref().is_none_or(|version| !version.named || version.promoted.is_none())
    }

    /// Whether a run can be held against what lies here: a version that nobody named or promoted is not meant.
    pub(crate) fn is_meant(&self) -> bool {
        self.version.as_ref().is_none_or(|version| version.named || version.promoted.is_some())
    }
}

/// Whether a version may have this name. The error says what names there are.
pub(crate) fn check_version_name(name: &str) -> Result<(), String> {
    if name.len() > LONGEST {
        return Err(format!("the name of a version has at most {LONGEST} letters, not {}", name.chars().count()));
    }
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    match is_plain && !matches!(name, "" | "." | "..") {
        true => Ok(()),
        false => Err(format!("`{name}` cannot name a version: letters, digits, `.`, `_` and `-` can")),
    }
}

impl Store {
    /// Where the baseline of a slug lies: the named version of it, else the one in force, else where a recording puts it.
    pub(crate) fn place(&self, slug: &str, version: Option<&str>) -> Result<Place, StoreError> {
        let _lock = self.read_lock(slug)?;
        let promoted = self.in_force(slug)?;
        let place = match version.or(promoted.as_deref()) {
            Some(FIRST) if self.is_flat(slug)? => self.flat(slug),
            Some(name) => self.versioned(slug, name, promoted.clone(), version.is_some()),
            None if self.is_versioned(slug) => self.versioned(slug, FIRST, None, false),
            None => self.flat(slug),
        };
        Ok(place)
    }

    /// The version in force. A flat baseline is the first.
    pub(crate) fn in_force(&self, slug: &str) -> Result<Option<String>, StoreError> {
        match self.is_flat(slug)? {
            true => Ok(Some(FIRST.to_owned())),
            false => self.promoted(slug),
        }
    }

    /// Whether the baseline of a slug is flat. Were there both, the version that was put in force would count.
    pub(super) fn is_flat(&self, slug: &str) -> Result<bool, StoreError> {
        Ok(self.flat(slug).trace.exists() && self.promoted(slug)?.is_none())
    }

    /// The version that was put in force.
    fn promoted(&self, slug: &str) -> Result<Option<String>, StoreError> {
        let pointer = self.pointer(slug);
        let Ok(text) = super::read_text(&pointer) else { return Ok(None) };
        let said = Json::parse(&text).map_err(|error| StoreError::invalid(&pointer, error.to_string()))?;
        let name = said.get("version").and_then(Json::as_str).map(str::trim).unwrap_or_default();
        check_version_name(name).map_err(|why| StoreError::invalid(&pointer, why))?;
        Ok(Some(name.to_owned()))
    }

    /// The names of the versions that there are, in the order of their bytes.
    pub(crate) fn versions(&self, slug: &str) -> Vec<String> {
        let mut names: Vec<String> = folders(&self.baselines.join(slug))
            .filter(|folder| folder.join("trace.jsonl").is_file())
            .filter_map(|folder| Some(folder.file_name()?.to_str()?.to_owned()))
            .collect();
        if self.is_flat(slug).unwrap_or(false) {
            names.push(FIRST.to_owned());
        }
        names.sort_unstable();
        names
    }

    /// The slugs that there are baselines of, sorted.
    #[cfg(feature = "cli")]
    pub(crate) fn slugs(&self) -> Vec<String> {
        let is_versioned = |slug: &String| !self.versions(slug).is_empty();
        let name = |path: PathBuf| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let versioned = folders(&self.baselines).filter_map(name).filter(is_versioned);
        let mut slugs: Vec<String> = versioned.chain(self.flat_slugs()).collect();
        slugs.sort_unstable();
        slugs.dedup();
        slugs
    }

    fn flat_slugs(&self) -> impl Iterator<Item = String> {
        let entries = fs::read_dir(&self.baselines).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|name| name.strip_suffix(".jsonl").map(str::to_owned))
    }

    /// Whether a slug without a version in force has versions all the same, or would be recorded as one: in a project of
    /// the Python tool, all of whose baselines are.
    fn is_versioned(&self, slug: &str) -> bool {
        if self.flat(slug).trace.exists() {
            return false;
        }
        let any_has_versions = || {
            let mut all = folders(&self.baselines).flat_map(|slug| folders(&slug));
            all.any(|version| version.join("trace.jsonl").is_file())
        };
        !self.versions(slug).is_empty() || (self.flat_slugs().next().is_none() && any_has_versions())
    }

    pub(super) fn flat(&self, slug: &str) -> Place {
        Place {
            slug: slug.to_owned(),
            trace: self.baselines.join(format!("{slug}.jsonl")),
            meta: self.baselines.join(format!("{slug}.meta.json")),
            fixtures: self.fixtures_of(slug).unwrap_or_else(|| self.path("fixtures", slug, "json")),
            version: None,
        }
    }

    fn versioned(&self, slug: &str, name: &str, promoted: Option<String>, named: bool) -> Place {
        let folder = self.baselines.join(slug).join(name);
        let rest_of_meta = folder.join("baseline.meta.json");
        Place {
            slug: slug.to_owned(),
            trace: folder.join("trace.jsonl"),
            meta: folder.join("trace.meta.json"),
            fixtures: self.fixtures_of(slug).unwrap_or_else(|| folder.join("fixtures.json")),
            version: Some(Version { name: name.to_owned(), rest_of_meta, promoted, named }),
        }
    }

    fn fixtures_of(&self, slug: &str) -> Option<PathBuf> {
        Some(self.fixtures.as_ref()?.join(format!("{slug}.json")))
    }

    /// What a flat baseline is once there are versions beside it: the first of them, and in force.
    pub(super) fn first_version(&self, slug: &str) -> Place {
        self.versioned(slug, FIRST, None, false)
    }

    pub(super) fn pointer(&self, slug: &str) -> PathBuf {
        self.root.join(FOLDER).join("current").join(format!("{slug}.json"))
    }
}

/// What the file says that points to the version in force.
pub(super) fn pointer_text(slug: &str, version: &str) -> String {
    let pointer = Object::new().with("schema_version", "v1").with("slug", slug).with("version", version);
    Json::from(pointer).to_pretty() + "\n"
}

fn folders(above: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(above).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir())
}
