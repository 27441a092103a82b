use std::fmt;

/// An error that stands in for the one a tool or model returned when it was recorded, or for a call that the
/// harness refused.
///
/// A tool's error type needs `From<RecordedError>` so that a replay can return what the recording did.
/// `anyhow::Error`, `eyre::Report` and `Box<dyn std::error::Error + Send + Sync>` have it already, as
/// `RecordedError` is an ordinary error. Its `Display` is the recorded text, unchanged; what an `anyhow::Error` or an
/// `eyre::Report` said of its causes is its [`source`](std::error::Error::source), and follows the text under `{:#}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedError {
    message: String,
    cause: Option<Cause>,
    code: Option<String>,
}

/// All causes of a recorded error, in one text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cause(String);

impl RecordedError {
    /// An error that a call returned: its whole text, and the end of it that tells the causes.
    pub(crate) fn recorded(text: String, cause: Option<String>) -> Self {
        let message = cause.as_deref().and_then(|cause| text.strip_suffix(cause)?.strip_suffix(": "));
        match message.map(str::to_owned) {
            Some(message) => Self { message, cause: cause.map(Cause), code: None },
            None => Self { message: text, cause: None, code: None },
        }
    }

    /// The error of a call that was not made.
    pub(crate) fn refused(message: String, code: String) -> Self {
        Self { message, cause: None, code: Some(code) }
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
        f.write_str(&self.message)?;
        match &self.cause {
            Some(cause) if f.alternate() => write!(f, ": {cause}"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for RecordedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as _)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Cause {}
