//! What specs are read to, and where their values stand.

use std::path::Path;
use std::time::Duration;

use trajectly_engine::code::Code;
use trajectly_engine::fixture::{MatchMode, Policy, VolatileValue};
use trajectly_engine::json::Json;
use trajectly_engine::spec::{
    AllowedHost, ClockMode, CrossCheck, Drift, ExpectedStatus, FieldType, ModeProfile, NetworkDefault, RefinementMode,
    ReplayMode, SchemaVersion, SnapshotLevel, Spec, SpecError,
};

fn parse(text: &str) -> Spec {
    Spec::parse(text, "specs/bot.agent.yaml").unwrap_or_else(|error| panic!("{error}"))
}

/// A spec that says as little as a spec can.
const LEAST: &str = "schema_version: \"0.4\"\n";

const EVERYTHING: &str = r#"
schema_version: "0.3"
name: trt-code-review-bot
command: python -m examples.code_review_bot.main
workdir: ..
baseline: {trace: traces/accepted.jsonl}
env:
  APP_ENV: ci
  FEATURE_FLAG_REVIEW: "1"
fixture_policy: by_index
strict: true
replay:
  mode: online
  strict_sequence: false
  llm_match_mode: sequence_match
  tool_match_mode: args_signature_match
  fixture_policy: by_hash
  drift: warn
  ignore_paths: ["$.messages[0].content"]
  normalize: [uuid, timestamp]
refinement:
  mode: strict
  allow_extra_llm_steps: false
  allow_extra_tools: [log_event]
  allow_extra_side_effect_tools: [send_email]
  allow_new_tool_names: true
  ignore_call_tools: [log_event]
contracts:
  version: v1
  tools:
    allow: [fetch_pr, lint_code, post_review]
    deny: [unsafe_export]
    max_calls_total: 9
    max_calls_per_tool: {post_review: 1, fetch_pr: 0}
    schema:
      fetch_pr: {required_keys: [id], fields: {id: {regex: "^PR-"}}}
  sequence:
    require: [fetch_pr, lint_code, post_review]
    require_before: [{before: fetch_pr, after: "tool:post_review"}]
    at_most_once: [post_review]
  side_effects: {deny_write_tools: true}
  network:
    default: allow
    allowlist: [API.example.com]
  data_leak:
    deny_pii_outbound: true
    outbound_kinds: [LLM_REQUEST]
    secret_patterns: ["sk_live_[a-z]+"]
  args:
    fetch_pr:
      required_keys: [id, repo]
    lint_code:
      fields:
        limit: {type: number, min: 1, max: 2.5}
        mode: {enum: [fast, 3]}
redact: ["(?i)bearer\\s+\\S+"]
budget_thresholds: {max_latency_ms: 10000, max_tool_calls: 8, max_tokens: 800}
determinism:
  clock: {mode: freeze_only}
  filesystem: {mode: strict, allow_read_paths: [data]}
mode_profile: permissive
artifacts: {dir: out}
timeout_s: 1.5
limits: {memory_mb: 512, open_files: 64, output_bytes: 1000}
expect: {code: CONTRACT_TOOL_DENIED, witness_index: 6}
snapshot: off
cross_check: error
providers:
  openai: {base_url: "http://127.0.0.1:8080/v1/"}
x-owner: review team
"#;

