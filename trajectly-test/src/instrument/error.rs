use std::fmt;

/// An error that stands in for the one a tool or model returned when it was recorded, or for a call that the
/// harness refused.
///
/// A tool's error type needs `From<RecordedError>` so that a replay can return what the recording did.
/// `anyhow::Error`, `eyre::Report` and `Box<dyn std::error::Error + Send + Sync>` have it already, as
/// `RecordedError` is an ordinary error. Its `Display` is the recorded text, unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedError {
    message: String,
    code: Option<String>,
}

impl RecordedError {
    pub(crate) fn new(message: String, code: Option<String>) -> Self {
        Self { message, code }
    }

    /// The text of the error, as it was recorded.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Why the harness refused the call: a stable code such as `CONTRACT_TOOL_DENIED` or `FIXTURE_MISSING`.
    /// `None` if the error is one that the real call returned.
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }
}

impl fmt::Display for RecordedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RecordedError {}
