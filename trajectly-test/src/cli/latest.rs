//! The reports of the last runs, and the one of them that is meant.

use std::path::{Path, PathBuf};

use clap::{Args, Parser};
use trajectly_engine::json::Json;
use trajectly_engine::report::{Row, Summary};

use super::outcome::CliError;
use super::run::How;
use crate::runner::words;
use crate::store::{FOLDER, Store, read_text};

/// Specs that an error names.
const MOST_NAMED: usize = 10;

/// Where the reports are.
#[derive(Args)]
pub(super) struct Project {
    /// The folder that holds .trajectly/, or one below it
    #[arg(long, value_name = "DIR", default_value = ".")]
    project_root: PathBuf,
}

/// What runs a spec again, as its report has it.
pub(super) enum Again {
    /// `trajectly run`, told this.
    Replay(How),
    /// The words of a `cargo test`.
    CargoTest(Vec<String>),
}

/// The words of `trajectly run`.
#[derive(Parser)]
struct Replay {
    #[command(flatten)]
    how: How,
    #[arg(long)]
    _project_root: Option<String>,
    _spec: String,
}

impl Again {
    /// # Errors
    ///
    /// If the report has something else in its place.
    pub(super) fn of(row: &Row) -> Result<Self, CliError> {
        let words = words(&row.repro_command).unwrap_or_default();
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["trajectly", "run", ref told @ ..] => {
                let told = ["run"].iter().chain(told);
                Replay::try_parse_from(told).map(|replay| Self::Replay(replay.how)).map_err(|_| unknown(row))
            }
            ["cargo", "test", ..] => Ok(Self::CargoTest(words)),
            _ => Err(unknown(row)),
        }
    }
}

fn unknown(row: &Row) -> CliError {
    CliError::new(format!("the report has no command that runs {}", row.spec_file))
        .help("run the spec again, with `cargo test` or `trajectly run`")
}

/// The latest report of each spec.
pub(super) struct Latest {
    pub(super) store: Store,
    pub(super) summary: Summary,
    /// `latest.json`, as it stands.
    pub(super) text: String,
}

impl Project {
    /// # Errors
    ///
    /// If there is no report, or none that can be read.
    pub(super) fn latest(&self) -> Result<Latest, CliError> {
        let root = self.project_root.canonicalize();
        let root =
            root.map_err(|error| CliError::new(format!("--project-root {}: {error}", self.project_root.display())))?;
        let store = Store::for_spec(&root.join(FOLDER), &root);
        let path = store.report_path("latest", "json");
        let file = store.display(&path);
        let text = read_text(&path).map_err(|error| {
            let missing = CliError::new(format!("there is no report to read: {file}: {error}"));
            missing.help("run some specs first, with `cargo test` or `trajectly run`, or name their --project-root")
        })?;
        let summary = Summary::parse(&text)
            .ok_or_else(|| CliError::new(format!("{file} is no report")).help("remove it, and run the specs again"))?;
        Ok(Latest { store, summary, text })
    }
}

impl Latest {
    /// The file of the report, as people see it.
    pub(super) fn file(&self) -> String {
        self.store.display(&self.store.report_path("latest", "json"))
    }

    /// The row that a selector means: `latest` is the first that failed, unless it was meant to, anything else the path, the name or
    /// the slug of a spec. Of several specs with one name, the first that failed is meant.
    ///
    /// # Errors
    ///
    /// If there is none; the error names those that there are.
    pub(super) fn select(&self, selector: &str) -> Result<&Row, CliError> {
        let rows = self.summary.rows();
        if selector == "latest" {
            let failed = |row: &&Row| row.is_regression();
            return rows.iter().find(failed).or_else(|| first_failing(rows.iter())).ok_or_else(|| {
                let nothing = CliError::new(format!("nothing has failed, as {} says", self.file()));
                nothing.help(format!("name a spec: {}", self.names()))
            });
        }
        let by_path = Path::new(selector).canonicalize().ok();
        let is_file = |row: &&Row| {
            row.spec_file == selector || by_path.is_some() && by_path == self.spec_path(row).canonicalize().ok()
        };
        let named = || rows.iter().filter(|row| row.spec == selector || row.slug == selector);
        let found = rows.iter().find(is_file).or_else(|| first_failing(named())).or_else(|| named().next());
        found.ok_or_else(|| {
            let unknown = CliError::new(format!("{} has no spec `{selector}`", self.file()));
            unknown.help(format!("it has {}", self.names()))
        })
    }

    /// Where a row's spec lies.
    pub(super) fn spec_path(&self, row: &Row) -> PathBuf {
        self.store.root().join(&row.spec_file)
    }

    /// The whole report that a row stands for; `None` if it is not there.
    pub(super) fn report_of(&self, row: &Row) -> Option<Json> {
        let slug = crate::runner::file_slug(&row.spec_file);
        Json::parse(&read_text(&self.store.report_path(&slug, "json")).ok()?).ok()
    }

    fn names(&self) -> String {
        let rows = self.summary.rows();
        let mut names: Vec<String> =
            rows.iter().take(MOST_NAMED).map(|row| format!("`{}` ({})", row.spec, row.spec_file)).collect();
        if rows.len() > MOST_NAMED {
            names.push(format!("{} more", rows.len() - MOST_NAMED));
        }
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

fn first_failing<'r>(mut rows: impl Iterator<Item = &'r Row>) -> Option<&'r Row> {
    rows.find(|row| row.status != "PASS")
}
