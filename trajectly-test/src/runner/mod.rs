//! From a spec to a verdict: what one test does.

mod child;
mod commands;
mod failure;
mod inside;
mod meta;
mod notes;
mod order;
mod promote;
mod replay;
mod session;
mod test;
mod upstream;

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

#[cfg(feature = "cli")]
pub(crate) use commands::quoted;
pub(crate) use failure::Failure;
use trajectly_engine::report::Report;

use crate::env::{Env, Mode};
use crate::gateway::Gateway;
use crate::harness::{Case, Suite};
use crate::render::Paint;

use order::Recordings;
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
    cargo_test: Option<String>,
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
        let cargo_test = commands::cargo_test(&suite);
        Self { shared: Arc::new(Shared { suite, env, paint, cargo_test }) }
    }

    /// Looks at all tests of a run before any starts: which of them will record what. Those come first from then on, as
    /// others may wait for their baselines.
    ///
    /// # Errors
    ///
    /// If two tests are to record the same baseline.
    pub(crate) fn prepare(&self, cases: &mut [Case], wanted: impl Fn(&Case) -> bool) -> Result<(), String> {
        if !self.shared.env.mode.may_write() {
            return Ok(());
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
        Ok(())
    }

    /// Runs one test. What is returned is the agent's output; what fails is the whole text to show.
    ///
    /// # Errors
    ///
    /// If the test fails.
    pub(crate) fn run(&self, case: &Case) -> Result<String, Failure> {
        let test = Test::load(self, case)?;
        let result = self.run_test(&test).map_err(|failure| failure.titled(&test));
        if let Err(failure) = &result
            && let Some((code, message)) = failure.to_report()
        {
            let report = Report::error(&test.spec, test.spec_file(), code, message, &test.commands.reproduce);
            replay::report(&test, &report)?;
        }
        result
    }

    fn run_test(&self, test: &Test<'_>) -> Result<String, Failure> {
        let plan = self.plan(test)?;
        let _announced = match plan {
            Plan::Replay => {
                Recordings::of_this_process().wait(&test.baseline_path());
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
            Mode::RecordMissing => match test.store.has_baseline(&test.slug)? {
                true => Plan::Replay,
                false => Plan::Record,
            },
        };
        if plan != Plan::Replay && self.shared.env.writes_refused {
            return Err(test.writes_refused());
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
    Recordings::of_this_process().announce(test.baseline_path(), &this).map_err(|other| {
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
        Recordings::of_this_process().finished(&self.0.baseline_path());
    }
}
