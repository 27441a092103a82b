//! What a spec says, as types.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::contracts::Contracts;
use super::error::Problem;
use super::node::{Node, Sources};
use crate::code::Code;
use crate::fixture::{MatchMode, Policy, VolatileValue};
use crate::json::JsonPath;
use crate::json::Object;
use crate::redact::Redactor;

/// A read and checked `.agent.yaml`: how to run one agent, and what it must obey.
#[derive(Debug, Clone)]
pub struct Spec {
    /// The spec file as the caller named it, for reports and errors; empty for a spec that did not come from a file.
    pub file: String,
    /// The schema the file declares. Both are read alike.
    pub schema_version: SchemaVersion,
    /// What the baseline belongs to: specs of one name share it. Defaults to the file name without its last suffix.
    pub name: String,
    /// The shell command that runs the agent; from `entrypoint` it is `python <file>`. Absent where a function runs the agent:
    /// see [`Spec::require_command`].
    pub command: Option<String>,
    /// Environment variables for the agent, in the order of the file.
    pub env: Vec<(String, String)>,
    /// The folder the agent runs in: `workdir` from the spec's folder, which is the default.
    pub workdir: PathBuf,
    /// The trace that a run is held against in place of the stored one: `baseline.trace`, from the folder of the file that
    /// says it. Answers are given from the stored fixtures all the same.
    pub baseline_trace: Option<PathBuf>,
    /// What is blotted out of everything stored.
    pub redact: Redactor,
    /// How a call finds its fixture. `fixture_policy`, else `replay.fixture_policy`, else by hash.
    pub fixture_policy: Policy,
    /// Whether replay insists on order and hash under [`Policy::ByIndex`]. `strict`, else `replay.strict_sequence`, else false.
    pub strict: bool,
    /// How recorded answers are given back.
    pub replay: Replay,
    /// How the candidate is held against the baseline.
    pub refinement: Refinement,
    /// What every candidate must obey, whatever the baseline did.
    pub contracts: Contracts,
    /// What a run may cost.
    pub budgets: Budgets,
    /// What is derived from a trace beside its shape.
    pub abstraction: AbstractionConfig,
    /// How far the agent's surroundings are pinned down.
    pub determinism: Determinism,
    /// A label for the report; no rule depends on it.
    pub mode_profile: ModeProfile,
    /// The folder `artifacts.dir`, if the spec names one: `dir` from the folder of the file that says it. A failing run is copied
    /// there.
    pub artifacts_dir: Option<PathBuf>,
    /// How long a run may take, if the spec says so; [`DEFAULT_TIMEOUT`] holds otherwise.
    pub timeout: Option<Duration>,
    /// What the agent's process may use.
    pub limits: Limits,
    /// The verdict that this spec is here to show, for specs that demonstrate a regression. Such a spec never records.
    pub expect: Option<Expect>,
    /// How much of a run its snapshot shows.
    pub snapshot: SnapshotLevel,
    /// What happens when the tools a model asked for and the tools that ran do not agree.
    pub cross_check: CrossCheck,
    /// The least severity of a broken policy rule that fails the test.
    pub fail_on: FailOn,
    /// Where model calls really go when recording: the base URL, without a slash at its end, by provider name. A provider that is
    /// not here is reached at its own address.
    pub providers: BTreeMap<String, String>,
    /// How model calls reach the harness.
    pub transport: Transport,
    /// What the spec says without effect, in the order of the file. Worth telling; nothing is wrong.
    pub warnings: Vec<Problem>,
    pub(super) tree: Node,
    pub(super) sources: Sources,
}

/// The time-out of a spec that sets none: 60 seconds.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The schema that a spec declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaVersion {
    /// `0.3` or `v0.3`.
    V03,
    /// `0.4` or `v0.4`.
    V04,
}

/// The `replay` block.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    /// Whether recorded answers or live calls are used.
    pub mode: ReplayMode,
    /// How a model call is matched to its fixture.
    pub llm_match_mode: MatchMode,
    /// How a tool call is matched to its fixture.
    pub tool_match_mode: MatchMode,
    /// What a request that matches only by its place in the conversation comes to.
    pub drift: Drift,
    /// Places in the input of a call that do not count when it is matched.
    pub ignore_paths: Vec<JsonPath>,
    /// Values in the texts of an input that do not count when it is matched.
    pub normalize: Vec<VolatileValue>,
}

