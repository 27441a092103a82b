//! Baseline and candidate side by side.

use std::collections::HashMap;

use trajectly_engine::json::Json;
use trajectly_engine::refinement::survivors;
use trajectly_engine::spec::Refinement;
use trajectly_engine::trace::{EventType, Trace};
use trajectly_engine::verdict::{Verdict, Violation};

use super::align::{self, Key, Kind};
use super::event::{self, Arguments};
use super::paint::{Paint, Role};
use super::text::{WIDTH, fit, pad, width_of};

/// Blanks in front of a row, and columns between its sides.
const INDENT: usize = 3;
const GAP: usize = 3;
/// Columns of the left side.
const MOST_LEFT: usize = (WIDTH - INDENT - GAP) / 2;
/// Rows that are shown without leaving any out.
const MOST_ROWS: usize = 16;
/// Rows that are shown in front of a marked one, and after it.
const BEFORE: usize = 5;
const AFTER: usize = 3;

/// What one side of a row shows.
struct Step {
    index: usize,
    kind: Kind,
    /// What matching goes by.
    name: String,
    text: String,
}

impl Key for Step {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn name(&self) -> &str {
        &self.name
    }
}

/// A row, and whether a rule is broken in it.
struct Row<'a> {
    left: Option<&'a Step>,
    right: Option<&'a Step>,
    marked: bool,
}

/// The calls of both traces, a window around the witness where they are long. A row with a `✗` is where a rule is
/// broken: a step that should not be there, or one that is missing on the other side.
pub(super) fn columns(
    rules: &Refinement,
    baseline: &Trace,
    candidate: &Trace,
    verdict: &Verdict,
    paint: Paint,
) -> String {
    let at_witness = verdict.at_witness();
    let marks = Marks::of(at_witness, candidate);
    let with_end = marks.right.is_some_and(|index| {
        candidate.events.get(index).is_some_and(|event| event.event_type == EventType::RunFinished)
    });
    let (left, mut right) = (steps(baseline, with_end), steps(candidate, with_end));
    // Calls that may change places stand beside those that they stand for.
    let survivors = survivors(rules, baseline, candidate);
    let mut places = survivors.clone();
    places.sort_unstable();
    let moved: HashMap<usize, usize> = survivors.into_iter().zip(places).collect();
    right.sort_by_key(|step| moved.get(&step.index).copied().unwrap_or(step.index));
    let rows: Vec<Row<'_>> = align::rows(&left, &right)
        .into_iter()
        .map(|(l, r)| {
            let (left, right) = (l.map(|l| &left[l]), r.map(|r| &right[r]));
            let marked = left.is_some_and(|step| marks.left.contains(&step.index))
                || right.is_some_and(|step| marks.right == Some(step.index));
            Row { left, right, marked }
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    table(&rows, paint)
}

/// The events that a row is marked for.
struct Marks {
    left: Vec<usize>,
    right: Option<usize>,
}

impl Marks {
    fn of(at_witness: &[Violation], candidate: &Trace) -> Self {
        let left = at_witness.iter().filter_map(|violation| violation.baseline_index).collect();
        let here = at_witness.iter().find(|violation| violation.baseline_index.is_none());
        // What went wrong as a call returned is shown where it was made.
        let step = |index| candidate.answered_calls().get(index).copied().flatten().unwrap_or(index);
        Self { left, right: here.map(|violation| step(violation.event_index)) }
    }
}

fn steps(trace: &Trace, with_end: bool) -> Vec<Step> {
    let mut tokens: Vec<Option<u64>> = vec![None; trace.events.len()];
    for (event, call) in trace.events.iter().zip(trace.answered_calls()) {
        if let Some(call) = call {
            tokens[call] =
                event.payload.get("usage").and_then(|usage| usage.get("total_tokens")).and_then(Json::as_u64);
        }
    }
    let step = |(index, event)| {
        let event: &trajectly_engine::trace::Event = event;
        let kind = match event.event_type {
            EventType::ToolCalled => Kind::Call,
            EventType::LlmCalled => Kind::Llm,
            EventType::AgentStep => Kind::Step,
            EventType::RunFinished if with_end => Kind::End,
            _ => return None,
        };
        let line = event::line(event, Arguments::Values);
        let tokens = tokens.get(index).copied().flatten();
        let tokens = tokens.map(|tokens| format!("  {tokens} tok")).unwrap_or_default();
        let text = format!("{:<4} {}{}{tokens}", line.verb, line.name, line.detail);
        Some(Step { index, kind, name: line.name, text })
    };
    trace.events.iter().enumerate().filter_map(step).collect()
}

fn table(rows: &[Row<'_>], paint: Paint) -> String {
    let shown = window(rows);
    let visible = || rows.iter().zip(&shown).filter(|(_, shown)| **shown).map(|(row, _)| row);
    let digits = |step: fn(&Row<'_>) -> Option<usize>| {
        visible().filter_map(step).max().map_or(1, |index| index.to_string().len())
    };
    let left_digits = digits(|row| row.left.map(|step| step.index));
    let right_digits = digits(|row| row.right.map(|step| step.index));
    let cell = |step: Option<&Step>, digits: usize, width: usize| {
        step.map_or_else(String::new, |step| fit(&format!("{:>digits$}  {}", step.index, step.text), width))
    };
    let left = |row: &Row<'_>| cell(row.left, left_digits, MOST_LEFT);
    let header = "baseline";
    let width = visible().map(|row| width_of(&left(row))).max().unwrap_or(0).max(header.len());
    let right_width = WIDTH - INDENT - GAP - width;

    let head = |text: &str, width: usize| paint.text(Role::Word, text) + &" ".repeat(width - text.len());
    let mut out = format!("{:INDENT$}{}{:GAP$}{}\n", "", head(header, width), "", head("candidate", "candidate".len()));
    let mut cut = false;
    for (row, shown) in rows.iter().zip(shown) {
        if !shown {
            if !cut {
                out.push_str(&format!("{:INDENT$}{}\n", "", paint.text(Role::Aside, "⋮")));
            }
            cut = true;
            continue;
        }
        cut = false;
        let mark = if row.marked { paint.text(Role::Fault, " ✗ ") } else { " ".repeat(GAP) };
        let left = pad(left(row), width);
        let right = cell(row.right, right_digits, right_width);
        let line = format!("{:INDENT$}{left}{mark}{right}", "");
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Which rows are shown: all of a short table, else those around what is marked, else the last ones.
fn window(rows: &[Row<'_>]) -> Vec<bool> {
    if rows.len() <= MOST_ROWS {
        return vec![true; rows.len()];
    }
    let mut shown = vec![false; rows.len()];
    let mut marked: Vec<usize> = (0..rows.len()).filter(|&n| rows[n].marked).collect();
    if marked.is_empty() {
        marked.push(rows.len() - 1);
    }
    for n in marked {
        let reach = n.saturating_sub(BEFORE)..(n + AFTER + 1).min(rows.len());
        shown[reach].fill(true);
    }
    // A single row costs no more than the sign for rows left out.
    for n in 0..rows.len() {
        let alone = (n == 0 || shown[n - 1]) && shown.get(n + 1).is_none_or(|next| *next);
        shown[n] |= alone;
    }
    shown
}
