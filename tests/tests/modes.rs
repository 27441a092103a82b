//! What a run does with baselines: replay, record, record what is missing, accept; and what it refuses to write.

use trajectly_tests::{Binary, BuiltCrate, Project, Provider, agent_program, masked};

/// The files of a baseline that a user would commit.
fn committed(project: &Project, name: &str) -> [(String, String); 4] {
    project.store().baseline("specs", name)
}

#[test]
fn the_command_that_a_missing_baseline_names_records_it() {
    let built = BuiltCrate::lock();
    for (binary, test) in [
        (Binary::Agents, "greet"),
        (Binary::Agents, "an agent with a title"),
        (Binary::Plain, "titled"),
        (Binary::Plain, "nested::r#match"),
        (Binary::Library, "tests::inside_the_library"),
        (Binary::Second, "greet"),
    ] {
        built.forget_recordings();
        let missing = built.run(binary).args(["--exact", test]).output().fails().says(&["error[BASELINE_MISSING]"]);
        built.shell(&missing.row("= help: record one:")).passes().says(&["1 passed"]);
        built.shell(&missing.row("reproduce")).passes().says(&["1 passed"]);
    }
}

#[test]
fn a_missing_baseline_tells_what_recording_a_model_takes() {
    let project = Project::new();
    let missing = || project.agents(&["ask"]);
    missing().output().fails().says(&["BASELINE_MISSING", "OPENAI_API_KEY"]);
    for (name, value) in [("OPENAI_API_KEY", "a-key"), ("OPENAI_BASE_URL", "http://localhost:1")] {
        missing().env(name, value).output().fails().says(&["BASELINE_MISSING"]).never_says(&["OPENAI_API_KEY"]);
    }
}

#[test]
fn a_recorded_run_replays_without_model_and_tools() {
    let project = Project::new();
    let provider = Provider::saying("the first");
    project.agents(&["ask"]).update("1").env("OPENAI_BASE_URL", provider.url()).output().passes();
    assert_eq!(provider.requests().len(), 1);
    assert_eq!(project.journal(), ["store the first"]);
    let url = provider.url();
    provider.stop();
    for binary in Binary::BOTH_HARNESSES {
        project.run(binary).args(["--exact", "ask"]).env("OPENAI_BASE_URL", &url).output().passes();
    }
    assert_eq!(project.journal(), ["store the first"], "a replay runs no tool");
}

#[test]
fn the_key_of_a_recording_reaches_the_provider_alone() {
    let project = Project::new();
    let provider = Provider::saying("hello");
    let key = "a-key-of-the-user";
    let record = project.agents(&["ask"]).update("1").env("OPENAI_BASE_URL", provider.url());
    record.env("OPENAI_API_KEY", key).output().passes();
    assert_eq!(provider.requests()[0].header("authorization"), Some("Bearer a-key-of-the-user"));
    for (path, text) in project.store().all("") {
        assert!(!text.contains(key), "{}", path.display());
    }
}

#[test]
fn new_records_only_what_is_missing() {
    let project = Project::recorded(&["greet"]);
    let before = committed(&project, "greet");
    project
        .agents(&["greet", "nested::r#match"])
        .update("new")
        .env("EDIT", "answer")
        .output()
        .fails()
        .says(&["SNAPSHOT_DRIFT", "1 passed"]);
    assert_eq!(committed(&project, "greet"), before);
    project.agents(&["nested::r#match"]).output().passes();
}

#[test]
fn accept_makes_a_replay_the_baseline() {
    let project = Project::recorded(&["greet"]);
    let journal = project.journal();
    let edited = || project.agents(&["greet"]).env("EDIT", "answer");
    let drift = edited().output().fails();
    assert_eq!(drift.row("accept instead"), format!("TRAJECTLY_UPDATE=accept {}", drift.row("reproduce")));
    edited().update("accept").output().passes();
    edited().output().passes();
    project.agents(&["greet"]).output().fails().says(&["SNAPSHOT_DRIFT"]);
    assert_eq!(project.journal(), journal, "nothing ran live");
    let events = project.store().events("baselines/greet.jsonl");
    assert_eq!(events.last().expect("a trace has events")["payload"]["output"], "ada");
}

#[test]
fn accept_takes_an_extra_call_only_if_it_was_recorded() {
    let project = Project::recorded(&["greet"]);
    let edited = || project.agents(&["greet"]).env("EDIT", "extra call");
    edited().output().fails().says(&["REFINEMENT_EXTRA_TOOL_CALL", "FIXTURE_MISSING", "record again"]);
    let before = committed(&project, "greet");
    edited().update("accept").output().fails().says(&["ACCEPT_REFUSED", "FIXTURE_MISSING"]);
    assert_eq!(committed(&project, "greet"), before);
    edited().update("1").output().passes();
    assert_eq!(project.store().calls("baselines/greet.jsonl"), ["lookup", "audit"]);
    // Without the edit, the recorded call is missing now, which a replay can answer.
    project.agents(&["greet"]).output().fails().says(&["REFINEMENT_BASELINE_CALL_MISSING"]);
    project.agents(&["greet"]).update("accept").output().passes();
    project.agents(&["greet"]).output().passes();
}

