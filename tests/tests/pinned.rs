//! Clocks and random numbers that are the same in every run, for agents in Rust and in Python.

use serde_json::Value;
use trajectly_tests::{Binary, Project, Provider};

const BOTH: &str = "determinism: { clock: { mode: record_and_freeze }, random: { mode: deterministic_seed } }\n";

fn meta(project: &Project, name: &str) -> Value {
    serde_json::from_str(&project.read(&format!(".trajectly/baselines/{name}.meta.json"))).expect("JSON")
}

#[test]
fn what_the_spec_pins_is_the_same_in_a_replay() {
    for (keys, prompt, passes) in [
        (BOTH, "It is {now}, and the number is {seed}.", true),
        ("", "The number is {seed}.", true),
        ("", "It is {now}.", false),
        ("determinism: { random: { mode: strict } }\n", "It is {now}.", false),
        ("determinism: { clock: { mode: freeze_only } }\n", "It is {now}.", false),
        ("determinism: { clock: { mode: disabled } }\n", "It is {now}.", false),
    ] {
        let project = Project::new();
        project.add_to_spec("ask", keys);
        let provider = Provider::saying("hello");
        let ask = || project.agents(&["ask"]).env("PROMPT", prompt);
        ask().update("1").env("OPENAI_BASE_URL", provider.url()).output().passes();
        let output = ask().output();
        assert_eq!(output.code == 0, passes, "{keys}{prompt}\n{output}");
    }
}

#[test]
fn seeds_are_drawn_once_and_kept() {
    let project = Project::new();
    let provider = Provider::saying("hello");
    let record = || project.agents(&["ask"]).update("1").env("OPENAI_BASE_URL", provider.url()).output().passes();
    record();
    let seeds = |meta: &Value| (meta["clock_seed"].as_f64(), meta["random_seed"].as_u64());
    assert_eq!(seeds(&meta(&project, "ask")), (None, None), "none is asked for");
    project.add_to_spec("ask", BOTH);
    record();
    let first = meta(&project, "ask");
    let (clock, random) = seeds(&first);
    assert!(clock.is_some_and(|clock| clock > 1.7e9), "{first}");
    assert!(random.is_some_and(|random| (1..1 << 31).contains(&random)), "{first}");
    record();
    project.agents(&["ask"]).update("accept").output().passes();
    assert_eq!(meta(&project, "ask"), first);
}

/// A project with an agent in Python that calls a tool with `expression`.
fn python(keys: &str, expression: &str) -> (Project, String) {
    let project = Project::new();
    let agent = format!(
        "import random, time, uuid\nfrom trajectly.sdk import tool\n\n@tool(\"note\")\ndef note(text):\n    return text\n\n\
         note(str({expression}))\n"
    );
    project.write("commands/agent.py", &agent);
    let spec = "commands/pinned.agent.yaml".to_owned();
    project.write(&spec, &format!("schema_version: \"0.4\"\nname: pinned\ncommand: python agent.py\n{keys}"));
    (project, spec)
}

#[test]
fn an_agent_in_python_gets_them_without_asking() {
    for (keys, passes) in [(BOTH, true), ("strict: true\n", false)] {
        let (project, spec) = python(keys, "[time.time(), random.random(), uuid.uuid4()]");
        let run =
            |update: &str| project.run(Binary::Second).args(["--exact", &spec]).with_python().update(update).output();
        run("1").passes();
        let output = run("0");
        assert_eq!(output.code == 0, passes, "{keys}\n{output}");
    }
}

#[test]
fn what_an_agent_in_python_complains_of_is_told() {
    let (project, spec) = python("determinism: { random: { mode: strict } }\n", "1");
    let run = |update: &str| project.run(Binary::Second).args(["--exact", &spec]).with_python().update(update).output();
    run("1").passes();
    project.write("commands/agent.py", &(project.read("commands/agent.py") + "uuid.uuid4()\n"));
    run("0").fails().says(&["AGENT_RUN_FAILED", "note: NONDETERMINISM_"]);
    let report: Value = serde_json::from_str(&project.store().read("reports/commands-pinned.json")).expect("JSON");
    let [warning] = report["determinism_warnings"].as_array().expect("a list").as_slice() else { panic!("{report}") };
    assert!(warning["code"].as_str().is_some_and(|code| code.starts_with("NONDETERMINISM_")), "{warning}");
    assert!(!warning.to_string().contains("expected_hash"), "{warning}");
}
