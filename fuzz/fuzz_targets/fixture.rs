//! Any text is a fixture file that survives being written and answers its own calls, or an error.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use trajectly_engine::fixture::{Fixtures, MatchOptions, Matcher};

fuzz_target!(|text: &str| {
    let Ok(fixtures) = Fixtures::parse(text, "fuzz.json") else { return };
    let again = Fixtures::parse(&fixtures.to_pretty(), "again.json").expect("what was written can be read");
    assert_eq!(again, fixtures);
    let mut matcher = Matcher::new(Arc::new(fixtures.clone()), MatchOptions::default());
    for fixture in &fixtures.entries {
        let _ = matcher.take(fixture.kind, &fixture.name, &fixture.input);
    }
    matcher.unused();
});
