//! The agent's own process: how it ends, what it prints, which tools it runs.

use std::collections::HashMap;
use std::net::TcpListener;

use serde_json::{Value, json};
use trajectly_tests::{Binary, Lifeline, Project, agent_program};

#[test]
fn a_time_out_ends_the_agent_and_all_it_started() {
    let project = Project::new();
    for test in ["ends::hangs_past_its_attribute", "ends::hangs_past_its_spec"] {
        let lifeline = Lifeline::new();
        let output = project.agents(&[test]).update("1").env("LIFELINE", lifeline.address()).output().fails();
        output.says(&[
            "AGENT_RUN_FAILED",
            "still running after 3 s",
            "waiting for nothing",
            "`timeout_s`",
            "`timeout = ",
        ]);
        lifeline.held().wait_until_released();
    }
}

#[test]
fn a_spec_limits_what_an_agent_may_take() {
    for (edit, limit, told) in [
        ("memory", "memory_mb: 256", &["SIGABRT", "memory allocation of 1073741824 bytes failed"][..]),
        ("files", "open_files: 40", &["Too many open files"]),
        ("output", "output_bytes: 10000", &["printed more than 10000 bytes"]),
    ] {
        let project = Project::recorded(&["ends::greedy"]);
        project.agents(&["ends::greedy"]).env("EDIT", edit).output().passes();
        project.add_to_spec("ends/greedy", &format!("limits:\n  {limit}\n"));
        project.agents(&["ends::greedy"]).output().passes();
        let output = project.agents(&["ends::greedy"]).env("EDIT", edit).output().fails();
        output.says(told).says(&["AGENT_RUN_FAILED", limit]);
    }
}

#[test]
fn a_replayed_agent_reaches_nobody_but_the_gateway() {
    let project = Project::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port is free");
    let place = listener.local_addr().expect("a listener has an address").to_string();
    let run = || project.agents(&["ends::reaches_out"]).arg("--nocapture").env("REACH", &place);
    run().update("1").output().passes().says(&["reached it"]);
    let output = run().output().passes();
    let report: Value = serde_json::from_str(&project.store().read("reports/ends-reaches-out.json")).expect("JSON");
    // A kernel that restricts no connections is told of, and stops none.
    match report["metadata"]["network_guard"].as_str() {
        Some("landlock+proxy") => drop(output.says(&["kept off: Permission denied"])),
        guard => assert_eq!(guard, Some("proxy"), "{report}"),
    }
    let failed = run().env("EDIT", "error").output().fails();
    failed.says(&["= note:"]);
    project.add_to_spec("ends/reaches-out", &format!("contracts:\n  network:\n    allowlist: [\"{place}\"]\n"));
    run().output().passes().says(&["reached it"]);
}

#[test]
fn whatever_ends_an_agent_is_told_with_what_it_printed() {
    let project = Project::new();
    for (test, reason, printed) in [
        ("ends::panics", "panicked: the agent lost its way", "said before the panic"),
        ("ends::aborts", "SIGABRT", "said before the abort"),
        ("ends::exits", "exited with code 0 before the function returned", "said before the exit"),
        ("greet", "the agent gave up", "about to look somebody up"),
    ] {
        for binary in Binary::BOTH_HARNESSES {
            let run = project.run(binary).args(["--exact", test]).update("1").env("EDIT", "error");
            let output = run.output().fails().says(&["AGENT_RUN_FAILED", reason, printed]);
            assert!(!output.stdout.contains('\u{1e}'), "no mark of the protocol is shown\n{output}");
        }
    }
    assert!(!project.store().has("baselines"));
}

#[test]
fn what_an_agent_prints_is_shown_only_when_asked_for() {
    let project = Project::recorded(&["greet"]);
    let printed = ["about to look somebody up", "this goes to stderr"];
    for binary in Binary::BOTH_HARNESSES {
        project.run(binary).args(["--exact", "greet"]).output().passes().never_says(&printed);
        project.run(binary).args(["--exact", "greet", "--nocapture"]).output().passes().says(&printed);
    }
    project.agents(&["greet"]).env("RUST_TEST_NOCAPTURE", "1").output().passes().says(&printed);
}

#[test]
fn a_denied_tool_never_runs() {
    let project = Project::new();
    for update in ["1", "0"] {
        let run = project.agents(&["greet"]).update(update).env("EDIT", "denied call");
        if update == "0" {
            project.agents(&["greet"]).update("1").output().passes();
        }
        run.output().fails().says(&["CONTRACT_TOOL_DENIED", "delete_all"]);
        assert!(!project.journal().contains(&"delete_all".to_owned()), "TRAJECTLY_UPDATE={update}");
    }
    let events = project.store().events("current/greet.jsonl");
    let refused = events.iter().find(|event| event["payload"]["error_code"] == "CONTRACT_TOOL_DENIED");
    assert_eq!(refused.expect("the trace shows it")["payload"]["tool_name"], "delete_all");
}

