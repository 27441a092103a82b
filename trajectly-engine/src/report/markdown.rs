//! Reports as Markdown. Whatever comes from a run is escaped: a tool's name cannot break a table or begin a link.

use super::{Outcome, Report, Row};
use crate::verdict::{Verdict, Violation};

pub(super) fn report(report: &Report) -> String {
    let mut out = format!("## {}: {}\n\n", text(&report.spec), report.outcome.status());
    out.push_str(&format!("- Spec: {}\n", code(&report.spec_file)));
    match &report.outcome {
        Outcome::Judged(verdict) => judged(verdict, &mut out),
        Outcome::Error { code, message } => out.push_str(&format!("- {code}: {}\n", text(message))),
    }
    if let Some(prefix) = &report.prefix_file {
        out.push_str(&format!("- Counterexample: {}\n", code(prefix)));
    }
    if report.outcome.code().is_some() {
        out.push_str(&format!("- Reproduce: {}\n", code(&report.repro_command)));
    }
    if let Some(guard) = report.network_guard {
        out.push_str(&format!("- Network guard: {}\n", text(guard)));
    }
    let violations = report.outcome.violations();
    if !violations.is_empty() {
        out.push_str("\n| Event | Code | What | Rule |\n| ---: | --- | --- | --- |\n");
        out.extend(violations.iter().map(row));
    }
    if !report.warnings.is_empty() {
        out.push_str("\n### Warnings\n\n");
        for warning in &report.warnings {
            let place = warning.location.as_ref().map(|place| format!("{}:{}: ", place.file, place.line));
            out.push_str(&format!("- {}{}\n", text(&place.unwrap_or_default()), text(&warning.message)));
        }
    }
    out
}

fn judged(verdict: &Verdict, out: &mut String) {
    if let Some(primary) = verdict.primary() {
        out.push_str(&format!("- Witness: event {}\n", primary.event_index));
        out.push_str(&format!("- Primary violation: {} ({})\n", primary.code, primary.class()));
    }
    if verdict.skeleton_vacuous {
        out.push_str("- The baseline calls no tool, so there was no skeleton to hold the run to.\n");
    }
}

fn row(violation: &Violation) -> String {
    let rule = violation.rule.as_deref().map(code).unwrap_or_default();
    format!("| {} | {} | {} | {rule} |\n", violation.event_index, violation.code, text(&violation.message))
}

pub(super) fn summary(rows: &[Row]) -> String {
    let mut out = String::from("# Latest run\n\n");
    if rows.is_empty() {
        out.push_str("No spec has been run.\n");
        return out;
    }
    out.push_str("| Spec | Status | Witness | What | Reproduce |\n| --- | --- | ---: | --- | --- |\n");
    for row in rows {
        let what = match (&row.code, &row.message) {
            (Some(code), Some(message)) => format!("{code}: {}", text(message)),
            (Some(code), None) => code.to_string(),
            _ => String::new(),
        };
        let witness = row.witness_index.map(|index| index.to_string()).unwrap_or_default();
        let repro = if row.is_regression() { code(&row.repro_command) } else { String::new() };
        out.push_str(&format!("| {} | {} | {witness} | {what} | {repro} |\n", code(&row.spec_file), text(&row.status)));
    }
    out
}

/// Text on one line with nothing in it that Markdown acts on, but for names between backquotes, which stay code.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let paired = text.matches('`').count().is_multiple_of(2);
    let mut in_code = false;
    for character in text.chars() {
        match character {
            '`' if paired => in_code = !in_code,
            // A bar ends a table cell even within code.
            '|' => out.push('\\'),
            '`' | '\\' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '~' if !in_code => out.push('\\'),
            _ => {}
        }
        out.push(if character.is_control() { ' ' } else { character });
    }
    out
}

/// A code span on one line, also within a table.
fn code(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.replace('|', "\\|");
    let longest = line.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 || line.is_empty() { " " } else { "" };
    format!("{fence}{pad}{line}{pad}{fence}")
}
