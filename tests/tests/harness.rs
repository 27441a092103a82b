//! Test binaries on the command line: what cargo, nextest and editors ask of them, under both harnesses.

use serde_json::Value;
use trajectly_tests::{Binary, Project, agent_program, fat_lto_binary};

/// Every test of `tests/agents.rs`, as Trajectly's harness lists it.
const ALL: &str = "\
an agent with a title: test
ask: test
calls::concurrent: test
calls::errors: test
calls::methods: test
ends::aborts: test
ends::exits: test
ends::greedy: test
ends::hangs_past_its_attribute: test
ends::hangs_past_its_spec: test
ends::panics: test
ends::reaches_out: test
greet: test
greet_regression: test
idle: test
ignored: test
nested::r#match: test
twins::first: test
twins::second: test
";

/// The same with names of functions only, sorted: what libtest knows.
fn all_functions() -> String {
    let mut lines: Vec<_> = ALL.lines().map(|line| line.replace("an agent with a title", "titled")).collect();
    lines.sort();
    lines.join("\n") + "\n"
}

/// Tests that were recorded in [`small_suite`], so that they pass.
const SMALL: [&str; 4] = ["greet", "greet_regression", "nested::r#match", "twins::first"];

fn small_suite() -> Project {
    Project::recorded(&SMALL)
}

#[test]
fn the_list_is_all_there_is_on_stdout() {
    let project = Project::new();
    for (binary, all) in [(Binary::Agents, ALL), (Binary::Plain, &all_functions())] {
        let output = project.run(binary).args(["--list", "--format", "terse"]).output().passes();
        assert_eq!(output.stdout, all, "{binary:?}");
        assert_eq!(output.stderr, "", "{binary:?}");
        let output = project.run(binary).args(["--list", "--format", "terse", "--ignored"]).output().passes();
        assert_eq!(output.stdout, "ignored: test\n", "{binary:?}");
    }
    assert!(!project.store().has(""), "listing leaves nothing behind");
}

#[test]
fn specs_without_a_function_are_listed_by_path_and_claimed_ones_once() {
    let output = Project::new().run(Binary::Second).args(["--list", "--format", "terse"]).output().passes();
    let all = "commands/shell.agent.yaml: test\ncommands/unclaimed/nothing-runs-it.agent.yaml: test\ngreet: test\n";
    assert_eq!(output.stdout, all);
}

#[test]
fn a_spec_that_nothing_runs_says_so() {
    let spec = "commands/unclaimed/nothing-runs-it.agent.yaml";
    let output = Project::new().run(Binary::Second).args(["--exact", spec]).output().fails();
    output.says(&["nothing runs this spec", &format!("--> {spec}"), &format!("#[agent_test(spec = \"{spec}\")]")]);
}

#[test]
fn the_exit_code_tells_whether_a_test_failed() {
    let project = small_suite();
    for binary in Binary::BOTH_HARNESSES {
        project.run(binary).args(["--exact", "greet"]).output().exits(0).says(&["1 passed"]);
        project.run(binary).args(["--exact", "greet", "idle"]).output().exits(101).says(&["1 passed", "1 failed"]);
        project.run(binary).args(["--exact", "ignored"]).output().exits(0).says(&["0 passed", "1 ignored"]);
        project.run(binary).arg("no-test-is-called-so").output().exits(0).says(&["0 passed"]);
    }
}

#[test]
fn filters_choose_as_they_do_under_libtest() {
    let project = small_suite();
    for (arguments, chosen) in [
        (&["greet"][..], &["greet", "greet_regression"][..]),
        (&["--exact", "greet"], &["greet"]),
        (&["greet", "--exact"], &["greet"]),
        (&["greet", "nested"], &["greet", "greet_regression", "nested::r#match"]),
        (&["--exact", "greet", "nested::r#match"], &["greet", "nested::r#match"]),
        (&["greet", "first", "--skip", "regression"], &["greet", "twins::first"]),
        (&["--skip=regression", "greet"], &["greet"]),
        (&["--exact", "greet", "greet_regression", "--skip", "greet"], &["greet_regression"]),
        (&["r#match"], &["nested::r#match"]),
    ] {
        for binary in Binary::BOTH_HARNESSES {
            let output = project.run(binary).args(arguments).output().passes();
            let ran: Vec<_> = output.results().into_iter().map(|(name, _)| name).collect();
            assert_eq!(ran, chosen, "{binary:?} {arguments:?}");
        }
    }
}

