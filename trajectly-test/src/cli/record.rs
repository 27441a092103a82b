//! `record`: specs run live, to be the baselines from then on.

use clap::Args;

use super::outcome::{CliError, Exit};
use super::specs::{self, Job};
use super::targets::Targets;
use crate::env::Mode;
use crate::harness::Overrides;

#[derive(Args)]
pub(super) struct Record {
    #[command(flatten)]
    targets: Targets,
    /// Write baselines even in CI
    #[arg(long)]
    allow_ci_write: bool,
}

impl Record {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        self.run_in(Mode::Record)
    }

    /// The same with what a replay did in place of a live run, if the mode says so.
    pub(super) fn run_in(self, mode: Mode) -> Result<Exit, CliError> {
        let job = Job {
            mode,
            allow_ci_write: self.allow_ci_write,
            overrides: Overrides::default(),
            // One after the other, as what they call is real.
            jobs: None,
            results_on_stderr: false,
        };
        Ok(specs::run(self.targets.find()?, job)?.0)
    }
}
