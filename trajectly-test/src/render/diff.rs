//! What differs between two texts, line by line.

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use super::paint::{Paint, Role};
use super::text::{clean, count, fit, width_of};

/// Columns of a line of text, its sign not counted.
const LINE: usize = 92;
/// Unchanged lines that are shown around a change.
const CONTEXT: usize = 2;
/// Lines that are shown in all.
const MOST_LINES: usize = 40;
/// Lines from the first change on that are compared; the algorithm is quadratic where nothing is alike.
const MOST_COMPARED: usize = 2_000;
/// Characters that are shown in front of what changed in a long line.
const LEAD: usize = 30;

/// The lines in which two texts differ, with a little of what stands around them: `-` and the recorded line, `+` and
/// the actual one. Empty if the texts are equal; no newline at the end.
pub(super) fn prompt_diff(recorded: &str, actual: &str, paint: Paint) -> String {
    if recorded == actual {
        return String::new();
    }
    let old: Vec<&str> = recorded.split('\n').collect();
    let new: Vec<&str> = actual.split('\n').collect();
    let alike = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let start = alike.saturating_sub(CONTEXT);
    let reach = |lines: &[&str]| (start + CONTEXT + MOST_COMPARED).min(lines.len());
    let (old_end, new_end) = (reach(&old), reach(&new));
    let (shown_old, shown_new) = (&old[start..old_end], &new[start..new_end]);

    let mut out = Vec::new();
    let ops = capture_diff_slices(Algorithm::Myers, shown_old, shown_new);
    for (n, group) in group_diff_ops(ops, CONTEXT).iter().enumerate() {
        if n > 0 {
            out.push(paint.text(Role::Aside, "  ⋮"));
        }
        for op in group {
            push_op(op, shown_old, shown_new, paint, &mut out);
        }
    }
    // A line of context that is empty tells nothing at the end.
    while out.last().is_some_and(String::is_empty) {
        out.pop();
    }
    let left_out = out.len().saturating_sub(MOST_LINES);
    if left_out > 0 {
        out.truncate(MOST_LINES);
        out.push(paint.text(Role::Aside, format!("  … {} left out", count(left_out, "line"))));
    }
    if old_end < old.len() || new_end < new.len() {
        let rest = (old.len() - old_end).max(new.len() - new_end);
        out.push(paint.text(Role::Aside, format!("  … {} not compared", count(rest, "line"))));
    }
    out.join("\n")
}

fn push_op(op: &DiffOp, old: &[&str], new: &[&str], paint: Paint, out: &mut Vec<String>) {
    let (old, new) = (&old[op.old_range()], &new[op.new_range()]);
    if op.tag() == DiffTag::Equal {
        out.extend(old.iter().map(|line| format!("  {}", fit(line, LINE)).trim_end().to_owned()));
        return;
    }
    let removed: Vec<String> = old.iter().map(|line| visible(line)).collect();
    let added: Vec<String> = new.iter().map(|line| visible(line)).collect();
    for (n, line) in removed.iter().enumerate() {
        out.push(changed("-", line, added.get(n), paint, [Role::Old, Role::OldPart]));
    }
    for (n, line) in added.iter().enumerate() {
        out.push(changed("+", line, removed.get(n), paint, [Role::New, Role::NewPart]));
    }
}

/// A changed line, whose blanks at the end may be the change.
fn visible(line: &str) -> String {
    let kept = line.trim_end_matches(' ');
    let mut out = clean(kept);
    out.extend(std::iter::repeat_n('·', line.len() - kept.len()));
    out
}

/// A removed or added line; `other` is the line that it replaces or is replaced by. A long line is cut around the
/// part in which the two differ.
fn changed(sign: &str, line: &str, other: Option<&String>, paint: Paint, [role, part]: [Role; 2]) -> String {
    let whole = |line: &str| paint.text(role, format!("{sign} {}", fit(line, LINE)).trim_end());
    let Some(other) = other else { return whole(line) };
    let chars: Vec<char> = line.chars().collect();
    let others: Vec<char> = other.chars().collect();
    let before = chars.iter().zip(&others).take_while(|(a, b)| a == b).count();
    let shorter = chars.len().min(others.len());
    let after = chars.iter().rev().zip(others.iter().rev()).take(shorter - before).take_while(|(a, b)| a == b).count();
    if before + after == 0 {
        return whole(line);
    }
    let from = if width_of(line) <= LINE { 0 } else { before.saturating_sub(LEAD) };
    let text = |range: std::ops::Range<usize>| chars[range].iter().collect::<String>();
    let mut lead = text(from..before);
    if from > 0 {
        lead.insert(0, '…');
    }
    let mut left = LINE.saturating_sub(width_of(&lead));
    let middle = fit(&text(before..chars.len() - after), left);
    left = left.saturating_sub(width_of(&middle));
    let tail = fit(&text(chars.len() - after..chars.len()), left);
    let mut out = paint.text(role, format!("{sign} {lead}"));
    if !middle.is_empty() {
        out.push_str(&paint.text(part, middle));
    }
    if !tail.is_empty() {
        out.push_str(&paint.text(role, tail));
    }
    out
}