#[test]
fn ignored_tests_run_when_asked_for() {
    let project = Project::new();
    for binary in Binary::BOTH_HARNESSES {
        for (flag, ran) in [("--ignored", &[("ignored", "ok")][..]), ("--include-ignored", &[("ignored", "ok")])] {
            let output = project.run(binary).args(["--exact", "ignored", flag]).update("1").output().passes();
            assert_eq!(output.results(), ran, "{binary:?} {flag}");
        }
        let output = project.run(binary).args(["--exact", "ignored", "greet", "--ignored"]).output().passes();
        assert_eq!(output.results(), [("ignored", "ok")], "{binary:?}");
    }
}

#[test]
fn zero_threads_are_refused() {
    let project = small_suite();
    for (run, variable) in [(&["--test-threads", "0"][..], None), (&["--test-threads=0"], None), (&[], Some("0"))] {
        let mut greet = project.agents(&["greet"]).args(run);
        if let Some(threads) = variable {
            greet = greet.env("RUST_TEST_THREADS", threads);
        }
        let output = greet.output().fails();
        assert_eq!(output.stdout, "", "{run:?}");
        assert!(output.stderr.contains("0"), "{output}");
    }
}

#[test]
fn threads_can_be_set_in_both_ways() {
    let project = small_suite();
    project.agents(&SMALL).env("RUST_TEST_THREADS", "1").output().passes().says(&["4 passed"]);
    project.agents(&SMALL).args(["--test-threads", "1"]).output().passes().says(&["4 passed"]);
    project.agents(&SMALL).env("RUST_TEST_THREADS", "many").output().fails().says(&["RUST_TEST_THREADS", "many"]);
}

#[test]
fn flags_of_libtest_that_change_nothing_here_do_not_break_a_run() {
    let project = small_suite();
    for flag in ["--shuffle", "--report-time", "--show-output", "--nocapture", "--quiet"] {
        project.agents(&["greet"]).arg(flag).output().passes();
    }
}

#[test]
fn json_stays_json_while_tests_fail() {
    let project = small_suite();
    project.add_to_spec("nested", "timout_s: 1\n");
    let output = project
        .agents(&["greet", "nested::r#match", "twins::first", "idle"])
        .args(["--format", "json", "-Z", "unstable-options"])
        .env("EDIT", "answer")
        .output()
        .fails();
    let events: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    let failures: Vec<_> =
        events.iter().filter(|event| event["event"] == "failed" && event["type"] == "test").collect();
    let names: Vec<_> = failures.iter().filter_map(|failure| failure["name"].as_str()).collect();
    assert_eq!(names.len(), 3, "{output}");
    for (name, code) in [("greet", "SNAPSHOT_DRIFT"), ("idle", "BASELINE_MISSING"), ("nested::r#match", "timout_s")] {
        let failure = failures.iter().find(|failure| failure["name"] == name).expect(name);
        assert!(failure["stdout"].as_str().is_some_and(|text| text.contains(code)), "{failure}");
    }
}

#[test]
fn two_tests_of_one_name_are_refused_with_both_places() {
    for arguments in [&["--list"][..], &[]] {
        let output = Project::new().run(Binary::Duplicates).args(arguments).output().fails();
        assert_eq!(output.stdout, "");
        output.says(&["`same`", "tests/duplicates.rs:5", "tests/duplicates.rs:8"]);
    }
}

