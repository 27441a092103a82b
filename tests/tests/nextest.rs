//! Under cargo-nextest, where it is installed: partitions, and archives that run where they were not built.

use trajectly_tests::BuiltCrate;

const TESTS: &str = "-E 'test(=greet) + test(=greet_regression) + test(calls::)'";

/// The built crate with recordings, or nothing where there is no nextest.
fn recorded() -> Option<BuiltCrate> {
    let built = BuiltCrate::lock();
    if built.shell("cargo nextest --version").code != 0 {
        eprintln!("cargo-nextest is not installed");
        return None;
    }
    built.forget_recordings();
    // Each in a process of its own, so what expects to fail has to wait for its baseline.
    let record = "TRAJECTLY_UPDATE=1 cargo nextest run --test agents";
    built.shell(&format!("{record} -E 'test(=greet) + test(calls::)'")).passes().says(&["4 passed"]);
    Some(built)
}

#[test]
fn partitions_cover_all_tests() {
    let Some(built) = recorded() else { return };
    let run = format!("cargo nextest run --test agents {TESTS}");
    built.shell(&run).passes().says(&["5 passed"]);
    for (partition, passed) in [("count:1/2", "3 passed"), ("count:2/2", "2 passed")] {
        built.shell(&format!("{run} --partition {partition}")).passes().says(&[passed]);
    }
}

#[test]
fn an_archive_runs_on_another_machine() {
    let Some(built) = recorded() else { return };
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let path = elsewhere.path().display();
    let archive = format!("cargo nextest archive --test agents --archive-file {path}/tests.tar.zst");
    built.shell(&format!("{archive} && cp -R . {path}/crate")).passes();
    // What was recorded lies in the copy alone now.
    built.forget_recordings();
    let run = format!("cargo nextest run --archive-file {path}/tests.tar.zst --workspace-remap {path}/crate {TESTS}");
    built.shell(&format!("cd {path} && {run}")).passes().says(&["5 passed"]);
}
