//! `baseline`: what is done to baselines other than by a test.

use clap::{Args, Subcommand};

use super::outcome::{CliError, Exit};
use super::record::Record;

#[derive(Args)]
pub(super) struct Baseline {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Record specs again after a change that is meant, as `record` does
    #[command(after_help = "Example:\n  trajectly baseline update specs/triage.agent.yaml")]
    Update(Record),
}

impl Baseline {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        match self.command {
            Command::Update(record) => record.run(),
        }
    }
}
