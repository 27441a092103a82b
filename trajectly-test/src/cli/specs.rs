//! `run` and `record`: specs through the same runner as the tests.

use std::path::{Path, PathBuf};

use super::{REGRESSION, TOOLING};
use crate::env::{Env, Mode, paint_for};
use crate::harness::{Case, Suite, prepare_process};
use crate::render::clean;
use crate::runner::Runner;

/// Runs the specs that `targets` name, in order of their paths. Returns the exit code.
pub(super) fn run(targets: &[String], root: &Path, mode: Mode, allow_ci_write: bool) -> u8 {
    match start(targets, root, mode, allow_ci_write) {
        Ok((cases, runner)) => judge(&cases, &runner),
        Err(message) => {
            eprintln!("{message}");
            TOOLING
        }
    }
}

fn start(targets: &[String], root: &Path, mode: Mode, allow_ci_write: bool) -> Result<(Vec<Case>, Runner), String> {
    let root = root.canonicalize().map_err(|error| format!("error: --project-root {}: {error}", root.display()))?;
    let mut env = Env::read().map_err(|error| error.to_string())?;
    env.mode = mode;
    env.writes_refused &= !allow_ci_write;
    let mut cases: Vec<Case> = find(targets)?.into_iter().map(|spec| Case::of_spec(&root, spec)).collect();
    prepare_process(&root);
    let suite = Suite::of_command_line(root, |name, value| insta::assert_snapshot!(name, value));
    let runner = Runner::new(suite, env, paint_for(&std::io::stdout()));
    runner.prepare(&mut cases, |_| true)?;
    Ok((cases, runner))
}

fn judge(cases: &[Case], runner: &Runner) -> u8 {
    let mut code = 0;
    for case in cases {
        match runner.run(case) {
            Ok(_) => println!("PASS {}", clean(&case.name)),
            Err(failure) => {
                println!("{failure}");
                code = code.max(if failure.is_regression() { REGRESSION } else { TOOLING });
            }
        }
    }
    code
}

/// The files that paths and globs name, each once, sorted.
fn find(targets: &[String]) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for target in targets {
        let before = found.len();
        if Path::new(target).is_file() {
            found.push(PathBuf::from(target));
        } else {
            let paths = glob::glob(target)
                .map_err(|error| format!("error: `{target}` is no glob: {} at character {}", error.msg, error.pos))?;
            found.extend(paths.flatten().filter(|path| path.is_file()));
        }
        if found.len() == before {
            return Err(format!("error: no spec matches `{target}`\n  = help: give the path of an `.agent.yaml` file"));
        }
    }
    let absolute = |path: PathBuf| path.canonicalize().map_err(|error| format!("error: {}: {error}", path.display()));
    let mut found: Vec<PathBuf> = found.into_iter().map(absolute).collect::<Result<_, _>>()?;
    found.sort();
    found.dedup();
    Ok(found)
}
