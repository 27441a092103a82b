//! Printing for people who may have stopped reading: a closed pipe is no error, and no panic.

use std::fmt::Display;
use std::io::{Write as _, stderr, stdout};

/// Prints a line on stdout.
pub(super) fn line(text: impl Display) {
    let _ = writeln!(stdout(), "{text}");
}

/// Prints a line on stderr.
pub(super) fn aside(text: impl Display) {
    let _ = writeln!(stderr(), "{text}");
}

/// Prints a remark on stderr.
pub(super) fn note(text: impl Display) {
    aside(format_args!("note: {text}"));
}
