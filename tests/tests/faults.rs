//! What must survive a kill, a full disk, a read-only folder, and other processes at work on the same files.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::thread;
use std::time::Instant;

use serde_json::Value;
use trajectly_tests::{Answer, Binary, Folder, Lifeline, Project, Provider, Run, agent_program};

/// The recordings, by their number, of which anything stands in a text: the model says `run 7` in the seventh.
fn runs_in(text: &str) -> BTreeSet<u64> {
    let rests = text.split("run ").skip(1);
    let digits = rests.map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default());
    digits.filter_map(|digits| digits.parse().ok()).collect()
}

/// A model that tells in each answer how often it was asked.
fn counting() -> Provider {
    Provider::start(|request| Answer::text(&format!("run {}", request.index)))
}

fn record(project: &Project, provider: &Provider) -> Run {
    project.agents(&["ask"]).update("1").env("OPENAI_BASE_URL", provider.url())
}

/// Whatever was killed when: the committed files are whole.
fn assert_whole(project: &Project, context: &str) {
    let [(_, trace), (_, meta), (_, fixtures), (_, snapshot)] = project.store().baseline("specs", "ask");
    assert!(trace.ends_with("}\n"), "{context}: {trace}");
    for line in trace.lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{context}: {error}: {line}"));
    }
    for text in [meta, fixtures] {
        serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{context}: {error}: {text}"));
    }
    let content =
        snapshot.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map(|(_, content)| content);
    assert!(content.is_some_and(|content| content.ends_with("\"\n")), "{context}: {snapshot}");
}

/// The one recording that all committed files belong to.
fn assert_of_one_recording(project: &Project, context: &str) -> u64 {
    let files = project.store().baseline("specs", "ask");
    let runs: Vec<_> =
        files.iter().filter(|(path, _)| !path.ends_with(".meta.json")).map(|(_, text)| runs_in(text)).collect();
    assert!(runs.iter().all(|runs| runs.len() == 1 && *runs == runs_in(&files[0].1)), "{context}: {runs:?}");
    runs[0].first().copied().unwrap_or_default()
}

#[test]
fn a_recording_killed_at_any_moment_leaves_the_old_baseline_or_the_new() {
    let project = Project::new();
    let provider = counting();
    record(&project, &provider).output().passes();
    let started = Instant::now();
    record(&project, &provider).output().passes();
    let whole = started.elapsed();

    let mut kept = BTreeSet::new();
    for moment in 0..50 {
        let asked = provider.requests().len();
        let mut harness = record(&project, &provider).spawn();
        // A few in all of the run; most after the model was asked, where the files are written.
        let part = match moment % 5 {
            0 => whole.mul_f64(f64::from(moment) / 50.0),
            _ => {
                provider.wait_for_requests(asked + 1);
                whole.mul_f64(0.6 * f64::from(moment) / 50.0)
            }
        };
        thread::sleep(part);
        harness.kill().expect("a child can be killed");
        harness.wait().expect("a child can be waited for");

        let context = format!("killed {part:?} into recording {moment}");
        assert_whole(&project, &context);
        project.agents(&["ask"]).output().passes();
        assert_whole(&project, &context);
        kept.insert(assert_of_one_recording(&project, &context));
    }
    assert!(kept.len() > 1, "some recordings were over before they were killed: {kept:?}");
    assert_eq!(project.store().all("tmp"), [], "what killed runs left is swept up");
}

#[test]
fn an_agent_does_not_outlive_its_harness() {
    let project = Project::new();
    let provider = Provider::start(|_| Answer::Silence);
    let lifeline = Lifeline::new();
    let mut harness = record(&project, &provider).env("LIFELINE", lifeline.address()).spawn();
    let agent = lifeline.held();
    provider.wait_for_requests(1);
    harness.kill().expect("a child can be killed");
    harness.wait().expect("a child can be waited for");
    agent.wait_until_released();
    assert_eq!(project.journal(), [""; 0], "it never went on to store the answer");
}

#[test]
fn neither_does_what_a_command_started() {
    let project = Project::new();
    let lifeline = Lifeline::new();
    let run = project.run(Binary::Second).args(["--exact", "commands/shell.agent.yaml"]).update("1");
    let mut harness = run.env("AGENT", agent_program()).env("LIFELINE", lifeline.address()).spawn();
    let agent = lifeline.held();
    harness.kill().expect("a child can be killed");
    harness.wait().expect("a child can be waited for");
    agent.wait_until_released();
}

#[test]
fn a_full_disk_is_explained_and_spoils_nothing() {
    let project = Project::new();
    let provider = counting();
    record(&project, &provider).output().passes();
    let mut refused = 0;
    // No file may grow beyond so many blocks of 512 bytes: one stage of the recording after the other fails.
    for blocks in [0, 1, 2, 3, 4, 6, 8] {
        let before = project.store().baseline("specs", "ask");
        let limited = "trap '' XFSZ; ulimit -f \"$BLOCKS\"; exec \"$@\"";
        let run = project.run_file("/bin/sh".as_ref()).args(["-c", limited, "sh"]).arg(Binary::Agents.path());
        let run = run.args(["--exact", "ask"]).env("BLOCKS", blocks.to_string());
        let output = run.update("1").env("OPENAI_BASE_URL", provider.url()).output();
        if output.code == 0 {
            assert_whole(&project, &format!("{blocks} blocks"));
        } else {
            output.fails().says(&["cannot write"]).never_says(&["panicked"]);
            assert_eq!(project.store().baseline("specs", "ask"), before, "{blocks} blocks");
            refused += 1;
        }
        project.agents(&["ask"]).output().passes();
        assert_of_one_recording(&project, &format!("{blocks} blocks"));
    }
    assert!(refused >= 3, "{refused} limits were felt");
}

