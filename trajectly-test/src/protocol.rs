//! The words that the harness and an agent's process say to one another: names of environment variables and of routes.
//!
//! A session's child process is told everything by its environment. It appends events to
//! [`EVENTS_FILE`], one JSON object a line, and asks the harness at [`SESSION_URL`] what to do with a call.

/// `record` or `replay`.
pub(crate) const MODE: &str = "TRAJECTLY_MODE";
/// Absolute path of the file to which the child appends its events.
pub(crate) const EVENTS_FILE: &str = "TRAJECTLY_EVENTS_FILE";
/// Base URL of the session on the loopback gateway. Its presence is what makes a process part of a session.
pub(crate) const SESSION_URL: &str = "TRAJECTLY_SESSION_URL";
/// Absolute path of the fixtures, for a child that looks them up itself.
#[cfg(feature = "harness")]
pub(crate) const FIXTURES_FILE: &str = "TRAJECTLY_FIXTURES_FILE";
/// `by_hash` or `by_index`.
#[cfg(feature = "harness")]
pub(crate) const FIXTURE_POLICY: &str = "TRAJECTLY_FIXTURE_POLICY";
/// `1` or `0`.
#[cfg(feature = "harness")]
pub(crate) const STRICT: &str = "TRAJECTLY_STRICT";
/// The spec's contracts as JSON.
#[cfg(feature = "harness")]
pub(crate) const CONTRACTS_JSON: &str = "TRAJECTLY_CONTRACTS_JSON";
/// The spec's `name`.
#[cfg(feature = "harness")]
pub(crate) const SPEC_NAME: &str = "TRAJECTLY_SPEC_NAME";
/// `1`: the modes of [`DETERMINISM_JSON`] hold. The Python SDK looks for it as the interpreter starts.
#[cfg(feature = "harness")]
pub(crate) const DETERMINISM_ACTIVE: &str = "TRAJECTLY_DETERMINISM_ACTIVE";
/// The spec's `determinism` as JSON.
pub(crate) const DETERMINISM_JSON: &str = "TRAJECTLY_DETERMINISM_JSON";
/// The instant of a pinned clock, in seconds of Unix time.
pub(crate) const CLOCK_SEED: &str = "TRAJECTLY_CLOCK_SEED";
/// What random numbers are to start from: a whole number.
pub(crate) const RANDOM_SEED: &str = "TRAJECTLY_RANDOM_SEED";
/// Folder that holds `.trajectly/`.
#[cfg(feature = "harness")]
pub(crate) const PROJECT_ROOT: &str = "TRAJECTLY_PROJECT_ROOT";
/// What the Python SDK would do on its own where this harness does it: guard the network, which would close the gateway to
/// it, and write a second trace. An environment in which they are set is another tool's.
#[cfg(feature = "harness")]
pub(crate) const NOT_HANDED_ON: [&str; 5] = [
    "TRAJECTLY_REPLAY_GUARD",
    "TRAJECTLY_REPLAY_GUARD_ACTIVE",
    "TRAJECTLY_TRACE_FILE",
    "TRAJECTLY_TRACE_META_FILE",
    "TRAJECTLY_FIXTURES_FILE",
];
/// Hosts a replayed agent may reach, comma-separated.
#[cfg(feature = "harness")]
pub(crate) const NETWORK_ALLOWLIST: &str = "TRAJECTLY_NETWORK_ALLOWLIST";
/// In the child of a function test: the function to run.
#[cfg(feature = "harness")]
pub(crate) const CHILD: &str = "TRAJECTLY_CHILD";

/// Route, below the session's URL, at which an instrumented call asks what to do.
pub(crate) const CALL_ROUTE: &str = "/trajectly/tool";
/// Path, below the session's URL, of the OpenAI-compatible API.
pub(crate) const OPENAI_ROUTE: &str = "/openai/v1";
/// Code of a call about which the harness could not be asked.
pub(crate) const SESSION_LOST: &str = "SESSION_LOST";
