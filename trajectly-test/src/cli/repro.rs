//! `repro`: shows a failure again, as it was shown first.

use std::process::Command;

use clap::Args;
use trajectly_engine::report::Row;

use super::latest::{Again, Latest, Project};
use super::outcome::{CliError, Exit};
use super::print;
use super::run::{How, Strictness};
use super::specs::{self, Job};
use super::targets::Found;
use crate::env::Mode;
use crate::render::clean;
use crate::runner::quoted;

/// What cargo's tests end with if one of them fails.
const TEST_FAILED: i32 = 101;

#[derive(Args)]
pub(super) struct Repro {
    /// Which failure: `latest` for the first, or the name or path of a spec
    #[arg(default_value = "latest")]
    selector: String,
    #[command(flatten)]
    project: Project,
    #[command(flatten)]
    strictness: Strictness,
    /// Print the command, and do not run it
    #[arg(long)]
    print_only: bool,
}

impl Repro {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let latest = self.project.latest()?;
        let row = latest.select(&self.selector)?;
        match Again::of(row)? {
            Again::Replay(how) => self.replay(&latest, row, how),
            Again::CargoTest(words) => self.cargo_test(&latest, row, &words),
        }
    }

    /// Runs the spec in this process.
    fn replay(&self, latest: &Latest, row: &Row, mut how: How) -> Result<Exit, CliError> {
        if self.strictness.said().is_some() {
            how.strictness = self.strictness;
        }
        let overrides = how.overrides()?;
        let found = Found::spec(latest.store.root(), &row.spec_file)?;
        let name = found.cases.first().map(|case| quoted(&case.name)).unwrap_or_default();
        print::line(format!("trajectly run{}{} {name}", found.project_flag, overrides.flags));
        if self.print_only {
            return Ok(Exit::Clean);
        }
        let job = Job { mode: Mode::Replay, allow_ci_write: false, overrides, jobs: None, results_on_stderr: false };
        Ok(specs::run(found, job)?.0)
    }

    /// Has cargo run the test that claims the spec.
    fn cargo_test(&self, latest: &Latest, row: &Row, command: &[String]) -> Result<Exit, CliError> {
        if self.strictness.said().is_some() {
            let cannot =
                CliError::new(format!("{} runs under `cargo test`, which goes by the spec alone", row.spec_file));
            return Err(cannot.help("say `strict: true` or `strict: false` in the spec"));
        }
        print::line(clean(&row.repro_command));
        if self.print_only {
            return Ok(Exit::Clean);
        }
        let cargo = |args: &[&str]| {
            let mut cargo = Command::new("cargo");
            // This shows what fails, and records nothing.
            cargo.args(args).current_dir(latest.store.root()).env_remove("TRAJECTLY_UPDATE");
            cargo.status().map_err(|error| CliError::new(format!("cannot run cargo: {error}")))
        };
        let args: Vec<&str> = command[1..].iter().map(String::as_str).collect();
        let of_cargo = args.split(|arg| *arg == "--").next().unwrap_or_default();
        // A crate that cannot be built says nothing of its agent, and ends like one whose test fails.
        if !cargo(&[of_cargo, &["--no-run", "--quiet"]].concat())?.success() {
            return Ok(Exit::Tooling);
        }
        Ok(match cargo(&args)?.code() {
            Some(0) => Exit::Clean,
            Some(TEST_FAILED) if !self.is_error_now(&row.spec_file) => Exit::Regression,
            _ => Exit::Tooling,
        })
    }

    /// Whether the report of the run that has just ended says that the agent could not be judged.
    fn is_error_now(&self, spec_file: &str) -> bool {
        let latest = self.project.latest();
        let rows = latest.as_ref().map(|latest| latest.summary.rows()).unwrap_or_default();
        rows.iter().any(|row| row.spec_file == spec_file && row.status == "ERROR")
    }
}