#[test]
fn every_key_is_read() {
    let spec = parse(EVERYTHING);
    assert_eq!(spec.schema_version, SchemaVersion::V03);
    assert_eq!(spec.name, "trt-code-review-bot");
    assert_eq!(spec.require_command(), Ok("python -m examples.code_review_bot.main"));
    assert_eq!(spec.workdir, Path::new("specs/.."));
    assert_eq!(spec.baseline_trace.as_deref(), Some(Path::new("specs/traces/accepted.jsonl")));
    let env: Vec<_> = spec.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(env, [("APP_ENV", "ci"), ("FEATURE_FLAG_REVIEW", "1")]);
    assert_eq!(spec.fixture_policy, Policy::ByIndex);
    assert!(spec.strict);

    assert_eq!(spec.replay.mode, ReplayMode::Online);
    assert_eq!(spec.replay.llm_match_mode, MatchMode::Sequence);
    assert_eq!(spec.replay.tool_match_mode, MatchMode::Signature);
    assert_eq!(spec.replay.drift, Drift::Warn);
    let ignored: Vec<_> = spec.replay.ignore_paths.iter().map(ToString::to_string).collect();
    assert_eq!(ignored, ["$.messages[0].content"]);
    assert_eq!(spec.replay.normalize, VolatileValue::ALL);

    assert_eq!(spec.refinement.mode, RefinementMode::Strict);
    assert!(!spec.refinement.allow_extra_llm_steps);
    assert!(spec.refinement.allow_new_tool_names);
    assert_eq!(spec.refinement.allow_extra_tools, ["log_event"]);
    assert_eq!(spec.refinement.allow_extra_side_effect_tools, ["send_email"]);
    assert_eq!(spec.refinement.ignore_call_tools, ["log_event"]);

    let contracts = &spec.contracts;
    assert_eq!(contracts.tools.allow, ["fetch_pr", "lint_code", "post_review"]);
    assert_eq!(contracts.tools.deny, ["unsafe_export"]);
    assert_eq!(contracts.tools.max_calls_total, Some(9));
    assert_eq!(contracts.tools.max_calls_per_tool, [("post_review".to_owned(), 1), ("fetch_pr".to_owned(), 0)]);
    assert_eq!(contracts.sequence.require, ["fetch_pr", "lint_code", "post_review"]);
    assert_eq!(contracts.sequence.require_before[0].after, "tool:post_review");
    assert_eq!(contracts.sequence.at_most_once, ["post_review"]);
    assert!(contracts.side_effects.deny_write_tools);
    assert_eq!(contracts.network.default, NetworkDefault::Allow);
    assert_eq!(contracts.network.allowlist, ["api.example.com"]);
    assert!(contracts.data_leak.deny_pii_outbound);
    assert!(!contracts.data_leak.outbound.tool_calls && contracts.data_leak.outbound.llm_requests);
    assert_eq!(contracts.data_leak.secret_patterns.len(), 1);

    // `args` replaces what it states and leaves the rest of the tool's `schema`.
    let fetch = &contracts.args["fetch_pr"];
    assert_eq!(fetch.required_keys, ["id", "repo"]);
    assert_eq!(fetch.fields[0].0, "id");
    let lint = &contracts.args["lint_code"].fields;
    assert_eq!(lint[0].1.kind, Some(FieldType::Number));
    assert_eq!(lint[0].1.max.as_ref().and_then(|max| max.as_f64()), Some(2.5));
    assert_eq!(lint[1].1.choices, Some(vec![Json::from("fast"), Json::from(3)]));

    let mut sent = Json::from("Bearer abc");
    spec.redact.apply(&mut sent);
    assert_eq!(sent, Json::from("[REDACTED]"));
    assert_eq!(spec.budgets.max_latency_ms, Some(10000));
    assert_eq!(spec.budgets.max_tool_calls, Some(8));
    assert_eq!(spec.budgets.max_tokens, Some(800));
    assert_eq!(spec.determinism.clock, ClockMode::FreezeOnly);
    assert!(spec.determinism.filesystem.strict);
    assert_eq!(spec.determinism.filesystem.allow_read_paths, ["data"]);
    assert_eq!(spec.mode_profile, ModeProfile::Permissive);
    assert_eq!(spec.artifacts_dir.as_deref(), Some(Path::new("specs/out")));
    assert_eq!(spec.timeout, Some(Duration::from_millis(1500)));
    assert_eq!(spec.limits.memory_mb, Some(512));
    assert_eq!(spec.limits.open_files, Some(64));
    assert_eq!(spec.limits.output_bytes, Some(1000));
    let expect = spec.expect.expect("an expectation");
    assert_eq!(expect.status, ExpectedStatus::Fail);
    assert_eq!(expect.code, Some(Code::ContractToolDenied));
    assert_eq!(expect.witness_index, Some(6));
    assert_eq!(spec.snapshot, SnapshotLevel::Off);
    assert_eq!(spec.cross_check, CrossCheck::Error);
    assert_eq!(spec.providers["openai"], "http://127.0.0.1:8080/v1");
}

