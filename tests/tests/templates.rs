//! `trajectly enable`: what it starts works at once, and was recorded for real.

use std::fs;

use serde_json::json;
use trajectly_tests::{
    Answer, Folder, Provider, Request, Run, Started, assert_generated, is_updating, masked, repository,
};

#[test]
fn openai_passes_at_once() {
    passes_at_once("openai", Started::cargo_test, |project| project.cargo_test().update("1"));
}

#[test]
fn rig_passes_at_once() {
    passes_at_once("rig", Started::cargo_test, |project| project.cargo_test().update("1"));
}

#[test]
fn genai_passes_at_once() {
    passes_at_once("genai", Started::cargo_test, |project| project.cargo_test().update("1"));
}

#[test]
fn langchain_passes_at_once() {
    passes_at_once("langchain", run, record);
}

#[test]
fn autogen_passes_at_once() {
    passes_at_once("autogen", run, record);
}

fn run(project: &Started) -> Run {
    project.trajectly(&["run", "specs/triage.agent.yaml"])
}

fn record(project: &Started) -> Run {
    project.trajectly(&["record", "specs/triage.agent.yaml"])
}

/// Replays what a template brings; then records it anew, which has to come to the same.
#[track_caller]
fn passes_at_once(template: &str, replay: impl Fn(&Started) -> Run, record: impl Fn(&Started) -> Run) {
    let project = Started::of(template);
    if !is_updating() {
        replay(&project).output().passes();
        assert!(project.store().has("current/triage.jsonl"), "nothing was replayed");
    }
    let provider = Provider::start(model);
    record(&project).env("OPENAI_BASE_URL", provider.url()).env("OPENAI_API_KEY", "sk-test").output().passes();
    assert_eq!(project.store().calls("baselines/triage.jsonl"), ["fetch_ticket", "store_triage"]);
    for (path, text) in project.store().baseline("specs", "triage") {
        assert_generated(&format!("trajectly-test/templates/{template}/{path}"), &masked(&text));
    }
}

/// Does what the instructions of the agent say, a call at a time.
fn model(request: &Request) -> Answer {
    let messages = request.body["messages"].as_array().expect("a conversation");
    match messages.iter().filter(|message| message["role"] == "tool").count() {
        0 => Answer::calls(&[("call_1", "fetch_ticket", json!({ "ticket_id": "T-1042" }))]),
        1 => Answer::calls(&[("call_2", "store_triage", json!({ "ticket_id": "T-1042", "priority": "high" }))]),
        _ => Answer::text("T-1042 has high priority, as no card payment goes through."),
    }
}

#[test]
fn a_crate_that_is_there_gets_what_it_lacks() {
    let project = Started::empty("existing");
    let manifest = "[package]\nname = \"help-desk\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
                    [dependencies]\nanyhow = \"1\"\nserde.version = \"1\"\n";
    project.write("Cargo.toml", manifest);
    project.write("src/lib.rs", "//! The help desk.\n");
    let enabled = project.enable("openai").passes().says(&[
        "kept  Cargo.toml",
        "kept  src/lib.rs",
        "made  src/triage.rs",
        "# there already; make sure of: serde = { version = \"1\", features = [\"derive\"] }",
    ]);
    assert_eq!(project.read("Cargo.toml"), manifest);

    let mut additions =
        enabled.stdout.split("\nAdd this to ").skip(1).map(|rest| rest.split_once(":\n\n").expect("lines"));
    let mut pasted = Vec::new();
    for (file, rest) in additions.by_ref() {
        let lines = rest.split("\n\nThen replay").next().expect("lines").trim_end();
        // Of a table that is there, the lines go below its header.
        let lines = lines.replace("[dependencies]\n", "");
        project.write(file, &format!("{}\n{lines}\n", project.read(file).trim_end()));
        pasted.push(file);
    }
    assert_eq!(pasted, ["Cargo.toml", "src/lib.rs"]);
    let pasted = project
        .read("Cargo.toml")
        .replace("serde.version = \"1\"\n", "serde = { version = \"1\", features = [\"derive\"] }\n");
    project.write("Cargo.toml", &pasted);
    project.settle();
    project.cargo_test().output().passes().says(&["test triage "]);

    project.enable("openai").passes().never_says(&["made", "Add this"]);
}

