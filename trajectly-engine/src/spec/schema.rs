//! The JSON Schema of specs: made by the readers themselves, so that it has the keys that are read and no other.

use std::path::Path;

use super::draft::Draft;
use super::node::{Node, Sources};
use super::notes::Notes;
use super::read::Field;
use super::sections::{self, Origin};
use crate::json::{Json, Object};

/// The JSON Schema (draft 2020-12) of `.agent.yaml` files.
///
/// It knows the shape of a spec: keys, types, words, limits. What needs a closer look (patterns, files, one key at odds with another)
/// only [`Spec::load`](super::Spec::load) knows; what it refuses of the shape, the schema refuses too.
pub fn schema() -> Json {
    let spec = draft().schema("", &description);
    // Either key leads to the version: what a spec extends may have it.
    let version = ["schema_version", "extends"].map(|key| Object::new().with("required", vec![key]));
    let mut schema = Object::new().with("anyOf", version.to_vec());
    for (key, value) in spec.into_iter().filter(|(key, _)| key != "required") {
        schema.insert(key, value);
    }
    schema.insert("$schema", "https://json-schema.org/draft/2020-12/schema");
    schema.insert("title", "A spec of Trajectly");
    schema.into()
}

/// What the readers of a spec ask for.
pub(super) fn draft() -> Draft {
    let sources = Sources::default();
    let notes = Notes::drafting(&sources);
    let origin = Origin { file: "", path: Path::new("") };
    Field::root(&Node::default(), &notes).whole(|keys| sections::spec(keys, &origin));
    notes.into_draft()
}

/// Where a key of this name would be known, if that is one place.
pub(super) fn elsewhere(key: &str) -> Option<&'static str> {
    let mut places = DESCRIPTIONS.iter().map(|(path, _)| *path).filter(|path| path.rsplit('.').next() == Some(key));
    places.next().filter(|place| places.next().is_none() && !place.contains('*'))
}

/// What the key at a path means; `contracts.tools.schema` is read as `contracts.args` is.
fn description(path: &str) -> Option<&'static str> {
    let path = match path.strip_prefix("contracts.tools.schema.") {
        Some(below) => format!("contracts.args.{below}"),
        None => path.to_owned(),
    };
    DESCRIPTIONS.iter().find(|(known, _)| *known == path).map(|(_, description)| *description)
}

