//! The child's side of a function test: run the one function that the environment names, and say how it ended.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use serde_json::Value;

use super::registry::{self, AgentTest};
use crate::instrument::Session;
use crate::protocol;

/// Exit code of a child whose agent returned an error or panicked.
const AGENT_FAILED: u8 = 1;
/// Exit code of a child that was asked for a function which is not in this binary.
const NO_SUCH_TEST: u8 = 70;
/// Printed by a child before the agent runs; what stands before it on stdout is libtest's.
pub(crate) const OUTPUT_MARK: &str = "\u{1e}trajectly\u{1e}\n";

/// Runs the function if this process is a child, and ends with the exit code for it.
pub(crate) fn run_if_child() -> Option<ExitCode> {
    let wanted = std::env::var(protocol::CHILD).ok()?;
    let Some(test) = registry::all().into_iter().find(|test| test.path() == wanted) else {
        eprintln!("trajectly: this test binary has no agent test `{wanted}`");
        return Some(ExitCode::from(NO_SUCH_TEST));
    };
    Some(ExitCode::from(run(test)))
}

/// As [`run_if_child`], for the function whose `#[test]` libtest has just started.
pub(crate) fn exit_if_child(test: &AgentTest) {
    if std::env::var(protocol::CHILD).is_ok_and(|wanted| wanted == test.path()) {
        std::process::exit(i32::from(run(test)));
    }
}

fn run(test: &AgentTest) -> u8 {
    die_with_parent();
    print!("{OUTPUT_MARK}");
    run_here(test)
}

/// Runs the function in this process, which the environment has made part of a session. Returns the exit code.
pub(crate) fn run_here(test: &AgentTest) -> u8 {
    let Some(session) = Session::current() else {
        eprintln!("trajectly: {} is not set, so there is no session", protocol::SESSION_URL);
        return NO_SUCH_TEST;
    };
    let function = test.run;
    let for_agent = session.clone();
    match catch_unwind(AssertUnwindSafe(|| function(for_agent))) {
        Ok(Ok(answer)) => {
            session.finished(&answer, None);
            0
        }
        Ok(Err(error)) => {
            session.finished(&Value::Null, Some(&error));
            AGENT_FAILED
        }
        Err(panic) => {
            session.finished(&Value::Null, Some(&format!("panicked: {}", panic_text(&*panic))));
            AGENT_FAILED
        }
    }
}

/// The message of a panic, if it has one.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no message)")
}

/// An agent whose harness was killed must not go on calling tools.
#[cfg(target_os = "linux")]
fn die_with_parent() {
    // Without it the agent merely outlives a harness that was killed.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent() {}