#[test]
fn what_is_there_is_kept() {
    let folder = Folder::new();
    let texts = [("requirements.txt", "langchain-core==1.7.2\n"), ("agents/triage.py", "print()\n")];
    texts.iter().for_each(|(path, text)| folder.write(path, text));
    let enabled = folder.trajectly(["enable", "--template", "langchain"]).output().passes();
    let enabled = enabled.says(&["kept  requirements.txt", "kept  agents/triage.py", "made  specs/triage.agent.yaml"]);
    enabled.says(&["Add this to requirements.txt:\n\nlangchain-openai=="]).never_says(&["\nlangchain-core"]);
    texts.iter().for_each(|(path, text)| assert_eq!(folder.read(path), *text));
}

#[test]
fn without_a_template_it_finds_the_specs() {
    let folder = Folder::new();
    folder.trajectly(["enable", "new/project"]).output().passes().says(&[
        "made  new/project/.trajectly/.gitignore",
        "There are no specs yet",
        "trajectly init",
    ]);
    for spec in ["b/deep/b.agent.yaml", "a.agent.yaml", "target/not.agent.yaml", "other.yaml"] {
        folder.write(&format!("new/project/{spec}"), "schema_version: \"0.4\"\ncommand: \"true\"\n");
    }
    let output = folder.trajectly(["enable", "new/project"]).output().passes();
    let found: Vec<&str> = output.stdout.lines().filter_map(|line| line.strip_prefix("found  ")).collect();
    assert_eq!(found, ["new/project/a.agent.yaml", "new/project/b/deep/b.agent.yaml"]);
    output.says(&["kept  new/project/.trajectly/.gitignore", "trajectly record --auto --project-root new/project"]);
}

#[test]
fn what_cannot_be_is_said() {
    let folder = Folder::new();
    folder.write("file", "");
    folder.write("workspace/Cargo.toml", "[workspace]\nmembers = []\n");
    folder.write("taken/specs", "");
    let cases: [(&[&str], &[&str]); 5] = [
        (&["enable", "--template", "crewai"], &["crewai", "openai, rig, genai, langchain, autogen"]),
        (&["enable", "file"], &["error: file is no folder", "= help: name the folder of the project"]),
        (&["enable", "file", "--template", "rig"], &["error: file is no folder"]),
        (
            &["enable", "workspace", "--template", "rig"],
            &["error: workspace/Cargo.toml has no [package] with a name", "= help: name the folder of a crate"],
        ),
        (&["enable", "taken", "--template", "autogen"], &["error: cannot make the folder taken/specs"]),
    ];
    for (args, says) in cases {
        folder.trajectly(args).output().exits(2).says(says);
    }
}

#[test]
fn the_templates_are_formatted_as_rust_is() {
    let file = |path: &str| repository().join("trajectly-test/templates").join(path);
    let files = ["rust/tests/agents.rs", "openai/src/triage.rs", "rig/src/triage.rs", "genai/src/triage.rs"].map(file);
    // Not as this repository is.
    let defaults = ["--check", "--edition=2024", "--config-path=/dev/null"];
    Run::new("rustfmt").args(defaults).args(&files).output().passes();
}

#[test]
fn the_tests_have_the_packages_of_the_templates() {
    let read =
        |path: &str| fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let installed = read("tests/python/requirements.txt");
    for template in ["langchain", "autogen"] {
        for package in read(&format!("trajectly-test/templates/{template}/requirements.txt")).lines() {
            assert!(installed.lines().any(|line| line == package), "tests/python/requirements.txt lacks {package}");
        }
    }
}