#[test]
fn what_is_not_said_has_its_default() {
    let spec = parse(LEAST);
    assert_eq!(spec.schema_version, SchemaVersion::V04);
    assert_eq!(spec.name, "bot.agent");
    assert_eq!(spec.command, None);
    assert_eq!(spec.workdir, Path::new("specs"));
    assert_eq!(spec.fixture_policy, Policy::ByHash);
    assert!(!spec.strict);
    assert_eq!(spec.replay.mode, ReplayMode::Offline);
    assert_eq!(spec.refinement.mode, RefinementMode::Skeleton);
    assert!(spec.refinement.allow_extra_llm_steps);
    assert_eq!(spec.contracts.network.default, NetworkDefault::Deny);
    assert!(spec.contracts.data_leak.outbound.tool_calls && spec.contracts.data_leak.outbound.llm_requests);
    assert_eq!(spec.timeout, None);
    assert_eq!(spec.snapshot, SnapshotLevel::Args);
    assert_eq!(spec.cross_check, CrossCheck::Warn);
    assert_eq!(spec.artifacts_dir, None);
}

#[test]
fn a_key_without_a_value_is_an_empty_block() {
    let spec = parse("schema_version: 0.4\nenv:\ncontracts:\n  tools:\n    deny:\n  args:\nrefinement:\n");
    assert!(spec.contracts.tools.deny.is_empty());
    assert_eq!(spec.refinement.mode, RefinementMode::Skeleton);
}

#[test]
fn the_schema_version_has_several_spellings() {
    for (written, version) in [
        ("\"0.3\"", SchemaVersion::V03),
        ("0.3", SchemaVersion::V03),
        ("v0.3", SchemaVersion::V03),
        ("\"0.4\"", SchemaVersion::V04),
        ("0.4", SchemaVersion::V04),
        ("v0.4", SchemaVersion::V04),
        ("\" 0.4 \"", SchemaVersion::V04),
    ] {
        assert_eq!(parse(&format!("schema_version: {written}")).schema_version, version, "{written}");
    }
}

#[test]
fn replay_sets_what_the_top_leaves_open() {
    let spec = parse("schema_version: 0.4\nreplay: {fixture_policy: by_index, strict_sequence: true}");
    assert_eq!(spec.fixture_policy, Policy::ByIndex);
    assert!(spec.strict);
}

