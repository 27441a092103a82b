//! Why a test fails, as a text and as what a program wants to know of it.

use std::fmt;

use trajectly_engine::fixture::FixtureError;
use trajectly_engine::trace::TraceError;

use crate::store::StoreError;

/// What sort of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The agent does something else than it did, or than it may.
    Regression,
    /// Nothing can be said of the agent: a spec, a file, the machine.
    Tooling,
}

/// A failed test.
#[derive(Debug)]
pub(crate) struct Failure {
    #[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "only an exit code depends on it"))]
    pub(crate) kind: Kind,
    text: String,
}

impl Failure {
    pub(crate) fn regression(text: String) -> Self {
        Self { kind: Kind::Regression, text }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A text alone is about the tooling.
impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self { kind: Kind::Tooling, text }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        error.to_string().into()
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        error.to_string().into()
    }
}

impl From<FixtureError> for Failure {
    fn from(error: FixtureError) -> Self {
        error.to_string().into()
    }
}
