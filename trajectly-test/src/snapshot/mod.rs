//! Drift that a person reviews: what a passing run did, as an insta snapshot beside the spec.

mod text;

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) use text::text_of;

use crate::harness::{SnapshotFn, quietly};

/// A file in a snapshot's place that insta does not read as a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoSnapshot;

/// Where the snapshot of a spec stands: `snapshots/<slug>.snap` in the spec's folder.
pub(crate) fn path(spec: &Path, slug: &str) -> PathBuf {
    spec.parent().unwrap_or(Path::new(".")).join("snapshots").join(format!("{slug}.snap"))
}

/// The accepted text, or `None` if there is none.
///
/// # Errors
///
/// If the file is there and is no snapshot.
pub(crate) fn accepted(path: &Path) -> Result<Option<String>, NoSnapshot> {
    if !path.exists() {
        return Ok(None);
    }
    // Without a header insta takes anything for a snapshot of old, conflict markers included.
    if !fs::read_to_string(path).is_ok_and(|text| text.lines().next().is_some_and(|line| line.trim_end() == "---")) {
        return Err(NoSnapshot);
    }
    let snapshot = insta::Snapshot::from_file(path).map_err(|_| NoSnapshot)?;
    snapshot.as_text().map(|text| Some(text.to_string())).ok_or(NoSnapshot)
}

/// Whether two snapshot texts say the same: insta keeps no space at the end.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a.trim_end() == b.trim_end()
}

/// The content of the snapshot file for an accepted text. What the file says of itself now is kept, if insta reads it.
pub(crate) fn file_content(path: &Path, source: &str, text: &str) -> String {
    let old = accepted(path).ok().and_then(|_| fs::read_to_string(path).ok()).unwrap_or_default();
    let header = old
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or_else(|| format!("source: {source}"), |(header, _)| header.to_owned());
    format!("---\n{header}\n---\n{}\n", text.trim_end())
}

/// Hands a text to insta, which compares it with the accepted one and, where it differs, does what `INSTA_UPDATE`
/// says: by default it leaves a `.snap.new` to be reviewed. Returns whether insta is content.
pub(crate) fn assert(assert: SnapshotFn, path: &Path, text: &str) -> bool {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(path.parent().unwrap_or(Path::new(".")));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| quietly(|| assert(&name, text))).is_ok()
}

/// The pending file that insta leaves for a snapshot that differs.
pub(crate) fn pending_path(path: &Path) -> PathBuf {
    path.with_extension("snap.new")
}

/// Whether insta wants to see every snapshot, not only those that differ: it is collecting the ones in use.
pub(crate) fn insta_wants_all() -> bool {
    std::env::var_os("INSTA_SNAPSHOT_REFERENCES_FILE").is_some()
}