#[test]
fn accept_takes_no_secret() {
    let project = Project::recorded(&["greet"]);
    let before = committed(&project, "greet");
    let run = project.agents(&["greet"]).update("accept").env("EDIT", "secret answer");
    run.output().fails().says(&["ACCEPT_REFUSED", "a GitHub token"]);
    assert_eq!(committed(&project, "greet"), before);
}

#[test]
fn a_ci_writes_no_baseline_unless_told_to() {
    for (variables, writes) in [
        (&[("CI", "1")][..], false),
        (&[("CI", "woodpecker")], false),
        (&[("TRAJECTLY_CI", "1")], false),
        (&[("CI", "true"), ("TRAJECTLY_CI", "0")], true),
        (&[("CI", "true"), ("TRAJECTLY_ALLOW_CI_WRITE", "1")], true),
        (&[("CI", "false")], true),
    ] {
        for mode in ["1", "new"] {
            let project = Project::new();
            let output = project.agents(&["greet"]).update(mode).envs(variables).output();
            if writes {
                output.passes();
            } else {
                output.fails().says(&["CI_WRITE_REFUSED", "TRAJECTLY_ALLOW_CI_WRITE=1"]);
            }
            assert_eq!(project.store().has("baselines/greet.jsonl"), writes, "{variables:?} {mode}");
        }
        let project = Project::recorded(&["greet"]);
        let before = committed(&project, "greet");
        project.agents(&["greet"]).envs(variables).output().passes();
        project.agents(&["greet"]).update("accept").env("EDIT", "answer").envs(variables).output();
        assert_eq!(committed(&project, "greet") != before, writes, "{variables:?} accept");
    }
}

#[test]
fn a_test_that_expects_to_fail_never_records() {
    let project = Project::new();
    let alone = || project.agents(&["greet_regression"]);
    alone().update("1").output().fails().says(&["BASELINE_MISSING", "`name: greet`"]);
    assert!(!project.store().has("baselines"));
    project.agents(&["greet", "greet_regression"]).update("1").output().passes();
    assert_eq!(project.store().calls("baselines/greet.jsonl"), ["lookup"]);
    let before = committed(&project, "greet");
    for mode in ["1", "new", "accept"] {
        alone().update(mode).output().passes();
    }
    let shown = alone().arg("--nocapture").output().passes();
    shown.says(&["note: the failure below is expected, so the test passes\n\nFAIL greet", "CONTRACT_TOOL_DENIED"]);
    assert_eq!(committed(&project, "greet"), before);
}

#[test]
fn an_expected_failure_that_does_not_come_is_a_failure() {
    let project = Project::recorded(&["greet"]);
    project.write("specs/greet-regression.agent.yaml", "schema_version: \"0.4\"\nname: greet\n");
    project.agents(&["greet_regression"]).output().fails().says(&["EXPECTED_FAILURE_NOT_SEEN", "CONTRACT_TOOL_DENIED"]);
}

#[test]
fn two_recorders_of_one_name_are_refused_with_both_files() {
    let project = Project::new();
    let places = ["specs/twins/first.agent.yaml (twins::first)", "specs/twins/second.agent.yaml (twins::second)"];
    project.run(Binary::Agents).arg("twins::").update("1").output().fails().says(&places);
    assert!(!project.store().has("baselines"));
    // libtest runs each test for itself, so one of them has recorded by then.
    project.run(Binary::Plain).arg("twins::").update("1").output().fails().says(&places).says(&["1 passed"]);
    project.agents(&["twins::first"]).update("1").output().passes();
    let output = project.run(Binary::Agents).arg("twins::").update("new").output().fails();
    output.says(&["1 passed", "FIXTURE_MISSING"]);
}

#[test]
fn recording_again_changes_times_only() {
    let project = Project::new();
    let provider = Provider::saying("the same");
    let tests = ["greet", "ask", "calls::concurrent", "calls::errors", "calls::methods"];
    let files = || {
        let above = ["greet", "ask"].map(|name| project.store().baseline("specs", name));
        let below = ["concurrent", "errors", "methods"].map(|name| project.store().baseline("specs/calls", name));
        above.into_iter().chain(below).flatten().map(|(path, text)| (path, masked(&text))).collect::<Vec<_>>()
    };
    let record = || project.agents(&tests).update("1").env("OPENAI_BASE_URL", provider.url()).output().passes();
    record();
    let first = files();
    for _ in 0..3 {
        record();
        for ((path, before), (_, again)) in first.iter().zip(files()) {
            assert_eq!(*before, again, "{path}");
        }
    }
}

