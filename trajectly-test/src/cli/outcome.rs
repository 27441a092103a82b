//! What a command comes to.

use std::fmt;
use std::process::ExitCode;

/// How a command ends, as its exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Exit {
    /// 0: all is as it was, or as it may be.
    Clean,
    /// 1: something is not.
    Regression,
    /// 2: a tool, a setting or a spec is wrong, so that nothing can be said of the agent.
    Tooling,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a command could not do its work: the whole text to show. It ends with [`Exit::Tooling`].
#[derive(Debug)]
pub(super) struct CliError(String);

impl CliError {
    /// What is wrong, as a fragment of a sentence.
    pub(super) fn new(message: impl fmt::Display) -> Self {
        Self(format!("error: {message}"))
    }

    /// Adds what to do about it.
    pub(super) fn help(self, help: impl fmt::Display) -> Self {
        Self(format!("{}\n  = help: {help}", self.0))
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that is complete already, as those of the runner are.
impl From<String> for CliError {
    fn from(text: String) -> Self {
        Self(text)
    }
}
