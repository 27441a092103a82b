//! The same agent, the same report: byte for byte, however many tests run beside it.

use std::path::PathBuf;

use trajectly_tests::{Binary, Project, Provider};

const TESTS: [&str; 8] = [
    "ask",
    "calls::concurrent",
    "calls::errors",
    "calls::methods",
    "greet",
    "greet_regression",
    "nested::r#match",
    "twins::first",
];

/// All that a run leaves behind for people and programs to read.
fn left_behind(project: &Project) -> Vec<(PathBuf, String)> {
    ["current", "reports", "repros"].iter().flat_map(|folder| project.store().all(folder)).collect()
}

#[test]
fn replays_leave_the_same_bytes_at_any_number_of_threads() {
    let project = Project::new();
    let provider = Provider::saying("hello");
    project.agents(&TESTS).update("1").env("OPENAI_BASE_URL", provider.url()).output().passes();
    let committed = project.store().all("baselines");
    project.agents(&TESTS).output().passes();
    let first = left_behind(&project);
    assert!(first.iter().any(|(path, _)| path.ends_with("reports/latest.json")));
    assert!(first.iter().any(|(path, _)| path.ends_with("reports/greet-regression.md")));
    for round in 0..10 {
        for (binary, threads) in [(Binary::Agents, "1"), (Binary::Agents, "16"), (Binary::Plain, "16")] {
            // What an earlier run left must not be what makes this one the same.
            let _ = std::fs::remove_dir_all(project.path(".trajectly/reports"));
            let run = project.run(binary).args(["--exact", "--test-threads", threads]).args(TESTS);
            run.output().passes();
            let left = left_behind(&project);
            assert_eq!(left.len(), first.len(), "round {round}, {binary:?}, {threads} threads");
            for ((path, before), (again, after)) in first.iter().zip(left) {
                // The command that reproduces a run names the binary.
                let after = after.replace("--test plain", "--test agents");
                assert_eq!((path, before), (&again, &after), "round {round}, {binary:?}, {threads} threads");
            }
        }
    }
    assert_eq!(project.store().all("baselines"), committed);
}

#[test]
fn failures_read_the_same_every_time() {
    let project = Project::recorded(&["greet"]);
    let failure = |edit: &str| {
        let output = project.agents(&["greet"]).env("EDIT", edit).output().fails();
        let text = output.stdout.split_once("---- greet ----").map(|(_, text)| text.to_owned()).expect("it failed");
        text.split_once("test result:").map(|(text, _)| text.to_owned()).expect("there is a summary")
    };
    for edit in ["answer", "argument", "denied call", "error"] {
        let first = failure(edit);
        for _ in 0..5 {
            assert_eq!(failure(edit), first, "{edit}");
        }
    }
}