#[test]
fn an_entrypoint_is_run_by_python() {
    for (entrypoint, command) in
        [("agent.py", "python agent.py"), ("my agents/a'b.py", r#"python 'my agents/a'"'"'b.py'"#)]
    {
        let spec = parse(&format!("schema_version: 0.4\nentrypoint: \"{entrypoint}\""));
        assert_eq!(spec.command.as_deref(), Some(command));
    }
    let both = parse("schema_version: 0.4\nentrypoint: a.py\ncommand: run it");
    assert_eq!(both.command.as_deref(), Some("run it"));
}

#[test]
fn a_spec_is_read_from_a_value_and_from_a_file() {
    let value = Json::parse(r#"{"schema_version": "0.4", "name": "n", "contracts": {"tools": {"deny": ["x"]}}}"#);
    let spec = Spec::from_json(&value.expect("JSON")).expect("a spec");
    assert_eq!(spec.contracts.tools.deny, ["x"]);
    assert_eq!(spec.locate("contracts.tools.deny[0]"), None);

    let folder = std::env::temp_dir().join(format!("trajectly-spec-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("a.agent.yaml");
    std::fs::write(&file, "\u{feff}schema_version: 0.4\nworkdir: sub\n").expect("a file");
    let spec = Spec::load_as(&file, "specs/a.agent.yaml");
    std::fs::write(&file, b"schema_version: \xff\n").expect("a file");
    let garbled = Spec::load_as(&file, "specs/a.agent.yaml");
    std::fs::remove_dir_all(&folder).expect("the folder");
    let gone = Spec::load_as(&file, "specs/a.agent.yaml");

    let spec = spec.expect("a spec");
    assert_eq!(
        (spec.name.as_str(), spec.workdir, spec.file.as_str()),
        ("a.agent", folder.join("sub"), "specs/a.agent.yaml")
    );
    let said = |result: Result<Spec, SpecError>| result.map(|_| ()).expect_err("a problem").to_string();
    assert_eq!(
        said(garbled),
        "error: the spec is not UTF-8 text: no character begins like this\n --> specs/a.agent.yaml:1:17\n  |\n\
         1 | schema_version: \u{fffd}\n  |                 ^\n  = help: save the file as UTF-8"
    );
    assert!(said(gone).starts_with("error: the spec cannot be read: "));
}

#[test]
fn places_are_found_by_path() {
    let text = concat!(
        "schema_version: 0.4\n",
        "names: &names [one, \"t w o\"]   # shared\n",
        "contracts:\n",
        "  tools: &tools\n",
        "    deny:\n",
        "      - unsafe_export\n",
        "      - 'it''s'  # quoted\n",
        "    max_calls_per_tool: {ns.tool: 2}\n",
        "    allow: *names\n",
        "  sequence:\n",
        "    <<: {never: [x]}\n",
        "    require_before:\n",
        "      - before: é\n",
        "        after: b\n",
        "redact:\n",
        "  - |\n",
        "    two\n",
        "    lines\n",
    )
    .replace("names: &", "x-names: &");
    let spec = parse(&text);
    for (path, line, column, width) in [
        ("schema_version", 1, 17, 3),
        ("contracts", 3, 1, 9),
        ("contracts.tools.deny", 5, 5, 4),
        ("contracts.tools.deny[0]", 6, 9, 13),
        ("contracts.tools.deny[1]", 7, 9, 7),
        (r#"contracts.tools.max_calls_per_tool["ns.tool"]"#, 8, 35, 1),
        ("contracts.tools.allow", 9, 5, 5),
        ("contracts.tools.allow[1]", 2, 23, 7),
        ("contracts.sequence.never[0]", 11, 18, 1),
        ("contracts.sequence.require_before[0].after", 14, 16, 1),
        ("contracts.sequence.require_before[0].before", 13, 17, 1),
        ("redact[0]", 17, 5, 3),
    ] {
        let place = spec.locate(path).unwrap_or_else(|| panic!("{path} is not found"));
        assert_eq!((place.line, place.column, place.width), (line, column, width), "{path}");
        assert_eq!(place.file, "specs/bot.agent.yaml");
        assert_eq!(Some(place.text.as_str()), text.lines().nth(line - 1), "{path}");
    }
    for path in ["contracts.network.default", "contracts.tools.deny[2]", "contracts.tools.deny.x", "no path", "name"] {
        assert_eq!(spec.locate(path), None, "{path}");
    }
}

#[test]
fn a_torn_text_is_read_or_refused() {
    for end in (0..EVERYTHING.len()).step_by(11).filter(|end| EVERYTHING.is_char_boundary(*end)) {
        if let Err(error) = Spec::parse(&EVERYTHING[..end], "specs/bot.agent.yaml") {
            assert!(!error.problems.is_empty() && error.to_string().starts_with("error: "), "at byte {end}");
        }
    }
}

#[test]
fn an_allowed_host_may_name_a_port() {
    for (entry, expected) in [
        ("a.test", Some(("a.test", None))),
        ("a.test:8443", Some(("a.test", Some(8443)))),
        ("*.a.test:80", Some(("*.a.test", Some(80)))),
        ("10.0.0.1:5432", Some(("10.0.0.1", Some(5432)))),
        ("::1", Some(("::1", None))),
        ("[::1]", Some(("::1", None))),
        ("[::1]:80", Some(("::1", Some(80)))),
        ("a.test:0", None),
        ("a.test:+80", None),
        ("a.test:65536", None),
        ("a.test:", None),
        (":80", None),
        ("", None),
        ("[::1", None),
        ("[::1]80", None),
        ("[]:80", None),
        ("https://a.test", None),
        ("a.test/path", None),
        ("me@a.test", None),
        ("a b", None),
    ] {
        let expected = expected.map(|(host, port)| AllowedHost { host, port });
        assert_eq!(AllowedHost::parse(entry), expected, "{entry:?}");
    }
}
