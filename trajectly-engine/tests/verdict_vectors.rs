//! Verdicts of known cases: 3000 pairs of traces, each with a spec.

mod common;

use std::io::Read;
use std::path::Path;

use common::json;
use trajectly_engine::json::Json;
use trajectly_engine::spec::{RefinementMode, Spec};
use trajectly_engine::trace::{Event, Trace};
use trajectly_engine::verdict::{Verdict, judge};

/// Cases whose answer is not ours, and why.
const DECIDED_OTHERWISE: [(&str, &str); 2] = [
    ("s1-01509", "the case refuses a spec for its schema_version 0.3, which is read like 0.4"),
    ("s1-02167", "the case refuses a spec for its schema_version v0.3, which is read like 0.4"),
];

fn cases() -> Vec<Json> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/verdict.jsonl.gz");
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("gzip of UTF-8");
    text.lines().map(json).collect()
}

fn member<'a>(value: &'a Json, key: &str) -> &'a Json {
    value.get(key).unwrap_or_else(|| panic!("{key} is missing in {value}"))
}

/// The verdict, or why the input is refused.
fn answer(input: &Json) -> Result<Verdict, String> {
    let spec = Spec::from_json(member(input, "spec")).map_err(|error| error.to_string())?;
    spec.require_command().map_err(|error| error.to_string())?;
    // A baseline that the spec does not consult is not read either.
    let consulted = spec.refinement.mode != RefinementMode::None;
    let baseline = consulted.then(|| trace(member(input, "baseline_events"))).transpose()?;
    let candidate = trace(member(input, "candidate_events"))?;
    Ok(judge(&spec, baseline.as_ref(), &candidate))
}

fn trace(events: &Json) -> Result<Trace, String> {
    let events = events.as_array().expect("a list of events");
    let events: Result<_, _> = events.iter().cloned().map(Event::from_json).collect();
    Ok(Trace { events: events.map_err(|error| error.to_string())? })
}

/// The verdict in the form of the cases.
fn shaped(answer: &Result<Verdict, String>) -> Json {
    let Ok(verdict) = answer else { return Json::from("ERROR") };
    let violations = verdict.violations.iter().map(|violation| {
        let (code, class) = (violation.code.as_str(), violation.class().as_str());
        Json::from(vec![Json::from(code), Json::from(class), Json::from(violation.event_index)])
    });
    let value = trajectly_engine::json::Object::new()
        .with("status", verdict.status.as_str())
        .with("witness_index", verdict.witness())
        .with("primary", verdict.primary().map(|primary| primary.code.as_str()))
        .with("violations", violations.collect::<Json>());
    Json::Object(value)
}

#[test]
fn verdicts_agree_with_the_cases() {
    let cases = cases();
    assert_eq!(cases.len(), 3000);
    let mut wrong = Vec::new();
    let mut excused = 0;
    for case in &cases {
        let id = common::text(case, "id");
        let answer = answer(member(case, "input"));
        let expected = member(case, "expected");
        if *expected == Json::from("ANY") || shaped(&answer) == *expected {
            continue;
        }
        if DECIDED_OTHERWISE.iter().any(|(other, _)| *other == id) {
            excused += 1;
            continue;
        }
        let reason = answer.as_ref().err().cloned().unwrap_or_default();
        wrong.push(format!("{id}\n  expected {expected}\n  found    {}\n  {reason}", shaped(&answer)));
    }
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(excused, DECIDED_OTHERWISE.len());
}
