//! Projects in the layout of the public Python tool: baselines in named versions.

use serde_json::Value;
use trajectly_tests::Folder;

const SHOP: &str = "specs/shop.agent.yaml";
const SPEC: &str = "schema_version: \"0.4\"\nname: Shop\ncommand: python shop.py\nworkdir: ..\nstrict: true\n";
const VERSION: [&str; 4] = ["baseline.meta.json", "fixtures.json", "trace.jsonl", "trace.meta.json"];

/// A project with an agent, and nothing recorded.
fn shop() -> Folder {
    let folder = Folder::new();
    folder.add_agent("shop.py");
    folder.write(SHOP, SPEC);
    folder
}

/// The same, recorded by the Python tool.
fn shop_of_python() -> Folder {
    let folder = shop();
    folder.python_tool(["record", SHOP]).output().passes();
    folder
}

fn trajectly(folder: &Folder, args: &[&str]) -> trajectly_tests::Run {
    folder.trajectly(args).with_python().env("JOURNAL", folder.path("journal"))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The files of all versions with their content, and the pointer.
fn baselines(folder: &Folder) -> Vec<(std::path::PathBuf, String)> {
    let mut all = folder.store().all("baselines");
    all.extend(folder.store().all("fixtures"));
    all.push(("pointer".into(), folder.read(".trajectly/current/shop.json")));
    all
}

#[test]
fn a_project_of_the_python_tool_runs_unchanged() {
    let folder = shop_of_python();
    let (recorded, ran) = (baselines(&folder), folder.journal());
    trajectly(&folder, &["run", SHOP]).output().exits(0).says(&["PASS"]);
    assert_eq!(baselines(&folder), recorded);
    assert_eq!(folder.journal(), ran, "nothing really ran");
    assert!(!folder.path("specs/snapshots").exists());
    folder.python_tool(["run", SHOP]).output().passes();
}

#[test]
fn both_tools_find_the_same_regressions() {
    let recorded = shop_of_python();
    for (edit, yaml, code) in [
        ("no refund", "", "REFINEMENT_BASELINE_CALL_MISSING"),
        ("new tool", "", "REFINEMENT_BASELINE_CALL_MISSING"),
        ("swallow", "", "REFINEMENT_EXTRA_TOOL_CALL"),
        (
            "swallow",
            "refinement: {allow_extra_tools: [delete_order]}\ncontracts: {tools: {deny: [delete_order]}}\n",
            "CONTRACT_TOOL_DENIED",
        ),
        ("exhaust", "", "REFINEMENT_BASELINE_CALL_MISSING"),
    ] {
        let [theirs, ours] = [recorded.copy(), recorded.copy()];
        for folder in [&theirs, &ours] {
            folder.write(SHOP, &format!("{SPEC}{yaml}"));
        }
        theirs.python_tool(["run", SHOP]).env("EDIT", edit).output().exits(1);
        trajectly(&ours, &["run", SHOP]).env("EDIT", edit).output().exits(1);
        let theirs = json(&theirs.read(".trajectly/reports/shop.json"));
        let ours = json(&ours.read(".trajectly/reports/shop.json"));
        assert_eq!(ours["primary_violation"]["code"], code, "{edit} {yaml}");
        assert_eq!(ours["primary_violation"]["code"], theirs["trt_v03"]["primary_violation"]["code"], "{edit} {yaml}");
        assert_eq!(ours["witness_index"], theirs["trt_v03"]["witness_index"], "{edit} {yaml}");
    }
}

#[test]
fn a_recording_replaces_the_version_in_force_and_the_python_tool_runs_it() {
    let folder = shop_of_python();
    trajectly(&folder, &["record", SHOP]).env("EDIT", "more").output().exits(0);
    let store = folder.store();
    assert!(!store.has("baselines/shop.jsonl") && !store.has("fixtures/shop.json"));
    assert!(VERSION.iter().all(|file| store.has(&format!("baselines/shop/v1/{file}"))));
    assert!(!folder.path("specs/snapshots").exists());
    let ran = folder.journal();
    folder.python_tool(["run", SHOP]).env("EDIT", "more").output().passes();
    trajectly(&folder, &["run", SHOP]).env("EDIT", "more").output().exits(0);
    assert_eq!(folder.journal(), ran, "nothing really ran");
    // A spec that is new to the project goes the way of the others.
    folder.write("specs/second.agent.yaml", &SPEC.replace("Shop", "second"));
    trajectly(&folder, &["record", "specs/second.agent.yaml"]).output().exits(0);
    assert_eq!(json(&folder.read(".trajectly/current/second.json"))["version"], "v1");
    folder.python_tool(["run", "specs/second.agent.yaml"]).output().passes();
}

#[test]
fn baselines_that_cannot_be_read_are_told_of() {
    for (file, content, told) in [
        ("baselines/shop/v1/trace.meta.json", None, "BASELINE_INVALID"),
        ("baselines/shop/v1/trace.meta.json", Some("{"), "BASELINE_INVALID"),
        ("baselines/shop/v1/trace.meta.json", Some("{\"normalizer_version\": \"2\"}"), "NORMALIZER_VERSION_MISMATCH"),
        ("baselines/shop/v1/baseline.meta.json", Some("[]"), "baseline.meta.json"),
        ("baselines/shop/v1/trace.jsonl", None, "BASELINE_MISSING"),
        ("baselines/shop/v1/fixtures.json", None, "fixtures.json"),
        ("current/shop.json", Some("{\"version\": \"../v1\"}"), "current/shop.json"),
        ("current/shop.json", None, "trajectly baseline promote"),
    ] {
        let folder = shop_of_python();
        let path = folder.path(&format!(".trajectly/{file}"));
        match content {
            Some(content) => std::fs::write(path, content).expect("a file"),
            None => std::fs::remove_file(path).expect("a file"),
        }
        trajectly(&folder, &["run", SHOP]).output().exits(2).says(&[told]);
    }
}

#[test]
fn versions_are_created_listed_promoted_and_compared() {
    let folder = shop_of_python();
    let run = |args: &[&str], edit: &str| trajectly(&folder, args).env("EDIT", edit).output();
    run(&["baseline", "create", SHOP, "--name", "v2"], "more").exits(0);
    assert!(folder.read(".trajectly/current/shop.json").contains("v1"), "it is not in force yet");
    run(&["run", SHOP], "").exits(0);
    run(&["run", SHOP, "--baseline", "v2"], "more").exits(0);
    run(&["run", SHOP, "--baseline", "v2"], "no refund").exits(1).says(&["--baseline v2"]);
    run(&["run", SHOP, "--baseline", "v3"], "").exits(2).says(&["BASELINE_MISSING", "v1, v2"]);
    run(&["run", SHOP, "--baseline", "../v1"], "").exits(2).says(&["cannot name a version"]);

    let listed = run(&["baseline", "list", "--json"], "").exits(0);
    let python = folder.python_tool(["baseline", "list"]).output().passes();
    assert_eq!(json(&listed.stdout), json(&python.stdout));
    run(&["baseline", "list"], "").exits(0).says(&["shop: v1 (in force), v2"]);
    run(&["baseline", "list", SHOP, "nothing"], "").exits(0).says(&["nothing: none", "shop: v1"]);

    let same = run(&["baseline", "diff", "shop", "v1", "v1"], "").exits(0);
    assert!(same.stdout.contains("they do the same"), "{same}");
    let diff = json(&run(&["baseline", "diff", SHOP, "v1", "v2", "--json"], "").exits(0).stdout);
    assert_eq!(diff["counts"]["right"]["llm_calls"], 2, "{diff}");
    assert_eq!(diff["first_difference"]["left"]["tool_name"], "refund", "{diff}");
    assert_eq!(diff["first_difference"]["path"], "$.event_type", "{diff}");
    assert_eq!((&diff["left_to_right"], &diff["right_to_left"]), (&Value::Array(vec![]), &Value::Array(vec![])));
    run(&["baseline", "diff", "shop", "v1", "v9"], "").exits(2).says(&["no version `v9`", "v1, v2"]);

    let refused = trajectly(&folder, &["baseline", "promote", "v2"]).env("CI", "true").output();
    refused.exits(2).says(&["not written in CI"]);
    run(&["baseline", "promote", "v2", "shop", "other"], "").exits(2).says(&["shop: v2 is in force", "of other"]);
    run(&["run", SHOP], "more").exits(0);
    folder.python_tool(["run", SHOP]).env("EDIT", "more").output().passes();
    let promoted = run(&["baseline", "promote", "v1", "--json"], "").exits(0);
    assert_eq!(json(&promoted.stdout)["promoted"], serde_json::json!(["shop"]));
    run(&["baseline", "create", SHOP, "--name", "v3", "--promote"], "more").exits(0);
    run(&["run", SHOP], "more").exits(0);
}

#[test]
fn a_flat_baseline_becomes_the_first_version() {
    let folder = shop();
    let run = |args: &[&str], edit: &str| trajectly(&folder, args).env("EDIT", edit).output();
    run(&["record", SHOP], "").exits(0);
    run(&["baseline", "list"], "").exits(0).says(&["shop: v1 (in force)"]);
    run(&["run", SHOP, "--baseline", "v1"], "").exits(0);
    run(&["baseline", "promote", "v1"], "").exits(0);
    run(&["baseline", "create", SHOP, "--name", "v1"], "").exits(0);
    assert!(folder.store().has("baselines/shop.jsonl"), "it has no need of versions yet");
    let flat = folder.store().baseline("specs", "shop");
    run(&["baseline", "create", SHOP, "--name", "v2"], "more").exits(0);
    let store = folder.store();
    assert!(
        !store.has("baselines/shop.jsonl")
            && !store.has("baselines/shop.meta.json")
            && !store.has("fixtures/shop.json")
    );
    assert_eq!(store.read("baselines/shop/v1/trace.jsonl"), flat[0].1);
    assert_eq!(store.read("baselines/shop/v1/fixtures.json"), flat[2].1);
    assert_eq!(folder.read("specs/snapshots/shop.snap"), flat[3].1, "people review the version in force");
    run(&["run", SHOP], "").exits(0);
    run(&["run", SHOP, "--baseline", "v2"], "more").exits(0);
    for (version, edit) in [("v1", ""), ("v2", "more")] {
        folder.python_tool(["run", SHOP, "--baseline", version]).env("EDIT", edit).output().passes();
    }
}

#[test]
fn a_name_too_long_for_a_folder_is_refused_and_spoils_nothing() {
    let folder = Folder::new();
    folder.trajectly(["init"]).output().passes();
    folder.trajectly(["record", "--auto"]).output().passes();
    for name in ["v".repeat(101), "v".repeat(256), "..".to_owned()] {
        let create = folder.trajectly(["baseline", "create", "--auto", "--name", &name]).output();
        create.exits(2).says(&["--name <VERSION>", " a version"]);
    }
    folder.trajectly(["run", "--auto"]).output().passes();
}

#[test]
fn a_recording_that_cannot_be_put_in_place_is_not_begun() {
    let folder = Folder::new();
    folder.trajectly(["init"]).output().passes();
    folder.trajectly(["record", "--auto"]).output().passes();
    folder.write(".trajectly/baselines/sample/v2/trace.jsonl/in_the_way", "");
    let create = || folder.trajectly(["baseline", "create", "--auto", "--name", "v2"]).output();
    create().exits(2).says(&["trace.jsonl"]);
    folder.trajectly(["run", "--auto"]).output().passes();
    std::fs::remove_dir_all(folder.path(".trajectly/baselines/sample")).expect("it can be removed");
    create().passes();
}
