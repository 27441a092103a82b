//! From values to a [`Spec`], block by block; `contracts` is read in [`super::obligations`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::keys::Keys;
use super::model::*;
use super::node::{Node, Sources};
use super::obligations;
use super::read::{self, Field};
use crate::code::{Code, UnknownCode};
use crate::fixture::{MatchMode, Policy, VolatileValue};
use crate::json::{Json, JsonPath, JsonPathError};
use crate::redact::Redactor;

/// Where a spec comes from, for what is derived from that.
pub(super) struct Origin<'o> {
    /// The display name of the file, or empty.
    pub(super) file: &'o str,
    /// The file itself, or empty.
    pub(super) path: &'o Path,
}

/// Reads the top of a spec. What is wrong is noted along the way, and the result is only of use if nothing was.
///
/// `None` if the spec is of a schema that is not read: whatever else it says then means nothing.
pub(super) fn spec(keys: &mut Keys<'_>, origin: &Origin<'_>) -> Option<Spec> {
    let Some(schema_version) = schema_version(keys) else {
        keys.leave_unread();
        return None;
    };
    keys.only_in_files("extends");
    for key in ["policy", "mcp", "stability", "perturb"] {
        keys.not_yet(key);
    }
    keys.no_effect_yet(&["cross_check", "fail_on"]);
    let name = keys.take("name").map_or_else(|| default_name(keys, origin), |field| field.title());
    let replay = keys.block("replay", replay);
    let fixture_policy = keys.take("fixture_policy").map_or(replay.fixture_policy, |field| policy(&field));
    let strict = keys.take("strict").map_or(replay.strict_sequence, |field| field.flag());
    Some(Spec {
        file: origin.file.to_owned(),
        schema_version,
        name: name.unwrap_or_default(),
        command: command(keys),
        env: env(keys),
        workdir: workdir(keys, origin),
        baseline_trace: keys.block("baseline", |keys| {
            let field = keys.take("trace")?;
            Some(field.folder().unwrap_or(own_folder(origin)).join(field.title()?))
        }),
        redact: Redactor::new(keys.take("redact").and_then(|field| field.patterns()).unwrap_or_default()),
        fixture_policy: fixture_policy.unwrap_or_default(),
        strict: strict.unwrap_or_default(),
        replay: replay.replay,
        refinement: keys.block("refinement", refinement),
        contracts: keys.block("contracts", obligations::contracts),
        budgets: keys.block("budget_thresholds", budgets),
        abstraction: keys.block("abstraction", abstraction),
        determinism: keys.block("determinism", determinism),
        mode_profile: loose_word(
            keys,
            "mode_profile",
            &[
                ("ci_safe", ModeProfile::CiSafe),
                ("permissive", ModeProfile::Permissive),
                ("strict", ModeProfile::Strict),
            ],
        ),
        artifacts_dir: keys.block("artifacts", |keys| artifacts_dir(keys, origin)),
        timeout: keys.take("timeout_s").and_then(|field| field.seconds()),
        limits: keys.block("limits", limits),
        expect: keys.take("expect").and_then(|field| expect(&field)),
        snapshot: word(
            keys,
            "snapshot",
            &[
                ("off", SnapshotLevel::Off),
                ("skeleton", SnapshotLevel::Skeleton),
                ("args", SnapshotLevel::Args),
                ("full", SnapshotLevel::Full),
            ],
        ),
        cross_check: word(
            keys,
            "cross_check",
            &[("off", CrossCheck::Off), ("warn", CrossCheck::Warn), ("error", CrossCheck::Error)],
        ),
        fail_on: word(
            keys,
            "fail_on",
            &[
                ("minor", FailOn::Minor),
                ("moderate", FailOn::Moderate),
                ("severe", FailOn::Severe),
                ("never", FailOn::Never),
            ],
        ),
        providers: providers(keys),
        transport: transport(keys),
        warnings: Vec::new(),
        tree: Node::default(),
        sources: Sources::default(),
    })
}

