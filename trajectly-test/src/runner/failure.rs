//! Why a test fails, as a text and as what a program wants to know of it.

use std::fmt;

use trajectly_engine::code::Code;
use trajectly_engine::fixture::FixtureError;
use trajectly_engine::trace::TraceError;

use crate::store::StoreError;

/// A failed test.
#[derive(Debug)]
pub(crate) struct Failure {
    text: String,
    #[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "only an exit code depends on it"))]
    code: Option<Code>,
    /// What a report says of it; none where the verdict says all.
    outside: Option<(Code, String)>,
}

impl Failure {
    /// A failed verdict, of which there is a report already.
    pub(crate) fn verdict(code: Option<Code>, text: String) -> Self {
        Self { text, code, outside: None }
    }

    /// A failure beside the verdict.
    pub(crate) fn outside(code: Code, message: &str, text: String) -> Self {
        Self { text, code: Some(code), outside: Some((code, message.to_owned())) }
    }

    /// Whether the agent does something else than it did, or than it may. Else nothing can be said of it.
    #[cfg(feature = "cli")]
    pub(crate) fn is_regression(&self) -> bool {
        self.code.is_some_and(Code::is_regression)
    }

    /// The code and the message of a failure beside the verdict.
    pub(crate) fn to_report(&self) -> Option<(Code, &str)> {
        self.outside.as_ref().map(|(code, message)| (*code, message.as_str()))
    }

    /// The same failure with more text under its own.
    pub(crate) fn with(mut self, more: &str) -> Self {
        self.text.push('\n');
        self.text.push_str(more);
        self
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
        Self { text, code: None, outside: None }
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
