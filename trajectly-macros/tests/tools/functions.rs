//! Free functions: arguments of every kind, answers of every kind, every way out of a body.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::collections::BTreeMap;

use trajectly_test::tool;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tool]
fn nothing() {}

/// Adds a line.
#[tool]
#[must_use]
pub(crate) fn owned(mut lines: Vec<String>, line: String) -> Vec<String> {
    lines.push(line);
    lines
}

#[tool(name = "count")]
fn borrowed(text: &str, counts: &mut BTreeMap<String, usize>, r#type: Option<&[u8]>) -> usize {
    #![expect(unused_variables, reason = "inner attributes still speak about the body")]
    let unused = r#type;
    *counts.entry(text.to_owned()).or_default() += 1;
    counts.len()
}

#[tool]
fn question(text: &str) -> Result<u8, Failure> {
    if text.is_empty() {
        return Err("no number".into());
    }
    Ok(text.parse::<u8>()?)
}

#[tool]
fn option(text: &str) -> Option<char> {
    let first = text.chars().next()?;
    first.is_alphabetic().then_some(first)
}

#[tool]
fn cow(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

#[tool]
fn recursive(n: u64) -> u64 {
    if n < 2 { 1 } else { n * recursive(n - 1) }
}

/// Not `Serialize`, as clients and pools are not.
struct Handle(u8);

#[tool(skip(handle))]
fn skipped(handle: &Handle, _unused: u8, #[cfg(any())] absent: Handle) -> u8 {
    handle.0
}

#[tool]
fn diverging(stop: bool) -> String {
    if !stop {
        return "went on".to_owned();
    }
    panic!("stopped")
}

#[test]
fn arguments_reach_the_body() {
    nothing();
    assert_eq!(owned(vec!["a".to_owned()], "b".to_owned()), ["a", "b"]);
    let mut counts = BTreeMap::new();
    assert_eq!(borrowed("a", &mut counts, None), 1);
    assert_eq!(borrowed("b", &mut counts, Some(b"x")), 2);
    assert_eq!(skipped(&Handle(3), 1), 3);
}

#[test]
fn every_way_out_of_the_body_is_kept() {
    assert_eq!(question("7").ok(), Some(7));
    assert_eq!(question("").map_err(|error| error.to_string()), Err("no number".to_owned()));
    assert!(question("many").is_err());
    assert_eq!(option("a1"), Some('a'));
    assert_eq!(option(""), None);
    assert_eq!(cow("text"), "text");
    assert_eq!(recursive(5), 120);
    assert_eq!(diverging(false), "went on");
}

#[test]
#[should_panic(expected = "stopped")]
fn a_panic_passes_through() {
    diverging(true);
}