/// The word under a key, or the default.
fn word<T: Copy + Default>(keys: &mut Keys<'_>, key: &'static str, choices: &[(&'static str, T)]) -> T {
    keys.take(key).and_then(|field| field.choice(choices)).unwrap_or_default()
}

/// As [`word`], for the words that older specs may write in any case.
fn loose_word<T: Copy + Default>(keys: &mut Keys<'_>, key: &'static str, choices: &[(&'static str, T)]) -> T {
    keys.take(key).and_then(|field| field.loose_choice(choices)).unwrap_or_default()
}

fn schema_version(keys: &mut Keys<'_>) -> Option<SchemaVersion> {
    let field = keys.required("schema_version", "begin the spec with `schema_version: \"0.4\"`")?;
    let version = field.version(&["0.4", "0.3"])?;
    match version.strip_prefix('v').unwrap_or(&version) {
        "0.4" => return Some(SchemaVersion::V04),
        "0.3" => return Some(SchemaVersion::V03),
        "0.1" | "0.2" | "1" => {
            let help = "`trajectly migrate spec` brings the file up to date";
            field.problem(format!("schema_version {version} is no longer read; 0.3 and 0.4 are"), Some(help));
        }
        _ => {
            let help = "write `schema_version: \"0.4\"`";
            field.problem(format!("schema_version {version:?} is not known; 0.3 and 0.4 are"), Some(help));
        }
    }
    None
}

fn default_name(keys: &Keys<'_>, origin: &Origin<'_>) -> Option<String> {
    match origin.path.file_stem() {
        Some(stem) => {
            let name = stem.to_string_lossy().into_owned();
            match read::unfit_title(&name) {
                None => Some(name),
                Some((what, _)) => {
                    keys.problem(
                        &format!("the file's name, which is the default `name`, {what}"),
                        Some("add a `name`"),
                    );
                    None
                }
            }
        }
        None => {
            keys.problem("`name` is missing", Some("a spec that is not a file needs one"));
            None
        }
    }
}

fn command(keys: &mut Keys<'_>) -> Option<String> {
    let entrypoint = keys.take("entrypoint");
    let file = entrypoint.as_ref().and_then(line);
    let Some(command) = keys.take("command") else {
        return file.map(|file| format!("python {}", shell_quoted(&file)));
    };
    if let Some(entrypoint) = entrypoint {
        entrypoint.warn("`entrypoint` has no effect beside `command`", Some("remove one of the two"));
    }
    line(&command)
}

/// A text that the system takes: it ends its own at a NUL.
fn line(field: &Field<'_>) -> Option<String> {
    without_nul(field, field.text()?)
}

fn without_nul(field: &Field<'_>, text: String) -> Option<String> {
    match text.contains('\0') {
        true => field.expected("a string without a NUL character", Some("remove the character")),
        false => Some(text),
    }
}

/// A word that a POSIX shell reads back as `word`.
fn shell_quoted(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./-_".contains(c);
    if word.chars().all(safe) { word.to_owned() } else { format!("'{}'", word.replace('\'', r#"'"'"'"#)) }
}

fn env(keys: &mut Keys<'_>) -> Vec<(String, String)> {
    let Some(entries) = keys.take("env").and_then(|field| field.entries()) else { return Vec::new() };
    let variable = |(name, field): (String, Field<'_>)| {
        if name.is_empty() || name.contains(['=', '\0']) {
            let help = Some("write the name alone, without `=` and without NUL");
            field.key_problem(format!("{name:?} cannot be the name of an environment variable"), help);
        }
        Some((name, without_nul(&field, field.string()?)?))
    };
    entries.into_iter().filter_map(variable).collect()
}

fn workdir(keys: &mut Keys<'_>, origin: &Origin<'_>) -> PathBuf {
    let own_folder = own_folder(origin);
    let Some(field) = keys.take("workdir") else { return own_folder.to_owned() };
    field.folder().unwrap_or(own_folder).join(line(&field).unwrap_or_default())
}

fn own_folder<'o>(origin: &Origin<'o>) -> &'o Path {
    origin.path.parent().unwrap_or(Path::new(""))
}

/// `replay`, with the two keys of it that have a newer spelling at the top.
#[derive(Default)]
struct ReplayBlock {
    replay: Replay,
    fixture_policy: Option<Policy>,
    strict_sequence: Option<bool>,
}

fn replay(keys: &mut Keys<'_>) -> ReplayBlock {
    let signature = |name| [(name, MatchMode::Signature), ("sequence_match", MatchMode::Sequence)];
    ReplayBlock {
        replay: Replay {
            mode: loose_word(keys, "mode", &[("offline", ReplayMode::Offline), ("online", ReplayMode::Online)]),
            llm_match_mode: loose_word(keys, "llm_match_mode", &signature("signature_match")),
            tool_match_mode: loose_word(keys, "tool_match_mode", &signature("args_signature_match")),
            drift: word(keys, "drift", &[("fail", Drift::Fail), ("warn", Drift::Warn), ("allow", Drift::Allow)]),
            ignore_paths: keys.take("ignore_paths").and_then(|field| json_paths(&field)).unwrap_or_default(),
            normalize: keys.take("normalize").and_then(|field| volatile_values(&field)).unwrap_or_default(),
        },
        fixture_policy: keys.take("fixture_policy").and_then(|field| policy(&field)),
        strict_sequence: keys.take("strict_sequence").and_then(|field| field.flag()),
    }
}

fn policy(field: &Field<'_>) -> Option<Policy> {
    field.choice(&[("by_hash", Policy::ByHash), ("by_index", Policy::ByIndex)])
}

fn json_paths(field: &Field<'_>) -> Option<Vec<JsonPath>> {
    let path = |field: &Field<'_>| {
        let text = field.text()?;
        let read = |error: JsonPathError| {
            field.problem(format!("{text:?} is no JSON path: {error}"), Some(error.help));
        };
        text.parse().map_err(read).ok()
    };
    Some(field.list()?.iter().filter_map(path).collect())
}

fn volatile_values(field: &Field<'_>) -> Option<Vec<VolatileValue>> {
    let names = VolatileValue::ALL.map(|value| (value.as_str(), value));
    Some(field.list()?.iter().filter_map(|field| field.choice(&names)).collect())
}

fn refinement(keys: &mut Keys<'_>) -> Refinement {
    Refinement {
        mode: word(
            keys,
            "mode",
            &[
                ("none", RefinementMode::None),
                ("skeleton", RefinementMode::Skeleton),
                ("strict", RefinementMode::Strict),
            ],
        ),
        allow_extra_llm_steps: keys.take("allow_extra_llm_steps").and_then(|field| field.flag()).unwrap_or(true),
        allow_new_tool_names: keys.flag("allow_new_tool_names"),
        allow_extra_tools: keys.names("allow_extra_tools"),
        allow_extra_side_effect_tools: keys.names("allow_extra_side_effect_tools"),
        ignore_call_tools: keys.names("ignore_call_tools"),
        parallel: word(keys, "parallel", &[("ordered", Parallel::Ordered), ("unordered", Parallel::Unordered)]),
    }
}

fn budgets(keys: &mut Keys<'_>) -> Budgets {
    Budgets {
        max_latency_ms: keys.count("max_latency_ms"),
        max_tool_calls: keys.count("max_tool_calls"),
        max_tokens: keys.count("max_tokens"),
    }
}

fn abstraction(keys: &mut Keys<'_>) -> AbstractionConfig {
    keys.only_in_files("config");
    let paths = |keys: &mut Keys<'_>| keys.take("paths").and_then(|field| json_paths(&field)).unwrap_or_default();
    AbstractionConfig { price_paths: keys.block("price", paths) }
}

fn determinism(keys: &mut Keys<'_>) -> Determinism {
    Determinism {
        clock: keys.block("clock", |keys| {
            loose_word(
                keys,
                "mode",
                &[
                    ("record_and_freeze", ClockMode::RecordAndFreeze),
                    ("freeze_only", ClockMode::FreezeOnly),
                    ("disabled", ClockMode::Disabled),
                ],
            )
        }),
        random: keys.block("random", |keys| {
            loose_word(
                keys,
                "mode",
                &[
                    ("deterministic_seed", RandomMode::DeterministicSeed),
                    ("strict", RandomMode::Strict),
                    ("disabled", RandomMode::Disabled),
                ],
            )
        }),
        filesystem: keys.block("filesystem", |keys| Filesystem {
            strict: loose_word(keys, "mode", &[("strict", true), ("permissive", false)]),
            allow_read_paths: keys.names("allow_read_paths"),
            allow_write_paths: keys.names("allow_write_paths"),
        }),
        subprocess: keys.block("subprocess", |keys| Subprocess {
            mode: loose_word(
                keys,
                "mode",
                &[
                    ("strict", SubprocessMode::Strict),
                    ("permissive", SubprocessMode::Permissive),
                    ("disabled", SubprocessMode::Disabled),
                ],
            ),
            allow_commands: keys.names("allow_commands"),
        }),
    }
}

fn artifacts_dir(keys: &mut Keys<'_>, origin: &Origin<'_>) -> Option<PathBuf> {
    let field = keys.take("dir")?;
    let own_folder = origin.path.parent().unwrap_or(Path::new(""));
    let dir = line(&field)?;
    Some(field.folder().unwrap_or(own_folder).join(dir))
}

fn limits(keys: &mut Keys<'_>) -> Limits {
    let mut limit = |key| keys.take(key).and_then(|field| field.positive());
    Limits { memory_mb: limit("memory_mb"), open_files: limit("open_files"), output_bytes: limit("output_bytes") }
}

fn expect(field: &Field<'_>) -> Option<Expect> {
    let expect = field.block(|keys| {
        let status = keys.take("status").map(|field| {
            let statuses =
                [("PASS", ExpectedStatus::Pass), ("FAIL", ExpectedStatus::Fail), ("ERROR", ExpectedStatus::Error)];
            field.choice(&statuses).unwrap_or(ExpectedStatus::Fail)
        });
        let code = keys.take("code").and_then(|field| code(&field));
        let witness_index = keys.count("witness_index");
        Some((status, code, witness_index))
    });
    match expect? {
        (None, None, None) => {
            let help = "write for example `expect: {code: CONTRACT_TOOL_DENIED}`";
            field.problem("`expect` says nothing to expect", Some(help));
            None
        }
        (Some(ExpectedStatus::Pass), code, witness) if code.is_some() || witness.is_some() => {
            let help = Some("remove `status`, or else `code` and `witness_index`");
            field.problem("`expect` contradicts itself: a run that passes has neither code nor witness", help);
            None
        }
        (status, code, witness_index) => {
            Some(Expect { status: status.unwrap_or(ExpectedStatus::Fail), code, witness_index })
        }
    }
}

fn code(field: &Field<'_>) -> Option<Code> {
    let text = field.word_of(Code::ALL.iter().map(|code| code.as_str()))?;
    let told = |unknown: UnknownCode| field.problem(format!("{text} is not a code"), Some(&unknown.help()));
    text.parse().map_err(told).ok()
}

/// The providers whose calls can be told apart.
const PROVIDERS: [&str; 4] = ["openai", "anthropic", "gemini", "ollama"];

fn providers(keys: &mut Keys<'_>) -> BTreeMap<String, String> {
    let provider = |name: &'static str, keys: &mut Keys<'_>| {
        let base_url = keys.block(name, |keys| keys.take("base_url").and_then(|field| base_url(&field)));
        Some((name.to_owned(), base_url?))
    };
    keys.block("providers", |keys| PROVIDERS.into_iter().filter_map(|name| provider(name, keys)).collect())
}

fn base_url(field: &Field<'_>) -> Option<String> {
    let url = field.text()?;
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.starts_with('/') && !rest.contains(char::is_whitespace) => {
            Some(url.trim_end_matches('/').to_owned())
        }
        _ => field.expected("an http or https address", Some("write for example https://api.openai.com/v1")),
    }
}

fn transport(keys: &mut Keys<'_>) -> Transport {
    let Some(field) = keys.take("transport") else { return Transport::Gateway };
    if field.json() == Json::from("proxy") {
        field.problem(
            "`transport: proxy` is not supported by this version",
            Some("leave it out: the gateway is the default"),
        );
        return Transport::Gateway;
    }
    field.choice(&[("gateway", Transport::Gateway)]).unwrap_or_default()
}
