//! Where it is written down what came of a test.

use std::collections::HashSet;
use std::sync::PoisonError;

use trajectly_engine::code::Code;
use trajectly_engine::report::{Outcome, Report, Row, Stale, Summary};
use trajectly_engine::slug::slug;
use trajectly_engine::spec::ModeProfile;

use super::Runner;
use super::commands::commands_of;
use super::test::{file_slug, stem};
use crate::harness::Case;
use crate::store::{Store, StoreError};

/// The reports of one test: a file of its own, a row among the latest of its project, a row of this run.
pub(super) struct Reports<'a> {
    runner: &'a Runner,
    case: &'a Case,
    store: Store,
    spec_file: String,
}

impl<'a> Reports<'a> {
    pub(super) fn of(runner: &'a Runner, case: &'a Case) -> Self {
        let store = Store::for_spec(&case.spec, &runner.shared.suite.root);
        let spec_file = store.display(&case.spec);
        Self { runner, case, store, spec_file }
    }

    pub(super) fn write(&self, report: &Report) -> Result<(), StoreError> {
        let store = &self.store;
        self.put(report.row());
        let file = file_slug(&self.spec_file);
        let (json, latest) = (report.to_json_pretty(), store.report_path("latest", "json"));
        let json_path = store.report_path(&file, "json");
        if store.says(&json_path, &json) && latest.exists() {
            // The report was written after its row, so the row is there too.
            return Ok(());
        }
        store.edit_shared(&latest, |old| {
            let mut summary = old.and_then(|text| Summary::parse(&text)).unwrap_or_default();
            summary.retain(|spec| store.root().join(spec).exists());
            summary.put(report.row());
            summary.stale = stale_beside(store, &summary);
            let markdown = store.report_path("latest", "md");
            vec![(markdown, summary.to_markdown()), (latest.clone(), summary.to_json_pretty())]
        })?;
        store.write_run_file(&store.report_path(&file, "md"), &report.to_markdown())?;
        store.write_run_file(&json_path, &json)
    }

    /// The fixtures of the project that no spec can use any more.
    #[cfg(feature = "cli")]
    pub(super) fn stale(&self) -> Vec<Stale> {
        let latest = crate::store::read_text(&self.store.report_path("latest", "json"));
        let summary = latest.ok().and_then(|text| Summary::parse(&text)).unwrap_or_default();
        stale_beside(&self.store, &summary)
    }

    /// The report on a spec that cannot be read, and so has the name of its file.
    pub(super) fn write_unread(&self, code: Code, message: &str) -> Result<(), StoreError> {
        self.write(&self.unread(code, message))
    }

    /// Notes for this run what no code stands for, and no report on the agent is to tell.
    pub(super) fn note(&self, message: &str) {
        self.put(Row { code: None, ..self.unread(Code::SpecInvalid, message).row() });
    }

    fn unread(&self, code: Code, message: &str) -> Report {
        let spec = stem(&self.spec_file);
        Report {
            slug: slug(&spec),
            spec,
            spec_file: self.spec_file.clone(),
            outcome: Outcome::Error { code, message: message.to_owned() },
            prefix_file: None,
            repro_command: commands_of(&self.runner.shared.program, self.case).reproduce,
            warnings: Vec::new(),
            network_guard: None,
            mode_profile: ModeProfile::default(),
            fixture_usage: None,
            determinism_warnings: Vec::new(),
            predicates: None,
            is_expected: false,
            places: Vec::new(),
            reduced: None,
        }
    }

    /// Rows of a run are told apart by the names of its tests: the same path may lie in several projects.
    fn put(&self, row: Row) {
        let row = Row { spec_file: self.case.name.clone(), ..row };
        self.runner.shared.summary.lock().unwrap_or_else(PoisonError::into_inner).put(row);
    }
}

/// The fixtures that no spec can use any more, where those of `summary` are known to be there.
fn stale_beside(store: &Store, summary: &Summary) -> Vec<Stale> {
    let is_there = |row: &&Row| store.root().join(&row.spec_file).exists();
    let slugs: HashSet<&str> = summary.rows().iter().filter(is_there).map(|row| row.slug.as_str()).collect();
    store.stale(|slug| slugs.contains(slug))
}