#[test]
fn settings_that_mean_nothing_are_refused_with_what_they_may_be() {
    let project = Project::new();
    for (name, choices) in [
        ("TRAJECTLY_UPDATE", &["`1`", "`new`", "`accept`"][..]),
        ("TRAJECTLY_CI", &["`1`", "`0`"]),
        ("TRAJECTLY_ALLOW_CI_WRITE", &["`1`", "`0`"]),
        ("TRAJECTLY_ISOLATION", &["`off`"]),
    ] {
        for binary in Binary::BOTH_HARNESSES {
            let output = project.run(binary).args(["--exact", "greet"]).env(name, "sometimes").output().fails();
            output.says(&[name, "`sometimes`"]).says(choices);
        }
    }
}

#[test]
fn functions_of_one_name_in_two_binaries_keep_their_own_files() {
    let project = Project::new();
    project.agents(&["greet"]).update("1").output().passes();
    project.run(Binary::Second).args(["--exact", "greet"]).update("1").output().passes();
    assert!(project.read("specs/snapshots/greet.snap").contains("Hello, ada!"));
    assert!(project.read("commands/snapshots/claimed.snap").contains("Hello, grace!"));
    project.agents(&["greet"]).output().passes();
    project.run(Binary::Second).args(["--exact", "greet"]).output().passes();
}

#[test]
fn specs_that_are_no_tests_for_want_of_a_line_are_told_of() {
    let project = Project::new();
    let forgotten = || project.run(Binary::Forgotten).args(["--exact", "specs_need_harness_false"]);
    forgotten()
        .output()
        .fails()
        .says(&["  --> commands/shell.agent.yaml\n", "[[test]]\nname = \"forgotten-harness\"\nharness = false\n"]);
    let list = project.run(Binary::Second).args(["--list", "--format", "terse"]).output().passes();
    list.never_says(&["specs_need_harness_false"]);
    for path in ["commands/shell.agent.yaml", "commands/unclaimed/nothing-runs-it.agent.yaml"] {
        std::fs::remove_file(project.path(path)).expect("the spec is there");
    }
    forgotten().output().passes();
}

#[test]
fn agent_tests_stand_among_a_library_s_unit_tests() {
    let project = Project::new();
    let list = project.run(Binary::Library).args(["--list", "--format", "terse"]).output().passes();
    assert_eq!(list.stdout, "tests::inside_the_library: test\n");
    let missing = project.run(Binary::Library).output().fails();
    let command = "cargo test -p e2e-agents --lib -- --exact tests::inside_the_library";
    assert_eq!(missing.row("reproduce"), command);
    project.run(Binary::Library).update("1").output().passes();
    project.run(Binary::Library).output().passes().says(&["1 passed"]);
}

#[test]
fn link_time_optimisation_drops_no_test() {
    let list = Project::new().run_file(&fat_lto_binary()).args(["--list", "--format", "terse"]).output().passes();
    assert_eq!(list.stdout, ALL);
}

#[test]
fn a_failure_under_libtest_is_its_text_alone() {
    let output =
        Project::new().run(Binary::Plain).args(["--exact", "idle"]).env("RUST_BACKTRACE", "1").output().fails();
    output.says(&["---- idle stdout ----\nERROR idle"]).never_says(&["panicked", "stack backtrace"]);
}

#[test]
fn a_title_is_the_name_where_the_harness_is_ours_and_no_hindrance_elsewhere() {
    let project = Project::new();
    for (binary, name) in [(Binary::Agents, "an agent with a title"), (Binary::Plain, "titled")] {
        let output = project.run(binary).args(["--exact", name]).update("1").output().passes();
        assert_eq!(output.results(), [(name, "ok")]);
        project.run(binary).args(["--exact", name]).output().passes();
    }
}

#[test]
fn outside_a_session_a_tool_is_a_plain_call() {
    let output = Project::new().run_file(agent_program()).arg("ada").output().passes();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("Hello, ada!\n", ""));
}
