//! What is said of a spec that is refused, to the letter.

use trajectly_engine::spec::{Spec, SpecError};

fn refused(text: &str) -> SpecError {
    match Spec::parse(text, "specs/a.yaml") {
        Ok(_) => panic!("this is not refused:\n{text}"),
        Err(error) => error,
    }
}

/// Each case of the file is a title after `==== `, a spec, and after `---- refused` what is said of it. `UPDATE_GENERATED=1` writes
/// what is said anew.
#[test]
fn every_problem_is_told_in_its_place() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/spec_errors.txt");
    let cases = std::fs::read_to_string(path).expect("there are cases");
    let (mut wrong, mut all) = (Vec::new(), Vec::new());
    for case in cases.split("==== ").skip(1) {
        let (title, rest) = case.split_once('\n').expect("a title");
        let (spec, expected) = rest.split_once("---- refused\n").expect("what is said");
        let found = refused(spec).to_string();
        if found.trim_end() != expected.trim_end() {
            wrong.push(format!("==== {title}\n{found}"));
        }
        all.push(format!("==== {title}\n{spec}---- refused\n{found}\n"));
    }
    assert!(all.len() > 30, "only {} cases were found", all.len());
    if std::env::var_os("UPDATE_GENERATED").is_some_and(|value| value == "1") {
        std::fs::write(path, all.join("\n")).expect("the cases can be written");
    } else {
        assert!(wrong.is_empty(), "{} cases differ; found was\n{}", wrong.len(), wrong.join("\n\n"));
    }
}

/// A text that would cost more than a spec is worth, and what is said of it.
#[test]
fn hostile_texts_are_turned_away() {
    let nested =
        |open: &str, close: &str| format!("schema_version: 0.4\nx-a: {}1{}\n", open.repeat(9000), close.repeat(9000));
    let block: String = (1..200).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let bomb: String =
        (1..20).map(|n| format!("x-{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", "))).collect();
    let tower: String = (1..100).map(|n| format!("x-{n}: &a{n} [*a{}]\n", n - 1)).collect();
    let huge =
        format!("schema_version: 0.4\nx-a: &a \"{}\"\nx-b: [{}]\n", "x".repeat(90_000), vec!["*a"; 9000].join(","));
    for (text, message, line) in [
        (nested("[", "]"), "this is nested more than 64 levels deep", 2),
        (nested("{a: ", "}"), "this is nested more than 64 levels deep", 2),
        (format!("schema_version: 0.4\nx-a:\n{block}"), "this is nested more than 64 levels deep", 66),
        (format!("schema_version: 0.4\nx-0: &a0 [1]\n{tower}"), "this is nested more than 64 levels deep", 65),
        (
            format!("schema_version: 0.4\nx-0: &a0 [x]\n{bomb}"),
            "the aliases up to here expand to more than a spec may hold",
            8,
        ),
        (huge, "the aliases up to here expand to more than a spec may hold", 3),
        ("x".repeat(300_000), "the spec is 300000 bytes long; at most 262144 are read", 1),
    ] {
        let error = refused(&text);
        let said: Vec<_> =
            error.problems.iter().map(|p| (p.message.as_str(), p.location.as_ref().map(|at| at.line))).collect();
        assert_eq!(said, [(message, Some(line))]);
    }
}

#[test]
fn a_flood_of_problems_is_cut_short() {
    let error = refused(&format!("schema_version: 0.4\nredact: [{}]\n", "5, ".repeat(3000)));
    assert_eq!((error.problems.len(), error.omitted), (100, 2900));
    let said = error.to_string();
    assert!(said.ends_with("\n\n… and 2900 more"), "{said}");
    let widest = said.lines().map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|widest| widest < 200), "a line of {widest:?} characters");
}

