//! The command line: which specs it runs, what it says of them, and how it ends.

use serde_json::Value;
use trajectly_tests::{Folder, Output, Pasted, Run};

/// A project with the sample of `init`, recorded, and what `more` says.
fn project(more: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    folder.trajectly(["init"]).output().passes();
    folder.trajectly(["record", "--auto"]).output().passes();
    more.iter().for_each(|(path, content)| folder.write(path, content));
    folder
}

fn regression(folder: &Folder) {
    let agent = folder.read("agents/sample.sh").replace("store_priority", "drop_ticket");
    folder.write("agents/regression.sh", &agent);
    let spec = folder.read("specs/sample.agent.yaml").replace("sample.sh", "regression.sh");
    folder.write("specs/regression.agent.yaml", &spec);
}

const BROKEN: (&str, &str) = ("specs/broken.agent.yaml", "schema_version: \"0.4\"\nnmae: broken\n");

fn summary(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}\n{output}"))
}

/// Spec file, status and code of each row.
fn rows(summary: &Value) -> Vec<[&str; 3]> {
    let keys = ["spec_path", "trt_status", "trt_primary_violation"];
    let rows = summary["reports"].as_array().expect("a summary has rows");
    rows.iter().map(|row| keys.map(|key| row[key].as_str().unwrap_or_default())).collect()
}

#[test]
fn init_makes_a_project_that_runs_at_once() {
    let folder = Folder::new();
    folder.trajectly(["init"]).output().passes().says(&["made  specs/sample.agent.yaml", "trajectly record --auto"]);
    folder.trajectly(["record", "--auto"]).output().passes().says(&["RECORDED specs/sample.agent.yaml"]);
    folder.trajectly(["run", "--auto"]).output().passes().says(&["PASS specs/sample.agent.yaml", "1 spec: 1 passed"]);
}

#[test]
fn init_in_a_crate_says_what_its_manifest_needs_and_then_its_test_passes() {
    let project = Pasted::new("init");
    let manifest = "[package]\nname = \"fresh\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    project.write("Cargo.toml", manifest);
    project.write("src/lib.rs", "");
    let init = || Run::new(Folder::program()).arg("init").current_dir(project.path("")).output().passes();
    let said = init().says(&["made  specs/sample.agent.yaml", "made  tests/agents.rs"]).stdout;
    let (_, lines) = said.split_once("of Trajectly:\n").expect("the manifest lacks something");
    let (lines, commands) = lines.split_once("\nRecord the agents").expect("there is a next step");
    project.write("Cargo.toml", &format!("{manifest}{lines}"));
    let commands: Vec<&str> = commands.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    assert_eq!(commands.len(), 2, "{said}");
    for command in commands {
        assert_eq!(project.shell(command).output().passes().results(), [("sample", "ok")]);
    }
    init().says(&["kept  .trajectly/.gitignore"]).never_says(&["made", "Add this"]);
}

#[test]
fn init_overwrites_nothing() {
    let folder = Folder::new();
    folder.write("specs/mine.agent.yaml", "schema_version: \"0.4\"\n");
    folder.write(".trajectly/.gitignore", "mine\n");
    for _ in 0..2 {
        folder.trajectly(["init"]).output().passes().says(&["kept  .trajectly/.gitignore"]).never_says(&["made"]);
    }
    assert_eq!(folder.read(".trajectly/.gitignore"), "mine\n");
    assert!(!folder.path("specs/sample.agent.yaml").exists());

    folder.write("file", "");
    folder.trajectly(["init", "file"]).output().exits(2).says(&["error: file is no folder"]);
    folder.trajectly(["init", "a/b"]).output().passes().says(&["made  a/b/.trajectly/.gitignore"]);
    folder.trajectly(["record", "--auto", "--project-root", "a/b"]).output().passes();
}