#[test]
fn recorded_errors_come_back_as_errors_of_every_type() {
    let project = Project::recorded(&["calls::errors"]);
    assert_eq!(project.journal(), ["order", "ship", "charge"]);
    project.agents(&["calls::errors"]).output().passes();
    // The plain text of each, and with its causes.
    let texts = [
        "tea is sold out",
        "tea is sold out",
        "nobody lives at 1 Nowhere Street",
        "nobody lives at 1 Nowhere Street",
        "cannot charge -5",
        "cannot charge -5: out of range integral type conversion attempted",
    ];
    for trace in ["baselines/errors.jsonl", "current/calls-errors.jsonl"] {
        let events = project.store().events(trace);
        assert_eq!(events.last().expect("a trace has events")["payload"]["output"], json!(texts), "{trace}");
    }
    assert_eq!(project.journal().len(), 3, "no tool ran in the replay");
}

#[test]
fn methods_and_borrowed_arguments_are_recorded_by_name() {
    let project = Project::recorded(&["calls::methods"]);
    project.agents(&["calls::methods"]).output().passes();
    assert_eq!(project.journal(), ["price", "restock_async"]);
    let events = project.store().events("current/calls-methods.jsonl");
    let inputs: Vec<_> = events.iter().filter(|event| event["event_type"] == "tool_called").collect();
    assert_eq!(
        inputs[0]["payload"]["input"]["kwargs"],
        json!({ "sku": "tea", "quantities": [1, 2, 3], "note": ", loose" })
    );
    assert_eq!(inputs[1]["payload"]["tool_name"], "restock_async");
    assert_eq!(inputs[1]["payload"]["input"]["kwargs"], json!({ "count": 7 }));
}

/// Nested and concurrent calls: each return stands with its own call, and children stand within their parent.
fn assert_paired(events: &[Value]) {
    let mut open: Vec<&Value> = Vec::new();
    let mut calls = 0;
    for event in events {
        match event["event_type"].as_str() {
            Some("tool_called") => {
                calls += 1;
                assert_eq!(
                    event["meta"]["parent"],
                    open.last().map_or(Value::Null, |call| call["meta"]["call_id"].clone())
                );
                open.push(event);
            }
            Some("tool_returned") => {
                let call = open.pop().expect("a return follows its call");
                assert_eq!(event["meta"]["call_id"], call["meta"]["call_id"]);
                let n = call["payload"]["input"]["kwargs"]["n"].as_u64().expect("all tools take a number");
                let expected = match call["payload"]["tool_name"].as_str() {
                    Some("double") => 2 * n,
                    Some("square") => n * n,
                    Some("meet") => n + 100,
                    _ => n * n + 4 * n + 2,
                };
                assert_eq!(event["payload"]["output"], expected, "{call}");
            }
            _ => {}
        }
    }
    assert_eq!((open.len(), calls), (0, 18));
}

#[test]
fn nested_and_concurrent_calls_have_one_order() {
    let project = Project::recorded(&["calls::concurrent"]);
    assert_paired(&project.store().events("baselines/concurrent.jsonl"));
    let mut seen: HashMap<String, u32> = HashMap::new();
    for _ in 0..50 {
        project.agents(&["calls::concurrent"]).output().passes();
        *seen.entry(project.store().read("current/calls-concurrent.jsonl")).or_default() += 1;
    }
    assert_eq!(seen.len(), 1, "the traces of 50 replays differ: {:?}", seen.values());
    assert_paired(&project.store().events("current/calls-concurrent.jsonl"));
}

#[test]
fn concurrent_calls_are_recorded_in_one_order() {
    let project = Project::new();
    let mut first = None;
    for _ in 0..20 {
        project.agents(&["calls::concurrent"]).update("1").output().passes();
        let calls = project.store().calls("baselines/concurrent.jsonl");
        assert_eq!(first.get_or_insert_with(|| calls.clone()), &calls);
    }
}

#[test]
fn an_agent_that_does_nothing_is_an_error() {
    let project = Project::new();
    project.agents(&["idle"]).update("1").output().fails().says(&["TRACE_EMPTY", "#[tool]"]);
    assert!(!project.store().has("baselines"));
}

#[test]
fn a_spec_s_command_runs_in_a_shell() {
    let project = Project::new();
    let spec = "commands/shell.agent.yaml";
    let run = || project.run(Binary::Second).args(["--exact", spec]).env("AGENT", agent_program());
    run().output().fails().says(&["BASELINE_MISSING", "cargo test -p e2e-agents --test second-binary -- --exact"]);
    run().update("1").output().passes();
    run().arg("--nocapture").output().passes().says(&["HELLO, ADA!"]);
    assert_eq!(project.journal(), ["lookup"], "the replay ran no tool");
    assert_eq!(project.store().calls("current/commands-shell.jsonl"), ["lookup"]);
}

#[test]
fn a_spec_without_command_and_function_says_so() {
    let project = Project::new();
    let spec = "commands/unclaimed/nothing-runs-it.agent.yaml";
    let run = project.run(Binary::Second).args(["--exact", spec]);
    run.update("1").output().fails().says(&["`command`", "#[agent_test(spec", spec]);
}

#[test]
fn one_test_can_run_in_the_harness_s_own_process() {
    let project = Project::recorded(&["greet", "nested::r#match"]);
    let run = |tests: &[&str]| project.agents(tests).env("TRAJECTLY_ISOLATION", "off");
    run(&["greet"]).output().passes().says(&["about to look somebody up"]);
    run(&["greet"]).env("EDIT", "denied call").output().fails().says(&["CONTRACT_TOOL_DENIED"]);
    run(&["greet", "nested::r#match"]).output().fails().says(&["TRAJECTLY_ISOLATION", "2 are selected"]);
}