#[test]
fn a_value_that_was_not_read_from_text_has_paths_instead_of_places() {
    let value =
        trajectly_engine::json::Json::parse(r#"{"schema_version": "0.4", "contracts": {"tools": {"deny": [5]}}}"#);
    let error = Spec::from_json(&value.expect("JSON")).expect_err("a problem");
    assert_eq!(
        error.to_string(),
        "error: `name` is missing\n  = help: a spec that is not a file needs one\n\n\
         error: `contracts.tools.deny[0]` must be a string, not the number 5\n --> contracts.tools.deny[0]\n  = help: put it in quotes"
    );
}

#[test]
fn what_has_no_effect_is_a_warning() {
    let spec = Spec::parse(
        concat!(
            "schema_version: 0.4\n",
            "command: run\n",
            "entrypoint: agent.py\n",
            "contracts:\n",
            "  network: {allowlist: [' ', 'a.test:99999']}\n",
            "  args: {t: {fields: {f: {enum: one, min: \"3\", regex: 5, type: null, max: null}}}}\n",
        ),
        "specs/a.yaml",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let warnings: Vec<_> = spec
        .warnings
        .iter()
        .map(|w| (w.location.as_ref().map(|at| at.line), w.path.as_str(), w.message.as_str()))
        .collect();
    assert_eq!(
        warnings,
        [
            (Some(3), "entrypoint", "`entrypoint` has no effect beside `command`"),
            (Some(5), "contracts.network.allowlist[0]", "a blank host allows nothing"),
            (Some(5), "contracts.network.allowlist[1]", "`a.test:99999` is no host and allows nothing"),
            (
                Some(6),
                "contracts.args.t.fields.f.enum",
                "`contracts.args.t.fields.f.enum` is the string \"one\", not a list, and has no effect"
            ),
            (
                Some(6),
                "contracts.args.t.fields.f.min",
                "`contracts.args.t.fields.f.min` is the string \"3\", not a number, and has no effect"
            ),
            (
                Some(6),
                "contracts.args.t.fields.f.regex",
                "`contracts.args.t.fields.f.regex` is the number 5, not a string, and has no effect"
            ),
        ]
    );
    assert_eq!(spec.require_command(), Ok("run"));
}

#[test]
fn a_spec_that_nothing_runs_says_so() {
    let spec = Spec::parse("schema_version: 0.4\n", "specs/a.agent.yaml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        spec.require_command().map_err(|error| error.to_string()),
        Err("error: nothing runs this spec here: it has no `command`\n --> specs/a.agent.yaml\n  \
             = help: add `command: …`, or a function with #[agent_test(spec = \"specs/a.agent.yaml\")], for `cargo test`"
            .to_owned())
    );
}

#[test]
fn a_name_is_short_enough_for_a_file_s() {
    let spec = |length| format!("schema_version: 0.4\nname: {}\ncommand: x\n", "n".repeat(length));
    assert!(Spec::parse(&spec(200), "specs/a.yaml").is_ok());
    let error = refused(&spec(201)).to_string();
    assert!(error.contains("`name` has 201 bytes") && error.contains("at most 200"), "{error}");
}

#[test]
fn what_replay_is_to_leave_out_is_checked() {
    for (replay, expected) in [
        (
            "normalize: [uid]",
            "`replay.normalize[0]` must be `uuid` or `timestamp`, not the string \"uid\"\n --> specs/a.yaml:2:22",
        ),
        ("normalize: [uid]", "help: did you mean `uuid`?"),
        ("normalize: [\"[0-9]+\"]", "must be `uuid` or `timestamp`"),
        ("ignore_paths: [messages]", "\"messages\" is no JSON path: a path begins with `$` at character 1"),
        ("ignore_paths: [$]", "\"$\" is no JSON path: this path leads nowhere"),
        ("ignore_paths: [$..name]", "`..` is not supported at character 2"),
        ("ignore_paths: ['$.a[-1]']", "this is no step at character 4\n --> specs/a.yaml:2:25"),
        ("ignore_paths: ['$.a[?(@.b)]']", "help: write `.name`, `.*`, `[0]`, `[*]` or `[\"any name\"]`"),
        ("drift: maybe", "`replay.drift` must be `fail`, `warn` or `allow`"),
    ] {
        let error = refused(&format!("schema_version: 0.4\nreplay: {{{replay}}}\ncommand: x\n")).to_string();
        assert!(error.contains(expected), "{replay}: {error}");
    }
}
