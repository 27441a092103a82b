//! Which recorded answer a call gets, by what its spec says, and what a run tells of it.

use serde_json::{Value, json};
use trajectly_tests::{Folder, Project, Provider};

fn report(project: &Project, spec: &str) -> Value {
    serde_json::from_str(&project.store().read(&format!("reports/{spec}.json"))).expect("reports are JSON")
}

/// A project in which `ask` was recorded with the spec's keys.
fn asked(keys: &str) -> Project {
    let project = Project::new();
    project.add_to_spec("ask", keys);
    let provider = Provider::saying("hello");
    project.agents(&["ask"]).update("1").env("OPENAI_BASE_URL", provider.url()).output().passes();
    project
}

#[test]
fn a_drifted_prompt_fails_passes_with_a_note_or_passes() {
    let differs = ["entries[0] of the fixtures", "$.messages[1].content", "Which run is this?", "Which run was it?"];
    for (drift, passes, notes) in [("fail", false, false), ("warn", true, true), ("allow", true, false)] {
        let project = asked(&format!("replay: {{ drift: {drift} }}\n"));
        let output = project.agents(&["ask"]).env("PROMPT", "Which run was it?").output();
        let usage = &report(&project, "ask")["fixture_usage"];
        if !passes {
            output.fails().says(&["FIXTURE_MISSING"]).says(&differs);
            assert_eq!(usage["unused"][0]["input"], "Which run is this?");
            continue;
        }
        let output = output.passes();
        if notes {
            output.says(&["note: specs/ask.agent.yaml passes"]).says(&differs);
        } else {
            output.never_says(&["drifted"]);
        }
        assert_eq!(usage["by_tier"], json!({ "exact": 1, "normalized": 0, "structural": 1, "position": 0 }));
        let difference = json!({
            "path": "$.messages[1].content", "recorded": "Which run is this?", "actual": "Which run was it?"
        });
        assert_eq!(usage["inexact"][0]["event_index"], 1);
        assert_eq!(usage["inexact"][0]["differences"], json!([difference]));
        assert!(project.store().read("reports/ask.md").contains("| 1 | `openai:gpt-4o-mini` | structural | 0 |"));
    }
}

#[test]
fn a_failure_for_another_reason_shows_the_drift_too() {
    let project = asked("replay: { drift: allow }\n");
    project.add_to_spec("ask", "budget_thresholds: { max_tokens: 1 }\n");
    let output = project.agents(&["ask"]).env("PROMPT", "Which run was it?").output().fails();
    output.says(&["BUDGET_MAX_TOKENS_EXCEEDED", "warning: event 1", "+ \"Which run was it?\""]);
}

#[test]
fn accepting_a_drifted_run_makes_its_request_the_recorded_one() {
    let project = asked("replay: { drift: allow }\n");
    let ask = || project.agents(&["ask"]).env("PROMPT", "Which run was it?");
    ask().update("accept").output().passes();
    ask().output().passes();
    assert_eq!(report(&project, "ask")["fixture_usage"]["by_tier"]["exact"], 2);
}

#[test]
fn values_and_places_that_do_not_count_are_those_of_the_spec() {
    let prompt = |day: &str| format!("What was said on {day}?");
    for (keys, passes) in [
        ("", false),
        ("replay: { normalize: [uuid] }\n", false),
        ("replay: { normalize: [timestamp] }\n", true),
        ("replay: { ignore_paths: [\"$.messages[1].content\"] }\n", true),
        ("replay: { ignore_paths: [\"$.messages[0].content\"] }\n", false),
    ] {
        let project = Project::new();
        project.add_to_spec("ask", keys);
        let provider = Provider::saying("hello");
        let ask = |day: &str| project.agents(&["ask"]).env("PROMPT", prompt(day));
        ask("2024-05-01").update("1").env("OPENAI_BASE_URL", provider.url()).output().passes();
        let output = ask("2026-11-20").output();
        assert_eq!(output.code == 0, passes, "{keys}\n{output}");
        assert_eq!(report(&project, "ask")["fixture_usage"]["by_tier"]["normalized"], u64::from(passes), "{keys}");
    }
}

#[test]
fn fixtures_that_no_call_used_are_told_of() {
    let project = Project::recorded(&["greet"]);
    project.add_to_spec("greet", "refinement: { mode: none }\nsnapshot: off\n");
    let fixtures = project.read(".trajectly/fixtures/greet.json");
    let mut fixtures: Value = serde_json::from_str(&fixtures).expect("fixtures are JSON");
    let entries = fixtures["entries"].as_array_mut().expect("a list");
    let extra = entries[0].clone();
    entries.push(extra);
    project.write(".trajectly/fixtures/greet.json", &fixtures.to_string());
    project.agents(&["greet"]).output().passes();
    let usage = &report(&project, "greet")["fixture_usage"];
    assert_eq!((&usage["total"], &usage["consumed"]), (&json!(2), &json!(1)));
    assert_eq!(
        usage["unused"],
        json!([{ "index": 1, "kind": "tool", "name": "lookup", "input": "{\"name\":\"ada\"}" }])
    );
    let told = project.store().read("reports/greet.md");
    assert!(told.contains("- Fixtures: 1 of 2 used (1 exact)") && told.contains("### Unused fixtures"), "{told}");
}

