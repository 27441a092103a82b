//! `run` and `record`: specs through the same runner as the tests.

use std::path::{Path, PathBuf};

use clap::Args;

use super::outcome::{CliError, Exit};
use crate::env::{Env, Mode, paint_for};
use crate::harness::{Case, Suite, prepare_process};
use crate::render::clean;
use crate::runner::Runner;

#[derive(Args)]
pub(super) struct Run {
    #[command(flatten)]
    targets: Targets,
}

#[derive(Args)]
pub(super) struct Record {
    #[command(flatten)]
    targets: Targets,
    /// Write baselines even in CI
    #[arg(long)]
    allow_ci_write: bool,
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

impl Run {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        self.targets.run(Mode::Replay, false)
    }
}

impl Record {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        self.targets.run(Mode::Record, self.allow_ci_write)
    }
}

impl Targets {
    /// Runs the specs in the order of their paths.
    fn run(&self, mode: Mode, allow_ci_write: bool) -> Result<Exit, CliError> {
        let root = self.project_root.canonicalize();
        let root =
            root.map_err(|error| CliError::new(format!("--project-root {}: {error}", self.project_root.display())))?;
        let mut env = Env::read().map_err(|error| error.to_string())?;
        env.mode = mode;
        env.writes_refused &= !allow_ci_write;
        let mut cases: Vec<Case> = find(&self.specs)?.into_iter().map(|spec| Case::of_spec(&root, spec)).collect();
        prepare_process(&root);
        let suite = Suite::of_command_line(root, |name, value| insta::assert_snapshot!(name, value));
        let runner = Runner::new(suite, env, paint_for(&std::io::stdout()));
        runner.prepare(&mut cases, |_| true)?;
        Ok(judge(&cases, &runner))
    }
}

fn judge(cases: &[Case], runner: &Runner) -> Exit {
    let mut exit = Exit::Clean;
    for case in cases {
        match runner.run(case) {
            Ok(_) => println!("PASS {}", clean(&case.name)),
            Err(failure) => {
                println!("{failure}");
                exit = exit.max(if failure.is_regression() { Exit::Regression } else { Exit::Tooling });
            }
        }
    }
    exit
}

/// The files that paths and globs name, each once, sorted.
fn find(targets: &[String]) -> Result<Vec<PathBuf>, CliError> {
    let mut found = Vec::new();
    for target in targets {
        let before = found.len();
        if Path::new(target).is_file() {
            found.push(PathBuf::from(target));
        } else {
            let paths = glob::glob(target).map_err(|error| {
                CliError::new(format!("`{target}` is no glob: {} at character {}", error.msg, error.pos))
            })?;
            found.extend(paths.flatten().filter(|path| path.is_file()));
        }
        if found.len() == before {
            let nothing = CliError::new(format!("no spec matches `{target}`"));
            return Err(nothing.help("give the path of an `.agent.yaml` file"));
        }
    }
    let absolute =
        |path: PathBuf| path.canonicalize().map_err(|error| CliError::new(format!("{}: {error}", path.display())));
    let mut found: Vec<PathBuf> = found.into_iter().map(absolute).collect::<Result<_, _>>()?;
    found.sort();
    found.dedup();
    Ok(found)
}