#[test]
fn what_can_be_judged_is_whatever_else_is_broken() {
    let folder = project(&[BROKEN]);
    regression(&folder);
    let output = folder.trajectly(["run", "--auto", "--json"]).output().exits(2);
    let found = summary(&output);
    assert_eq!(
        rows(&found),
        [
            ["specs/broken.agent.yaml", "ERROR", "SPEC_INVALID"],
            ["specs/regression.agent.yaml", "FAIL", "REFINEMENT_BASELINE_CALL_MISSING"],
            ["specs/sample.agent.yaml", "PASS", ""],
        ]
    );
    assert_eq!(found["errors"][0], "specs/broken.agent.yaml: line 2: unknown key `nmae`");
    let latest: Value = serde_json::from_str(&folder.store().read("reports/latest.json")).expect("a report is JSON");
    assert_eq!(latest, found);
    assert!(output.stderr.contains("3 specs: 1 passed, 1 failed, 1 could not be judged"), "{output}");

    folder.trajectly(["run", "specs/regression.agent.yaml", "specs/sample.agent.yaml"]).output().exits(1);
    folder.trajectly(["run", "specs/sample.agent.yaml"]).output().exits(0);
}

#[test]
fn a_failure_that_is_expected_is_no_regression() {
    let folder = project(&[]);
    regression(&folder);
    let spec = folder.read("specs/regression.agent.yaml");
    folder.write("specs/regression.agent.yaml", &format!("{spec}expect: {{ code: CONTRACT_TOOL_NOT_ALLOWED }}\n"));
    let found = summary(&folder.trajectly(["run", "--auto", "--json"]).output().passes());
    assert_eq!((&found["regressions"], &found["reports"][0]["expected"]), (&Value::from(0), &Value::from(true)));
    folder.trajectly(["record", "--auto"]).output().passes().says(&["2 specs: 1 recorded, 1 passed"]);

    folder.write("specs/regression.agent.yaml", &format!("{spec}expect: {{ code: CONTRACT_TOOL_DENIED }}\n"));
    let help = "`expect` in specs/regression.agent.yaml:13";
    folder.trajectly(["run", "--auto"]).output().exits(1).says(&["EXPECTED_FAILURE_NOT_SEEN", help]);
}

#[test]
fn results_come_in_the_order_of_paths_however_many_run_at_once() {
    let folder = project(&[BROKEN]);
    regression(&folder);
    let run = |jobs| folder.trajectly(["run", "--auto", "--jobs", jobs]).output().exits(2).stdout;
    let alone = run("1");
    for _ in 0..3 {
        assert_eq!(run("8"), alone);
    }
}

#[test]
fn targets_are_files_folders_and_globs_from_here_or_from_the_root() {
    let folder = project(&[("elsewhere/file", "")]);
    for target in ["specs/sample.agent.yaml", "specs", "specs/*.yaml", ".", "**/*.agent.yaml"] {
        folder.trajectly(["run", target]).output().passes().says(&["PASS specs/sample.agent.yaml", "1 spec:"]);
    }
    let from_elsewhere = ["run", "--project-root", "..", "specs/sample.agent.yaml", "../specs"];
    folder
        .trajectly(from_elsewhere)
        .current_dir(folder.path("elsewhere"))
        .output()
        .passes()
        .says(&["1 spec: 1 passed"]);
}

#[test]
fn a_command_that_is_named_works_where_it_is_pasted() {
    let folder = project(&[("elsewhere/file", "")]);
    regression(&folder);
    let here = folder.path("elsewhere");
    let run = ["run", "--strict", "--project-root", "..", "--baseline-dir", "../.trajectly/baselines", "../specs"];
    let command = folder.trajectly(run).current_dir(&here).output().exits(1).row("reproduce");
    let again = command.strip_prefix("trajectly ").expect("the program is the same");
    assert!(again.contains("--strict") && again.contains("--baseline-dir"), "{again}");
    folder.trajectly(again.split(' ')).current_dir(here).output().exits(1).says(&[&command]);
}

