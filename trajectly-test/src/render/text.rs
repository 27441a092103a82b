//! Text of unknown origin made safe to print, and measured as a terminal shows it.
//!
//! A trace says whatever an agent, a model or a tool made it say. Nothing of it may move the cursor, change a colour
//! or reorder what stands around it.

use std::fmt::Write as _;

/// The columns that a line may fill.
pub(super) const WIDTH: usize = 100;

/// The text as one line, with all that a terminal would obey, or that nobody would see, spelled out.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push(c, &mut out));
    out
}

/// The text as [`clean`] writes it, cut to `width` columns; the last of them is a `…` where something is missing.
pub(super) fn fit(text: &str, width: usize) -> String {
    if width == 0 {
        return String::new();
    }
    let mut out = String::new();
    let mut used = 0;
    // Where the text would be cut, if what follows turns out not to fit.
    let mut cut = 0;
    for c in text.chars() {
        let from = out.len();
        push(c, &mut out);
        used += width_of(&out[from..]);
        if used > width {
            out.truncate(cut);
            out.push('…');
            return out;
        }
        if used < width {
            cut = out.len();
        }
    }
    out
}

/// The number of columns that a clean text fills.
pub(super) fn width_of(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// The text with blanks up to `width` columns.
pub(super) fn pad(mut text: String, width: usize) -> String {
    let missing = width.saturating_sub(width_of(&text));
    text.extend(std::iter::repeat_n(' ', missing));
    text
}

/// `1 event`, `2 events`.
pub(super) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A text without the escape sequences of colours and cursor movements, which an agent's output is full of and a
/// reader of it has no use for.
pub(super) fn without_sequences(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        let parameters = after.find(|c: char| !matches!(c, ' '..='?'));
        rest = match parameters {
            Some(end) if matches!(after.as_bytes()[end], b'@'..=b'~') => &after[end + 1..],
            // A sequence that does not end is shown as what it is.
            _ => {
                out.push_str("\u{1b}[");
                after
            }
        };
    }
    out.push_str(rest);
    out
}

fn push(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c.is_control() || misleads(c) => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => out.push(c),
    }
}

/// Characters that are invisible, break a line, or reorder the text around them.
fn misleads(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The columns that one character fills, near enough: a table of widths would be a dependency of every user.
fn columns(c: char) -> usize {
    match c {
        // Combining marks, the joiner and the variation selectors add to the character before them.
        '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f680}'..='\u{1f6ff}'
        | '\u{1f900}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}
