//! From a spec to a verdict: what one test does.

mod artifacts;
mod child;
mod commands;
mod counterexample;
mod failure;
mod inside;
mod lookup;
mod meta;
mod notes;
mod order;
mod promote;
mod replay;
mod reports;
mod seeds;
mod session;
mod test;
mod upstream;

#[cfg(feature = "cli")]
use std::collections::BTreeMap;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock};

pub(crate) use commands::target_name;
#[cfg(feature = "cli")]
pub(crate) use commands::{quoted, words};
#[cfg(feature = "cli")]
pub(crate) use counterexample::{Effort, Failed};
pub(crate) use failure::Failure;
#[cfg(feature = "cli")]
pub(crate) use notes::unrestricted;
#[cfg(feature = "cli")]
pub(crate) use replay::check_whole;
#[cfg(feature = "cli")]
pub(crate) use test::file_slug;
#[cfg(feature = "cli")]
use trajectly_engine::report::Stale;
use trajectly_engine::report::{Report, Summary};

use crate::env::{Env, Mode};
use crate::gateway::Gateway;
use crate::harness::{Case, Suite};
use crate::render::Paint;
#[cfg(feature = "cli")]
use crate::store::Store;

use commands::Program;
use order::Recordings;
use reports::Reports;
use test::Test;

/// Runs tests. Cheap to clone; all clones share one gateway.
#[derive(Clone)]
pub(crate) struct Runner {
    shared: Arc<Shared>,
}

struct Shared {
    suite: Suite,
    env: Env,
    paint: Paint,
    program: Program,
    /// What came of the tests so far.
    summary: Mutex<Summary>,
}

/// What a test is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    Replay,
    Record,
    Accept,
}

impl Runner {
    pub(crate) fn new(suite: Suite, env: Env, paint: Paint) -> Self {
        let program = Program::of(&suite);
        Self { shared: Arc::new(Shared { suite, env, paint, program, summary: Mutex::default() }) }
    }

    /// Looks at all tests of a run before any starts: which of them will record what. Those come first from then on, as
    /// others may wait for their baselines. Returns their names.
    ///
    /// # Errors
    ///
    /// If two tests are to record the same baseline.
    pub(crate) fn prepare(
        &self,
        cases: &mut [Case],
        wanted: impl Fn(&Case) -> bool,
    ) -> Result<HashSet<String>, String> {
        if !self.shared.env.mode.may_write() {
            return Ok(HashSet::new());
        }
        let mut recording = HashSet::new();
        for case in cases.iter().filter(|case| wanted(case)) {
            // A test whose spec cannot be read says so itself.
            let Ok(test) = Test::load(self, case) else { continue };
            if matches!(self.plan(&test), Ok(Plan::Record | Plan::Accept)) {
                announce(&test)?;
                recording.insert(case.name.clone());
            }
        }
        cases.sort_by_key(|case| !recording.contains(&case.name));
        Ok(recording)
    }

    /// Runs one test. What is returned is the agent's output; what fails is the whole text to show.
    ///
    /// # Errors
    ///
    /// If the test fails.
    pub(crate) fn run(&self, case: &Case) -> Result<String, Failure> {
        let test = match Test::load(self, case) {
            Ok(test) => test,
            Err(failure) => {
                match failure.to_report() {
                    Some((code, message)) => Reports::of(self, case).write_unread(code, message)?,
                    None => Reports::of(self, case).note(&failure.first_line()),
                }
                return Err(failure);
            }
        };
        let result = self.run_test(&test);
        if let Err(failure) = &result {
            if !failure.is_after_verdict() {
                replay::forget(&test)?;
            }
            match failure.to_report() {
                Some((code, message)) => {
                    let said = Report::error(&test.spec, test.spec_file(), code, message, &test.commands.reproduce);
                    Reports::of(self, case).write(&said)?;
                }
                None if failure.is_of_a_verdict() => {}
                None => Reports::of(self, case).note(&failure.first_line()),
            }
        }
        artifacts::keep(&test, result.is_err())?;
        result.map_err(|failure| failure.titled(&test))
    }

    /// What came of the tests so far: a row for each that was replayed, or that failed.
    #[cfg(feature = "cli")]
    pub(crate) fn summary(&self) -> Summary {
        self.shared.summary.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// The fixtures of these tests' projects that no spec can use any more, each once, sorted.
    #[cfg(feature = "cli")]
    pub(crate) fn stale(&self, cases: &[Case]) -> Vec<Stale> {
        let root = |case: &Case| Store::for_spec(&case.spec, &self.shared.suite.root).root().to_owned();
        let projects: BTreeMap<_, _> = cases.iter().map(|case| (root(case), case)).collect();
        projects.values().flat_map(|case| Reports::of(self, case).stale()).collect()
    }

    fn run_test(&self, test: &Test<'_>) -> Result<String, Failure> {
        let plan = self.plan(test)?;
        let _announced = match plan {
            Plan::Replay => {
                Recordings::of_this_process().wait(&test.place.trace);
                None
            }
            Plan::Record | Plan::Accept => {
                announce(test)?;
                Some(Announced(test))
            }
        };
        match plan {
            Plan::Replay => replay::run(self, test, false),
            Plan::Accept => replay::run(self, test, true),
            Plan::Record => {
                promote::refuse_clash(test)?;
                promote::record(self, test)
            }
        }
    }

    fn plan(&self, test: &Test<'_>) -> Result<Plan, Failure> {
        if test.expected.is_some() {
            return Ok(Plan::Replay);
        }
        let plan = match self.shared.env.mode {
            Mode::Replay => Plan::Replay,
            Mode::Record => Plan::Record,
            Mode::Accept => Plan::Accept,
            Mode::RecordMissing => match test.store.has_baseline(&test.place)? {
                true => Plan::Replay,
                false => Plan::Record,
            },
        };
        if plan != Plan::Replay && self.shared.env.writes_refused {
            return Err(test.writes_refused(self.shared.suite.target.is_none()));
        }
        Ok(plan)
    }

    fn gateway(&self) -> Result<&'static Gateway, String> {
        static GATEWAY: OnceLock<Result<Gateway, String>> = OnceLock::new();
        let started = || {
            Gateway::start().map_err(|error| {
                format!(
                    "error: cannot listen on 127.0.0.1: {error}\n  = help: the gateway needs one free loopback port"
                )
            })
        };
        GATEWAY.get_or_init(started).as_ref().map_err(Clone::clone)
    }
}

/// Announces that a test will record. An error names the other test that would record the same baseline.
fn announce(test: &Test<'_>) -> Result<(), String> {
    let this = format!("{} ({})", test.spec_file(), test.case.name);
    Recordings::of_this_process().announce(test.place.trace.clone(), &this).map_err(|other| {
        format!(
            "error: two tests would record the baseline `{}`\n  --> {other}\n  --> {this}\n  = help: give one of the specs \
             another `name`, or let its test `expect_fail` if it is held against the other's baseline",
            test.spec.name
        )
    })
}

/// A recording that was announced; dropping it lets those go on that wait for it.
struct Announced<'a>(&'a Test<'a>);

impl Drop for Announced<'_> {
    fn drop(&mut self) {
        Recordings::of_this_process().finished(&self.0.place.trace);
    }
}