/// By path; `*` is an element of a list, or a key of the user's own.
const DESCRIPTIONS: &[(&str, &str)] = &[
    ("abstraction", "How a run is reduced to its shape."),
    ("abstraction.config", "A file with such a block, relative to this one. What the spec says itself wins over it."),
    ("abstraction.price", "Where prices are found."),
    ("abstraction.price.paths", "Paths into the payload of an event, such as `$.items[*].price`."),
    ("artifacts", "What a failing run leaves, for a CI to upload."),
    ("artifacts.dir", "The folder; none by default."),
    ("baseline", "The accepted run."),
    ("baseline.trace", "A trace to hold runs against in place of the recorded one."),
    ("budget_thresholds", "What a run may use. To reach a limit is to keep it."),
    (
        "budget_thresholds.max_latency_ms",
        "The time of the run in milliseconds; in a replay, the recorded times of its calls.",
    ),
    ("budget_thresholds.max_tokens", "The tokens of all model calls together."),
    ("budget_thresholds.max_tool_calls", "The number of tool calls."),
    ("command", "The shell command that runs the agent. A spec that a test function claims needs none."),
    ("contracts", "What holds whatever the baseline did."),
    ("contracts.args", "Rules for the arguments of each tool, by its name."),
    ("contracts.args.*.fields", "Rules for single arguments, by name. Positional ones are `arg_0`, `arg_1` and so on."),
    ("contracts.args.*.fields.*.enum", "The values there are."),
    ("contracts.args.*.fields.*.max", "The greatest number."),
    ("contracts.args.*.fields.*.min", "The least number."),
    ("contracts.args.*.fields.*.regex", "A pattern that a string must match somewhere."),
    ("contracts.args.*.fields.*.type", "The type of the argument, when it is there."),
    ("contracts.args.*.required_keys", "Arguments that must be there."),
    ("contracts.config", "A file of contracts, relative to this one. What the spec says itself wins over it."),
    ("contracts.data_leak", "What must not leave in a call."),
    ("contracts.data_leak.deny_pii_outbound", "Whether e-mail addresses and telephone numbers are kept from leaving."),
    (
        "contracts.data_leak.outbound_kinds",
        "What leaves: the arguments of tools, the requests to models. By default both.",
    ),
    ("contracts.data_leak.secret_patterns", "Patterns of secrets."),
    ("contracts.network", "The hosts that `http_request` and `web_search` may reach."),
    ("contracts.network.allow_domains", "More of `allowlist`."),
    ("contracts.network.allowlist", "Hosts, as `api.example.com` or `*.example.com`, with or without a port."),
    (
        "contracts.network.default",
        "What holds for other hosts; `allow` permits them if no list names any. By default `deny`.",
    ),
    ("contracts.sequence", "Which operations happen, and in which order. A bare name is a tool."),
    ("contracts.sequence.at_most_once", "These do not happen twice."),
    ("contracts.sequence.eventually", "These happen, at any time."),
    ("contracts.sequence.forbid", "These do not happen."),
    ("contracts.sequence.never", "These do not happen."),
    ("contracts.sequence.require", "These happen, in this order; others may come between."),
    ("contracts.sequence.require_before", "Pairs: both happen, the first before the second."),
    ("contracts.sequence.require_before.*.after", "The operation that comes later."),
    ("contracts.sequence.require_before.*.before", "The operation that comes first."),
    ("contracts.side_effects", "Tools that write."),
    (
        "contracts.side_effects.deny_write_tools",
        "Forbids tools with a word such as write, delete or save in their names.",
    ),
    ("contracts.tools", "Which tools may be called, and how often."),
    ("contracts.tools.allow", "The only tools that may be called."),
    ("contracts.tools.deny", "Tools that may not be called."),
    ("contracts.tools.max_calls_per_tool", "How many calls there may be of a tool, by its name."),
    ("contracts.tools.max_calls_total", "How many tool calls there may be."),
    ("contracts.tools.schema", "Rules for arguments, as in `contracts.args`, which wins."),
    ("contracts.version", "The version of the block."),
    (
        "cross_check",
        "What comes of tool calls that the model asked for and the agent did not make, or the other way round.",
    ),
    ("determinism", "What is kept the same from run to run."),
    ("determinism.clock", "The time that the agent sees."),
    ("determinism.clock.mode", "How it is kept."),
    ("determinism.filesystem", "The files that the agent may touch."),
    ("determinism.filesystem.allow_read_paths", "Paths that may be read."),
    ("determinism.filesystem.allow_write_paths", "Paths that may be written."),
    ("determinism.filesystem.mode", "Whether other paths are refused."),
    ("determinism.random", "The random numbers that the agent sees."),
    ("determinism.random.mode", "How they are kept."),
    ("determinism.subprocess", "The programs that the agent may run."),
    ("determinism.subprocess.allow_commands", "Programs that may be run."),
    ("determinism.subprocess.mode", "Whether other programs are refused."),
    ("entrypoint", "A Python file that is the agent; short for a `command`."),
    ("env", "Environment variables of the agent, by name."),
    ("expect", "The verdict with which the test passes. A spec that expects to fail never records."),
    ("expect.code", "A code that must be among the violations at the first bad event."),
    ("expect.status", "The verdict. By default `FAIL`."),
    ("expect.witness_index", "The index of the first bad event, from 0."),
    ("extends", "Another spec to build on, relative to this one. Mappings merge, and what stands nearer wins."),
    ("fail_on", "From which severity on a broken policy fails the test."),
    ("fixture_policy", "How a call finds its recorded answer. By default `by_hash`."),
    ("limits", "What the agent's processes may use."),
    ("limits.memory_mb", "Address space of each process, in MiB."),
    ("limits.open_files", "Open files of each process."),
    ("limits.output_bytes", "What the agent may print in all, in bytes."),
    ("mode_profile", "How strict a run is as a whole."),
    ("name", "What the baseline belongs to; specs of one name share it. By default the file's name."),
    ("providers", "Where model calls go in a recording, by provider."),
    ("providers.anthropic", "Anthropic."),
    ("providers.anthropic.base_url", "The address of its API."),
    ("providers.gemini", "Gemini."),
    ("providers.gemini.base_url", "The address of its API."),
    ("providers.ollama", "Ollama."),
    ("providers.ollama.base_url", "The address of its API."),
    ("providers.openai", "OpenAI, and whoever speaks its protocol."),
    ("providers.openai.base_url", "The address of its API."),
    ("redact", "Patterns; what they match is stored as `[REDACTED]`."),
    ("refinement", "How a run is held against its baseline."),
    (
        "refinement.allow_extra_llm_steps",
        "Whether there may be more model calls than in the baseline. By default true.",
    ),
    ("refinement.allow_extra_side_effect_tools", "The same permission for tools with side effects, which need both."),
    ("refinement.allow_extra_tools", "Tools that may also be called between the baseline's calls or after them."),
    ("refinement.allow_new_tool_names", "Whether an extra call may be of a tool that the baseline never used."),
    ("refinement.ignore_call_tools", "Tools that are left out of both skeletons."),
    (
        "refinement.mode",
        "`skeleton`: the baseline's calls, in order; `strict`: no other; `none`: the baseline is not consulted.",
    ),
    ("refinement.parallel", "Whether calls that one model answer asks for may come in any order."),
    ("replay", "How a run is replayed."),
    ("replay.drift", "Whether a request may be answered by its turn in the conversation. By default `fail`."),
    ("replay.fixture_policy", "As `fixture_policy` at the top, which wins."),
    ("replay.ignore_paths", "What does not count in the input of a call, as JSON paths such as `$.messages[*].name`."),
    ("replay.llm_match_mode", "`sequence_match` gives the n-th call of a model the n-th answer, whatever it asks."),
    ("replay.mode", "`online` calls tools and models for real. By default `offline`."),
    ("replay.normalize", "Values in texts that do not count: `uuid`, `timestamp`."),
    ("replay.strict_sequence", "As `strict` at the top, which wins."),
    ("replay.tool_match_mode", "`sequence_match` gives the n-th call of a tool the n-th answer, whatever it is given."),
    ("schema_version", "The version of this form."),
    ("snapshot", "How much of a run people review. By default `args`."),
    ("strict", "Whether `by_index` also wants what a call was given to be as recorded."),
    ("timeout_s", "How long a run may take, in seconds. By default 60."),
    ("transport", "The way of the model calls."),
    ("workdir", "Where the command runs, relative to this file. By default in its folder."),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_key_is_described_and_nothing_else() {
        let draft = draft();
        let keys: BTreeSet<&str> = draft.paths().filter(|path| !path.starts_with("contracts.tools.schema.")).collect();
        let described: BTreeSet<&str> = DESCRIPTIONS.iter().map(|(path, _)| *path).collect();
        let differences: Vec<_> = keys.symmetric_difference(&described).collect();
        assert!(differences.is_empty(), "described and not read, or read and not described: {differences:?}");
        assert!(DESCRIPTIONS.is_sorted_by_key(|(path, _)| path), "the descriptions are in the order of their paths");
    }

    #[test]
    fn every_key_says_what_it_holds() {
        let silent: Vec<String> = draft().without_kind().map(str::to_owned).collect();
        assert!(silent.is_empty(), "keys that are taken and not read: {silent:?}");
    }
}
