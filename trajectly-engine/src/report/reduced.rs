//! What a report says of a counterexample that was shrunk.

use super::markdown;
use crate::json::{Json, Object};
use crate::shrink::ShrinkStats;

/// A candidate without what its failure does not need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reduced {
    /// The file that holds what is left, as people see it; `None` if nothing could be left out.
    pub file: Option<String>,
    /// How much is left.
    pub stats: ShrinkStats,
}

impl Reduced {
    /// Adds it to a report that was written without it, or with another one: to its JSON, and to its Markdown. Nothing else
    /// changes. `None` if the JSON is no report.
    pub fn add_to_texts(&self, json: &str, markdown: &str) -> Option<(String, String)> {
        let Ok(Json::Object(mut report)) = Json::parse(json) else { return None };
        self.add_to(&mut report);
        let json = format!("{}\n", Json::from(report).to_pretty());
        Some((json, markdown::with_reduced(markdown, self)))
    }

    pub(super) fn add_to(&self, report: &mut Object) {
        report.insert("shrink_stats", self.stats.to_json());
        let paths = report.remove("counterexample_paths");
        let mut paths = paths.as_ref().and_then(Json::as_object).cloned().unwrap_or_default();
        match &self.file {
            Some(file) => paths.insert("reduced", file.as_str()),
            None => paths.remove("reduced"),
        };
        report.insert("counterexample_paths", paths);
    }
}