#[test]
fn a_recording_that_cannot_be_a_baseline_is_kept_aside() {
    let project = Project::recorded(&["greet"]);
    let before = committed(&project, "greet");
    for (edit, reason) in
        [("error", "the agent gave up"), ("denied call", "CONTRACT_TOOL_DENIED"), ("secret", "a GitHub token")]
    {
        let output = project.agents(&["greet"]).update("1").env("EDIT", edit).output().fails();
        output.says(&["RECORDING_REJECTED", reason, ".trajectly/rejected/greet"]);
        assert!(project.store().read("rejected/greet/reason.txt").contains(reason));
        assert_eq!(project.store().has("rejected/greet/trace.jsonl"), edit != "secret");
        assert_eq!(committed(&project, "greet"), before, "{edit}");
        for (path, text) in project.store().all("") {
            assert!(!text.contains("ghp_0123456789"), "{} holds the secret", path.display());
        }
    }
    project.agents(&["greet"]).output().passes();
    project.agents(&["greet"]).update("1").output().passes();
    assert!(!project.store().has("rejected/greet"), "a recording that was taken leaves no rejected one behind");
}

#[test]
fn a_secret_that_the_spec_redacts_is_no_obstacle() {
    let project = Project::new();
    project.add_to_spec("greet", "redact: ['ghp_[0-9]+']\n");
    project.agents(&["greet"]).update("1").env("EDIT", "secret").output().passes();
    project.agents(&["greet"]).env("EDIT", "secret").output().passes();
    for (path, text) in project.store().all("") {
        assert!(!text.contains("ghp_0123456789"), "{} holds the secret", path.display());
    }
}

#[test]
fn a_provider_that_does_not_answer_spoils_no_baseline() {
    let project = Project::new();
    let provider = Provider::saying("the first");
    let url = provider.url();
    let record = || project.agents(&["ask"]).update("1").env("OPENAI_BASE_URL", &url).output();
    record().passes();
    let before = committed(&project, "ask");
    provider.stop();
    record().fails().says(&["RECORDING_REJECTED", &url, "did not answer"]);
    assert_eq!(committed(&project, "ask"), before);
    project.agents(&["ask"]).output().passes();
}

#[test]
fn all_mistakes_of_a_spec_are_told_in_their_places_and_other_tests_run() {
    let project = Project::recorded(&["nested::r#match"]);
    project.add_to_spec("greet", "timout_s: 1\nstrict: yes\n");
    let output = project.agents(&["greet", "nested::r#match"]).output().fails();
    assert_eq!(output.results(), [("greet", "FAILED"), ("nested::r#match", "ok")]);
    output.says(&[
        "specs/greet.agent.yaml:6:1",
        "timout_s: 1",
        "did you mean `timeout_s`?",
        "specs/greet.agent.yaml:7:9",
        "write true",
    ]);
}

#[test]
fn nothing_that_is_kept_holds_an_absolute_path() {
    let project = Project::recorded(&["greet", "nested::r#match", "calls::errors"]);
    project.agents(&["greet", "nested::r#match", "calls::errors"]).env("EDIT", "extra call").output().fails();
    let root = project.root().to_str().expect("temporary folders have plain names");
    let kept =
        project.store().all("").into_iter().filter(|(path, _)| !path.components().any(|c| c.as_os_str() == "tmp"));
    for (path, text) in kept {
        assert!(!text.contains(root), "{}:\n{text}", path.display());
    }
}

#[test]
fn a_tool_that_the_spec_forbids_is_never_run() {
    for rule in
        ["tools: { deny: [delete_all] }", "tools: { allow: [lookup] }", "side_effects: { deny_write_tools: true }"]
    {
        let project = Project::new();
        let spec = format!("schema_version: \"0.4\"\nname: greet\ncontracts:\n  {rule}\n");
        project.write("specs/greet.agent.yaml", &spec);
        let greet = || project.agents(&["greet"]).env("EDIT", "denied call");
        greet().update("1").output().fails().says(&["RECORDING_REJECTED", "the spec forbids `delete_all`"]);
        project.agents(&["greet"]).update("1").output().passes();
        greet().output().fails().says(&["the spec forbids `delete_all`"]);
        assert_eq!(project.journal(), ["lookup", "lookup"], "{rule}");
    }
}

#[test]
fn a_spec_that_expects_to_fail_lets_the_recording_of_its_baseline_go_first() {
    let project = Project::new();
    let base = project.read("commands/shell.agent.yaml");
    // First by name, and last to run.
    project.write("commands/a-regression.agent.yaml", &format!("{base}expect: {{ code: CONTRACT_TOOL_DENIED }}\n"));
    let regression = project.read("commands/a-regression.agent.yaml");
    project.write(
        "commands/a-regression.agent.yaml",
        &format!("{regression}contracts: {{ tools: {{ deny: [lookup] }} }}\n"),
    );
    let tests = ["commands/a-regression.agent.yaml", "commands/shell.agent.yaml"];
    let run = || project.run(Binary::Second).env("AGENT", agent_program()).arg("--exact").args(tests);
    run().update("1").arg("--test-threads=1").output().passes().says(&["2 passed"]);
    run().output().passes().says(&["2 passed"]);
}
