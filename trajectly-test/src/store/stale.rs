//! Fixtures that no spec can use any more.

use std::fs;

use trajectly_engine::json::Json;
use trajectly_engine::report::Stale;

use super::{FOLDER, Store};

impl Store {
    /// The fixture files of the flat layout whose baseline or whose spec is gone, sorted. `is_known` says of which slugs there
    /// is a spec; what a baseline says of the spec that it was recorded from is asked of the others alone.
    pub(crate) fn stale(&self, is_known: impl Fn(&str) -> bool) -> Vec<Stale> {
        let files = fs::read_dir(self.root.join(FOLDER).join("fixtures")).into_iter().flatten().flatten();
        let stale = |path: std::path::PathBuf| {
            let slug = path.file_name()?.to_str()?.strip_suffix(".json")?;
            if is_known(slug) {
                return None;
            }
            let baseline = self.flat(slug);
            let why = match baseline.trace.exists() {
                false => format!("{} is gone", self.display(&baseline.trace)),
                true => {
                    let meta = Json::parse(&super::read_text(&baseline.meta).ok()?).ok()?;
                    let spec = meta.get("spec_path")?.as_str().filter(|spec| !self.root.join(spec).exists())?;
                    format!("its spec {spec} is gone")
                }
            };
            Some(Stale { file: self.display(&path), why })
        };
        let mut found: Vec<Stale> = files.filter_map(|entry| stale(entry.path())).collect();
        found.sort_by(|a, b| a.file.cmp(&b.file));
        found
    }
}
