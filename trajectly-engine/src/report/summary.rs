//! The summary of many reports: `latest.json` and `latest.md`.

use super::markdown;
use crate::code::{Class, Code};
use crate::json::{Json, Object};

/// The version of the file.
const SCHEMA_VERSION: &str = "v1";

/// One row for each spec, sorted by spec file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    rows: Vec<Row>,
    /// Fixtures that no spec can use any more, sorted by file.
    pub stale: Vec<Stale>,
}

/// A fixture file that no spec can use any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stale {
    /// The file, as people see it.
    pub file: String,
    /// What is missing, as a fragment of a sentence.
    pub why: String,
}

/// What a summary says of one spec.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The spec's `name`.
    pub spec: String,
    /// The name under which the files of its baseline are kept.
    pub slug: String,
    /// The spec file, as people see it; what rows are told apart by.
    pub spec_file: String,
    /// `PASS`, `FAIL` or `ERROR`.
    pub status: String,
    /// The code of the primary violation, or of the error.
    pub code: Option<Code>,
    /// The index of the first event that breaks a rule, from 0.
    pub witness_index: Option<usize>,
    /// The message of the primary violation, or of the error.
    pub message: Option<String>,
    /// The file that holds the candidate up to its witness.
    pub prefix_file: Option<String>,
    /// The file that holds what is left of the candidate without what its failure does not need.
    pub reduced_file: Option<String>,
    /// Whether the spec or its test is here to show this very failure.
    pub is_expected: bool,
    /// The command that does it all again.
    pub repro_command: String,
}

impl Row {
    /// Whether anything but PASS came out, and was not meant to.
    pub fn is_regression(&self) -> bool {
        self.status != "PASS" && !self.is_expected
    }

    fn parse(row: &Json) -> Option<Row> {
        let text = |key| row.get(key).and_then(Json::as_str).map(str::to_owned);
        Some(Row {
            spec: text("spec")?,
            slug: text("slug")?,
            spec_file: text("spec_path")?,
            status: text("trt_status")?,
            code: text("trt_primary_violation").and_then(|code| code.parse().ok()),
            witness_index: row.get("trt_witness_index").and_then(Json::as_u64).and_then(|index| index.try_into().ok()),
            message: text("message"),
            prefix_file: text("trt_counterexample_prefix"),
            reduced_file: text("trt_counterexample_reduced"),
            is_expected: row.get("expected").and_then(Json::as_bool).unwrap_or_default(),
            repro_command: text("repro_command")?,
        })
    }

    fn to_json(&self) -> Object {
        Object::new()
            .with("spec", self.spec.as_str())
            .with("slug", self.slug.as_str())
            .with("spec_path", self.spec_file.as_str())
            .with("regression", self.is_regression())
            .with("trt_status", self.status.as_str())
            .with("trt_failure_class", self.code.map(Code::class).map(Class::as_str))
            .with("trt_primary_violation", self.code.map(Code::as_str))
            .with("trt_witness_index", self.witness_index)
            .with("message", self.message.as_deref())
            .with("trt_counterexample_prefix", self.prefix_file.as_deref())
            .with("trt_counterexample_reduced", self.reduced_file.as_deref())
            .with("expected", self.is_expected)
            .with("repro_command", self.repro_command.as_str())
    }
}

impl Stale {
    fn to_json(&self) -> Object {
        Object::new().with("file", self.file.as_str()).with("why", self.why.as_str())
    }
}

impl Summary {
    /// Reads what [`Summary::to_json_pretty`] wrote; `None` for anything else, which a caller replaces by a new summary.
    pub fn parse(text: &str) -> Option<Summary> {
        let value = Json::parse(text).ok()?;
        if value.get("schema_version")?.as_str()? != SCHEMA_VERSION {
            return None;
        }
        let mut summary = Summary::default();
        for row in value.get("reports")?.as_array()? {
            summary.put(Row::parse(row)?);
        }
        Some(summary)
    }

    /// Adds a row, in the place of the one of the same spec file if there is one.
    pub fn put(&mut self, row: Row) {
        match self.rows.binary_search_by(|held| held.spec_file.cmp(&row.spec_file)) {
            Ok(place) => self.rows[place] = row,
            Err(place) => self.rows.insert(place, row),
        }
    }

    /// Keeps only the rows of the spec files that `wanted` says yes to.
    pub fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        self.rows.retain(|row| wanted(&row.spec_file));
    }

    /// The rows, sorted by spec file.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The summary as JSON over several lines, ended by a newline.
    pub fn to_json_pretty(&self) -> String {
        let errors = self.rows.iter().filter(|row| row.status == "ERROR");
        let errors = errors.map(|row| format!("{}: {}", row.spec_file, row.message.as_deref().unwrap_or_default()));
        let regressions = self.rows.iter().filter(|row| row.is_regression()).count();
        let summary = Object::new()
            .with("schema_version", SCHEMA_VERSION)
            .with("trt_mode", true)
            .with("processed_specs", self.rows.len())
            .with("regressions", regressions)
            .with("errors", errors.collect::<Json>())
            .with("stale", self.stale.iter().map(Stale::to_json).collect::<Json>())
            .with("reports", self.rows.iter().map(Row::to_json).collect::<Json>());
        format!("{}\n", Json::from(summary).to_pretty())
    }

    /// What failed, as Markdown for a comment on a pull request, ended by a newline.
    pub fn to_pr_comment(&self) -> String {
        markdown::pr_comment(&self.rows)
    }

    /// The summary as Markdown, ended by a newline.
    pub fn to_markdown(&self) -> String {
        markdown::summary(&self.rows, &self.stale)
    }
}
