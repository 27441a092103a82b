//! `trajectly repro`: the command that shows a failure again, for specs that the command line runs and for those of cargo tests.

use trajectly_tests::{Binary, BuiltCrate, Folder};

const SPEC: &str = "specs/regression.agent.yaml";

/// The sample of `init`, recorded, and a spec of the same name that regressed, run with these flags.
fn failed(flags: &[&str]) -> Folder {
    let folder = Folder::new();
    folder.trajectly(["init"]).output().passes();
    folder.trajectly(["record", "--auto"]).output().passes();
    let agent = folder.read("agents/sample.sh").replace("store_priority", "drop_ticket");
    folder.write("agents/regression.sh", &agent);
    folder.write(SPEC, &folder.read("specs/sample.agent.yaml").replace("sample.sh", "regression.sh"));
    folder.trajectly([&["run", "--auto"], flags].concat()).output().exits(1);
    folder
}

#[test]
fn it_shows_the_failure_again() {
    let folder = failed(&[]);
    for selector in [&[][..], &["latest"], &["sample"], &[SPEC]] {
        let output = folder.trajectly([&["repro"], selector].concat()).output().exits(1);
        assert_eq!(output.stdout.lines().next(), Some("trajectly run specs/regression.agent.yaml"), "{output}");
        output.says(&["error[REFINEMENT_BASELINE_CALL_MISSING]", "1 spec: 1 failed"]);
    }
    let passing = folder.trajectly(["repro", "specs/sample.agent.yaml"]).output().passes();
    passing.says(&["PASS specs/sample.agent.yaml"]);
    folder.write("agents/regression.sh", &folder.read("agents/sample.sh"));
    folder.trajectly(["repro"]).output().passes().says(&["PASS specs/regression.agent.yaml"]);
    folder.trajectly(["repro"]).output().exits(2).says(&["error: nothing has failed"]);
}

#[test]
fn what_it_prints_does_the_same_when_it_is_pasted() {
    let folder = failed(&["--strict"]);
    let below = folder.path("specs");
    for (flags, here, expected) in [
        (&[][..], folder.root(), "trajectly run --strict specs/regression.agent.yaml"),
        (&["--strict"], folder.root(), "trajectly run --strict specs/regression.agent.yaml"),
        (&["--no-strict"], folder.root(), "trajectly run --no-strict specs/regression.agent.yaml"),
        (
            &["--project-root", ".."],
            below.as_path(),
            "trajectly run --project-root .. --strict specs/regression.agent.yaml",
        ),
    ] {
        let before = folder.store().read("reports/latest.json");
        let print = [&["repro", "--print-only"], flags].concat();
        let printed = folder.trajectly(print).current_dir(here).output().passes();
        assert_eq!(printed.stdout, format!("{expected}\n"));
        assert_eq!(folder.store().read("reports/latest.json"), before, "nothing was run");
        let pasted = expected.split(' ').skip(1);
        folder.trajectly(pasted).current_dir(here).output().exits(1).says(&["REFINEMENT_BASELINE_CALL_MISSING"]);
        folder.trajectly([&["repro"], flags].concat()).current_dir(here).output().exits(1).says(&[expected]);
        folder.trajectly(["run", SPEC, "--strict"]).output().exits(1);
    }
}

#[test]
fn what_it_cannot_run_is_told() {
    let empty = Folder::new();
    empty.trajectly(["repro"]).output().exits(2).says(&["error: there is no report to read"]);

    let folder = failed(&[]);
    folder.trajectly(["repro", "other"]).output().exits(2).says(&["has no spec `other`", "`sample` (specs/"]);
    let latest = folder.store().read("reports/latest.json");
    for command in ["rm -rf x", "cargo test; true", "trajectly run $(true)", ""] {
        let changed = latest.replace("trajectly run specs/regression.agent.yaml", command);
        folder.write(".trajectly/reports/latest.json", &changed);
        folder.trajectly(["repro"]).output().exits(2).says(&["error: the report has no command that runs", SPEC]);
    }
    folder.write(".trajectly/reports/latest.json", &latest);
    std::fs::remove_file(folder.path(SPEC)).expect("there was a spec");
    folder.trajectly(["repro"]).output().exits(2).says(&["error: specs/regression.agent.yaml: "]);
}

#[test]
fn a_spec_of_a_test_function_runs_under_cargo() {
    let built = BuiltCrate::lock();
    built.forget_recordings();
    let greet = || built.run(Binary::Agents).args(["--exact", "greet"]);
    greet().update("1").output().passes();
    let failed = greet().env("EDIT", "answer").output().fails();
    let repro = format!("{} repro", Folder::program().display());
    let again = built.shell(&format!("EDIT=answer TRAJECTLY_UPDATE=accept {repro}")).exits(1);
    assert_eq!(again.stdout.lines().next(), Some(failed.row("reproduce").as_str()), "{again}");
    again.says(&["error[SNAPSHOT_DRIFT]"]);
    built.shell(&format!("{repro} --strict")).exits(2).says(&["error: specs/greet.agent.yaml runs under `cargo test`"]);
    built.shell(&repro).passes().says(&["test greet", "ok"]);
    built.forget_recordings();
    greet().output().fails().says(&["BASELINE_MISSING"]);
    built.shell(&repro).exits(2).says(&["BASELINE_MISSING"]);
}
