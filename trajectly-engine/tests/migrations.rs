//! Older specs become today's, and keep what people wrote around them.

use std::fmt::Write;

use trajectly_engine::spec::{Spec, migrate};

const CASES: &str = "tests/data/migrations.txt";

/// What the file of cases has to say of an old text.
fn outcome(old: &str) -> String {
    let mut said = String::new();
    match migrate(old, "specs/a.agent.yaml") {
        Ok(migrated) => {
            said.push_str("---- becomes\n");
            for note in &migrated.notes {
                writeln!(said, "# line {}: {}", note.line, note.message).expect("a text takes text");
            }
            writeln!(said, "----\n{}", migrated.text.trim_end_matches('\n')).expect("a text takes text");
        }
        Err(error) => writeln!(said, "---- refused\n{error}").expect("a text takes text"),
    }
    said
}

/// Each case is a title after `==== `, an old spec, and what becomes of it: after `---- becomes` the notes and the new text, or after
/// `---- refused` what is left to a person. `UPDATE_GENERATED=1` writes the outcomes anew.
#[test]
fn every_case_becomes_what_it_says() {
    let path = format!("{}/{CASES}", env!("CARGO_MANIFEST_DIR"));
    let cases = std::fs::read_to_string(&path).expect("there are cases");
    let mut found = String::new();
    for case in cases.split("==== ").skip(1) {
        let (title, rest) = case.split_once('\n').expect("a title");
        let old = rest.split_once("---- ").expect("an outcome").0;
        let old = if title.ends_with("without an end") { old.trim_end() } else { old };
        writeln!(found, "==== {title}\n{}\n{}", old.trim_end_matches('\n'), outcome(old).trim_end_matches('\n'))
            .expect("a text takes text");
    }
    if std::env::var_os("UPDATE_GENERATED").is_some_and(|value| value == "1") {
        std::fs::write(&path, found).expect("the cases can be written");
    } else {
        assert_eq!(cases, found);
    }
}

#[test]
fn what_is_migrated_loads_and_stays_as_it_is() {
    let cases = include_str!("data/migrations.txt").split("==== ").skip(1);
    let mut count = 0;
    for case in cases {
        let (_, rest) = case.split_once('\n').expect("a title");
        let old = rest.split_once("---- ").expect("an outcome").0;
        for old in [old.to_owned(), old.replace('\n', "\r\n"), format!("\u{feff}{old}")] {
            let Ok(migrated) = migrate(&old, "specs/a.agent.yaml") else { continue };
            count += 1;
            assert!(Spec::parse(&migrated.text, "specs/a.agent.yaml").is_ok(), "{}", migrated.text);
            let again = migrate(&migrated.text, "specs/a.agent.yaml").expect("what is up to date can be migrated");
            let notes: Vec<_> = again.notes.iter().map(|note| note.message.as_str()).collect();
            assert_eq!((again.text.as_str(), notes), (migrated.text.as_str(), Vec::new()));
            let ends = |text: &str| (text.matches("\r\n").count(), text.matches('\n').count());
            let (with_return, all) = ends(&migrated.text);
            assert!(with_return == 0 || with_return == all, "line ends are mixed: {:?}", migrated.text);
        }
    }
    assert!(count > 30, "only {count} specs were migrated");
}
