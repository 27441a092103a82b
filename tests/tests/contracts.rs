//! `docs/contracts` has a page for each family of contracts, and its examples come to the verdicts that it shows.

use std::fs;

use trajectly_engine::code::{Class, Code};
use trajectly_engine::json::{Json, Object};
use trajectly_engine::spec::Spec;
use trajectly_engine::trace::{Row, Trace, number};
use trajectly_engine::verdict::judge;
use trajectly_tests::{Block, Page, assert_generated, repository};

fn pages() -> Vec<Page> {
    Page::all().into_iter().filter(|page| page.path.starts_with("docs/contracts/")).collect()
}

#[test]
fn every_family_has_a_page_that_the_reference_leads_to() {
    let sources = fs::read_dir(repository().join("trajectly-engine/src/contracts")).expect("there are contracts");
    let names = sources.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned());
    let families =
        names.filter_map(|name| name.strip_suffix(".rs").filter(|family| *family != "mod").map(str::to_owned));
    let mut expected: Vec<String> = families.map(|family| format!("contracts/{family}.md")).collect();
    expected.sort();
    let pages: Vec<String> = pages().into_iter().map(|page| page.path.replacen("docs/", "", 1)).collect();
    assert_eq!(pages, expected);
    let reference = Page::read("docs/specs.md");
    for page in pages {
        assert!(reference.links().contains(&page.as_str()), "docs/specs.md does not lead to {page}");
    }
}

#[test]
fn every_code_of_a_contract_is_on_a_page() {
    let pages = pages();
    for code in Code::ALL.iter().filter(|code| code.class() == Class::Contract) {
        let name = format!("`{code}`");
        assert!(pages.iter().any(|page| page.text.contains(&name)), "no page has {name}");
    }
}

/// An example is a spec, then the events of a run, then the verdict.
#[test]
fn examples_come_to_the_verdicts_that_are_shown() {
    for page in pages() {
        let mut text = page.text.clone();
        let mut examples = 0;
        for blocks in page.blocks.windows(3) {
            let [Block { language, text: spec, .. }, Block { text: events, .. }, Block { text: shown, .. }] = blocks
            else {
                continue;
            };
            if language == "yaml" {
                examples += 1;
                let before = format!("```text\n{events}\n```\n\n```text\n");
                let shown = if shown.is_empty() { String::new() } else { format!("{shown}\n") };
                text = text.replace(
                    &format!("{before}{shown}```"),
                    &format!("{before}{}\n```", verdict(&page.path, spec, events)),
                );
            }
        }
        assert!(examples > 0, "{} shows no example", page.path);
        assert_generated(&page.path, &text);
    }
}

fn verdict(page: &str, spec: &str, events: &str) -> String {
    let spec = Spec::parse(&format!("schema_version: \"0.4\"\n{spec}"), page).unwrap_or_else(|error| panic!("{error}"));
    let verdict = judge(&spec, None, &trace(page, events));
    let mut lines = vec![match verdict.witness() {
        Some(witness) => format!("{}, first at event {witness}", verdict.status),
        None => verdict.status.to_string(),
    }];
    lines.extend(verdict.violations.iter().map(|violation| {
        let rule = violation.rule.as_ref().map(|rule| format!(", {rule}")).unwrap_or_default();
        format!("{} {}{rule}: {}", violation.event_index, violation.code, violation.message)
    }));
    lines.join("\n")
}

/// Reads a line for each event: its index, its type and its payload.
fn trace(page: &str, events: &str) -> Trace {
    let row = |(index, line): (usize, &str)| {
        let mut parts = line.splitn(3, ' ');
        assert_eq!(parts.next(), Some(index.to_string().as_str()), "{page}: {line}");
        let event_type = parts.next().and_then(|name| name.parse().ok()).unwrap_or_else(|| panic!("{page}: {line}"));
        let payload =
            Json::parse(parts.next().unwrap_or_default()).unwrap_or_else(|error| panic!("{page}: {error}: {line}"));
        let Json::Object(payload) = payload else { panic!("{page}: a payload is an object: {line}") };
        Row { event_type, rel_ms: 0, payload, meta: Object::new() }
    };
    number(events.lines().enumerate().map(row).collect(), "run")
}
