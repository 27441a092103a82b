//! All codes, each with what people need to know of it. `docs/codes.md` is made of this table.

use super::{Class, Explanation};

/// A row is the sentence that says when, the code, its class, the event (or `outside` a trace), an example and the remedy.
macro_rules! codes {
    ($(
        #[doc = $when:literal]
        $variant:ident = $name:literal, $class:ident,
        at $event:expr,
        example $example:literal,
        remedy $remedy:literal;
    )*) => {
        /// What went wrong, as a name that stays the same from version to version. Compares as the names do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $when] $variant,)*
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

            /// What the code means and what to do about it.
            pub const fn explain(self) -> Explanation {
                match self {
                    $(Code::$variant => Explanation {
                        when: $when.trim_ascii(),
                        event: $event,
                        example: $example,
                        remedy: $remedy,
                    },)*
                }
            }
        }
    };
}

const OUTSIDE: Option<&str> = None;
const THAT_CALL: Option<&str> = Some("that call");
const THAT_MODEL_CALL: Option<&str> = Some("that model call");
const THAT_OPERATION: Option<&str> = Some("that operation");
const THAT_RETURN: Option<&str> = Some("the return of that call");
const FIRST_CALL_OVER: Option<&str> = Some("the first call over the limit");
const LAST: Option<&str> = Some("the last event");
const END: Option<&str> = Some("`run_finished`");

