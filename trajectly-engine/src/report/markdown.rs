//! Reports as Markdown. Whatever comes from a run is escaped: a tool's name cannot break a table or begin a link.

use super::{Outcome, Reduced, Report, Row, Stale};
use crate::fixture::{Inexact, Unused, Usage};
use crate::shrink::ShrinkStats;
use crate::verdict::{Verdict, Violation};

/// How many places are named at which a call differs from the recorded one.
const PLACES: usize = 3;

/// What the lines of counterexamples begin with.
const PREFIX: &str = "- Counterexample: ";
const SMALLEST: &str = "- Smallest counterexample: ";

pub(super) fn report(report: &Report) -> String {
    let mut out = format!("## {}: {}\n\n", text(&report.spec), report.outcome.status());
    out.push_str(&format!("- Spec: {}\n", code(&report.spec_file)));
    match &report.outcome {
        Outcome::Judged(verdict) => judged(verdict, &mut out),
        Outcome::Error { code, message } => out.push_str(&format!("- {code}: {}\n", text(message))),
    }
    if let Some(prefix) = &report.prefix_file {
        out.push_str(&format!("{PREFIX}{}\n", code(prefix)));
    }
    if let Some(reduced) = &report.reduced {
        out.push_str(&smallest(reduced));
    }
    if report.outcome.code().is_some() {
        out.push_str(&format!("- Reproduce: {}\n", code(&report.repro_command)));
    }
    if let Some(guard) = report.network_guard {
        out.push_str(&format!("- Network guard: {}\n", text(guard)));
    }
    if let Some(usage) = &report.fixture_usage {
        let tiers = usage.by_tier.iter().filter(|(_, count)| *count > 0);
        let tiers: Vec<_> = tiers.map(|(tier, count)| format!("{count} {}", tier.as_str())).collect();
        let tiers = if tiers.is_empty() { String::new() } else { format!(" ({})", tiers.join(", ")) };
        out.push_str(&format!("- Fixtures: {} of {} used{tiers}\n", usage.consumed, usage.total));
    }
    let violations = report.outcome.violations();
    if !violations.is_empty() {
        out.push_str("\n| Event | Code | What | Rule |\n| ---: | --- | --- | --- |\n");
        out.extend(violations.iter().map(row));
    }
    report.fixture_usage.iter().for_each(|usage| fixtures(usage, &mut out));
    if !report.warnings.is_empty() || !report.determinism_warnings.is_empty() {
        out.push_str("\n### Warnings\n\n");
        for warning in &report.determinism_warnings {
            out.push_str(&format!("- {}: {}\n", code(warning.code), text(&warning.message)));
        }
        for warning in &report.warnings {
            let place = warning.location.as_ref().map(|place| format!("{}:{}: ", place.file, place.line));
            out.push_str(&format!("- {}{}\n", text(&place.unwrap_or_default()), text(&warning.message)));
        }
    }
    out
}

/// The calls whose recordings differ, and the recordings that nobody asked for.
fn fixtures(usage: &Usage, out: &mut String) {
    if !usage.inexact.is_empty() {
        out.push_str("\n### Calls that differ from the recorded ones\n\n");
        out.push_str("| Event | Call | Matched | Fixture | Differs at |\n| ---: | --- | --- | ---: | --- |\n");
    }
    for Inexact { event_index, name, tier, recorded, .. } in &usage.inexact {
        let mut places: Vec<_> = recorded.differences.iter().take(PLACES).map(|found| code(&found.path)).collect();
        let more = recorded.differences.len() - places.len() + recorded.more;
        if more > 0 {
            places.push(format!("{more} more"));
        }
        let (tier, index, places) = (tier.as_str(), recorded.index, places.join(", "));
        out.push_str(&format!("| {event_index} | {} | {tier} | {index} | {places} |\n", code(name)));
    }
    if !usage.unused.is_empty() {
        out.push_str("\n### Unused fixtures\n\n| Fixture | Call | Input |\n| ---: | --- | --- |\n");
    }
    for Unused { index, name, input, .. } in &usage.unused {
        out.push_str(&format!("| {index} | {} | {} |\n", code(name), code(input)));
    }
}

/// The line of a reduced counterexample; empty if nothing could be left out.
fn smallest(reduced: &Reduced) -> String {
    let ShrinkStats { original_len, reduced_len, .. } = reduced.stats;
    let file = reduced.file.as_deref();
    file.map(|file| format!("{SMALLEST}{} ({reduced_len} of {original_len} events)\n", code(file))).unwrap_or_default()
}

/// A report with the line of a reduced counterexample in its place, whether it had another or none.
pub(super) fn with_reduced(report: &str, reduced: &Reduced) -> String {
    let mut out = String::with_capacity(report.len());
    for line in report.split_inclusive('\n').filter(|line| !line.starts_with(SMALLEST)) {
        out.push_str(line);
        if line.starts_with(PREFIX) {
            out.push_str(&smallest(reduced));
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

pub(super) fn summary(rows: &[Row], stale: &[Stale]) -> String {
    let mut out = String::from("# Latest run\n\n");
    match rows {
        [] => out.push_str("No spec has been run.\n"),
        rows => table(rows, &mut out),
    }
    if !stale.is_empty() {
        out.push_str("\n## Stale fixtures\n\n");
        out.extend(stale.iter().map(|stale| format!("- {}: {}\n", code(&stale.file), text(&stale.why))));
    }
    out
}

fn table(rows: &[Row], out: &mut String) {
    out.push_str("| Spec | Status | Witness | What | Reproduce |\n| --- | --- | ---: | --- | --- |\n");
    for row in rows {
        let what = match (&row.code, &row.message) {
            (Some(code), Some(message)) => format!("{code}: {}", text(message)),
            (Some(code), None) => code.to_string(),
            _ => String::new(),
        };
        let repro = if row.is_regression() { code(&row.repro_command) } else { String::new() };
        let (file, status) = (code(&row.spec_file), text(&row.status));
        let expected = if row.is_expected { ", as expected" } else { "" };
        out.push_str(&format!("| {file} | {status}{expected} | {} | {what} | {repro} |\n", witness(row)));
    }
}

pub(super) fn pr_comment(rows: &[Row]) -> String {
    let failed: Vec<&Row> = rows.iter().filter(|row| row.is_regression()).collect();
    let (failures, all) = (failed.len(), rows.len());
    let specs = if all == 1 { "spec" } else { "specs" };
    if failures == 0 {
        return format!("### Trajectly: {all} {specs}, no regression\n");
    }
    let mut out = format!("### Trajectly: {failures} of {all} {specs} failed\n\n");
    out.push_str("| Spec | Status | Code | Witness | What | Reproduce |\n| --- | --- | --- | --- | --- | --- |\n");
    for row in failed {
        let (file, status) = (code(&row.spec_file), text(&row.status));
        let named = row.code.map(|code| code.to_string()).unwrap_or_default();
        let at = row.witness_index.map(|index| format!("event {index}")).unwrap_or_default();
        let what = row.message.as_deref().map(text).unwrap_or_default();
        out.push_str(&format!("| {file} | {status} | {named} | {at} | {what} | {} |\n", code(&row.repro_command)));
    }
    out
}

fn witness(row: &Row) -> String {
    row.witness_index.map(|index| index.to_string()).unwrap_or_default()
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
