//! Accepted files that were spoilt by hand, by a merge or by half a copy, and event files that the agent spoilt.

use trajectly_tests::{Binary, Project};

const TRACE: &str = ".trajectly/baselines/greet.jsonl";
const META: &str = ".trajectly/baselines/greet.meta.json";
const FIXTURES: &str = ".trajectly/fixtures/greet.json";
const SNAPSHOT: &str = "specs/snapshots/greet.snap";

fn without_last_line(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[..lines.len() - 1].iter().map(|line| format!("{line}\n")).collect()
}

fn conflict(text: &str) -> String {
    format!("<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> other\n")
}

#[test]
fn a_broken_baseline_is_refused_with_its_place_and_what_to_do() {
    type Spoil = fn(&str) -> String;
    let cases: [(&str, Spoil, &str); 15] = [
        (TRACE, |_| String::new(), "holds no event"),
        (TRACE, without_last_line, "ends before the run does"),
        (TRACE, conflict, "greet.jsonl:1:1"),
        (TRACE, |text| text[..text.len() / 2].to_owned(), "greet.jsonl:"),
        (FIXTURES, |_| String::new(), "greet.json:1"),
        (FIXTURES, conflict, "greet.json:1"),
        (FIXTURES, |text| format!("\u{feff}{text}"), "greet.json:1:1: expected a value, found a byte order mark"),
        (TRACE, |text| format!("\u{feff}{text}"), "greet.jsonl:1:1: expected a value, found a byte order mark"),
        (META, |text| format!("\u{feff}{text}"), "greet.meta.json:1:1: expected a value, found a byte order mark"),
        (META, |_| String::new(), "baselines/greet.meta.json is missing, or empty"),
        (META, |_| "[]".to_owned(), "greet.meta.json: this must be an object"),
        (META, conflict, "greet.meta.json:1:1"),
        (META, |text| text[..text.len() / 2].to_owned(), "greet.meta.json:"),
        (SNAPSHOT, conflict, "is no insta snapshot"),
        (SNAPSHOT, |_| String::new(), "is no insta snapshot"),
    ];
    let project = Project::recorded(&["greet"]);
    for (file, spoil, says) in cases {
        let whole = project.read(file);
        project.write(file, &spoil(&whole));
        let output = project.agents(&["greet"]).output().fails();
        let output = output.says(&["greet", "--> specs/greet.agent.yaml", says, "restore it from version control"]);
        output.never_says(&["legacy"]);
        project.write(file, &whole);
    }
    project.agents(&["greet"]).output().passes();
}

#[test]
fn a_file_that_is_missing_or_no_text_is_named_as_the_project_has_it() {
    let project = Project::recorded(&["greet"]);
    for (file, says) in [
        (TRACE, ".trajectly/baselines/greet.jsonl is not UTF-8"),
        (META, ".trajectly/baselines/greet.meta.json is not UTF-8"),
        (FIXTURES, ".trajectly/fixtures/greet.json is not UTF-8"),
        (META, ".trajectly/baselines/greet.meta.json is missing"),
        (FIXTURES, ".trajectly/fixtures/greet.json is missing"),
    ] {
        let whole = project.read(file);
        match says.ends_with("missing") {
            true => std::fs::remove_file(project.path(file)).expect("it is there"),
            false => std::fs::write(project.path(file), b"\xff\xfe{\0").expect("it can be written"),
        }
        let output = project.agents(&["greet"]).output().fails();
        output.says(&["error[BASELINE_INVALID]: ", says, "restore it from version control", "record it again"]);
        project.write(file, &whole);
    }
}

#[test]
fn a_baseline_of_another_version_is_to_be_recorded_again() {
    let project = Project::recorded(&["greet"]);
    let whole = project.read(META);
    for (from, to, says) in [
        ("\"normalizer_version\": \"1\"", "\"normalizer_version\": \"2\"", "`normalizer_version` is \"2\""),
        ("\"normalizer_version\": \"1\"", "\"normalizer_version\": 1", "`normalizer_version` is 1"),
        ("\"normalizer_version\"", "\"x\"", "`normalizer_version` is missing"),
        ("\"schema_version\": \"0.4\"", "\"schema_version\": \"0.3\"", "`schema_version` is \"0.3\""),
    ] {
        assert!(whole.contains(from), "{whole}");
        project.write(META, &whole.replace(from, to));
        let output = project.agents(&["greet"]).output().fails();
        output.says(&["error[NORMALIZER_VERSION_MISMATCH]: ", says, "record the baseline again"]);
    }
    project.agents(&["greet"]).update("1").output().passes();
    project.agents(&["greet"]).output().passes();
}

fn shell_spec(project: &Project, file: &str, name: &str, command: &str) -> String {
    let spec = format!("commands/{file}.agent.yaml");
    project.write(&spec, &format!("schema_version: \"0.4\"\nname: '{name}'\ncommand: |\n  {command}\n"));
    spec
}

