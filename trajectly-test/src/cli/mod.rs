//! The command line.

// Whoever pipes into `head` closes the pipe: `print` takes that as it comes, and these panic.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod baseline;
mod baseline_diff;
mod batch;
mod completions;
mod enable;
mod evaluate;
mod init;
mod latest;
mod migrate;
mod outcome;
mod print;
mod progress;
mod record;
mod report;
mod repro;
mod run;
mod scaffold;
mod schema;
mod shrink;
mod specs;
mod targets;
mod versions;
mod workers;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use outcome::{CliError, Exit};

/// Records LLM agents, replays them offline and judges their trajectories.
///
/// Exit codes: 0 clean, 1 regression, 2 tooling, config or spec error.
#[derive(Parser)]
#[command(name = "trajectly", bin_name = "trajectly", version)]
// The same lines everywhere: whether clap can wrap them depends on what else is built with it.
#[command(term_width = 0)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// When to colour: auto, always or never; auto heeds NO_COLOR and CLICOLOR_FORCE
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    #[arg(display_order = 100)]
    color: ColorChoice,
}

#[derive(Subcommand)]
enum Command {
    /// Make a project ready for its first recording
    #[command(after_help = "Example:\n  trajectly init")]
    Init(init::Init),
    /// Make a project ready, or start one with an agent whose test passes at once
    #[command(after_help = "Examples:\n  trajectly enable\n  trajectly enable triage-agent --template rig")]
    Enable(enable::Enable),
    /// Run specs live and make the runs their baselines
    #[command(after_help = "Example:\n  trajectly record specs/triage.agent.yaml")]
    Record(record::Record),
    /// Replay specs offline and judge them against their baselines
    #[command(after_help = "Example:\n  trajectly run specs/*.agent.yaml")]
    Run(run::Run),
    /// Print what came of the last runs: as Markdown, JSON, JUnit XML or annotations
    #[command(after_help = "Examples:\n  \
        trajectly report\n  \
        trajectly report --junit target/trajectly.xml")]
    Report(report::Report),
    /// Run the command that shows a failure again
    #[command(after_help = "Examples:\n  \
        trajectly repro\n  \
        trajectly repro specs/triage.agent.yaml --print-only")]
    Repro(repro::Repro),
    /// Leave of a failed run what its failure needs, without running the agent again
    #[command(after_help = "Examples:\n  \
        trajectly shrink\n  \
        trajectly shrink specs/triage.agent.yaml --max-seconds 60 --max-iterations 5000")]
    Shrink(shrink::Shrink),
    /// Look after baselines
    Baseline(baseline::Baseline),
    /// Judge traces that exist already: one, or many cases at once
    #[command(after_help = "Examples:\n  \
        trajectly evaluate triage.agent.yaml run.jsonl --baseline accepted.jsonl\n  \
        trajectly evaluate --batch < cases.jsonl > answers.jsonl")]
    Evaluate(evaluate::Evaluate),
    /// Bring files of older versions up to date
    Migrate(migrate::Migrate),
    /// Print the JSON Schema of specs, for editors
    #[command(after_help = "Example:\n  trajectly schema > agent.schema.json")]
    Schema(schema::Schema),
    /// Print what a shell needs to complete commands
    #[command(
        after_help = "Example:\n  trajectly completions bash > ~/.local/share/bash-completion/completions/trajectly"
    )]
    Completions(completions::Completions),
}

impl Command {
    fn run(self) -> Result<Exit, CliError> {
        match self {
            Command::Init(init) => init.run(),
            Command::Enable(enable) => enable.run(),
            Command::Record(record) => record.run(),
            Command::Run(run) => run.run(),
            Command::Report(report) => report.run(),
            Command::Repro(repro) => repro.run(),
            Command::Shrink(shrink) => shrink.run(),
            Command::Baseline(baseline) => baseline.run(),
            Command::Evaluate(evaluate) => evaluate.run(),
            Command::Migrate(migrate) => migrate.run(),
            Command::Schema(schema) => schema.run(),
            Command::Completions(completions) => completions.run(),
        }
    }
}

/// Runs the command line; `args` begins with the program's path.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let mut command = Cli::command();
    if args.first().is_some_and(|program| Path::new(program).file_stem() == Some("cargo-trajectly".as_ref())) {
        // Cargo passes the subcommand's name on.
        if args.get(1).is_some_and(|arg| arg == "trajectly") {
            args.remove(1);
        }
        command = command.bin_name("cargo trajectly");
    }
    let parsed = command.try_get_matches_from(args);
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are errors to clap, but not to their reader.
            let exit = if error.use_stderr() { Exit::Tooling } else { Exit::Clean };
            let printed = error.print();
            if exit == Exit::Clean {
                print::written(printed);
            }
            return ended(exit);
        }
    };
    match cli.color {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
    match cli.command.run() {
        Ok(exit) => ended(exit),
        Err(error) => {
            print::error(&error);
            ended(Exit::Tooling)
        }
    }
}

/// What the program ends with. An answer that could not be written is none.
fn ended(exit: Exit) -> ExitCode {
    match print::all_written() {
        Ok(()) => exit.into(),
        Err(error) => {
            print::error(&error);
            Exit::Tooling.into()
        }
    }
}
