//! `trajectly evaluate`: traces that exist already, one pair or many cases at once.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};
use trajectly_tests::{Folder, Run};

const SPEC: &str = "\
schema_version: \"0.4\"
name: triage
contracts:
  tools:
    deny: [export]
";

fn called(tool: &str) -> Value {
    json!({"event_type": "tool_called", "seq": 1, "run_id": "r", "rel_ms": 0, "payload": {"tool_name": tool}})
}

fn trace(tools: &[&str]) -> String {
    tools.iter().map(|tool| called(tool).to_string() + "\n").collect()
}

/// A spec, and traces of runs by the tools that they call.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("triage.agent.yaml", SPEC);
    folder.write("accepted.jsonl", &trace(&["fetch", "store"]));
    folder.write("same.jsonl", &trace(&["fetch", "store"]));
    folder.write("worse.jsonl", &trace(&["fetch", "export"]));
    folder
}

fn case(id: impl Into<Value>, candidate: &[&str]) -> String {
    let events: Vec<Value> = candidate.iter().map(|tool| called(tool)).collect();
    let spec =
        json!({"schema_version": "0.4", "name": "a", "command": "true", "contracts": {"tools": {"deny": ["export"]}}});
    let input = json!({"spec": spec, "baseline_events": [], "candidate_events": events});
    json!({"id": id.into(), "op": "verdict", "input": input}).to_string()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("an answer is JSON")).collect()
}

#[test]
fn a_pair_is_judged_and_the_exit_code_tells() {
    let folder = folder();
    let evaluate = |candidate| {
        folder.trajectly(["evaluate", "triage.agent.yaml", candidate, "--baseline", "accepted.jsonl"]).output()
    };
    evaluate("same.jsonl").exits(0).says(&["PASS triage"]);
    evaluate("worse.jsonl").exits(1).says(&[
        "FAIL triage: 4 violations at event 1",
        "error[CONTRACT_TOOL_DENIED]",
        "triage.agent.yaml:5:12",
        "worse.jsonl:2",
        "reproduce  trajectly evaluate triage.agent.yaml worse.jsonl --baseline accepted.jsonl",
    ]);
}

#[test]
fn a_program_reads_the_report() {
    let folder = folder();
    let arguments = ["evaluate", "triage.agent.yaml", "worse.jsonl", "--baseline", "accepted.jsonl", "--json"];
    let output = folder.trajectly(arguments).output().exits(1);
    let report: Value = serde_json::from_str(&output.stdout).expect("stdout is JSON and nothing else");
    assert_eq!(report["status"], "FAIL");
    assert_eq!(report["witness_index"], 1);
    assert_eq!(report["primary_violation"]["code"], "REFINEMENT_BASELINE_CALL_MISSING");
    assert_eq!(report["spec_path"], "triage.agent.yaml");
}

#[test]
fn the_recorded_baseline_stands_for_one_that_is_not_named() {
    let folder = folder();
    let evaluate = || folder.trajectly(["evaluate", "triage.agent.yaml", "worse.jsonl"]).output();
    evaluate().exits(2).says(&["`triage` has no recorded baseline", "--baseline TRACE"]);
    let finished = json!({"event_type": "run_finished", "seq": 2, "run_id": "r", "rel_ms": 0, "payload": {}});
    for (torn, says) in
        [("", "triage.jsonl holds no event"), (&*trace(&["fetch"]), "its last event is no `run_finished`")]
    {
        folder.write(".trajectly/baselines/triage.jsonl", torn);
        evaluate().exits(2).says(&[says, "record it again"]);
    }
    folder.write(".trajectly/baselines/triage.jsonl", &format!("{}{finished}\n", trace(&["fetch"])));
    evaluate().exits(1).says(&["REFINEMENT_EXTRA_TOOL_CALL"]).never_says(&["CALL_MISSING"]);
    folder.write("triage.agent.yaml", &(SPEC.to_owned() + "refinement: { mode: none }\n"));
    evaluate().exits(1).says(&["CONTRACT_TOOL_DENIED"]).never_says(&["REFINEMENT_"]);
}