/// `replay.mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplayMode {
    /// Every answer comes from the fixtures; nothing live is called.
    #[default]
    Offline,
    /// Tools and models are called for real.
    Online,
}

/// `replay.drift`: what it means that a request differs from the recorded one but asks for the same turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Drift {
    /// It has no fixture.
    #[default]
    Fail,
    /// The recorded answer is given, and the difference is reported.
    Warn,
    /// The recorded answer is given.
    Allow,
}

/// The `refinement` block: what the candidate's tool calls may differ in from the baseline's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refinement {
    /// How much of the baseline's skeleton must survive.
    pub mode: RefinementMode,
    /// Whether the candidate may make more model calls than the baseline. True by default.
    pub allow_extra_llm_steps: bool,
    /// Whether calls of tools that the baseline never used are let be as new names. False by default. It does not by itself
    /// allow the extra call.
    pub allow_new_tool_names: bool,
    /// Tools that may be called beyond the baseline's calls.
    pub allow_extra_tools: Vec<String>,
    /// Tools with side effects that may be called beyond the baseline's calls. Such a tool must be in both lists.
    pub allow_extra_side_effect_tools: Vec<String>,
    /// Tools that are left out of both skeletons.
    pub ignore_call_tools: Vec<String>,
    /// Whether calls that one model response asked for may change places.
    pub parallel: Parallel,
}

impl Default for Refinement {
    fn default() -> Refinement {
        Refinement {
            mode: RefinementMode::default(),
            allow_extra_llm_steps: true,
            allow_new_tool_names: false,
            allow_extra_tools: Vec::new(),
            allow_extra_side_effect_tools: Vec::new(),
            ignore_call_tools: Vec::new(),
            parallel: Parallel::default(),
        }
    }
}

/// `refinement.mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RefinementMode {
    /// The baseline is not consulted.
    None,
    /// The baseline's skeleton is a subsequence of the candidate's, and what is extra is allowed.
    #[default]
    Skeleton,
    /// The skeletons are equal; every allowance is off.
    Strict,
}

/// `refinement.parallel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parallel {
    /// Another order of calls is a difference.
    #[default]
    Ordered,
    /// Calls that one model response asked for may come in any order.
    Unordered,
}

/// `budget_thresholds`: limits on the totals of a run. An absent one limits nothing; reaching a limit is within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budgets {
    /// The run's wall-clock time, in milliseconds.
    pub max_latency_ms: Option<u64>,
    /// The number of tool calls.
    pub max_tool_calls: Option<u64>,
    /// The sum of `usage.total_tokens` over all model responses.
    pub max_tokens: Option<u64>,
}

/// The `abstraction` block, laid over the file that `abstraction.config` names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AbstractionConfig {
    /// Where prices stand in the payload of an event: `abstraction.price.paths`.
    pub price_paths: Vec<JsonPath>,
}

/// The `determinism` block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Determinism {
    /// `determinism.clock.mode`.
    pub clock: ClockMode,
    /// `determinism.random.mode`.
    pub random: RandomMode,
    /// `determinism.filesystem`.
    pub filesystem: Filesystem,
    /// `determinism.subprocess`.
    pub subprocess: Subprocess,
}

impl Determinism {
    /// The block in the form in which an agent is told of it: every mode by its name.
    pub fn to_json(&self) -> Object {
        let strict = |strict| if strict { "strict" } else { "permissive" };
        let clock = match self.clock {
            ClockMode::RecordAndFreeze => "record_and_freeze",
            ClockMode::FreezeOnly => "freeze_only",
            ClockMode::Disabled => "disabled",
        };
        let random = match self.random {
            RandomMode::DeterministicSeed => "deterministic_seed",
            RandomMode::Strict => "strict",
            RandomMode::Disabled => "disabled",
        };
        let subprocess = match self.subprocess.mode {
            SubprocessMode::Strict => "strict",
            SubprocessMode::Permissive => "permissive",
            SubprocessMode::Disabled => "disabled",
        };
        let filesystem = Object::new()
            .with("mode", strict(self.filesystem.strict))
            .with("allow_read_paths", self.filesystem.allow_read_paths.clone())
            .with("allow_write_paths", self.filesystem.allow_write_paths.clone());
        let subprocess =
            Object::new().with("mode", subprocess).with("allow_commands", self.subprocess.allow_commands.clone());
        Object::new()
            .with("clock", Object::new().with("mode", clock))
            .with("random", Object::new().with("mode", random))
            .with("filesystem", filesystem)
            .with("subprocess", subprocess)
    }
}

