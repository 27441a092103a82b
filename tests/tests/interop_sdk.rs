//! Agents of the public Python SDK under the harness and the command line.

use std::path::Path;

use serde_json::{Value, json};
use trajectly_tests::{Answer, Binary, Folder, Project, Provider, Run, repository};

const SPEC: &str = "specs/agent.agent.yaml";

/// A project with an agent, and nothing recorded. Only the verdict counts, not the snapshot.
fn project(agent: &str, yaml: &str) -> Folder {
    let folder = Folder::new();
    folder.add_agent(agent);
    folder.write(SPEC, &spec(agent, yaml));
    folder
}

fn spec(agent: &str, yaml: &str) -> String {
    format!("schema_version: \"0.4\"\nname: agent\ncommand: python {agent}\nworkdir: ..\nsnapshot: off\n{yaml}")
}

fn trajectly(folder: &Folder, command: &str) -> Run {
    folder.trajectly([command, SPEC]).with_python().env("JOURNAL", folder.path("journal"))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The codes of a report, each with its event, in order.
fn violations(report: &Value) -> Vec<(&str, u64)> {
    let violations = report["violations"].as_array().expect("a report lists violations");
    violations
        .iter()
        .map(|v| (v["code"].as_str().unwrap_or_default(), v["event_index"].as_u64().unwrap_or(99)))
        .collect()
}

#[test]
fn a_replay_never_runs_a_tool_whatever_the_spec_allows() {
    const MISSING: &str = "FIXTURE_MISSING";
    for (yaml, amount) in [
        ("", Some(MISSING)),
        ("strict: true\n", Some(MISSING)),
        ("fixture_policy: by_index\nstrict: true\n", Some(MISSING)),
        ("fixture_policy: by_index\n", None),
        ("fixture_policy: by_index\ncontracts: {tools: {allow: [find_order, price, refund, delete_order]}}\n", None),
        ("replay: {tool_match_mode: sequence_match}\n", None),
    ] {
        let folder = project("shop.py", yaml);
        trajectly(&folder, "record").output().exits(0);
        let ran = folder.journal();
        assert_eq!(ran, ["find_order", "find_order", "price", "ask", "refund"]);
        for (edit, code) in [
            ("", None),
            ("amount", amount),
            ("new tool", Some("REFINEMENT_BASELINE_CALL_MISSING")),
            ("swallow", Some("REFINEMENT_EXTRA_TOOL_CALL")),
            ("exhaust", Some("REFINEMENT_BASELINE_CALL_MISSING")),
        ] {
            let output = trajectly(&folder, "run").env("EDIT", edit).output();
            let report = json(&folder.read(".trajectly/reports/agent.json"));
            assert_eq!(report["primary_violation"]["code"].as_str(), code, "{yaml} {edit}\n{output}");
            let found: Vec<_> = violations(&report).into_iter().map(|(code, _)| code).collect();
            match edit {
                "new tool" | "swallow" => assert!(found.contains(&MISSING), "{yaml} {edit}: {found:?}"),
                "exhaust" => assert!(found.contains(&"FIXTURE_EXHAUSTED"), "{yaml} {edit}: {found:?}"),
                _ => {}
            }
            assert_eq!(folder.journal(), ran, "{yaml} {edit}: nothing really ran");
        }
    }
}

#[test]
fn models_are_not_asked_either() {
    for (yaml, runs) in
        [("", false), ("fixture_policy: by_index\nstrict: true\n", false), ("fixture_policy: by_index\n", true)]
    {
        let folder = project("shop.py", yaml);
        trajectly(&folder, "record").output().exits(0);
        let ran = folder.journal();
        let output = trajectly(&folder, "run").env("EDIT", "other model").output().exits(1);
        let report = json(&folder.read(".trajectly/reports/agent.json"));
        assert!(violations(&report).iter().any(|(code, _)| *code == "FIXTURE_MISSING"), "{yaml}\n{output}");
        // Not strict by index, the SDK makes a call of a model of which nothing was recorded; it has no network.
        assert_eq!(folder.journal().len() > ran.len(), runs, "{yaml}");
    }
}

#[test]
fn a_denied_tool_never_runs_in_a_recording() {
    let folder = project("shop.py", "contracts: {tools: {deny: [refund]}}\n");
    trajectly(&folder, "record").output().says(&["CONTRACT_TOOL_DENIED", "`refund`"]);
    assert_eq!(folder.journal(), ["find_order", "find_order", "price", "ask"]);
    assert!(!folder.store().has("baselines"));
}

#[test]
fn what_came_back_in_the_recording_comes_back_in_the_replay() {
    let folder = project("shop.py", "");
    trajectly(&folder, "record").output().exits(0);
    trajectly(&folder, "run").output().exits(0);
    let [recorded, replayed] = ["baselines/agent.jsonl", "current/agent.jsonl"].map(|file| folder.store().events(file));
    let seen = |events: &[Value]| -> Vec<Value> {
        let inner = events.iter().filter(|event| event["event_type"] != "run_finished");
        inner.map(|event| json!([event["event_type"], event["payload"], event["meta"]["call_id"]])).collect()
    };
    assert_eq!(seen(&replayed), seen(&recorded));
    let model = recorded.iter().find(|event| event["event_type"] == "llm_returned").expect("a model was asked");
    assert_eq!(model["payload"]["result"]["note"], "kept");
    let failed = recorded.iter().find(|event| event["payload"]["error"].is_string()).expect("a tool failed");
    assert_eq!(failed["payload"]["error"], "there is no order O-0");
}

#[test]
fn calls_inside_of_calls_and_at_the_same_time_replay() {
    let folder = project("nested.py", "budget_thresholds: {max_tokens: 5}\n");
    trajectly(&folder, "record").output().exits(0);
    let ran = folder.journal();
    let calls = ["quote", "lookup", "rate", "lookup", "slow", "quick", "lookup"];
    let store = folder.store();
    assert_eq!(store.calls("baselines/agent.jsonl"), calls);
    let recorded = store.read("fixtures/agent.json");
    trajectly(&folder, "run").output().exits(0);
    assert_eq!(store.calls("current/agent.jsonl"), calls);
    assert_eq!(folder.journal(), ran, "nothing really ran");
    let report = json(&folder.read(".trajectly/reports/agent.json"));
    assert_eq!(report["fixture_usage"]["unused"].as_array().map_or(0, Vec::len), 0, "{report:#}");
    trajectly(&folder, "record").output().exits(0);
    let hashes = |text: &str| {
        json(text)["entries"].as_array().map(|all| all.iter().map(|e| e["input_hash"].clone()).collect::<Vec<_>>())
    };
    assert_eq!(hashes(&store.read("fixtures/agent.json")), hashes(&recorded));
}

#[test]
fn a_model_call_is_counted_once() {
    let provider = Provider::start(|_| Answer::text("It is on its way."));
    let folder = project("clients.py", "");
    trajectly(&folder, "record").env("OPENAI_BASE_URL", provider.url()).output().exits(0);
    let count =
        |file: &str| folder.store().events(file).iter().filter(|event| event["event_type"] == "llm_called").count();
    assert_eq!(count("baselines/agent.jsonl"), 3, "two through adapters, one through the client alone");
    let asked = provider.requests().len();
    trajectly(&folder, "run").output().exits(0);
    assert_eq!(count("current/agent.jsonl"), 3);
    assert_eq!(provider.requests().len(), asked);
}

#[test]
fn a_python_agent_is_a_cargo_test() {
    let project = Project::new();
    let agent = repository().join("tests/python/agents/nested.py");
    std::fs::copy(agent, project.path("nested.py")).expect("the agent can be copied");
    project.write("commands/python.agent.yaml", &spec("nested.py", "env: {GREETING: hello}\n"));
    let run = || project.run(Binary::Second).args(["--exact", "commands/python.agent.yaml"]).with_python();
    run().output().fails().says(&["BASELINE_MISSING"]);
    run().update("1").output().passes();
    let ran = project.journal();
    run().output().passes();
    run().update("accept").output().passes();
    run().output().passes();
    assert_eq!(project.journal(), ran);
}

#[test]
fn the_python_tool_reads_what_is_written() {
    let recorded = project("nested.py", "");
    trajectly(&recorded, "record").output().exits(0);
    let examples = repository().join("examples");
    for (root, name) in [(recorded.root(), "agent"), (&examples, "trt-search-buy"), (&examples, "trt-support-triage")] {
        let file = |path: String| root.join(".trajectly").join(path);
        let read = recorded.python([repository().join("tests/python/read.py")]);
        let read = read.args([
            file(format!("baselines/{name}.jsonl")),
            file(format!("baselines/{name}.meta.json")),
            file(format!("fixtures/{name}.json")),
        ]);
        let read = json(&read.output().passes().stdout);
        let ours = std::fs::read_to_string(file(format!("baselines/{name}.jsonl"))).expect("a trace");
        let types: Vec<_> = ours.lines().map(|line| json(line)["event_type"].clone()).collect();
        assert_eq!(read["types"], Value::from(types), "{name}");
        assert_eq!((&read["ids_are_computed"], &read["tool_hashes"]), (&json!(true), &json!(true)), "{name}");
        assert_eq!(read["normalizer"], "1", "{name}");
        assert!(read["entries"].as_array().is_some_and(|entries| !entries.is_empty()), "{name}: {read}");
    }
}

#[test]
fn a_trace_of_its_own_takes_the_place_of_the_recorded_one() {
    let folder = project("shop.py", "baseline: {trace: accepted/shop.jsonl}\n");
    trajectly(&folder, "record").output().exits(0);
    trajectly(&folder, "run").output().exits(2).says(&["accepted/shop.jsonl"]);
    folder.write("specs/accepted/shop.jsonl", &folder.store().read("baselines/agent.jsonl"));
    trajectly(&folder, "run").output().exits(0);
    let without_refund: String = folder
        .store()
        .read("baselines/agent.jsonl")
        .lines()
        .filter(|line| !line.contains("\"refund\""))
        .map(|line| format!("{line}\n"))
        .collect();
    folder.write("specs/accepted/shop.jsonl", &without_refund);
    let output = trajectly(&folder, "run").output().exits(1);
    output.says(&["REFINEMENT_EXTRA_TOOL_CALL", "`refund`"]);
    assert!(Path::new(&folder.path("specs/accepted/shop.jsonl")).exists());
}
