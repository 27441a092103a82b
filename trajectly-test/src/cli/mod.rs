//! The command line.

mod baseline;
mod batch;
mod evaluate;
mod init;
mod outcome;
mod scaffold;
mod specs;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use outcome::{CliError, Exit};

/// Records LLM agents, replays them offline and judges their trajectories.
///
/// Exit codes: 0 clean, 1 regression, 2 tooling, config or spec error.
#[derive(Parser)]
#[command(name = "trajectly", version, bin_name = "trajectly")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Look after baselines
    Baseline(baseline::Baseline),
    /// Judge traces that exist already: one, or many cases at once
    #[command(after_help = "Examples:\n  \
        trajectly evaluate triage.agent.yaml run.jsonl --baseline accepted.jsonl\n  \
        trajectly evaluate --batch < cases.jsonl > answers.jsonl")]
    Evaluate(evaluate::Evaluate),
    /// Make a project ready for its first recording
    #[command(after_help = "Example:\n  trajectly init")]
    Init(init::Init),
    /// Run specs live and make the runs their baselines
    #[command(after_help = "Example:\n  trajectly record specs/triage.agent.yaml")]
    Record(specs::Record),
    /// Replay specs offline and judge them against their baselines
    #[command(after_help = "Example:\n  trajectly run specs/*.agent.yaml")]
    Run(specs::Run),
}

impl Command {
    fn run(self) -> Result<Exit, CliError> {
        match self {
            Command::Baseline(baseline) => baseline.run(),
            Command::Evaluate(evaluate) => evaluate.run(),
            Command::Init(init) => init.run(),
            Command::Record(record) => record.run(),
            Command::Run(run) => run.run(),
        }
    }
}

/// Runs the command line; `args` begins with the program's name.
pub fn main(args: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are errors to clap, but not to their reader.
            let exit = if error.use_stderr() { Exit::Tooling } else { Exit::Clean };
            let _ = error.print();
            return exit.into();
        }
    };
    match cli.command.run() {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("{error}");
            Exit::Tooling.into()
        }
    }
}
