//! `artifacts.dir`: the files of a failing run in a folder of their own, for a CI to upload.

use std::fs;
use std::path::Path;

use super::test::Test;
use crate::store::{StoreError, read_text};

/// Copies what a failing run left, as far as it left it. A run that passes clears away what another one has put there.
pub(super) fn keep(test: &Test<'_>, failed: bool) -> Result<(), StoreError> {
    let Some(dir) = &test.spec.artifacts_dir else { return Ok(()) };
    let dir = dir.join(&test.file_slug);
    let (store, slug) = (&test.store, test.file_slug.as_str());
    for (name, source) in [
        ("report.json", store.report_path(slug, "json")),
        ("report.md", store.report_path(slug, "md")),
        ("trace.jsonl", store.current_path(slug)),
        ("counterexample.prefix.jsonl", store.prefix_path(slug)),
        ("counterexample.min.jsonl", store.min_path(slug)),
    ] {
        let target = dir.join(name);
        match text_of(&source).filter(|_| failed) {
            Some(text) => store.write_run_file(&target, &text)?,
            None => store.remove_run_file(&target)?,
        }
    }
    if !failed {
        // A folder with something else in it stays.
        let _ = fs::remove_dir(&dir);
    }
    Ok(())
}

fn text_of(path: &Path) -> Option<String> {
    read_text(path).ok()
}