#[test]
fn auto_looks_only_where_specs_of_the_project_are() {
    let folder = project(&[]);
    let spec = folder.read("specs/sample.agent.yaml");
    for dir in ["target/package", "node_modules/x", ".github", "dist", "build", ".venv", "env"] {
        folder.write(&format!("{dir}/foreign.agent.yaml"), &spec);
    }
    folder.write("env/pyvenv.cfg", "");
    folder.write("specs/function.agent.yaml", "schema_version: \"0.4\"\n");
    let output = folder.trajectly(["run", "--auto"]).output().passes().says(&["1 spec: 1 passed"]);
    assert!(output.stderr.contains("note: specs/function.agent.yaml has no `command` and is left out"), "{output}");
    folder.write("Cargo.toml", "");
    folder.trajectly(["run", "--auto"]).output().passes().says(&["`cargo test` runs it"]);
}

#[test]
fn what_cannot_be_run_is_an_error_that_says_what_can() {
    let folder = project(&[("empty/function.agent.yaml", "schema_version: \"0.4\"\n")]);
    for (args, says) in [
        (&["run"][..], &["error: there is no spec to run", "--auto"][..]),
        (&["record"], &["error: there is no spec to run", "--auto"]),
        (&["baseline", "update"], &["error: there is no spec to run", "--auto"]),
        (&["run", "nope.yaml", "no/*.yaml"], &["error: no spec matches `nope.yaml`, `no/*.yaml`"]),
        (&["run", "a**"], &["error: `a**` is no glob"]),
        (&["run", "empty"], &["has a `command`", "trajectly init"]),
        (&["run", "--auto", "specs"], &["cannot be used with"]),
        (&["run", "--auto", "--project-root", "nowhere"], &["--project-root: nowhere: No such file"]),
        (&["run", "--auto", "--baseline-dir", "nowhere"], &["--baseline-dir nowhere: No such file"]),
        (&["run", "--auto", "--fixtures-dir", "nowhere"], &["--fixtures-dir nowhere: No such file"]),
        (&["run", "--auto", "--jobs", "0"], &["invalid value '0'"]),
        (&["recrod", "--auto"], &["unrecognized subcommand 'recrod'", "'record'"]),
        (&["run", "--atuo"], &["unexpected argument '--atuo'", "'--auto'"]),
        (&[], &["Usage: trajectly"]),
    ] {
        let output = folder.trajectly(args.iter().copied()).output().exits(2).says(says);
        assert_eq!(output.stdout, "", "{args:?}");
    }
    folder.trajectly(["--version"]).output().passes().says(&["trajectly 0."]);
}

#[test]
fn baselines_and_fixtures_may_lie_elsewhere() {
    let folder = project(&[]);
    std::fs::rename(folder.path(".trajectly/baselines"), folder.path("b")).expect("the baselines are there");
    std::fs::rename(folder.path(".trajectly/fixtures"), folder.path("f")).expect("the fixtures are there");
    folder.trajectly(["run", "specs"]).output().exits(2).says(&["BASELINE_MISSING"]);
    folder.trajectly(["run", "specs", "--baseline-dir", "b", "--fixtures-dir", "f"]).output().passes();
}

