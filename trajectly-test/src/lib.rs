//! A cargo test harness that records LLM agents, replays them offline and judges their trajectories.
//!
//! A test runs the agent; a *spec*, a YAML file beside it, says what the agent must obey. Recorded once with its real
//! models and tools, the agent is replayed from then on: offline, in milliseconds, without a key. The test fails when the
//! run breaks a rule of the spec or loses a tool call that the recorded one made, and the failure names the first event
//! that is wrong, the line of the rule, and the command that shows it again.
//!
//! # Example
//!
//! The agent's tools carry [`#[tool]`](macro@tool). Nothing else in it knows of Trajectly:
//!
//! ```
//! use std::error::Error;
//!
//! use trajectly_test::tool;
//!
//! #[tool]
//! pub async fn fetch_ticket(id: String) -> Result<String, Box<dyn Error + Send + Sync>> {
//!     // Asks the help desk.
//!     # Ok(id)
//! }
//! ```
//!
//! The test is a function under [`#[agent_test]`](macro@agent_test), in a target with `harness = false`:
//!
//! ```no_run
//! use trajectly_test::{Session, agent_test};
//! # use std::fmt::Error;
//! # mod my_agent {
//! #     pub struct Client;
//! #     impl Client { pub fn new(_: String) -> Self { Self } }
//! #     pub async fn triage(_: &Client, _: &str) -> Result<String, std::fmt::Error> { Ok(String::new()) }
//! # }
//!
//! #[agent_test(spec = "specs/triage.agent.yaml")]
//! async fn triage(session: Session) -> Result<String, Error> {
//!     let client = my_agent::Client::new(session.openai_base_url());
//!     my_agent::triage(&client, "T-1042").await
//! }
//!
//! trajectly_test::main!(specs = "specs/**/*.agent.yaml");
//! ```
//!
//! `TRAJECTLY_UPDATE=1 cargo test` records, `cargo test` replays.
//!
//! # How it works
//!
//! Every test runs in a process of its own: for a function the test binary once more, told to run only that function; for
//! a spec with a `command`, that command. What the agent prints is captured, a crash is reported, and at its time limit the
//! whole process group is ended. `OPENAI_BASE_URL` leads that process to a server of the harness on the loopback interface,
//! which passes model calls on while recording, and answers them from *fixtures* while replaying. `#[tool]` asks the same
//! server whether to run the function or to return what was recorded. In a replay the kernel refuses the process every
//! other TCP connection (Linux 6.7 and later; elsewhere there are only proxy variables, for those who look at them).
//!
//! A call finds its fixture by what it was given. Ids that a provider made up and the order in which parallel tools came
//! back make no difference; everything else does, and a call that nothing recorded answers fails the test with what it
//! differs in. The events of the run are then put into one order, the same in every run, and judged by the
//! `trajectly-engine` crate, which has neither clock nor randomness: the same run gets the same verdict and the same report,
//! to the last byte.
//!
//! Last, what breaks no rule is held against a snapshot that [insta](https://insta.rs) keeps, for people to review.
//!
//! # Outside a test
//!
//! In production there is no session: [`Session::current`] is `None`, and a function under `#[tool]` costs one look at an
//! atomic variable more than one without.
//!
//! # Features
//!
//! | feature | default | what for |
//! | --- | --- | --- |
//! | `instrument` | no | `#[tool]` and [`Session`] alone: what the agent's own crate needs |
//! | `harness` | yes | `#[agent_test]` and [`main!`] |
//! | `record` | yes | the TLS client with which a recording asks a live provider |
//! | `cli` | no | the programs `trajectly` and `cargo-trajectly` |
//!
//! # Limits
//!
//! - On the wire, OpenAI's chat completions are recorded and replayed, plain and streamed. Other models go through
//!   [`Session::llm`].
//! - A client whose endpoint is built in cannot be led to the harness.
//! - Plain `#[test]` functions in a target with `harness = false` are dropped by the compiler, whatever the harness is.
//! - Without `harness = false`, `#[agent_test]` functions are tests of cargo's own harness: they run as well, but `name`
//!   changes nothing for cargo, and specs without a function are no tests; one that fails says so.
//! - The clock and random numbers are the machine's, but for those of [`Session::now`] and [`Session::random_seed`]. An agent
//!   whose requests depend on others finds no fixture.
//! - Unix only; tested on Linux.

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
            $crate::__private::main(__trajectly_suite())
        }

        fn __trajectly_suite() -> $crate::__private::Suite {
            $crate::__private::Suite::new(
                ::core::env!("CARGO_MANIFEST_DIR"),
                ::core::env!("CARGO_PKG_NAME"),
                ::core::env!("CARGO_CRATE_NAME"),
                ::core::file!(),
                |name, value| $crate::__private::insta::assert_snapshot!(name, value),
            )
            $(.$setting($value))*
        }

        $($crate::__under_libtest!($setting);)*
    };
}

/// What a setting of [`main!`] is where nothing calls the `main` that it makes, as `harness = false` is missing. The test is
/// compiled there only.
#[cfg(feature = "harness")]
#[doc(hidden)]
#[macro_export]
macro_rules! __under_libtest {
    (specs) => {
        #[::core::prelude::v1::test]
        fn specs_need_harness_false() {
            $crate::__private::specs_under_libtest(__trajectly_suite());
        }
    };
    ($other:ident) => {};
}

/// What generated code calls. No part of the public interface.
#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "harness")]
    pub use {insta, inventory};

    #[cfg(feature = "harness")]
    pub use crate::harness::{
        AgentOutput, AgentTest, Outcome, Registration, SnapshotFn, Suite, Upstream, block_on, finish, libtest, main,
        specs_under_libtest,
    };
    pub use crate::instrument::{
        Args, AsResult, AsValue, PendingCall, Shape, Tag, ViaResult, ViaValue, enter, run_async, run_sync,
    };
}
