//! A cargo test harness that records LLM agents, replays them offline and judges their trajectories.
//!
//! `#[agent_test(spec = "triage.agent.yaml")]` over a function makes it a test. Recorded once
//! (`TRAJECTLY_UPDATE=1 cargo test`), it replays its models and tools from then on, offline, and fails when the run
//! breaks the spec's contracts or loses what the baseline did.

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "harness")]
mod env;
#[cfg(feature = "harness")]
mod gateway;
#[cfg(feature = "harness")]
mod harness;
mod instrument;
#[cfg(feature = "harness")]
mod process;
mod protocol;
#[cfg(feature = "harness")]
mod render;
#[cfg(feature = "harness")]
mod runner;
#[cfg(feature = "harness")]
mod secrets;
#[cfg(feature = "harness")]
mod snapshot;
#[cfg(feature = "harness")]
mod store;
#[cfg(feature = "harness")]
mod tape;

pub use instrument::{RecordedError, Session};
#[cfg(feature = "harness")]
pub use trajectly_macros::agent_test;
pub use trajectly_macros::tool;

/// The `main` of a test binary with `harness = false`: finds its agent tests, and runs them as cargo and nextest ask.
///
/// ```no_run
/// trajectly_test::main!();
/// ```
///
/// Settings, all optional:
///
/// - `specs = "specs/**/*.agent.yaml"`: every spec that this glob matches is a test too, named by its path. The glob is
///   relative to the crate's manifest directory. A spec that a function claims is listed once, under the function's
///   name; any other runs its `command`.
/// - `upstream = path::to::start`: a `fn() -> std::io::Result<String>` that starts a stand-in for a live model and
///   returns its OpenAI-compatible base URL. It is asked once, by a recording that has no `OPENAI_API_KEY`.
#[cfg(feature = "harness")]
#[macro_export]
macro_rules! main {
    ($($setting:ident = $value:expr),* $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::__private::main(
                $crate::__private::Suite::new(
                    ::core::env!("CARGO_MANIFEST_DIR"),
                    ::core::env!("CARGO_PKG_NAME"),
                    ::core::env!("CARGO_CRATE_NAME"),
                    ::core::file!(),
                    |name, value| $crate::__private::insta::assert_snapshot!(name, value),
                )
                $(.$setting($value))*,
            )
        }
    };
}

/// What generated code calls. No part of the public interface.
#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "harness")]
    pub use {insta, inventory};

    #[cfg(feature = "harness")]
    pub use crate::harness::{
        AgentOutput, AgentTest, Outcome, Registration, SnapshotFn, Suite, Upstream, block_on, finish, libtest, main,
    };
    pub use crate::instrument::{
        Args, AsResult, AsValue, PendingCall, Shape, Tag, ViaResult, ViaValue, enter, run_async, run_sync,
    };
}
