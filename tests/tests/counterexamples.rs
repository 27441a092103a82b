//! Counterexamples: the least part of a failing run, written with its failure, and what `trajectly shrink` says of it.

use serde_json::Value;
use trajectly_tests::Folder;

const MIN: &str = "repros/regression.counterexample.min.jsonl";
const PREFIX: &str = "repros/regression.counterexample.prefix.jsonl";
const SPEC: &str = "specs/regression.agent.yaml";

/// The sample of `init`, recorded, and a spec of the same name whose agent does something else in the place of its last call.
fn project() -> Folder {
    let folder = Folder::new();
    folder.trajectly(["init"]).output().passes();
    folder.trajectly(["record", "--auto"]).output().passes();
    let agent = folder.read("agents/sample.sh").replace("store_priority", "drop_ticket");
    // Of no interest to any rule.
    let more =
        "\nprintf '{\"event_type\":\"agent_step\",\"payload\":{\"name\":\"done\"}}\\n' >>$TRAJECTLY_EVENTS_FILE\n";
    folder.write("agents/regression.sh", &(agent + more));
    let spec = folder.read("specs/sample.agent.yaml").replace("sample.sh", "regression.sh");
    folder.write(SPEC, &spec);
    folder
}

/// The same, after a run that failed.
fn failed() -> Folder {
    let folder = project();
    folder.trajectly(["run", SPEC]).output().exits(1);
    folder
}

fn report(folder: &Folder) -> Value {
    serde_json::from_str(&folder.store().read("reports/regression.json")).expect("a report is JSON")
}

/// The numbers of the events of a trace, which count from 1.
fn numbers(folder: &Folder, file: &str) -> Vec<u64> {
    folder.store().events(file).iter().map(|event| event["seq"].as_u64().expect("a number")).collect()
}

#[test]
fn a_failure_comes_with_its_smallest_counterexample() {
    let folder = project();
    let output = folder.trajectly(["run", SPEC]).output().exits(1);
    // The baseline's first call is matched, and the last call is where the second is missed.
    assert_eq!(output.row("counterexample"), format!(".trajectly/{MIN} (4 of 7 events)"), "{output}");
    assert_eq!(numbers(&folder, MIN), [2, 3, 4, 5]);
    assert_eq!(numbers(&folder, PREFIX), [1, 2, 3, 4]);
    let report = report(&folder);
    assert_eq!(report["counterexample_paths"]["prefix"], format!(".trajectly/{PREFIX}"));
    assert_eq!(report["counterexample_paths"]["reduced"], format!(".trajectly/{MIN}"));
    assert_eq!(report["shrink_stats"]["original_len"], 7);
    assert_eq!(report["shrink_stats"]["reduced_len"], 4);
    assert!(report["shrink_stats"]["iterations"].as_u64().is_some_and(|tried| tried > 0));
    let markdown = folder.store().read("reports/regression.md");
    assert!(
        markdown.contains(&format!("- Smallest counterexample: `.trajectly/{MIN}` (4 of 7 events)\n")),
        "{markdown}"
    );
}

#[test]
fn it_fails_alike_when_it_is_judged() {
    let folder = failed();
    let min = format!(".trajectly/{MIN}");
    let output = folder.trajectly(["evaluate", SPEC, &min, "--json"]).output().exits(1);
    let (of_part, of_whole): (Value, _) = (serde_json::from_str(&output.stdout).expect("JSON"), report(&folder));
    for key in ["code", "message", "rule", "baseline_index"] {
        assert_eq!(of_part["primary_violation"][key], of_whole["primary_violation"][key], "{key}");
    }
}

#[test]
fn the_same_failure_gives_the_same_files() {
    let folder = failed();
    let files =
        || [MIN, PREFIX, "reports/regression.json", "reports/latest.json"].map(|file| folder.store().read(file));
    let first = files();
    folder.trajectly(["run", SPEC]).output().exits(1);
    assert_eq!(files(), first);
    // No more than a test does: it finds the same.
    folder.trajectly(["shrink"]).output().passes();
    assert_eq!(files(), first);
}

#[test]
fn counterexamples_go_when_the_failure_does() {
    let folder = failed();
    let regression = folder.read("agents/regression.sh");
    folder.write("agents/regression.sh", &folder.read("agents/sample.sh"));
    folder.trajectly(["run", SPEC]).output().passes();
    assert!(!folder.store().has(MIN) && !folder.store().has(PREFIX));
    assert!(report(&folder).get("shrink_stats").is_none());

    folder.write("agents/regression.sh", &regression);
    folder.trajectly(["run", SPEC]).output().exits(1);
    assert!(folder.store().has(MIN) && folder.store().has("current/regression.jsonl"));
    std::fs::remove_dir_all(folder.path(".trajectly/baselines")).expect("there is a baseline");
    folder.trajectly(["run", SPEC]).output().exits(2).says(&["BASELINE_MISSING"]);
    for file in [MIN, PREFIX, "current/regression.jsonl"] {
        assert!(!folder.store().has(file), "{file} is of an earlier run");
    }
}