#[test]
fn a_folder_that_cannot_be_written_to_is_explained() {
    const NOBODY: u32 = 65_534;
    let project = Project::recorded(&["greet"]);
    let set_mode =
        |path: &str, mode| fs::set_permissions(project.path(path), Permissions::from_mode(mode)).expect(path);
    // Root may write anywhere, so it lends its place to one who may not; who may have no way to the target folder.
    let is_root = fs::metadata(project.root()).expect("the project is there").uid() == 0;
    fs::copy(Binary::Agents.path(), project.path("agents")).expect("the binary can be copied");
    set_mode("", 0o755);
    let folders = [".trajectly", ".trajectly/baselines", ".trajectly/locks", ".trajectly/staged", ".trajectly/tmp"];
    folders.iter().for_each(|folder| set_mode(folder, 0o555));
    for update in ["0", "1"] {
        let mut run = project.run_file(&project.path("agents")).args(["--exact", "greet"]).update(update);
        if is_root {
            run = run.as_user(NOBODY);
        }
        run.output()
            .fails()
            .says(&[".trajectly", "Permission denied", "the right to write there"])
            .never_says(&["panicked"]);
    }
    folders.iter().for_each(|folder| set_mode(folder, 0o755));
    project.agents(&["greet"]).output().passes();
}

#[test]
fn a_file_where_a_folder_is_meant_is_explained() {
    for place in [".trajectly", ".trajectly/baselines"] {
        let project = Project::new();
        if place.contains('/') {
            fs::create_dir(project.path(".trajectly")).expect("the project can be written to");
        }
        project.write(place, "");
        let output = project.agents(&["greet"]).update("1").output().fails();
        output.says(&["cannot", place]).never_says(&["panicked"]);
    }
}

#[test]
fn a_spoilt_baseline_is_told_with_its_place() {
    let project = Project::recorded(&["greet"]);
    for (file, told) in [
        (".trajectly/baselines/greet.jsonl", ".trajectly/baselines/greet.jsonl:2"),
        (".trajectly/fixtures/greet.json", ".trajectly/fixtures/greet.json:2"),
        (".trajectly/baselines/greet.meta.json", ".trajectly/baselines/greet.meta.json:2"),
    ] {
        let good = project.read(file);
        let mut lines: Vec<_> = good.lines().collect();
        lines[1] = "<<<<<<< ours";
        project.write(file, &lines.join("\n"));
        project.agents(&["greet"]).output().fails().says(&[told]).never_says(&["panicked"]);
        project.write(file, &good);
    }
    fs::remove_file(project.path(".trajectly/fixtures/greet.json")).expect("it was recorded");
    project.agents(&["greet"]).output().fails().says(&[".trajectly/fixtures/greet.json"]).never_says(&["panicked"]);
    project.agents(&["greet"]).update("1").output().passes();
}

#[test]
fn processes_record_and_replay_at_once() {
    let project = Project::new();
    let provider = counting();
    record(&project, &provider).output().passes();
    thread::scope(|scope| {
        for recorder in [true, false, true, false] {
            let (project, provider) = (&project, &provider);
            scope.spawn(move || {
                for _ in 0..8 {
                    match recorder {
                        true => record(project, provider).output().passes(),
                        false => project.agents(&["ask"]).output().passes(),
                    };
                }
            });
        }
    });
    assert_whole(&project, "after 32 runs at once");
    assert_of_one_recording(&project, "after 32 runs at once");
}

#[test]
fn processes_that_report_at_once_lose_no_row() {
    let tests = ["calls::concurrent", "calls::errors", "calls::methods", "greet", "nested::r#match", "twins::first"];
    let project = Project::recorded(&tests);
    // As nextest runs them: each in a process of its own.
    thread::scope(|scope| {
        for test in tests {
            scope.spawn(|| project.agents(&[test]).output().passes());
        }
    });
    let latest: Value = serde_json::from_str(&project.store().read("reports/latest.json")).expect("a report is JSON");
    let text = latest.to_string();
    for spec in ["calls/concurrent", "calls/errors", "calls/methods", "greet", "nested", "twins/first"] {
        assert!(text.contains(&format!("specs/{spec}.agent.yaml")), "{text}");
    }
}

#[test]
fn a_run_that_cannot_be_prepared_or_read_is_explained() {
    let folder = Folder::new();
    folder.write("specs/a.agent.yaml", "schema_version: \"0.4\"\ncommand: sh agent.sh\nworkdir: ..\n");
    let event = r#"{"event_type":"tool_called","rel_ms":0,"payload":{"tool_name":"look"}}"#;
    folder.write("agent.sh", &format!("echo '{event}' >> \"$TRAJECTLY_EVENTS_FILE\"\n"));
    folder.trajectly(["record", "--auto"]).output().passes();
    // No file may grow at all.
    let limited = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";
    let run = Run::new("/bin/sh").args(["-c", limited, "sh"]).arg(Folder::program()).args(["run", "--auto"]);
    let output = run.current_dir(folder.root()).output().exits(2);
    output.says(&["cannot write", "fixtures.json", "= help: let files grow larger"]);
    folder.write("agent.sh", "truncate -s 65M \"$TRAJECTLY_EVENTS_FILE\"\n");
    let output = folder.trajectly(["run", "--auto"]).output().exits(2);
    output.says(&["TRACE_INVALID", "take 68157440 bytes, and no more than 67108864 are read", "= help: "]);
}
