//! The stable names of what can go wrong.

mod table;

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

pub use table::Code;

use crate::suggest::nearest;

/// The kind of rule that a code belongs to. Ordered as ties at one event are decided: the least comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The candidate does not refine the baseline.
    Refinement,
    /// The candidate breaks a rule of the spec.
    Contract,
    /// The run itself went wrong, or could not be judged.
    Tooling,
}

impl Class {
    /// `REFINEMENT`, `CONTRACT` or `TOOLING`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Class::Refinement => "REFINEMENT",
            Class::Contract => "CONTRACT",
            Class::Tooling => "TOOLING",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Class {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What a code means to people: short texts, in which words of a spec or a program stand in backticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    /// What has happened, as a sentence with its full stop; the other texts have none.
    pub when: &'static str,
    /// The event that a violation with this code belongs to. `None` for what is outside of a trace.
    pub event: Option<&'static str>,
    /// A case of it.
    pub example: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

impl Code {
    /// Whether the code says something of the agent, rather than of what stands around it.
    pub fn is_regression(self) -> bool {
        let of_the_agent = [Code::AgentRunFailed, Code::SnapshotDrift, Code::ExpectedFailureNotSeen];
        self.class() != Class::Tooling || of_the_agent.contains(&self)
    }
}

impl PartialOrd for Code {
    fn partial_cmp(&self, other: &Code) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Code {
    fn cmp(&self, other: &Code) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A text that is no [`Code`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCode(pub String);

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not a code", self.0)
    }
}

impl std::error::Error for UnknownCode {}

impl UnknownCode {
    /// What to write instead.
    pub fn help(&self) -> String {
        match nearest(&self.0, Code::ALL.iter().map(|code| code.as_str())) {
            Some(code) => format!("did you mean {code}?"),
            None => "write one of the codes in docs/codes.md, such as CONTRACT_TOOL_DENIED".to_owned(),
        }
    }
}

impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Code, UnknownCode> {
        Code::ALL.iter().copied().find(|code| code.as_str() == text).ok_or_else(|| UnknownCode(text.to_owned()))
    }
}
