//! The commands that a failure names. Each works where it is pasted: anywhere in the workspace.

use std::fs;
use std::path::Path;

use crate::harness::{Case, Suite, Target};
use crate::render::Commands;

/// What runs a suite's tests, up to a test's name.
pub(super) enum Program {
    /// The tests of a target, under cargo.
    CargoTest(String),
    /// The command line, with the flags of `run` and those of `record`.
    CommandLine { run: String, record: String },
}

impl Program {
    pub(super) fn of(suite: &Suite) -> Self {
        match &suite.target {
            Some(target) => {
                let flag = target_flag(target, &suite.root);
                Self::CargoTest(format!("cargo test -p {}{flag} -- --exact", target.package))
            }
            None => {
                let record = suite.overrides.project_flag.clone();
                Self::CommandLine { run: format!("{record}{}", suite.overrides.flags), record }
            }
        }
    }
}

/// The commands for a test.
pub(super) fn commands_of(program: &Program, case: &Case) -> Commands {
    let name = quoted(&case.name);
    let records = case.expect_fail().is_none();
    match program {
        Program::CargoTest(cargo_test) => {
            let run = format!("{cargo_test} {name}");
            Commands {
                accept: records.then(|| format!("TRAJECTLY_UPDATE=accept {run}")),
                record: records.then(|| format!("TRAJECTLY_UPDATE=1 {run}")),
                reproduce: run,
            }
        }
        Program::CommandLine { run, record } => Commands {
            reproduce: format!("trajectly run{run} {name}"),
            accept: records.then(|| format!("trajectly baseline update --accept{record} {name}")),
            record: records.then(|| format!("trajectly record{record} {name}")),
        },
    }
}

/// The flag that names the test's target, where the crate's layout tells.
fn target_flag(target: &Target, manifest_dir: &Path) -> String {
    let file = target.file.replace('\\', "/");
    if file.starts_with("tests/") || file.contains("/tests/") {
        return format!(" --test {}", name_in_manifest(target, manifest_dir));
    }
    if target.crate_name == target.package.replace('-', "_") {
        return " --lib".to_owned();
    }
    String::new()
}

/// The name of the target that holds a suite; empty for the command line.
pub(crate) fn target_name(suite: &Suite) -> String {
    suite.target.as_ref().map(|target| name_in_manifest(target, &suite.root)).unwrap_or_default()
}

/// The target's name as the manifest spells it: a crate's name has `_` for every `-`.
fn name_in_manifest(target: &Target, manifest_dir: &Path) -> String {
    let is_it = |name: &str| name.replace('-', "_") == target.crate_name;
    let manifest = fs::read_to_string(manifest_dir.join("Cargo.toml")).unwrap_or_default();
    let named = manifest.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "name").then(|| value.trim().trim_matches('"').to_owned())
    });
    let files = fs::read_dir(manifest_dir.join("tests")).into_iter().flatten().flatten();
    let stems = files.filter_map(|entry| Some(entry.path().file_stem()?.to_string_lossy().into_owned()));
    named.chain(stems).find(|name| is_it(name)).unwrap_or_else(|| target.crate_name.to_owned())
}

/// The words of a command as [`quoted`] has put them together; `None` if it was something else.
#[cfg(feature = "cli")]
pub(crate) fn words(command: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut in_quotes) = (Vec::new(), String::new(), false);
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match (character, in_quotes) {
            ('\'', _) => in_quotes = !in_quotes,
            (other, true) => word.push(other),
            (' ', false) => words.push(std::mem::take(&mut word)),
            ('\\', false) => word.push(characters.next().filter(|next| *next == '\'')?),
            (plain, false) if is_plain(plain) || plain == '=' => word.push(plain),
            _ => return None,
        }
    }
    words.push(word);
    (!in_quotes).then_some(words)
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_-./:".contains(character)
}

/// Quoted for a shell, where a name needs it.
pub(crate) fn quoted(name: &str) -> String {
    if name.chars().all(is_plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}
