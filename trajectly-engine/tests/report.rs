//! Reports: the same for the same inputs, complete, and safe to paste anywhere.

mod common;

use common::{event, json, run};
use trajectly_engine::abstraction::Predicates;
use trajectly_engine::code::Code;
use trajectly_engine::json::{Json, Object};
use trajectly_engine::report::{DeterminismWarning, Report, Summary};
use trajectly_engine::spec::{ModeProfile, Spec};
use trajectly_engine::verdict::judge;

const SPEC: &str = r#"schema_version: "0.4"
name: Support triage
contracts:
  tools: {deny: [unsafe_export]}
"#;

fn spec() -> Spec {
    Spec::parse(SPEC, "specs/triage.agent.yaml").unwrap_or_else(|error| panic!("{error}"))
}

fn failing() -> Report {
    let spec = spec();
    let verdict = judge(&spec, Some(&run("fetch_ticket store_triage end")), &run("fetch_ticket unsafe_export end"));
    let prefix = ".trajectly/repros/triage.counterexample.prefix.jsonl";
    Report::new(&spec, "specs/triage.agent.yaml", &verdict, Some(prefix.to_owned()), "cargo test --test agents triage")
}

#[test]
fn a_failure_is_reported_whole() {
    let report = json(&failing().to_json_pretty());
    let member = |pointer: &str| report.at(pointer).unwrap_or_else(|| panic!("{pointer} is missing in {report}"));
    assert_eq!(*member("/status"), Json::from("FAIL"));
    assert_eq!(*member("/failure_class"), Json::from("REFINEMENT"));
    assert_eq!(*member("/witness_index"), Json::from(2));
    assert_eq!(*member("/primary_violation/code"), Json::from("REFINEMENT_BASELINE_CALL_MISSING"));
    assert_eq!(*member("/primary_violation/baseline_index"), Json::from(2));
    assert_eq!(member("/all_violations_at_witness").as_array().map(<[Json]>::len), Some(4));
    assert_eq!(member("/violations").as_array().map(<[Json]>::len), Some(4));
    assert_eq!(*member("/violations/3/rule"), Json::from("contracts.tools.deny[0]"));
    assert_eq!(
        *member("/counterexample_paths/prefix"),
        Json::from(".trajectly/repros/triage.counterexample.prefix.jsonl")
    );
    assert_eq!(*member("/repro_command"), Json::from("cargo test --test agents triage"));
    assert_eq!(*member("/metadata/report_schema_version"), Json::from("0.4"));
    assert_eq!(*member("/metadata/metadata/refinement_skeleton_vacuous"), Json::from(false));
}

#[test]
fn a_failure_reads_as_markdown() {
    let expected = "\
## Support triage: FAIL

- Spec: `specs/triage.agent.yaml`
- Witness: event 2
- Primary violation: REFINEMENT_BASELINE_CALL_MISSING (REFINEMENT)
- Counterexample: `.trajectly/repros/triage.counterexample.prefix.jsonl`
- Reproduce: `cargo test --test agents triage`

| Event | Code | What | Rule |
| ---: | --- | --- | --- |
| 2 | REFINEMENT_BASELINE_CALL_MISSING | the baseline calls `store_triage` here; this run never does | `refinement.mode` |
| 2 | REFINEMENT_EXTRA_TOOL_CALL | `unsafe_export` is called beyond the baseline's calls | `refinement.allow_extra_tools` |
| 2 | REFINEMENT_NEW_TOOL_NAME_FORBIDDEN | `unsafe_export` is a tool that the baseline never calls | `refinement.allow_new_tool_names` |
| 2 | CONTRACT_TOOL_DENIED | `unsafe_export` is denied | `contracts.tools.deny[0]` |
";
    assert_eq!(failing().to_markdown(), expected);
}

#[test]
fn the_guard_of_the_network_is_named_where_there_was_one() {
    let guard = |report: &Report| json(&report.to_json_pretty()).at("/metadata/network_guard").cloned();
    assert_eq!(guard(&failing()), None);
    let guarded = Report { network_guard: Some("proxy"), ..failing() };
    assert_eq!(guard(&guarded), Some(Json::from("proxy")));
    assert!(guarded.to_markdown().contains("\n- Network guard: proxy\n"));
}

#[test]
fn the_same_inputs_give_the_same_bytes() {
    assert_eq!(failing().to_json_pretty(), failing().to_json_pretty());
    assert_eq!(failing(), failing());
}

#[test]
fn a_run_that_could_not_be_judged_is_an_error() {
    let report =
        Report::error(&spec(), "specs/triage.agent.yaml", Code::BaselineMissing, "there is no baseline", "cargo test");
    let value = json(&report.to_json_pretty());
    assert_eq!(value.at("/status"), Some(&Json::from("ERROR")));
    assert_eq!(value.at("/error/code"), Some(&Json::from("BASELINE_MISSING")));
    assert_eq!(value.at("/failure_class"), Some(&Json::from("TOOLING")));
    assert_eq!(value.at("/witness_index"), None);
    assert!(report.to_markdown().contains("- BASELINE_MISSING: there is no baseline\n"));
}

