//! Specs through the same runner as the tests.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{io, thread};

use trajectly_engine::report::{Stale, Summary};

use super::outcome::{CliError, Exit};
use super::print;
use super::progress::Progress;
use super::targets::Found;
use super::workers;
use crate::env::{Env, Mode, paint_for};
use crate::harness::{Case, Overrides, Suite, prepare_process};
use crate::render::{Paint, clean, passed};
use crate::runner::Runner;

/// What is to be done with specs.
pub(super) struct Job {
    pub(super) mode: Mode,
    pub(super) allow_ci_write: bool,
    pub(super) overrides: Overrides,
    /// How many run at the same time; one without.
    pub(super) jobs: Option<NonZeroUsize>,
    /// Whether stdout is for what a program reads.
    pub(super) results_on_stderr: bool,
}

/// Runs specs, shows what came of each in the order of their paths, and sums it up.
pub(super) fn run(found: Found, job: Job) -> Result<(Exit, Summary), CliError> {
    let Found { root, project_flag, mut cases } = found;
    let mut env = Env::read().map_err(|error| error.to_string())?;
    env.mode = job.mode;
    env.writes_refused &= !job.allow_ci_write;
    prepare_process(&root);
    let overrides = Overrides { project_flag, ..job.overrides };
    let suite = Suite::of_command_line(root, overrides, |name, value| insta::assert_snapshot!(name, value));
    let paint = match job.results_on_stderr {
        true => paint_for(&std::io::stderr()),
        false => paint_for(&std::io::stdout()),
    };
    let runner = Runner::new(suite, env, paint);
    let recording = runner.prepare(&mut cases, |_| true)?;
    let progress = Progress::of(cases.len(), job.results_on_stderr);
    let written = if job.mode == Mode::Accept { "accepted" } else { "recorded" };
    let one = |case: &Case| match runner.run(case) {
        Ok(_) if recording.contains(&case.name) => (Ended::Written, said(&written.to_uppercase(), case, paint)),
        Ok(_) => (Ended::Passed, said("PASS", case, paint)),
        Err(failure) if failure.is_regression() => (Ended::Failed, failure.to_string()),
        Err(failure) => (Ended::Unjudged, failure.to_string()),
    };
    let ended = in_parallel(&cases, job.jobs, &progress, one).map_err(|error| workers::none(&error))?;
    progress.show(total(&ended, written));
    if job.mode == Mode::Replay {
        for Stale { file, why } in runner.stale(&cases) {
            let (file, why) = (clean(&file), clean(&why));
            print::note(format_args!(
                "{file} is stale: {why}\n  = help: remove it and its baseline, or restore what is gone"
            ));
        }
    }
    let exit = ended.iter().map(|ended| ended.exit()).max().unwrap_or(Exit::Clean);
    Ok((exit, runner.summary()))
}

fn said(word: &str, case: &Case, paint: Paint) -> String {
    passed(word, &case.name, paint)
}

/// What came of a spec.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// Its run is the baseline now.
    Written,
    Passed,
    Failed,
    Unjudged,
}

impl Ended {
    fn exit(self) -> Exit {
        match self {
            Self::Written | Self::Passed => Exit::Clean,
            Self::Failed => Exit::Regression,
            Self::Unjudged => Exit::Tooling,
        }
    }
}

/// `3 specs: 2 passed, 1 failed`.
fn total(ended: &[Ended], written: &str) -> String {
    let words = [
        (Ended::Written, written),
        (Ended::Passed, "passed"),
        (Ended::Failed, "failed"),
        (Ended::Unjudged, "could not be judged"),
    ];
    let counts = words.iter().filter_map(|(kind, words)| {
        let count = ended.iter().filter(|ended| *ended == kind).count();
        (count > 0).then(|| format!("{count} {words}"))
    });
    let specs = if ended.len() == 1 { "spec" } else { "specs" };
    format!("\n{} {specs}: {}", ended.len(), counts.collect::<Vec<_>>().join(", "))
}

/// Runs each case once, as many at a time as may be. Results are shown, and returned, in the order of the cases.
fn in_parallel(
    cases: &[Case],
    jobs: Option<NonZeroUsize>,
    progress: &Progress,
    one: impl Fn(&Case) -> (Ended, String) + Sync,
) -> io::Result<Vec<Ended>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(place) else { return done };
            progress.start(&case.name);
            let (ended, text) = one(case);
            progress.end(place, text);
            done.push((place, ended));
        }
    };
    let workers = jobs.map_or(1, NonZeroUsize::get).min(cases.len());
    // What a worker was at when it broke down is not judged.
    let mut all = vec![Ended::Unjudged; cases.len()];
    thread::scope(|scope| {
        let workers = workers::start(scope, workers, work)?;
        for (place, ended) in workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()) {
            all[place] = ended;
        }
        Ok(all)
    })
}
