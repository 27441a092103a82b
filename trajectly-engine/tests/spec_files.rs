//! Specs made of several files: `extends` and `contracts.config`.

use std::path::Path;

use trajectly_engine::spec::{RefinementMode, Spec, SpecError};

/// A folder with files of these names and texts.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    folder
}

/// Reads `name` in the folder, which is shown as if it stood in `specs/`.
fn load(folder: &tempfile::TempDir, name: &str) -> Result<Spec, SpecError> {
    Spec::load_as(&folder.path().join(name), &format!("specs/{name}"))
}

#[track_caller]
fn read(files: &[(&str, &str)]) -> Spec {
    load(&folder(files), files[0].0).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn refused(files: &[(&str, &str)]) -> String {
    load(&folder(files), files[0].0).map(|spec| spec.name).expect_err("a problem").to_string()
}

#[test]
fn what_a_spec_says_wins_over_what_it_extends() {
    let spec = read(&[
        (
            "a.agent.yaml",
            "extends: base/b.yaml\nname: own\ncontracts:\n  tools: {deny: [x], max_calls_per_tool: {a: 1}}\nenv: {B: own}\n",
        ),
        (
            "base/b.yaml",
            concat!(
                "extends: ../c.yaml\n",
                "command: from b\n",
                "contracts:\n",
                "  tools: {deny: [y, z], allow: [a, b], max_calls_per_tool: {a: 9, b: 2}}\n",
                "env: {A: b, B: b}\n",
            ),
        ),
        ("c.yaml", "schema_version: 0.4\nname: from c\ncommand: from c\nrefinement: {mode: strict}\nenv: {C: c}\n"),
    ]);
    assert_eq!((spec.name.as_str(), spec.command.as_deref()), ("own", Some("from b")));
    assert_eq!(spec.refinement.mode, RefinementMode::Strict);
    let tools = &spec.contracts.tools;
    assert_eq!(
        (tools.deny.as_slice(), tools.allow.as_slice()),
        (["x".to_owned()].as_slice(), ["a".to_owned(), "b".to_owned()].as_slice())
    );
    assert_eq!(tools.max_calls_per_tool, [("a".to_owned(), 1), ("b".to_owned(), 2)]);
    let env: Vec<String> = spec.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(env, ["C=c", "A=b", "B=own"]);

    let place = |path| spec.locate(path).map(|at| (at.file, at.line));
    assert_eq!(place("contracts.tools.deny[0]"), Some(("specs/a.agent.yaml".to_owned(), 4)));
    assert_eq!(place("contracts.tools.allow[1]"), Some(("specs/base/b.yaml".to_owned(), 4)));
    assert_eq!(place("refinement.mode"), Some(("specs/c.yaml".to_owned(), 4)));
}

#[test]
fn paths_start_from_the_file_that_says_them() {
    let files = [
        ("a.yaml", "extends: base/b.yaml\n"),
        ("base/b.yaml", "schema_version: 0.4\nworkdir: agent\ncontracts: {config: phi.yaml}\n"),
        ("base/phi.yaml", "tools: {deny: [x]}\n"),
    ];
    let folder = folder(&files);
    let spec = load(&folder, "a.yaml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(spec.workdir, folder.path().join("base/agent"));
    assert_eq!(spec.contracts.tools.deny, ["x"]);
    assert_eq!(spec.name, "a");
}

#[test]
fn inline_contracts_win_over_the_file_and_merge_with_it() {
    let inline =
        "schema_version: 0.4\ncontracts:\n  config: phi.yaml\n  tools: {allow: [a]}\n  network: {default: allow}\n";
    for phi in [
        "schema_version: 0.3\ncontracts:\n  version: v1\n  tools: {allow: [b], deny: [c]}\n  sequence: {require: [a]}\n",
        "tools: {allow: [b], deny: [c]}\nsequence: {require: [a]}\n",
    ] {
        let spec = read(&[("a.yaml", inline), ("phi.yaml", phi)]);
        assert_eq!(spec.contracts.tools.allow, ["a"]);
        assert_eq!(spec.contracts.tools.deny, ["c"]);
        assert_eq!(spec.contracts.sequence.require, ["a"]);
        let place = spec.locate("contracts.tools.deny[0]").expect("a place");
        assert_eq!(place.file, "specs/phi.yaml");
    }
}

#[test]
fn where_prices_stand_may_be_said_in_a_file() {
    let files = |inline| {
        [
            ("a.yaml", "extends: base/b.yaml\n"),
            ("base/b.yaml", inline),
            ("base/alpha.yaml", "schema_version: \"0.4\"\nabstraction: {price: {paths: ['$.output.price']}}\n"),
        ]
    };
    let paths = |inline| {
        let spec = read(&files(inline));
        spec.abstraction.price_paths.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(paths("schema_version: 0.4\nabstraction: {config: alpha.yaml}\n"), ["$.output.price"]);
    let both = "schema_version: 0.4\nabstraction: {config: alpha.yaml, price: {paths: ['$.total']}}\n";
    assert_eq!(paths(both), ["$.total"]);
}

#[test]
fn a_key_without_a_value_builds_on_nothing() {
    let spec = read(&[("a.yaml", "schema_version: 0.4\nextends:\ncontracts:\n  config:\n")]);
    assert!(spec.contracts.tools.deny.is_empty());
}

#[test]
fn what_a_spec_extends_is_a_mapping() {
    for (base, found) in [
        ("", "nothing"),
        ("# later\n", "nothing"),
        ("null\n", "nothing"),
        ("- a\n", "a list"),
        ("base", "the string \"base\""),
    ] {
        let said = refused(&[("a.yaml", "schema_version: 0.4\nextends: base.yaml\n"), ("base.yaml", base)]);
        let message =
            format!("`extends` names specs/base.yaml, which must be a mapping, not {found}\n --> specs/a.yaml:2:10");
        assert!(said.contains(&message) && said.contains("= help: write a spec into that file"), "{said}");
    }
}

#[test]
fn what_is_wrong_in_another_file_is_told_there() {
    let files = [
        ("a.yaml", "extends: b.yaml\nstrict: 1\n"),
        ("b.yaml", "schema_version: 0.4\nnmae: b\ncontracts: {config: phi.yaml}\n"),
        ("phi.yaml", "tools: {alow: [a]}\n"),
    ];
    let expected = "\
error: `strict` must be `true` or `false`, not the number 1
 --> specs/a.yaml:2:9
  |
2 | strict: 1
  |         ^
  = help: write true or false

error: unknown key `nmae`
 --> specs/b.yaml:2:1
  |
2 | nmae: b
  | ^^^^
  = help: did you mean `name`?

error: unknown key `contracts.tools.alow`
 --> specs/phi.yaml:1:9
  |
1 | tools: {alow: [a]}
  |         ^^^^
  = help: did you mean `allow`?";
    assert_eq!(refused(&files), expected);
}

#[test]
fn files_that_cannot_be_built_on() {
    let ring = [
        ("a.yaml", "name: a\nextends: x/b.yaml\n"),
        ("x/b.yaml", "extends: ../c.yaml\n"),
        ("c.yaml", "extends: ./a.yaml\n"),
    ];
    let with_phi =
        |phi: &'static str| [("a.yaml", "schema_version: 0.4\ncontracts: {config: phi.yaml}\n"), ("phi.yaml", phi)];
    for (files, first_line, place) in [
        (
            ring.to_vec(),
            "`extends` goes round in a ring: specs/a.yaml -> specs/x/b.yaml -> specs/c.yaml -> specs/a.yaml",
            "specs/c.yaml:1:10",
        ),
        (
            vec![("a.yaml", "extends: a.yaml\n")],
            "`extends` goes round in a ring: specs/a.yaml -> specs/a.yaml",
            "specs/a.yaml:1:10",
        ),
        (
            vec![("a.yaml", "extends: no/such.yaml\n")],
            "`extends` names specs/no/such.yaml, which cannot be read: ",
            "specs/a.yaml:1:10",
        ),
        (
            vec![("a.yaml", "extends: [b.yaml]\n")],
            "`extends` must be the path of a file, not a list",
            "specs/a.yaml:1:1",
        ),
        (
            vec![("a.yaml", "extends: b.yaml\n"), ("b.yaml", "a: [\n")],
            "this is not YAML: while parsing a node, did not find expected node content",
            "specs/b.yaml:2:1",
        ),
        (
            with_phi("refinement: {mode: none}\n").to_vec(),
            "`refinement` cannot stand in a contracts file",
            "specs/phi.yaml:1:1",
        ),
        (
            with_phi("contracts: {}\nbudget_thresholds: {}\n").to_vec(),
            "unknown key `budget_thresholds` in a contracts file",
            "specs/phi.yaml:2:1",
        ),
        (with_phi("- a\n").to_vec(), "a contracts file must be a mapping, not a list", "specs/phi.yaml:1:1"),
        (with_phi("").to_vec(), "a contracts file must be a mapping, not nothing", "specs/a.yaml:2:21"),
        (
            with_phi("config: other.yaml\n").to_vec(),
            "`contracts.config` can only stand in a spec file",
            "specs/phi.yaml:1:1",
        ),
        (
            vec![
                ("a.yaml", "schema_version: 0.4\nabstraction: {config: b.yaml}\n"),
                ("b.yaml", "price: {path: [$.a]}\n"),
            ],
            "unknown key `abstraction.price.path`",
            "specs/b.yaml:1:9",
        ),
        (
            vec![("a.yaml", "schema_version: 0.4\nabstraction: {config: b.yaml}\n"), ("b.yaml", "- a\n")],
            "an abstraction file must be a mapping, not a list",
            "specs/b.yaml:1:1",
        ),
        (
            vec![("a.yaml", "schema_version: 0.4\ncontracts: {config: phi.yaml}\n")],
            "`contracts.config` names specs/phi.yaml, which cannot be read: ",
            "specs/a.yaml:2:21",
        ),
    ] {
        let said = refused(&files);
        let mut lines = said.lines();
        let first = lines.next().unwrap_or_default();
        assert!(first.starts_with(&format!("error: {first_line}")), "{files:?}: {first}");
        assert_eq!(lines.next(), Some(format!(" --> {place}").as_str()), "{files:?}");
    }
}

#[test]
fn a_chain_of_files_has_an_end() {
    let names: Vec<String> = (0..40).map(|n| format!("{n}.yaml")).collect();
    let texts: Vec<String> = (1..=40).map(|n| format!("extends: {n}.yaml\n")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
    let said = refused(&files);
    assert!(
        said.starts_with("error: this is the end of a chain of more than 16 files that extend one another"),
        "{said}"
    );
}

#[test]
fn a_spec_that_is_no_file_builds_on_none() {
    let value = r#"{"schema_version": "0.4", "name": "n", "extends": "b.yaml", "contracts": {"config": "phi.yaml"}}"#;
    let value = trajectly_engine::json::Json::parse(value).expect("JSON");
    let error = Spec::from_json(&value).map(|spec| spec.name).expect_err("a problem");
    assert_eq!(
        error.to_string(),
        "error: `extends` can only stand in a spec file\n --> extends\n  = help: write what the file holds here instead\n\n\
         error: `contracts.config` can only stand in a spec file\n --> contracts.config\n  \
         = help: write what the file holds here instead"
    );
    assert!(Path::new(&error.file).as_os_str().is_empty());
}

#[cfg(unix)]
#[test]
fn what_has_no_end_is_not_read() {
    let text = refused(&[("a.agent.yaml", "schema_version: 0.4\nextends: /dev/zero\n")]);
    assert!(text.contains("which cannot be read: it is a device, a pipe or a socket"), "{text}");
    let error = Spec::load(Path::new("/dev/zero")).map(|spec| spec.name).expect_err("no spec").to_string();
    assert!(error.contains("it is a device"), "{error}");
}