#[test]
fn shrink_changes_nothing_but_the_counterexample() {
    let folder = failed();
    let before = report(&folder);
    for selector in [&[][..], &["latest"], &["regression"], &[SPEC]] {
        let args = ["shrink"].iter().chain(selector).copied();
        // Two specs share the name `sample`; the one that failed is meant.
        folder.trajectly(args.map(|arg| if arg == "regression" { "sample" } else { arg })).output().passes().says(&[
            "specs/regression.agent.yaml: REFINEMENT_BASELINE_CALL_MISSING at event 3\n",
            "   event 1  CALL fetch_ticket(id=\"T-1042\")\n   event 2  RETURN fetch_ticket",
            "   event 3  CALL drop_ticket(",
            &format!(".trajectly/{MIN} (4 of 7 events"),
        ]);
    }
    let less = folder.trajectly(["shrink", "--max-iterations", "1", "--json"]).output().passes();
    let answer: Value = serde_json::from_str(&less.stdout).expect("stdout is JSON");
    assert_eq!(answer["shrink_stats"]["iterations"], 1);
    assert_eq!(answer["spec_path"], SPEC);
    assert!(less.stderr.contains("--max-iterations gives it more"), "{less}");
    let mut after = report(&folder);
    assert_eq!(after["shrink_stats"], answer["shrink_stats"]);
    assert_eq!(after["counterexample_paths"].get("reduced"), answer["reduced"].as_str().map(|_| &answer["reduced"]));
    for key in ["shrink_stats", "counterexample_paths"] {
        after[key] = before[key].clone();
    }
    assert_eq!(after, before);
    folder.trajectly(["shrink"]).output().passes();
    assert_eq!(report(&folder), before);
}

#[test]
fn what_cannot_be_shrunk_is_told() {
    let empty = Folder::new();
    empty.trajectly(["shrink"]).output().exits(2).says(&["error: there is no report to read", "trajectly run"]);
    empty.write(".trajectly/reports/latest.json", "{}");
    empty.trajectly(["shrink"]).output().exits(2).says(&["error: .trajectly/reports/latest.json is no report"]);

    let folder = project();
    folder.trajectly(["run", "specs/sample.agent.yaml"]).output().passes();
    let shrink = |args: &[&str]| folder.trajectly([&["shrink"], args].concat()).output().exits(2);
    shrink(&[]).says(&["error: nothing has failed", "name a spec: `sample` (specs/sample.agent.yaml)"]);
    shrink(&["sample"]).says(&["error: specs/sample.agent.yaml passed: there is nothing to shrink"]);
    shrink(&["other"]).says(&["error: .trajectly/reports/latest.json has no spec `other`", "it has `sample`"]);
    shrink(&["--max-seconds", "0"]).says(&["--max-seconds", "a number of seconds greater than 0"]);
    shrink(&["--max-seconds", "soon"]).says(&["--max-seconds", "a number of seconds greater than 0"]);
    shrink(&["--max-iterations", "0"]).says(&["--max-iterations", "0 is not in 1.."]);

    folder.trajectly(["run", SPEC]).output().exits(1);
    let spec = folder.read(SPEC);
    folder.write(SPEC, &format!("{spec}refinement: {{mode: none}}\n"));
    shrink(&[]).says(&["or its baseline has changed since the run", "run it again: trajectly run"]);
    folder.write(SPEC, "nothing: 1\n");
    shrink(&[]).says(&["error: the spec of that report cannot be read", "schema_version"]);
    folder.write(SPEC, &spec);
    std::fs::remove_file(folder.path(".trajectly/current/regression.jsonl")).expect("there was a run");
    shrink(&[])
        .says(&["error: the run of that report: .trajectly/current/regression.jsonl", "make it again: trajectly"]);
    std::fs::remove_dir_all(folder.path(".trajectly/baselines")).expect("there is a baseline");
    shrink(&[]).says(&["error: the baseline of that run: .trajectly/baselines/sample.jsonl: No such file"]);
    std::fs::remove_file(folder.path(SPEC)).expect("there was a spec");
    shrink(&[]).says(&["error: the spec of that report cannot be read"]);
}

#[test]
fn artifacts_are_kept_where_the_spec_says() {
    let folder = project();
    let spec = folder.read(SPEC);
    folder.write(SPEC, &format!("{spec}artifacts: {{dir: ../upload}}\n"));
    folder.trajectly(["run", SPEC]).output().exits(1).never_says(&["no effect"]);
    for (kept, original) in [
        ("report.json", "reports/regression.json"),
        ("report.md", "reports/regression.md"),
        ("trace.jsonl", "current/regression.jsonl"),
        ("counterexample.prefix.jsonl", PREFIX),
        ("counterexample.min.jsonl", MIN),
    ] {
        assert_eq!(folder.read(&format!("upload/regression/{kept}")), folder.store().read(original), "{kept}");
    }

    std::fs::rename(folder.path(".trajectly/baselines"), folder.path("away")).expect("there is a baseline");
    folder.trajectly(["run", SPEC]).output().exits(2);
    let left = || {
        let entries = std::fs::read_dir(folder.path("upload/regression")).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(left(), ["report.json", "report.md"]);

    std::fs::rename(folder.path("away"), folder.path(".trajectly/baselines")).expect("it was put away");
    folder.write("agents/regression.sh", &folder.read("agents/sample.sh"));
    folder.write("upload/regression/notes", "somebody's own");
    folder.trajectly(["run", SPEC]).output().passes();
    assert_eq!(left(), ["notes"]);
    std::fs::remove_file(folder.path("upload/regression/notes")).expect("it was written");
    folder.trajectly(["run", SPEC]).output().passes();
    assert!(left().is_empty(), "a run that passes leaves nothing: {:?}", left());
    assert!(!folder.path("upload/regression").exists());
}