#[test]
fn a_baseline_that_restricts_no_call_is_noted() {
    const NOTE: &str = "note: the baseline calls no tool, so no call is extra";
    let folder = folder();
    let step = json!({"event_type": "agent_step", "seq": 1, "run_id": "r", "rel_ms": 0, "payload": {"name": "s"}});
    folder.write("idle.jsonl", &format!("{step}\n"));
    let evaluate =
        |candidate| folder.trajectly(["evaluate", "triage.agent.yaml", candidate, "--baseline", "idle.jsonl"]).output();
    evaluate("same.jsonl").exits(0).says(&[NOTE, "contracts.tools.allow", "refinement.mode: strict"]);
    evaluate("idle.jsonl").exits(0).never_says(&[NOTE]);
    folder.write("triage.agent.yaml", &(SPEC.to_owned() + "    allow: [fetch, store]\n"));
    evaluate("same.jsonl").exits(0).never_says(&[NOTE]);
    folder.write("triage.agent.yaml", &(SPEC.to_owned() + "refinement: { mode: strict }\n"));
    evaluate("same.jsonl").exits(1).says(&["REFINEMENT_EXTRA_TOOL_CALL"]).never_says(&[NOTE]);
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = folder();
    folder.write("torn.jsonl", &(trace(&["fetch"]) + "{\"event_type\": \"tool_ca"));
    folder.write("empty.jsonl", "\n");
    folder.write("broken.agent.yaml", "schema_version: 0.4\nname: a\ncontract: {}\n");
    for (spec, candidate, says) in [
        ("triage.agent.yaml", "torn.jsonl", "torn.jsonl:2:"),
        ("triage.agent.yaml", "empty.jsonl", "empty.jsonl holds no event"),
        ("triage.agent.yaml", "absent.jsonl", "cannot read absent.jsonl"),
        ("triage.agent.yaml", ".", ". is a folder"),
        ("broken.agent.yaml", "same.jsonl", "did you mean `contracts`?"),
        ("absent.agent.yaml", "same.jsonl", "absent.agent.yaml"),
    ] {
        let arguments = ["evaluate", spec, candidate, "--baseline", "accepted.jsonl"];
        folder.trajectly(arguments).output().exits(2).says(&[says]);
    }
    let arguments = ["evaluate", "triage.agent.yaml", "same.jsonl", "--baseline", "empty.jsonl"];
    folder.trajectly(arguments).output().exits(2).says(&["empty.jsonl holds no event"]);
    folder.trajectly(["evaluate", "triage.agent.yaml"]).output().exits(2).says(&["<CANDIDATE>"]);
    folder.trajectly(["evaluate", "triage.agent.yaml", "a", "--batch", "b"]).output().exits(2);
    folder.trajectly(["evaluate", "triage.agent.yaml", "same.jsonl", "--jobs", "2"]).output().exits(2);
}

#[test]
fn a_batch_answers_line_by_line_and_a_bad_line_costs_only_itself() {
    let folder = Folder::new();
    let cases = [
        case(1, &["fetch"]),
        String::new(),
        "{\"id\": 2, \"op\": ".to_owned(),
        case("three", &["fetch", "export"]),
        "[4]".to_owned(),
        json!({"id": 5, "op": "judge", "input": {}}).to_string(),
        case(Value::Null, &["fetch"]).replace("tool_called", "tool_cal"),
        case(7, &["fetch"]).replace("deny", "denied"),
        case(8, &[]).replace("\"command\":\"true\",", ""),
        json!({"id": 9, "op": "verdict", "input": {"spec": {}}}).to_string(),
    ];
    folder.write("cases.jsonl", &cases.join("\n"));
    let output = folder.trajectly(["evaluate", "--batch", "cases.jsonl"]).output().exits(0);
    let answers = lines(&output.stdout);
    assert_eq!(answers.len(), cases.len() - 1, "{output}");
    assert_eq!(
        answers[0]["result"],
        json!({"status": "PASS", "witness_index": null, "primary": null, "violations": []})
    );
    assert_eq!(answers[2]["id"], "three");
    assert_eq!(answers[2]["result"]["violations"], json!([["CONTRACT_TOOL_DENIED", "CONTRACT", 1]]));
    let errors: Vec<_> = answers
        .iter()
        .filter(|answer| !answer["error"].is_null())
        .map(|answer| (&answer["error"]["line"], &answer["error"]["kind"], &answer["id"]))
        .collect();
    let expected = json!([
        [3, "input", null],
        [5, "input", null],
        [6, "input", 5],
        [7, "trace", null],
        [8, "spec", 7],
        [9, "spec", 8],
        [10, "spec", 9]
    ]);
    assert_eq!(json!(errors), expected);
    assert_eq!(answers[4]["error"]["path"], "$.op");
    assert_eq!(answers[5]["error"]["path"], "$.input.candidate_events[0].event_type");
    assert_eq!(answers[6]["error"]["problems"][0]["path"], "contracts.tools.denied");
    output.says(&["7 of 9 cases have no answer"]);
}

