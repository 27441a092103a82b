//! Files of the repository that a test makes, so that they say what the product does.

use std::{env, fs};

use crate::build::repository;

/// Holds a file of the repository against what it is to hold. With `UPDATE_GENERATED=1`, writes it.
///
/// # Panics
///
/// If the file is missing or differs.
#[track_caller]
pub fn assert_generated(path: &str, content: &str) {
    let file = repository().join(path);
    if is_updating() {
        fs::write(&file, content).unwrap_or_else(|error| panic!("{path}: {error}"));
        return;
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    if found != content {
        let same = found.lines().zip(content.lines()).take_while(|(found, wanted)| found == wanted).count();
        panic!(
            "{path}:{}: this is out of date; `UPDATE_GENERATED=1 cargo test -p trajectly-tests` writes it\n  found    {}\n  expected {}",
            same + 1,
            found.lines().nth(same).unwrap_or("(the end)"),
            content.lines().nth(same).unwrap_or("(the end)"),
        );
    }
}

/// Whether the files are to be written, and not held against anything.
pub fn is_updating() -> bool {
    env::var_os("UPDATE_GENERATED").is_some_and(|value| value == "1")
}