#[test]
fn a_command_runs_where_its_spec_says_and_with_the_variables_it_names() {
    let folder = Folder::new();
    let spec = "schema_version: \"0.4\"\nname: place\ncommand: sh agent.sh\nworkdir: ../agents/here\n\
                env: { GREETING: \"hello, you\", TZ: Mars }\n";
    folder.write("specs/place.agent.yaml", spec);
    let called = r#"{"event_type":"tool_called","payload":{"tool_name":"%s","input":{"args":["%s"],"kwargs":{}}}}\n"#;
    let agent = format!(
        "printf '{called}' \"$(basename \"$PWD\")\" \"$GREETING $TZ\" >> \"$TRAJECTLY_EVENTS_FILE\"\n\
         printf '{{\"event_type\":\"tool_returned\",\"payload\":{{\"tool_name\":\"here\"}}}}\\n' >> \"$TRAJECTLY_EVENTS_FILE\"\n"
    );
    folder.write("agents/here/agent.sh", &agent);
    folder.trajectly(["record", "--auto"]).output().passes();
    let trace = folder.read(".trajectly/baselines/place.jsonl");
    // The time zone is the harness's, so that runs are alike.
    assert!(trace.contains(r#""input":{"args":["hello, you UTC"],"kwargs":{}},"tool_name":"here""#), "{trace}");
    folder.trajectly(["run", "--auto"]).output().passes();
}

#[test]
fn strictness_on_the_command_line_wins() {
    let folder = project(&[(
        "agents/sample.sh",
        "echo '{\"event_type\":\"agent_step\",\"payload\":{\"strict\":\"'$TRAJECTLY_STRICT'\"}}' >>\"$TRAJECTLY_EVENTS_FILE\"\n",
    )]);
    // By hash, an agent is always told to be strict: it is to run nothing that was not recorded.
    let spec = folder.read("specs/sample.agent.yaml") + "fixture_policy: by_index\n";
    folder.write("specs/sample.agent.yaml", &spec);
    let strict = |flags: &[&str]| {
        folder.trajectly(["run", "specs"].iter().chain(flags)).output();
        folder.store().events("current/sample.jsonl")[1]["payload"]["strict"].clone()
    };
    for (flags, expected) in
        [(&[][..], "0"), (&["--strict"], "1"), (&["--strict", "--no-strict"], "0"), (&["--no-strict", "--strict"], "1")]
    {
        assert_eq!(strict(flags), expected, "{flags:?}");
    }
    folder.write("specs/sample.agent.yaml", &(spec + "strict: true\n"));
    assert_eq!(strict(&[]), "1");
    assert_eq!(strict(&["--no-strict"]), "0");
}

#[test]
fn baselines_are_written_in_ci_only_if_that_is_said() {
    let folder = project(&[]);
    for command in [&["record", "specs"][..], &["baseline", "update", "specs"]] {
        let run = |more: &[&str]| folder.trajectly(command.iter().chain(more)).env("CI", "true").output();
        run(&[]).exits(2).says(&["CI_WRITE_REFUSED", "say --allow-ci-write"]);
        run(&["--allow-ci-write"]).passes().says(&["RECORDED"]);
    }
}

#[test]
fn a_replay_may_be_made_the_baseline() {
    let folder = project(&[]);
    let changed = folder.read("agents/sample.sh").replace("high", "urgent");
    folder.write("agents/sample.sh", &changed);
    let drifted = folder.trajectly(["run", "specs"]).output().exits(1).says(&["SNAPSHOT_DRIFT"]);
    let accept = drifted.row("accept instead");
    let accept = accept.strip_prefix("trajectly ").expect("the program is the same").split(' ');
    folder.trajectly(accept).output().passes().says(&["ACCEPTED specs/sample.agent.yaml", "1 spec: 1 accepted"]);
    folder.trajectly(["run", "specs"]).output().passes();
}

#[test]
fn colour_is_there_where_it_is_wanted() {
    let folder = project(&[]);
    for (flag, variables, coloured) in [
        ("auto", &[][..], false),
        ("auto", &[("CLICOLOR_FORCE", "1")], true),
        ("auto", &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        ("always", &[("NO_COLOR", "1")], true),
        ("never", &[("CLICOLOR_FORCE", "1")], false),
    ] {
        let output = folder.trajectly(["--color", flag, "run", "specs"]).envs(variables).output().passes();
        assert_eq!(output.stdout.contains('\u{1b}'), coloured, "{flag} {variables:?}");
    }
}

#[test]
fn nothing_is_said_of_progress_where_nobody_looks() {
    let folder = project(&[]);
    assert_eq!(folder.trajectly(["run", "specs"]).output().passes().stderr, "");
}

#[test]
fn a_reader_who_leaves_is_no_error() {
    let folder = project(&[]);
    let program = Folder::program();
    let line = format!("'{}' run --auto --json | :; '{0}' completions bash | :", program.display());
    let output = Run::new("/bin/sh").args(["-c", &line]).current_dir(folder.root()).output();
    assert_eq!(output.passes().never_says(&["panicked"]).stdout, "");
}

#[test]
fn cargo_finds_the_same_program() {
    let folder = project(&[]);
    let program = folder.path("cargo-trajectly");
    std::os::unix::fs::symlink(Folder::program(), &program).expect("the program can be linked");
    let run = |args: &[&str]| Run::new(&program).args(args).current_dir(folder.root()).output();
    run(&["trajectly", "run", "specs"]).passes().says(&["1 spec: 1 passed"]);
    run(&["run", "specs"]).passes();
    run(&["trajectly", "run", "--help"]).passes().says(&["Usage: cargo trajectly run"]);
    run(&["trajectly", "baseline", "udpate"]).exits(2).says(&["Usage: cargo trajectly baseline"]);
    folder.trajectly(["run", "--help"]).output().passes().says(&["Usage: trajectly run"]);
}

#[test]
fn shells_complete_every_command() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        folder.trajectly(["completions", shell]).output().passes().says(&["record", "baseline", "allow-ci-write"]);
    }
    folder.trajectly(["completions", "csh"]).output().exits(2).says(&["[possible values: bash"]);
}

#[test]
fn what_could_not_be_printed_was_not_said() {
    let folder = Folder::new();
    folder.trajectly(["init"]).output().passes();
    folder.trajectly(["record", "--auto"]).output().passes();
    for arguments in ["--help", "schema", "completions bash", "run --auto", "report", "baseline list", "init"] {
        let line = format!("exec \"$0\" {arguments} > /dev/full");
        let run = Run::new("sh").args(["-c", &line]).arg(Folder::program()).current_dir(folder.root());
        run.output().exits(2).says(&["error: cannot write to standard output: "]);
    }
}

#[test]
fn what_is_in_the_place_of_the_folder_is_named() {
    for spoil in [|path| std::fs::write(path, ""), |path| std::os::unix::fs::symlink("nowhere", path)] {
        let folder = Folder::new();
        folder.trajectly(["init"]).output().passes();
        std::fs::remove_dir_all(folder.path(".trajectly")).expect("it can be removed");
        spoil(folder.path(".trajectly")).expect("it can be made");
        for arguments in [&["init"][..], &["record", "--auto"], &["run", "--auto"]] {
            folder
                .trajectly(arguments)
                .output()
                .exits(2)
                .says(&[".trajectly: there is a", "remove it or move it away"]);
        }
    }
}

#[test]
fn a_spec_with_many_problems_tells_the_first() {
    let folder = Folder::new();
    let keys: String = (0..50).map(|n| format!("unknown_{n}: 1\n")).collect();
    folder.write("a.agent.yaml", &format!("schema_version: \"0.4\"\ncommand: \"true\"\n{keys}"));
    let run = folder.trajectly(["run", "a.agent.yaml"]).output().exits(2).says(&["unknown_9", "more"]);
    assert!(!run.stdout.contains("unknown_20"), "{run}");
}

#[test]
fn a_name_in_a_trace_begins_no_line() {
    const NAME: &str = r"x\n::error file=README.md::owned\u001b[2J";
    let folder = Folder::new();
    let called = format!(r#"{{"event_type":"tool_called","rel_ms":0,"payload":{{"tool_name":"{NAME}"}}}}"#);
    folder.write("agent.sh", "cat called >> \"$TRAJECTLY_EVENTS_FILE\"\n");
    folder.write("called", &format!("{called}\n"));
    let spec = "schema_version: \"0.4\"\nname: a\ncommand: sh agent.sh\nworkdir: ..\n";
    folder.write("specs/a.agent.yaml", spec);
    folder.trajectly(["record", "--auto"]).output().passes();
    let snapshot = folder.read("specs/snapshots/a.snap");
    assert!(snapshot.contains("1. x\\n::error file=README.md::owned\\u{1b}[2J()"), "{snapshot}");
    folder.write("specs/a.agent.yaml", &format!("{spec}contracts: {{tools: {{deny: [\"{NAME}\"]}}}}\n"));
    let output = folder.trajectly(["run", "--auto"]).output().exits(1).says(&["CONTRACT_TOOL_DENIED", "\\n::error"]);
    let mut lines = output.stdout.lines().chain(output.stderr.lines());
    assert!(!lines.any(|line| line.trim_start().starts_with("::error") || line.contains('\u{1b}')), "{output}");
}