codes! {
    /// A call of the baseline has no counterpart, in order, in the candidate.
    RefinementBaselineCallMissing = "REFINEMENT_BASELINE_CALL_MISSING", Refinement,
    at Some("the last tool call; the last event if there is none"),
    example "the baseline calls `fetch` and then `store`; the run calls `fetch` only",
    remedy "restore the call, or record a new baseline if it is no longer intended";

    /// A call beyond the baseline's, of a tool that may not be called extra.
    RefinementExtraToolCall = "REFINEMENT_EXTRA_TOOL_CALL", Refinement,
    at THAT_CALL,
    example "the baseline calls `search` once; the run calls it twice",
    remedy "drop the call, or add the tool to `refinement.allow_extra_tools`";

    /// A call beyond the baseline's, of a tool with side effects that may not be called extra.
    RefinementExtraSideEffectCall = "REFINEMENT_EXTRA_SIDE_EFFECT_CALL", Refinement,
    at THAT_CALL,
    example "the baseline never calls `send_email`; the run does",
    remedy "drop the call, or add the tool to both `refinement.allow_extra_tools` and `refinement.allow_extra_side_effect_tools`";

    /// A call of a tool that the baseline never used.
    RefinementNewToolNameForbidden = "REFINEMENT_NEW_TOOL_NAME_FORBIDDEN", Refinement,
    at THAT_CALL,
    example "the run calls `unsafe_export`, which no call of the baseline is of",
    remedy "drop the call, or add the tool to `refinement.allow_extra_tools`";

    /// A model call beyond the baseline's number of them.
    RefinementExtraLlmStep = "REFINEMENT_EXTRA_LLM_STEP", Refinement,
    at THAT_MODEL_CALL,
    example "`allow_extra_llm_steps: false`; the baseline asks the model twice, the run three times",
    remedy "drop the model call, or set `refinement.allow_extra_llm_steps: true`";

    /// A call of a tool in `contracts.tools.deny`.
    ContractToolDenied = "CONTRACT_TOOL_DENIED", Contract,
    at THAT_CALL,
    example "`deny: [delete_ticket]`, and the run calls `delete_ticket`; a tool that is instrumented does not run",
    remedy "drop the call, or take the tool out of `deny`";

    /// A call of a tool that `contracts.tools.allow` does not have.
    ContractToolNotAllowed = "CONTRACT_TOOL_NOT_ALLOWED", Contract,
    at THAT_CALL,
    example "`allow: [search]`, and the run calls `checkout`; a tool that is instrumented does not run",
    remedy "drop the call, or add the tool to `allow`";

    /// A call of a tool whose name says that it writes.
    ContractSideEffectWriteToolDenied = "CONTRACT_SIDE_EFFECT_WRITE_TOOL_DENIED", Contract,
    at THAT_CALL,
    example "`deny_write_tools: true`, and the run calls `delete_user`; a tool that is instrumented does not run",
    remedy "drop the call, or take `deny_write_tools` away and list what is denied in `contracts.tools.deny`";

    /// More tool calls than `contracts.tools.max_calls_total`.
    ContractMaxCallsTotalExceeded = "CONTRACT_MAX_CALLS_TOTAL_EXCEEDED", Contract,
    at FIRST_CALL_OVER,
    example "`max_calls_total: 6`, and the run makes a seventh call",
    remedy "make fewer calls, or raise the limit";

    /// More calls of a tool than `contracts.tools.max_calls_per_tool` says.
    ContractMaxCallsPerToolExceeded = "CONTRACT_MAX_CALLS_PER_TOOL_EXCEEDED", Contract,
    at FIRST_CALL_OVER,
    example "`max_calls_per_tool: {checkout: 1}`, and the run calls `checkout` twice",
    remedy "call the tool less often, or raise its limit";

    /// An operation of `contracts.sequence.require` did not happen in its turn.
    ContractSequenceRequiredMissing = "CONTRACT_SEQUENCE_REQUIRED_MISSING", Contract,
    at LAST,
    example "`require: [confirm, checkout]`, and the run calls `checkout` only",
    remedy "restore the operation, or take it out of `require`";

    /// An operation of `contracts.sequence.forbid` happened.
    ContractSequenceForbiddenSeen = "CONTRACT_SEQUENCE_FORBIDDEN_SEEN", Contract,
    at THAT_OPERATION,
    example "`forbid: [rm]`, and the run calls `rm`",
    remedy "drop the operation, or take it out of `forbid`";

    /// An operation did not happen before another as `contracts.sequence.require_before` says.
    ContractSequenceRequireBeforeViolated = "CONTRACT_SEQUENCE_REQUIRE_BEFORE_VIOLATED", Contract,
    at Some("the first operation that had to wait; the last event if it never happened"),
    example "`require_before: [{before: confirm, after: checkout}]`, and the run calls `checkout` without `confirm`",
    remedy "do the two in their order, or take the pair out";

    /// An operation of `contracts.sequence.eventually` never happened.
    ContractSequenceEventuallyMissing = "CONTRACT_SEQUENCE_EVENTUALLY_MISSING", Contract,
    at LAST,
    example "`eventually: [store]`, and the run never calls `store`",
    remedy "restore the operation, or take it out of `eventually`";

    /// An operation of `contracts.sequence.never` happened.
    ContractSequenceNeverSeen = "CONTRACT_SEQUENCE_NEVER_SEEN", Contract,
    at THAT_OPERATION,
    example "`never: [\"llm:openai:gpt-4o\"]`, and the run asks that model",
    remedy "drop the operation, or take it out of `never`";

    /// An operation of `contracts.sequence.at_most_once` happened a second time.
    ContractSequenceAtMostOnceExceeded = "CONTRACT_SEQUENCE_AT_MOST_ONCE_EXCEEDED", Contract,
    at Some("the second time"),
    example "`at_most_once: [checkout]`, and the run calls `checkout` twice",
    remedy "do it once, or take it out of `at_most_once`";

    /// A call lacks an argument that `required_keys` names.
    ContractArgsRequiredKeyMissing = "CONTRACT_ARGS_REQUIRED_KEY_MISSING", Contract,
    at THAT_CALL,
    example "`refund: {required_keys: [order]}`, and the run calls `refund(cents=5)`",
    remedy "give the argument, or take it out of `required_keys`";

    /// An argument is of another type.
    ContractArgsTypeViolation = "CONTRACT_ARGS_TYPE_VIOLATION", Contract,
    at THAT_CALL,
    example "`cents: {type: integer}`, and the run calls `refund(cents=\"many\")`",
    remedy "give an argument of that type, or change `type`";

    /// An argument is above its `max`.
    ContractArgsMaxViolation = "CONTRACT_ARGS_MAX_VIOLATION", Contract,
    at THAT_CALL,
    example "`cents: {max: 10000}`, and the run calls `refund(cents=10001)`",
    remedy "give less, or raise `max`";

    /// An argument is below its `min`.
    ContractArgsMinViolation = "CONTRACT_ARGS_MIN_VIOLATION", Contract,
    at THAT_CALL,
    example "`cents: {min: 1}`, and the run calls `refund(cents=0)`",
    remedy "give more, or lower `min`";

    /// An argument is none of its `enum`.
    ContractArgsEnumViolation = "CONTRACT_ARGS_ENUM_VIOLATION", Contract,
    at THAT_CALL,
    example "`priority: {enum: [low, high]}`, and the run calls `store(priority=\"urgent\")`",
    remedy "give one of the values, or add this one to `enum`";

    /// An argument does not match its `regex`.
    ContractArgsRegexViolation = "CONTRACT_ARGS_REGEX_VIOLATION", Contract,
    at THAT_CALL,
    example "`order: {regex: \"^O-[0-9]+$\"}`, and the run calls `refund(order=\"7\")`",
    remedy "give an argument that matches, or change the pattern";

    /// A tool call reaches a host that it may not reach.
    NetworkDomainDenied = "NETWORK_DOMAIN_DENIED", Contract,
    at THAT_CALL,
    example "`allowlist: [api.example.com]`, and the run calls `http_request(url=\"https://evil.test/\")`",
    remedy "drop the call, or add the host to `contracts.network.allowlist`";

    /// The network guard stopped a connection.
    ContractNetworkAllowlistBlocked = "CONTRACT_NETWORK_ALLOWLIST_BLOCKED", Contract,
    at END,
    example "there is an `allowlist`, and the agent complains on stderr that a connection was stopped",
    remedy "let the agent reach its session only, or add the host to `contracts.network.allowlist`";

    /// An e-mail address or a telephone number leaves in a call.
    ContractDataLeakPiiOutbound = "CONTRACT_DATA_LEAK_PII_OUTBOUND", Contract,
    at Some("the first call that has one"),
    example "`deny_pii_outbound: true`, and a prompt has `ann@example.com` in it",
    remedy "take the data out before the call, or narrow `outbound_kinds`";

    /// A secret leaves in a call.
    DataLeakSecretPattern = "DATA_LEAK_SECRET_PATTERN", Contract,
    at Some("for each pattern, the first call that has a match"),
    example "`secret_patterns: [\"acme-[a-z0-9]{32}\"]`, and the arguments of a tool have such a key",
    remedy "take the secret out before the call, and revoke it if it has left";

    /// More tool calls than `budget_thresholds.max_tool_calls`.
    BudgetMaxToolCallsExceeded = "BUDGET_MAX_TOOL_CALLS_EXCEEDED", Contract,
    at FIRST_CALL_OVER,
    example "`max_tool_calls: 10`, and the run makes an eleventh call",
    remedy "make fewer calls, or raise the budget";

    /// More tokens than `budget_thresholds.max_tokens`.
    BudgetMaxTokensExceeded = "BUDGET_MAX_TOKENS_EXCEEDED", Contract,
    at Some("the answer of a model with which the sum exceeds the budget"),
    example "`max_tokens: 4000`, and the model calls use 2,500 and 1,600",
    remedy "use fewer tokens, or raise the budget";

    /// A longer run than `budget_thresholds.max_latency_ms`.
    BudgetMaxLatencyExceeded = "BUDGET_MAX_LATENCY_EXCEEDED", Contract,
    at END,
    example "`max_latency_ms: 2000`, and the recorded calls of a replay took 2,300 ms",
    remedy "make the run shorter, or raise the budget";

    /// A replayed call for which nothing was recorded.
    FixtureMissing = "FIXTURE_MISSING", Contract,
    at THAT_RETURN,
    example "`fetch(id=\"T-1\")` was recorded, and the run calls `fetch(id=\"T-2\")`",
    remedy "restore the call, or record again if it is now intended";

    /// A replayed call beyond the number that was recorded.
    FixtureExhausted = "FIXTURE_EXHAUSTED", Contract,
    at THAT_RETURN,
    example "`poll()` was recorded twice, and the run calls it a third time",
    remedy "drop the call, or record again if it is now intended";

    /// A replayed call that differs from the one recorded in its place.
    FixtureMismatch = "FIXTURE_MISMATCH", Contract,
    at THAT_RETURN,
    example "`fixture_policy: by_index`, `strict: true`, and the first call of `fetch` is of another id than the first recorded one",
    remedy "restore the call, or record again if it is now intended";

    /// The agent ended with an error, a panic, a non-zero exit or a time-out.
    AgentRunFailed = "AGENT_RUN_FAILED", Tooling,
    at END,
    example "the function under `#[agent_test]` returns `Err`, or the `command` exits with 1",
    remedy "mend the agent; what it printed stands in the failure";

    /// There is no baseline to judge against.
    BaselineMissing = "BASELINE_MISSING", Tooling,
    at OUTSIDE,
    example "the first `cargo test` of a new spec",
    remedy "record one with the command that the failure names";

    /// A file of the baseline is missing, or holds something else than it must.
    BaselineInvalid = "BASELINE_INVALID", Tooling,
    at OUTSIDE,
    example "a line of `.trajectly/baselines/triage.jsonl` ends in the middle, or `triage.meta.json` was not committed",
    remedy "restore the file from version control, or record again";

    /// The baseline was written by another version of the normaliser.
    NormalizerVersionMismatch = "NORMALIZER_VERSION_MISMATCH", Tooling,
    at OUTSIDE,
    example "the `.meta.json` of the baseline lacks `normalizer_version`, or has another than this version's",
    remedy "record the baseline again";

    /// The run differs from its reviewed snapshot, in what the rules permit.
    SnapshotDrift = "SNAPSHOT_DRIFT", Tooling,
    at OUTSIDE,
    example "the same tools are called, and the answer reads differently",
    remedy "look at it with `cargo insta review`, and accept it there if it is intended";

    /// The agent did nothing that was recorded.
    TraceEmpty = "TRACE_EMPTY", Tooling,
    at OUTSIDE,
    example "the agent's model client does not use the session's base URL, and none of its tools is marked",
    remedy "mark the tools with `#[tool]`, and let the client use `OPENAI_BASE_URL` or `session.openai_base_url()`";

    /// A test that was expected to fail did not, or not in that way.
    ExpectedFailureNotSeen = "EXPECTED_FAILURE_NOT_SEEN", Tooling,
    at OUTSIDE,
    example "`expect: {code: CONTRACT_TOOL_DENIED}`, and the run passes",
    remedy "restore the failure, or change what the test expects";

    /// A live run broke a contract, failed or held a secret, and was not made the baseline.
    RecordingRejected = "RECORDING_REJECTED", Tooling,
    at OUTSIDE,
    example "`TRAJECTLY_UPDATE=1 cargo test`, and the agent calls a denied tool",
    remedy "mend the agent, or the spec if this is meant to be allowed, and record again";

    /// A replayed run broke a contract or was not fully answered, and was not made the baseline.
    AcceptRefused = "ACCEPT_REFUSED", Tooling,
    at OUTSIDE,
    example "`TRAJECTLY_UPDATE=accept cargo test`, and a call has no recorded answer",
    remedy "record what a replay cannot answer, or mend the agent";

    /// Baselines are not written in CI.
    CiWriteRefused = "CI_WRITE_REFUSED", Tooling,
    at OUTSIDE,
    example "`TRAJECTLY_UPDATE=1 cargo test` where `CI` is set",
    remedy "set `TRAJECTLY_ALLOW_CI_WRITE=1` in a job that is meant to update baselines";

    /// The files of the baseline belong to a spec of another name.
    BaselineNameClash = "BASELINE_NAME_CLASH", Tooling,
    at OUTSIDE,
    example "two specs named `Triage!` and `triage`, whose files are both named `triage`",
    remedy "rename one of the two";

    /// A live model could not be reached.
    UpstreamUnreachable = "UPSTREAM_UNREACHABLE", Tooling,
    at THAT_RETURN,
    example "a recording without a network, or with a wrong `providers.openai.base_url`",
    remedy "see to the network and the address, and record again";

    /// An instrumented call could not ask the harness what to do.
    SessionLost = "SESSION_LOST", Tooling,
    at OUTSIDE,
    example "a process that outlives its agent calls a tool",
    remedy "let the agent wait for the processes that it starts";

    /// The spec cannot be used.
    SpecInvalid = "SPEC_INVALID", Tooling,
    at OUTSIDE,
    example "`contracts.tools.dney: [rm]`",
    remedy "mend the file at the lines that the failure shows";

    /// The events of a run cannot be read.
    TraceInvalid = "TRACE_INVALID", Tooling,
    at OUTSIDE,
    example "the agent writes a line of its log to `$TRAJECTLY_EVENTS_FILE`",
    remedy "let the agent append nothing but whole lines, each an event";
}