/// What the agent's clock shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClockMode {
    /// One instant, chosen when recording, in both record and replay.
    RecordAndFreeze,
    /// That instant in replay; the real time when recording.
    FreezeOnly,
    /// The real time.
    #[default]
    Disabled,
}

/// Where the agent's random numbers come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RandomMode {
    /// A seed chosen when recording.
    DeterministicSeed,
    /// A seed, and sources that cannot be seeded are refused.
    Strict,
    /// The system.
    #[default]
    Disabled,
}

/// Which files the agent may touch inside the project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filesystem {
    /// Whether the two lists are enforced. False by default (`mode: permissive`).
    pub strict: bool,
    /// Readable paths, relative to the project root.
    pub allow_read_paths: Vec<String>,
    /// Writable paths, relative to the project root.
    pub allow_write_paths: Vec<String>,
}

/// Which programs the agent may start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subprocess {
    /// Whether starting a program is checked, and how.
    pub mode: SubprocessMode,
    /// Program names that [`SubprocessMode::Strict`] lets through.
    pub allow_commands: Vec<String>,
}

/// `determinism.subprocess.mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SubprocessMode {
    /// Only `allow_commands` may be started.
    Strict,
    /// Anything may be started, and is reported.
    Permissive,
    /// Anything may be started.
    #[default]
    Disabled,
}

/// `mode_profile`: a label for reports, on which no rule depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModeProfile {
    /// `ci_safe`.
    #[default]
    CiSafe,
    /// `permissive`.
    Permissive,
    /// `strict`.
    Strict,
}

impl ModeProfile {
    /// The name that specs use: `ci_safe`, `permissive` or `strict`.
    pub const fn as_str(self) -> &'static str {
        match self {
            ModeProfile::CiSafe => "ci_safe",
            ModeProfile::Permissive => "permissive",
            ModeProfile::Strict => "strict",
        }
    }
}

/// `limits`: what the agent's process may use, whether recording or replaying. Each is 1 or more; an absent one limits nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Address space of each of its processes, in MiB. It is always more than the memory in use: every thread reserves some.
    pub memory_mb: Option<u64>,
    /// Open file descriptors of each of its processes.
    pub open_files: Option<u64>,
    /// What it may print to stdout and stderr together, in bytes. A run that prints more is ended, and has failed.
    pub output_bytes: Option<u64>,
}

/// `expect`: the verdict with which a spec passes its test. At least one part is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expect {
    /// The status; FAIL if only a code or an index is given.
    pub status: ExpectedStatus,
    /// A code that must be among the violations at the witness.
    pub code: Option<Code>,
    /// The index of the witness, from 0.
    pub witness_index: Option<u64>,
}

/// `expect.status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedStatus {
    /// Nothing is violated.
    Pass,
    /// Something is violated.
    Fail,
    /// The run cannot be judged.
    Error,
}

/// `snapshot`: how much of a run its snapshot shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SnapshotLevel {
    /// There is none.
    Off,
    /// Tool names in order.
    Skeleton,
    /// Tool names with arguments, and the answer.
    #[default]
    Args,
    /// All of that, and what the calls returned.
    Full,
}

/// `cross_check`: what a disagreement between the tools a model asked for and those that ran comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CrossCheck {
    /// Nothing.
    Off,
    /// A warning in the report.
    #[default]
    Warn,
    /// A violation.
    Error,
}

/// `fail_on`: the least severity of a broken policy rule that fails the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FailOn {
    /// `minor`.
    Minor,
    /// `moderate`.
    Moderate,
    /// `severe`.
    #[default]
    Severe,
    /// Policy never fails the test.
    Never,
}

/// `transport`: how model calls reach the harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transport {
    /// The agent's clients are given base URLs of a loopback server.
    #[default]
    Gateway,
}
