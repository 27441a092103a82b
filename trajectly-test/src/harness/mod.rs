//! Agent tests as cargo sees them: found, listed, filtered and run, with libtest-mimic or under libtest.

mod args;
mod child;
mod mimic;
mod panics;
mod registry;
mod start;
mod suite;

use std::fmt::Display;
use std::process::ExitCode;

use args::Args;
pub(crate) use child::{OUTPUT_MARK, run_here};
pub(crate) use panics::quietly;
pub use registry::{AgentOutput, AgentTest, Outcome, Registration, SnapshotFn, block_on, finish};
pub(crate) use start::prepare_process;
pub(crate) use suite::{Case, Overrides, Target};
pub use suite::{Suite, Upstream};

use crate::env::{Env, paint_for};
use crate::runner::{Failure, Runner, target_name};

/// Exit code of a test binary that could not start or in which a test failed, as libtest's.
const FAILED: u8 = 101;

/// The `main` of a test binary with `harness = false`.
pub fn main(suite: Suite) -> ExitCode {
    if let Some(code) = child::run_if_child() {
        return code;
    }
    prepare_process(&suite.root);
    match run(suite) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(FAILED)
        }
    }
}

fn run(suite: Suite) -> Result<ExitCode, String> {
    let args = Args::parse(std::env::args().skip(1), |name| std::env::var(name).ok()).map_err(|e| e.to_string())?;
    for flag in &args.dropped {
        eprintln!("note: {flag} changes nothing here and is left out");
    }
    let cases = suite.cases()?;
    let env = Env::read().map_err(|error| error.to_string())?;
    mimic::run(&args, cases, suite, env)
}

/// The body of the `#[test]` that stands for an agent test when libtest is the harness.
///
/// # Panics
///
/// If the test fails: that is how libtest is told.
pub fn libtest(test: &'static AgentTest) {
    child::exit_if_child(test);
    match run_under_libtest(test) {
        Ok(output) => print!("{output}"),
        Err(failure) => fail(&failure),
    }
}

/// The body of the `#[test]` that stands for the specs of a suite when libtest is the harness, which knows of none.
///
/// # Panics
///
/// If there is a spec that no function claims.
pub fn specs_under_libtest(suite: Suite) {
    match suite.cases() {
        Err(message) => fail(&message),
        Ok(cases) if cases.iter().all(|case| case.function.is_some()) => {}
        Ok(cases) => {
            let dropped = cases.iter().filter(|case| case.function.is_none());
            let dropped: String = dropped.map(|case| format!("\n  --> {}", case.name)).collect();
            let name = target_name(&suite);
            fail(&format!(
                "error: cargo's own harness runs this target, and knows nothing of these specs{dropped}\n  = help: add \
                 this to Cargo.toml:\n\n[[test]]\nname = \"{name}\"\nharness = false"
            ));
        }
    }
}

fn fail(text: &dyn Display) -> ! {
    eprintln!("{text}");
    // A panic of our own would add a place and a backtrace, and neither is the agent's.
    std::panic::resume_unwind(Box::new("the agent test failed"));
}

fn run_under_libtest(test: &'static AgentTest) -> Result<String, Failure> {
    let env = Env::read().map_err(|error| error.to_string())?;
    let runner = Runner::new(Suite::of(test), env, paint_for(&std::io::stderr()));
    runner.run(&Case::under_libtest(test))
}
