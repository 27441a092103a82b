//! `TRAJECTLY_ISOLATION=off`: the one selected test in the harness's own process, for a debugger.

use std::process::Command;
use std::time::Instant;

use crate::harness::{AgentTest, run_here};
use crate::process::{Bounds, Finished};

/// Runs the function with the environment that its child process would have had. Its output is not captured, and
/// nothing holds it to its bounds.
pub(super) fn run(function: &AgentTest, command: &Command, bounds: &Bounds) -> Finished {
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            set(name, value);
        }
    }
    let started = Instant::now();
    let code = run_here(function);
    Finished::here(i32::from(code), started.elapsed(), bounds)
}

#[expect(unsafe_code, reason = "an environment variable can be set in no other way")]
fn set(name: &std::ffi::OsStr, value: &std::ffi::OsStr) {
    // SAFETY: one test is selected and it has not begun; the gateway's threads wait for connections and the main
    // thread for this one, and none of them reads the environment.
    unsafe { std::env::set_var(name, value) };
}
