//! Printing for people who may have stopped reading: a closed pipe is no error, and no panic.

use std::fmt::Display;
use std::io::{self, Write as _, stderr, stdout};
use std::sync::OnceLock;

use super::outcome::CliError;
use crate::render::clean;

/// Why something could not be printed on stdout, the first time.
static FAILED: OnceLock<io::Error> = OnceLock::new();

/// Prints a line on stdout.
pub(super) fn line(text: impl Display) {
    written(writeln!(stdout(), "{text}"));
}

/// Prints a text on stdout as it is.
pub(super) fn verbatim(text: &str) {
    written(stdout().write_all(text.as_bytes()));
}

/// Prints a line on stderr.
pub(super) fn aside(text: impl Display) {
    let _ = writeln!(stderr(), "{text}");
}

/// Prints a remark on stderr. It may say what files hold.
pub(super) fn note(text: impl Display) {
    aside(clean_lines(&format!("note: {text}")));
}

/// Prints on stderr what kept a command from its work. It may say what files hold.
pub(super) fn error(error: &CliError) {
    aside(clean_lines(&error.to_string()));
}

/// Keeps in mind whether something was written to stdout. Whoever closed it has what they wanted.
pub(super) fn written(result: io::Result<()>) {
    if let Err(error) = result.and_then(|()| stdout().flush())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = FAILED.set(error);
    }
}

/// # Errors
///
/// If something could not be printed on stdout.
pub(super) fn all_written() -> Result<(), CliError> {
    match FAILED.get() {
        None => Ok(()),
        Some(error) => Err(CliError::new(format!("cannot write to standard output: {error}"))
            .help("make room where it leads, or lead it elsewhere")),
    }
}

fn clean_lines(text: &str) -> String {
    text.lines().map(clean).collect::<Vec<_>>().join("\n")
}
