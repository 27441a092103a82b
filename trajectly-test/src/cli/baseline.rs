//! `baseline`: what is done to baselines other than by a test.

use clap::{Args, Subcommand};

use super::baseline_diff::Diff;
use super::outcome::{CliError, Exit};
use super::record::Record;
use super::versions::{Create, List, Promote};
use crate::env::Mode;
use crate::store::check_version_name;

#[derive(Args)]
pub(super) struct Baseline {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Record specs under the name of a new version, beside the one in force
    #[command(after_help = "Example:\n  trajectly baseline create specs/triage.agent.yaml --name v2")]
    Create(Create),
    /// Tell two versions of a baseline apart
    #[command(after_help = "Example:\n  trajectly baseline diff support-triage v1 v2")]
    Diff(Diff),
    /// Show which versions there are, and which is in force
    #[command(after_help = "Example:\n  trajectly baseline list")]
    List(List),
    /// Put a version in force
    #[command(after_help = "Example:\n  trajectly baseline promote v2 support-triage")]
    Promote(Promote),
    /// Record specs again after a change that is meant, as `record` does
    #[command(after_help = "Examples:\n  \
        trajectly baseline update specs/triage.agent.yaml\n  \
        trajectly baseline update --accept specs/triage.agent.yaml")]
    Update(Update),
}

#[derive(Args)]
struct Update {
    #[command(flatten)]
    record: Record,
    /// Replay, and make that run the baseline: no model is asked, and no key needed
    #[arg(long)]
    accept: bool,
}

impl Update {
    fn run(self) -> Result<Exit, CliError> {
        self.record.run_in(if self.accept { Mode::Accept } else { Mode::Record })
    }
}

impl Baseline {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        match self.command {
            Command::Create(create) => create.run(),
            Command::Diff(diff) => diff.run(),
            Command::List(list) => list.run(),
            Command::Promote(promote) => promote.run(),
            Command::Update(update) => update.run(),
        }
    }
}

/// Reads the name of a version on the command line.
pub(super) fn version_name(text: &str) -> Result<String, String> {
    check_version_name(text).map(|()| text.to_owned())
}