/// What became of the calls of a replay: `ok`, or the code under which they were refused.
fn answers(project: &Project, current: &str) -> Vec<String> {
    let events = project.store().events(current);
    let returned = events.iter().filter(|event| {
        event["event_type"].as_str().is_some_and(|kind| matches!(kind, "tool_returned" | "llm_returned"))
    });
    returned.map(|event| event["payload"]["error_code"].as_str().unwrap_or("ok").to_owned()).collect()
}

/// The settings of a spec, the calls of a replay where `a` and `b` were recorded, and what becomes of them.
type Case = (&'static str, &'static str, &'static [&'static str]);

const MISSING: &str = "FIXTURE_MISSING";
const EXHAUSTED: &str = "FIXTURE_EXHAUSTED";

/// What both kinds of calls have in common.
const ALIKE: [Case; 14] = [
    ("", "a b", &["ok", "ok"]),
    ("", "b a", &["ok", "ok"]),
    ("", "a c", &["ok", MISSING]),
    ("", "a a", &["ok", EXHAUSTED]),
    ("strict: true\n", "b a", &["ok", "ok"]),
    ("strict: true\n", "a c", &["ok", MISSING]),
    ("fixture_policy: by_index\n", "b c", &["ok", "ok"]),
    ("fixture_policy: by_index\n", "a b a", &["ok", "ok", EXHAUSTED]),
    ("fixture_policy: by_index\nstrict: true\n", "a b", &["ok", "ok"]),
    ("fixture_policy: by_index\nstrict: true\n", "a c", &["ok", MISSING]),
    ("fixture_policy: by_index\nstrict: true\n", "c b", &[MISSING, "ok"]),
    ("replay: { fixture_policy: by_index, strict_sequence: true }\n", "b a", &[MISSING, MISSING]),
    ("fixture_policy: by_index\nstrict: true\nreplay: { KIND: sequence_match }\n", "c d", &["ok", "ok"]),
    ("replay: { KIND: sequence_match }\n", "c a b", &["ok", "ok", EXHAUSTED]),
];

#[test]
fn policies_strictness_and_match_modes_hold_for_tools_and_models() {
    for (says, kind, other) in
        [("TOOLS", "tool_match_mode", "llm_match_mode"), ("MODELS", "llm_match_mode", "tool_match_mode")]
    {
        let project = Project::new();
        let spec = project.read("specs/ask.agent.yaml");
        let provider = Provider::saying("hello");
        let ask = |words: &str| project.agents(&["ask"]).env(says, words);
        ask("a b").update("1").env("OPENAI_BASE_URL", provider.url()).output().passes();
        let replay = |keys: &str, words: &str| {
            let keys = keys.replace("KIND", kind);
            project
                .write("specs/ask.agent.yaml", &format!("{spec}refinement: {{ mode: none }}\nsnapshot: off\n{keys}"));
            ask(words).output();
            answers(&project, "current/ask.jsonl")
        };
        for (keys, words, expected) in ALIKE {
            assert_eq!(replay(keys, words), expected, "{says}={words} {keys}");
        }
        let of_the_other = format!("replay: {{ {other}: sequence_match }}\n");
        assert_eq!(replay(&of_the_other, "a c"), ["ok", MISSING], "{says}: the mode is that of the other kind");
    }
}

#[test]
fn fixtures_whose_spec_or_baseline_is_gone_are_told_of() {
    let folder = Folder::new();
    let called = r#"{"event_type":"tool_called","payload":{"tool_name":"t","input":{}}}"#;
    let returned = r#"{"event_type":"tool_returned","payload":{"tool_name":"t","output":1,"error":null}}"#;
    let command = format!("printf '%s\\n' '{called}' '{returned}' >> \"$TRAJECTLY_EVENTS_FILE\"");
    let spec = |name: &str| format!("schema_version: \"0.4\"\nname: {name}\nsnapshot: off\ncommand: |\n  {command}\n");
    for name in ["kept", "moved", "gone"] {
        folder.write(&format!("specs/{name}.agent.yaml"), &spec(name));
    }
    folder.trajectly(["record", "specs/*.agent.yaml"]).output().exits(0);
    let run = |specs: &str| folder.trajectly(["run", specs]).output();
    run("specs/*.agent.yaml").exits(0).never_says(&["stale"]);
    let meta = folder.read(".trajectly/baselines/gone.meta.json");
    assert!(meta.contains("\"spec_path\": \"specs/gone.agent.yaml\""), "{meta}");

    std::fs::remove_file(folder.path("specs/gone.agent.yaml")).expect("it is there");
    std::fs::rename(folder.path("specs/moved.agent.yaml"), folder.path("specs/here.agent.yaml")).expect("it is there");
    std::fs::copy(folder.path(".trajectly/fixtures/gone.json"), folder.path(".trajectly/fixtures/alone.json"))
        .expect("it is there");
    let output = run("specs/*.agent.yaml");
    let told = [
        "note: .trajectly/fixtures/alone.json is stale: .trajectly/baselines/alone.jsonl is gone",
        "note: .trajectly/fixtures/gone.json is stale: its spec specs/gone.agent.yaml is gone",
    ];
    output.says(&told).never_says(&["moved.json", "kept.json"]);
    assert_eq!(folder.store().read("reports/latest.md").matches("is gone").count(), 2);
}