/// A shell's way to call a tool that answers at once.
fn calls(tool: &str, output: &str) -> String {
    let row = |kind: &str, rest: &str| {
        let payload = format!(r#"{{"tool_name":"{tool}",{rest}}}"#);
        format!(
            r#"echo '{{"event_type":"tool_{kind}","rel_ms":1,"payload":{payload},"meta":{{}}}}' >> "$TRAJECTLY_EVENTS_FILE""#
        )
    };
    format!("{}; {}", row("called", r#""input":{}"#), row("returned", &format!(r#""output":{output},"error":null"#)))
}

#[test]
fn whatever_an_agent_makes_of_its_event_file_is_an_error_and_no_hang() {
    let project = Project::new();
    for (n, command, says) in [
        (1, r#"echo garbage >> "$TRAJECTLY_EVENTS_FILE""#, "events of the run:1:1"),
        (2, r#"rm "$TRAJECTLY_EVENTS_FILE""#, "cannot read the events of the run"),
        (3, r#"rm "$TRAJECTLY_EVENTS_FILE"; mkfifo "$TRAJECTLY_EVENTS_FILE""#, "something else in the place"),
        (4, r#"ln -sf /dev/zero "$TRAJECTLY_EVENTS_FILE""#, "something else in the place"),
        (5, r#"rm "$TRAJECTLY_EVENTS_FILE"; mkdir "$TRAJECTLY_EVENTS_FILE""#, "something else in the place"),
        (6, r#"printf '{"event_type":"tool_ca' >> "$TRAJECTLY_EVENTS_FILE""#, "events of the run:1:23"),
        (7, r#"echo '{"event_type":"tool_call"}' >> "$TRAJECTLY_EVENTS_FILE""#, "one of run_started, agent_step"),
        (8, r#"echo '["tool_called"]' >> "$TRAJECTLY_EVENTS_FILE""#, "an event is an object, found an array"),
    ] {
        let spec = shell_spec(&project, &format!("spoils-{n}"), &format!("spoils {n}"), command);
        let run = project.run(Binary::Second).args(["--exact", &spec]).update("1");
        run.output().fails().says(&["TRACE_INVALID", says, &spec, "$TRAJECTLY_EVENTS_FILE"]);
    }
}

#[test]
fn what_a_killed_agent_was_writing_is_no_error_of_its_own() {
    let project = Project::new();
    let torn = r#"printf '{"event_type":"tool_ca' >> "$TRAJECTLY_EVENTS_FILE"; kill -9 $$"#;
    let spec = shell_spec(&project, "killed", "killed", &format!("{}; {torn}", calls("one", "1")));
    let run = project.run(Binary::Second).args(["--exact", &spec]).update("1");
    run.output().fails().says(&["SIGKILL"]).never_says(&["TRACE_INVALID"]);
}

#[test]
fn a_run_held_against_no_call_is_noted() {
    let project = Project::new();
    let step = r#"echo '{"event_type":"agent_step","payload":{"name":"s"}}' >> "$TRAJECTLY_EVENTS_FILE""#;
    let spec = shell_spec(&project, "idle", "idle", step);
    let run = |update: &str| project.run(Binary::Second).args(["--exact", &spec]).update(update).output();
    run("1").passes();
    run("0").passes().never_says(&["no call is extra"]);
    shell_spec(&project, "idle", "idle", &format!("{step}; {}", calls("one", "1")));
    run("0").says(&["the baseline calls no tool, so no call is extra"]);
}

#[test]
fn a_name_that_makes_the_same_file_names_takes_no_baseline_away() {
    let project = Project::new();
    let first = shell_spec(&project, "first", "a b", &calls("one", "1"));
    let second = shell_spec(&project, "second", "a-b", &calls("two", "1"));
    let run = |spec: &str, update: &str| project.run(Binary::Second).args(["--exact", spec]).update(update).output();
    run(&first, "1").passes();
    let before = project.store().baseline("commands", "a-b");
    for update in ["1", "new", "accept", "0"] {
        run(&second, update).fails().says(&["BASELINE_NAME_CLASH", "`a b`", "rename"]);
    }
    assert_eq!(project.store().baseline("commands", "a-b"), before);
    run(&first, "1").passes();
}

#[test]
fn calls_too_deep_to_be_read_again_are_no_baseline() {
    let project = Project::new();
    let mut refused = 0;
    for depth in 120..128 {
        let output = "[".repeat(depth) + &"]".repeat(depth);
        let spec = shell_spec(&project, "deep", &format!("deep {depth}"), &calls("one", &output));
        let run = || project.run(Binary::Second).args(["--exact", &spec]);
        let recorded = run().update("1").output();
        if project.store().has(&format!("baselines/deep-{depth}.jsonl")) {
            recorded.passes();
            run().output().passes();
        } else {
            recorded.fails().says(&["nested deeper than"]);
            refused += 1;
        }
    }
    assert!((1..8).contains(&refused), "{refused} of 8 depths are too deep");
}
