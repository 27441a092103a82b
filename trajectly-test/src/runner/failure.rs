//! Why a test fails, as a text and as what a program wants to know of it.

use std::fmt;

use trajectly_engine::code::Code;

use super::test::Test;
use crate::render::failure_title;
use crate::store::StoreError;

/// A failed test.
#[derive(Debug)]
pub(crate) struct Failure {
    text: String,
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

    /// The same failure, which says of which test it is.
    pub(super) fn titled(mut self, test: &Test<'_>) -> Self {
        if self.code.is_none() && self.outside.is_none() {
            self.text = failure_title(&test.spec.name, test.spec_file(), &self.text, test.paint);
        }
        self
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

    /// Whether a verdict says all of it.
    pub(super) fn is_of_a_verdict(&self) -> bool {
        self.outside.is_none() && self.code.is_some()
    }

    /// Whether a run came to its verdict before this, so that the files of the last run are its own.
    pub(super) fn is_after_verdict(&self) -> bool {
        use Code::{AcceptRefused, ExpectedFailureNotSeen, SnapshotDrift};
        let judged = [AcceptRefused, ExpectedFailureNotSeen, SnapshotDrift];
        self.is_of_a_verdict() || self.to_report().is_some_and(|(code, _)| judged.contains(&code))
    }

    /// What is wrong, of a text that is all there is.
    pub(super) fn first_line(&self) -> String {
        let line = self.text.lines().next().unwrap_or_default();
        line.strip_prefix("error: ").unwrap_or(line).to_owned()
    }

    /// The same failure with more text under its own.
    pub(crate) fn with(mut self, more: &str) -> Self {
        self.text.push_str("\n\n");
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
