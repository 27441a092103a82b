//! Verdicts of known cases: 3000 pairs of traces, each with a spec.

use std::io::Read;
use std::path::Path;

use trajectly_engine::batch::answer;
use trajectly_engine::json::Json;

/// Cases whose answer is not ours, and why.
const DECIDED_OTHERWISE: [(&str, &str); 2] = [
    ("s1-01509", "the case refuses a spec for its schema_version 0.3, which is read like 0.4"),
    ("s1-02167", "the case refuses a spec for its schema_version v0.3, which is read like 0.4"),
];

fn cases() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/verdict.jsonl.gz");
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("gzip of UTF-8");
    text
}

#[test]
fn verdicts_agree_with_the_cases() {
    let cases = cases();
    let mut wrong = Vec::new();
    let mut excused = 0;
    let mut count = 0;
    for line in cases.lines() {
        count += 1;
        let case = Json::parse(line).expect("a case is JSON");
        let expected = case.get("expected").expect("a case has an answer");
        let answer = answer(line.as_bytes());
        let found = answer.result.clone().unwrap_or_else(|_| Json::from("ERROR"));
        if *expected == Json::from("ANY") || found == *expected {
            continue;
        }
        if DECIDED_OTHERWISE.iter().any(|(id, _)| answer.id == Json::from(*id)) {
            excused += 1;
            continue;
        }
        wrong.push(format!("expected {expected}\n  found    {answer}"));
    }
    assert_eq!(count, 3000);
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(excused, DECIDED_OTHERWISE.len());
}
