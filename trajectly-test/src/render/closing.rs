//! The end of every failure: what the agent printed, and what to type next.

use trajectly_engine::code::Code;

use super::paint::{Paint, Role};
use super::text::{WIDTH, clean, count, fit, pad, without_sequences};

/// Lines of the agent's output.
const MOST_LINES: usize = 40;

/// Commands that a failure names, each ready to be pasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Commands {
    /// Runs the one test again.
    pub(crate) reproduce: String,
    /// Makes what the replayed run did the new baseline; `None` for a test that never records.
    pub(crate) accept: Option<String>,
    /// Records the test again, live; `None` for a test that never records.
    pub(crate) record: Option<String>,
}

impl Commands {
    /// The command that fails in this way again: some failures are those of a recording or of an acceptance.
    pub(super) fn that_came_to(&self, code: Code) -> &str {
        let other = match code {
            Code::RecordingRejected | Code::BaselineNameClash => &self.record,
            Code::AcceptRefused => &self.accept,
            _ => &None,
        };
        other.as_ref().unwrap_or(&self.reproduce)
    }
}

/// The end of what the agent printed, as a paragraph; empty if it printed nothing.
pub(super) fn output(printed: &str, paint: Paint) -> String {
    let printed = without_sequences(printed);
    let printed = printed.trim_end();
    if printed.is_empty() {
        return String::new();
    }
    let lines: Vec<&str> = printed.lines().collect();
    let left_out = lines.len().saturating_sub(MOST_LINES);
    let which = match left_out {
        0 => String::new(),
        _ => format!(" (the last {MOST_LINES} of {})", count(lines.len(), "line")),
    };
    let mut out = format!("   {}\n", paint.text(Role::Word, format!("the agent printed{which}:")));
    for line in &lines[left_out..] {
        // Of a progress line that rewrote itself, the last state is what a terminal would have left.
        let line = line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default();
        let line = fit(&line.replace('\t', "    "), 2 * WIDTH);
        out.push_str(format!("   {} {line}", paint.text(Role::Frame, "|")).trim_end());
        out.push('\n');
    }
    out
}

/// A label and what it stands for, one a line.
pub(super) fn rows(rows: &[(&str, &str)], paint: Paint) -> String {
    let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    let row = |(label, text): &(&str, &str)| {
        let label = pad((*label).to_owned(), width + 2);
        format!("   {}{}\n", paint.text(Role::Word, label), clean(text))
    };
    rows.iter().map(row).collect()
}

/// Paragraphs with an empty line between them; empty ones are left out. No newline at the end.
pub(super) fn paragraphs(parts: &[String]) -> String {
    let parts: Vec<&str> =
        parts.iter().map(|part| part.trim_end_matches('\n')).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}
