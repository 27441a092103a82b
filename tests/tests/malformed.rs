//! What cannot be read is told of on one screen: which file, which line, what to do.

use trajectly_tests::{Case, Folder, Output, Run, Table};

/// More lines than this scroll away.
const ONE_SCREEN: usize = 25;

const SPEC: &str = "schema_version: \"0.4\"\nname: a\ncommand: sh agent.sh\nrefinement: { mode: none }\n";
const TRACE: &str = r#"{"event_type":"tool_called","seq":1,"run_id":"r","rel_ms":0,"payload":{"tool_name":"fetch"}}
{"event_type":"run_finished","seq":2,"run_id":"r","rel_ms":1,"payload":{"returncode":0}}
"#;
const META: &str = "{\"schema_version\":\"0.4\",\"normalizer_version\":\"1\",\"spec_name\":\"a\"}\n";
const FIXTURES: &str = "{\"entries\":[]}\n";

/// Runs a command line where the files of a case are, and what stands around them.
fn run(case: &Case, around: &[(&str, &str)], command: &str) -> Output {
    let folder = Folder::new();
    for (name, content) in around {
        folder.write(name, content);
    }
    case.write(&folder);
    let program = Folder::program().display().to_string();
    let line = case.command().unwrap_or(command).replace("trajectly ", &format!("{program} "));
    let output = Run::new("/bin/sh").arg("-c").arg(line).current_dir(folder.root()).output();
    let root = folder.root().display().to_string();
    let shown = |text: &str| text.replace(&program, "trajectly").replace(&root, "FOLDER");
    Output { stdout: shown(&output.stdout), stderr: shown(&output.stderr), ..output }
}

/// What a message lacks: a name, a line, a remedy for each problem, room on the screen.
fn lacks(case: &Case, output: &Output, names: &[&str]) -> Option<&'static str> {
    let said = format!("{}{}", output.stdout, output.stderr);
    let count = |is: fn(&str) -> bool| said.lines().filter(|line| is(line)).count();
    let numbered = |word: &str| {
        let mut parts = word.split(':');
        parts.next().is_some_and(|file| file.contains('.'))
            && parts.next().is_some_and(|line| line.parse::<usize>().is_ok())
    };
    // Entries of a list in JSON are places too.
    let has_line = said.split_whitespace().any(numbered) || said.contains("(at `$");
    let problems = count(|line| line.starts_with("error"));
    let remedies =
        count(|line| line.contains("= help: ") || line.contains("try '--help'") || line.starts_with("Usage: "));
    match () {
        () if output.code != 2 => Some("the exit code is not 2"),
        () if said.lines().count() > ONE_SCREEN => Some("it takes more than a screen"),
        () if !names.is_empty() && !names.iter().any(|name| said.contains(name)) => Some("it does not say which file"),
        () if !names.is_empty() && has_line == case.title.contains("(no line)") => {
            Some("it has a line, or none, unlike its title")
        }
        () if remedies == 0 || remedies < problems => Some("it does not say what to do"),
        () if said.contains("panicked") => Some("it says what nobody needs"),
        () => None,
    }
}

#[test]
fn specs() {
    let around = [("agent.sh", "exit 0\n")];
    Table::read("specs", "a.agent.yaml").assert_says(
        |case| run(case, &around, "trajectly run a.agent.yaml"),
        |case, output| lacks(case, output, &["a.agent.yaml"]),
    );
}

#[test]
fn traces() {
    let around = [("a.agent.yaml", SPEC), ("good.jsonl", TRACE)];
    Table::read("traces", "run.jsonl").assert_says(
        |case| run(case, &around, "trajectly evaluate a.agent.yaml run.jsonl --baseline good.jsonl"),
        |case, output| lacks(case, output, &[".jsonl", "a.agent.yaml:"]),
    );
}

#[test]
fn fixtures() {
    let around = [
        ("specs/a.agent.yaml", SPEC),
        (".trajectly/baselines/a.jsonl", TRACE),
        (".trajectly/baselines/a.meta.json", META),
        (".trajectly/fixtures/a.json", FIXTURES),
    ];
    Table::read("fixtures", ".trajectly/fixtures/a.json").assert_says(
        |case| run(case, &around, "trajectly run specs/a.agent.yaml"),
        |case, output| lacks(case, output, &[".trajectly/"]),
    );
}

#[test]
fn flags() {
    let around = [("a.agent.yaml", SPEC), ("good.jsonl", TRACE)];
    Table::read("flags", "").assert_says(|case| run(case, &around, ""), |case, output| lacks(case, output, &[]));
}

#[test]
fn there_are_many() {
    let tables = ["specs", "traces", "fixtures", "flags"].map(|name| Table::read(name, "").cases.len());
    assert!(tables.iter().sum::<usize>() >= 200, "{tables:?}");
}
