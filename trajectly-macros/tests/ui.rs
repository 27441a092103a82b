//! What the macros say about each mistake. What they accept is in `agents.rs` and `tools.rs`.
//!
//! `TRYBUILD=overwrite cargo test -p trajectly-macros --test ui` rewrites the expected messages; read the diff.

use std::fs;
use std::path::Path;

/// The package that trybuild makes for the cases, in which their `spec = "…"` is looked up.
const PACKAGE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/../tests/trybuild/trajectly-macros");

#[test]
fn ui() {
    let specs = Path::new(PACKAGE).join("specs");
    fs::create_dir_all(&specs).expect("a folder for specs");
    fs::write(specs.join("triage.agent.yaml"), "schema_version: \"0.4\"\nname: triage\n").expect("a spec");

    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