#[test]
fn a_batch_keeps_its_order_however_many_work_on_it() {
    let folder = Folder::new();
    // Neighbours that take very different times.
    let cases: Vec<String> = (0..300).map(|n| case(n, &vec!["fetch"; if n % 7 == 0 { 2000 } else { 1 }])).collect();
    folder.write("cases.jsonl", &cases.join("\n"));
    let run = |jobs| folder.trajectly(["evaluate", "--batch", "cases.jsonl", "--jobs", jobs]).output().exits(0).stdout;
    let one = run("1");
    assert_eq!(one, run("8"));
    let ids: Vec<Value> = lines(&one).into_iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, (0..300).map(Value::from).collect::<Vec<_>>());
}

#[test]
fn an_answer_comes_before_the_next_case_is_asked() {
    let mut batch = Folder::new().trajectly(["evaluate", "--batch"]).talk();
    let mut cases = batch.stdin.take().expect("stdin is piped");
    let mut answers = BufReader::new(batch.stdout.take().expect("stdout is piped"));
    for id in 0..3 {
        writeln!(cases, "{}", case(id, &["fetch"])).expect("the command reads");
        let mut answer = String::new();
        answers.read_line(&mut answer).expect("the command answers");
        assert!(answer.starts_with(&format!("{{\"id\":{id},")), "{answer}");
    }
    drop(cases);
    assert!(batch.wait().expect("the command ends").success());
}

#[test]
fn whoever_stops_reading_ends_a_batch() {
    let mut batch = Folder::new().trajectly(["evaluate", "--batch"]).talk();
    let mut cases = batch.stdin.take().expect("stdin is piped");
    drop(batch.stdout.take());
    let case = case(1, &["fetch"]);
    // Until nobody reads the cases either.
    while writeln!(cases, "{case}").is_ok() {}
    assert!(batch.wait().expect("the command ends").success());
}

#[test]
fn calls_of_one_response_may_change_places_if_the_spec_says_so() {
    let folder = folder();
    let asked = json!({"event_type": "llm_returned", "seq": 1, "run_id": "r", "rel_ms": 0,
        "meta": {"requested": [{"name": "fetch"}, {"name": "store"}]}, "payload": {"provider": "p", "model": "m"}});
    for (file, tools) in [("accepted.jsonl", ["fetch", "store"]), ("turned.jsonl", ["store", "fetch"])] {
        folder.write(file, &format!("{asked}\n{}", trace(&tools)));
    }
    let evaluate = |parallel: &str| {
        folder.write("triage.agent.yaml", &format!("{SPEC}refinement: {{ parallel: {parallel} }}\n"));
        folder.trajectly(["evaluate", "triage.agent.yaml", "turned.jsonl", "--baseline", "accepted.jsonl"]).output()
    };
    evaluate("unordered").exits(0).says(&["PASS triage"]);
    evaluate("ordered").exits(1).says(&["error[REFINEMENT_EXTRA_TOOL_CALL]: `store`"]);
}

#[test]
fn the_command_that_reproduces_can_be_pasted() {
    let folder = folder();
    folder.write("with space;x.yaml", SPEC);
    let evaluate = ["evaluate", "with space;x.yaml", "worse.jsonl", "--baseline", "accepted.jsonl"];
    folder
        .trajectly(evaluate)
        .output()
        .exits(1)
        .says(&["trajectly evaluate 'with space;x.yaml' worse.jsonl --baseline accepted.jsonl"]);
}

#[test]
fn any_number_of_jobs_may_be_asked_for() {
    let folder = folder();
    folder.write("cases.jsonl", &(case(1, &["fetch"]) + "\n" + &case(2, &["export"]) + "\n"));
    let run = folder.trajectly(["evaluate", "--batch", "cases.jsonl", "--jobs", "100000"]).output().passes();
    assert_eq!(lines(&run.stdout).len(), 2);
}

#[test]
fn a_pipe_without_a_writer_is_refused() {
    let folder = folder();
    Run::new("mkfifo").arg(folder.path("pipe")).output().passes();
    for trace in ["pipe", "/dev/zero"] {
        let evaluate = ["evaluate", "triage.agent.yaml", trace, "--baseline", "accepted.jsonl"];
        folder.trajectly(evaluate).output().exits(2).says(&["a pipe or a device"]);
    }
    let substituted = "exec \"$0\" evaluate triage.agent.yaml /dev/fd/3 --baseline accepted.jsonl 3<&0";
    let line = format!("cat same.jsonl | ({substituted})");
    let run = Run::new("sh").args(["-c", &line]).arg(Folder::program()).current_dir(folder.root());
    run.output().passes().says(&["PASS triage"]);
}