#[test]
fn what_a_run_says_cannot_break_the_markdown() {
    let spec = spec();
    for (tool, cell) in [
        ("a|b", "| `a\\|b` is called beyond"),
        ("a\nb", "| `a b` is called beyond"),
        ("<b>[x](y)", "| `<b>[x](y)` is called beyond"),
        ("tick`", "| \\`tick\\`\\` is called beyond"),
    ] {
        let mut candidate = run("a end");
        candidate.events.push(event("tool_called", Object::new().with("tool_name", tool)));
        let verdict = judge(&spec, Some(&run("a end")), &candidate);
        let markdown = Report::new(&spec, "s.yaml", &verdict, None, "c").to_markdown();
        assert!(markdown.contains(cell), "{markdown}");
    }
}

#[test]
fn a_summary_has_one_sorted_row_for_each_spec_file() {
    let spec = spec();
    let passing = judge(&spec, None, &run("fetch_ticket end"));
    let mut summary = Summary::default();
    summary.put(Report::new(&spec, "specs/b.yaml", &passing, None, "again b").row());
    summary.put(Report { spec_file: "specs/a.yaml".to_owned(), ..failing() }.row());
    summary.put(Report::new(&spec, "specs/b.yaml", &passing, None, "again b, twice").row());
    summary.put(Report::error(&spec, "specs/c.yaml", Code::TraceEmpty, "nothing happened", "again c").row());

    let files: Vec<&str> = summary.rows().iter().map(|row| row.spec_file.as_str()).collect();
    assert_eq!(files, ["specs/a.yaml", "specs/b.yaml", "specs/c.yaml"]);
    let value = json(&summary.to_json_pretty());
    assert_eq!(value.at("/processed_specs"), Some(&Json::from(3)));
    assert_eq!(value.at("/regressions"), Some(&Json::from(2)));
    assert_eq!(value.at("/errors/0"), Some(&Json::from("specs/c.yaml: nothing happened")));
    assert_eq!(value.at("/reports/1/repro_command"), Some(&Json::from("again b, twice")));
    assert_eq!(Summary::parse(&summary.to_json_pretty()), Some(summary.clone()));

    summary.retain(|file| file != "specs/c.yaml");
    let expected = "\
# Latest run

| Spec | Status | Witness | What | Reproduce |
| --- | --- | ---: | --- | --- |
| `specs/a.yaml` | FAIL | 2 | REFINEMENT_BASELINE_CALL_MISSING: the baseline calls `store_triage` here; this run never does | `cargo test --test agents triage` |
| `specs/b.yaml` | PASS |  |  |  |
";
    assert_eq!(summary.to_markdown(), expected);
    for text in ["", "[]", "{\"schema_version\": \"v2\"}", "{\"schema_version\": \"v1\", \"reports\": [{}]}"] {
        assert_eq!(Summary::parse(text), None, "{text}");
    }
}

#[test]
fn warnings_reach_the_report() {
    let text = "schema_version: 0.4\ncommand: run\nentrypoint: agent.py\n";
    let spec = Spec::parse(text, "specs/old.yaml").unwrap_or_else(|error| panic!("{error}"));
    let report = Report::new(&spec, "specs/old.yaml", &judge(&spec, None, &run("end")), None, "again");
    assert_eq!(json(&report.to_json_pretty()).at("/warnings/0/line"), Some(&Json::from(3)));
    let expected = "\n### Warnings\n\n- specs/old.yaml:3: `entrypoint` has no effect beside `command`\n";
    assert!(report.to_markdown().ends_with(expected), "{}", report.to_markdown());
}

#[test]
fn predicates_stand_in_the_report_of_whoever_asks() {
    let total = |report: &Report| json(&report.to_json_pretty()).at("/predicates/tool_calls_total").cloned();
    assert_eq!(total(&failing()), None);
    let predicates = Predicates::of(&run("a b end"), &spec().abstraction);
    assert_eq!(total(&Report { predicates: Some(predicates), ..failing() }), Some(Json::from(2)));
}

#[test]
fn complaints_about_determinism_are_told_once_a_code() {
    let output = "NONDETERMINISM_UUID_DETECTED: uuid4 is | random :: {\"path\": \"/home/ada\"}\nE NONDETERMINISM_UUID_DETECTED: again\n\
                  NONDETERMINISM_CLOCK_DETECTED";
    let determinism_warnings = DeterminismWarning::in_output(output);
    let report = Report { determinism_warnings, ..failing() };
    let expected = r#"[{"code": "NONDETERMINISM_CLOCK_DETECTED", "message": ""},
        {"code": "NONDETERMINISM_UUID_DETECTED", "message": "uuid4 is | random"}]"#;
    assert_eq!(json(&report.to_json_pretty()).get("determinism_warnings"), Some(&json(expected)));
    assert!(report.to_markdown().ends_with("- `NONDETERMINISM_UUID_DETECTED`: uuid4 is \\| random\n"));
    assert_eq!(json(&failing().to_json_pretty()).get("determinism_warnings"), None);
}

#[test]
fn the_profile_is_a_label() {
    let profile = |report: &Report| json(&report.to_json_pretty()).at("/metadata/mode_profile").cloned();
    assert_eq!(profile(&failing()), Some(Json::from("ci_safe")));
    let strict = Report { mode_profile: ModeProfile::Strict, ..failing() };
    assert_eq!(profile(&strict), Some(Json::from("strict")));
}
