//! The command line.

mod specs;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::env::Mode;

/// Something is not as it was, or not as it may be.
const REGRESSION: u8 = 1;
/// A tool, a setting or a spec is wrong: nothing can be said of the agent.
const TOOLING: u8 = 2;

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
    /// Replay specs offline and judge them against their baselines
    #[command(after_help = "Example:\n  trajectly run specs/*.agent.yaml")]
    Run(Targets),
    /// Run specs live and make the runs their baselines
    #[command(after_help = "Example:\n  trajectly record specs/triage.agent.yaml")]
    Record {
        #[command(flatten)]
        targets: Targets,
        /// Write baselines even in CI
        #[arg(long)]
        allow_ci_write: bool,
    },
}

#[derive(Args)]
struct Targets {
    /// Spec files or globs
    #[arg(required = true, value_name = "SPEC")]
    specs: Vec<String>,
    /// The folder that holds .trajectly/, where no folder above a spec does
    #[arg(long, value_name = "DIR", default_value = ".")]
    project_root: PathBuf,
}

/// Runs the command line; `args` begins with the program's name.
pub fn main(args: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are errors to clap, but not to their reader.
            let code = if error.use_stderr() { TOOLING } else { 0 };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let code = match cli.command {
        Command::Run(targets) => specs::run(&targets.specs, &targets.project_root, Mode::Replay, false),
        Command::Record { targets, allow_ci_write } => {
            specs::run(&targets.specs, &targets.project_root, Mode::Record, allow_ci_write)
        }
    };
    ExitCode::from(code)
}
