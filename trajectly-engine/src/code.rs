//! The stable names of what can go wrong.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

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

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $class:ident;)*) => {
        /// What went wrong, as a name that stays the same from version to version. Compares as the names do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $variant,)*
        }

        impl Code {
            /// All codes.
            pub const ALL: &[Code] = &[$(Code::$variant),*];

            /// The name, such as `CONTRACT_TOOL_DENIED`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Code::$variant => $name,)*
                }
            }

            /// The kind of rule that the code belongs to.
            pub const fn class(self) -> Class {
                match self {
                    $(Code::$variant => Class::$class,)*
                }
            }
        }
    };
}

codes! {
    /// A call of the baseline has no counterpart, in order, in the candidate.
    RefinementBaselineCallMissing = "REFINEMENT_BASELINE_CALL_MISSING", Refinement;
    /// A call beyond the baseline's, of a tool that may not be called extra.
    RefinementExtraToolCall = "REFINEMENT_EXTRA_TOOL_CALL", Refinement;
    /// A call beyond the baseline's, of a tool with side effects that may not be called extra.
    RefinementExtraSideEffectCall = "REFINEMENT_EXTRA_SIDE_EFFECT_CALL", Refinement;
    /// A call of a tool that the baseline never used.
    RefinementNewToolNameForbidden = "REFINEMENT_NEW_TOOL_NAME_FORBIDDEN", Refinement;
    /// A model call beyond the baseline's number of them.
    RefinementExtraLlmStep = "REFINEMENT_EXTRA_LLM_STEP", Refinement;
    /// A call of a tool in `contracts.tools.deny`.
    ContractToolDenied = "CONTRACT_TOOL_DENIED", Contract;
    /// A call of a tool that `contracts.tools.allow` does not have.
    ContractToolNotAllowed = "CONTRACT_TOOL_NOT_ALLOWED", Contract;
    /// A call of a tool whose name says that it writes.
    ContractSideEffectWriteToolDenied = "CONTRACT_SIDE_EFFECT_WRITE_TOOL_DENIED", Contract;
    /// More tool calls than `contracts.tools.max_calls_total`.
    ContractMaxCallsTotalExceeded = "CONTRACT_MAX_CALLS_TOTAL_EXCEEDED", Contract;
    /// More calls of a tool than `contracts.tools.max_calls_per_tool` says.
    ContractMaxCallsPerToolExceeded = "CONTRACT_MAX_CALLS_PER_TOOL_EXCEEDED", Contract;
    /// An operation of `contracts.sequence.require` did not happen in its turn.
    ContractSequenceRequiredMissing = "CONTRACT_SEQUENCE_REQUIRED_MISSING", Contract;
    /// An operation of `contracts.sequence.forbid` happened.
    ContractSequenceForbiddenSeen = "CONTRACT_SEQUENCE_FORBIDDEN_SEEN", Contract;
    /// An operation did not happen before another as `contracts.sequence.require_before` says.
    ContractSequenceRequireBeforeViolated = "CONTRACT_SEQUENCE_REQUIRE_BEFORE_VIOLATED", Contract;
    /// An operation of `contracts.sequence.eventually` never happened.
    ContractSequenceEventuallyMissing = "CONTRACT_SEQUENCE_EVENTUALLY_MISSING", Contract;
    /// An operation of `contracts.sequence.never` happened.
    ContractSequenceNeverSeen = "CONTRACT_SEQUENCE_NEVER_SEEN", Contract;
    /// An operation of `contracts.sequence.at_most_once` happened a second time.
    ContractSequenceAtMostOnceExceeded = "CONTRACT_SEQUENCE_AT_MOST_ONCE_EXCEEDED", Contract;
    /// A call lacks an argument that `required_keys` names.
    ContractArgsRequiredKeyMissing = "CONTRACT_ARGS_REQUIRED_KEY_MISSING", Contract;
    /// An argument is of another type.
    ContractArgsTypeViolation = "CONTRACT_ARGS_TYPE_VIOLATION", Contract;
    /// An argument is above its `max`.
    ContractArgsMaxViolation = "CONTRACT_ARGS_MAX_VIOLATION", Contract;
    /// An argument is below its `min`.
    ContractArgsMinViolation = "CONTRACT_ARGS_MIN_VIOLATION", Contract;
    /// An argument is none of its `enum`.
    ContractArgsEnumViolation = "CONTRACT_ARGS_ENUM_VIOLATION", Contract;
    /// An argument does not match its `regex`.
    ContractArgsRegexViolation = "CONTRACT_ARGS_REGEX_VIOLATION", Contract;
    /// A tool call reaches a host that it may not reach.
    NetworkDomainDenied = "NETWORK_DOMAIN_DENIED", Contract;
    /// The network guard stopped a connection.
    ContractNetworkAllowlistBlocked = "CONTRACT_NETWORK_ALLOWLIST_BLOCKED", Contract;
    /// An e-mail address or a telephone number leaves in a call.
    ContractDataLeakPiiOutbound = "CONTRACT_DATA_LEAK_PII_OUTBOUND", Contract;
    /// A secret leaves in a call.
    DataLeakSecretPattern = "DATA_LEAK_SECRET_PATTERN", Contract;
    /// More tool calls than `budget_thresholds.max_tool_calls`.
    BudgetMaxToolCallsExceeded = "BUDGET_MAX_TOOL_CALLS_EXCEEDED", Contract;
    /// More tokens than `budget_thresholds.max_tokens`.
    BudgetMaxTokensExceeded = "BUDGET_MAX_TOKENS_EXCEEDED", Contract;
    /// A longer run than `budget_thresholds.max_latency_ms`.
    BudgetMaxLatencyExceeded = "BUDGET_MAX_LATENCY_EXCEEDED", Contract;
    /// A replayed call for which nothing was recorded.
    FixtureMissing = "FIXTURE_MISSING", Contract;
    /// A replayed call beyond the number that was recorded.
    FixtureExhausted = "FIXTURE_EXHAUSTED", Contract;
    /// A replayed call that differs from the one recorded in its place.
    FixtureMismatch = "FIXTURE_MISMATCH", Contract;
    /// The agent ended with an error, a panic, a non-zero exit or a time-out.
    AgentRunFailed = "AGENT_RUN_FAILED", Tooling;
    /// There is no baseline to judge against.
    BaselineMissing = "BASELINE_MISSING", Tooling;
    /// The baseline was written by another version of the normaliser.
    NormalizerVersionMismatch = "NORMALIZER_VERSION_MISMATCH", Tooling;
    /// The run differs from its reviewed snapshot, in what the rules permit.
    SnapshotDrift = "SNAPSHOT_DRIFT", Tooling;
    /// The agent did nothing that was recorded.
    TraceEmpty = "TRACE_EMPTY", Tooling;
    /// A test that was expected to fail did not, or not in that way.
    ExpectedFailureNotSeen = "EXPECTED_FAILURE_NOT_SEEN", Tooling;
    /// A live run broke a contract, failed or held a secret, and was not made the baseline.
    RecordingRejected = "RECORDING_REJECTED", Tooling;
    /// A replayed run broke a contract or was not fully answered, and was not made the baseline.
    AcceptRefused = "ACCEPT_REFUSED", Tooling;
    /// Baselines are not written in CI.
    CiWriteRefused = "CI_WRITE_REFUSED", Tooling;
    /// The files of the baseline belong to a spec of another name.
    BaselineNameClash = "BASELINE_NAME_CLASH", Tooling;
    /// A live model could not be reached.
    UpstreamUnreachable = "UPSTREAM_UNREACHABLE", Tooling;
    /// An instrumented call could not ask the harness what to do.
    SessionLost = "SESSION_LOST", Tooling;
    /// The spec cannot be used.
    SpecInvalid = "SPEC_INVALID", Tooling;
    /// A trace cannot be read.
    TraceInvalid = "TRACE_INVALID", Tooling;
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

impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Code, UnknownCode> {
        Code::ALL.iter().copied().find(|code| code.as_str() == text).ok_or_else(|| UnknownCode(text.to_owned()))
    }
}
