//! Reading and judging pairs of traces of growing length, beside the least that reading can cost: serde_json over every
//! line, and one SHA-256 over the same bytes. `cargo bench -p trajectly-benches --bench judging`.

use std::hint::black_box;

use divan::Bencher;
use divan::counter::BytesCount;
use sha2::{Digest, Sha256};
use trajectly_benches::{spec, trace};
use trajectly_engine::trace::Trace;
use trajectly_engine::verdict::{Status, judge};

const EVENTS: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

fn main() {
    divan::main();
}

/// A pair of traces, and how many bytes it has.
fn pair(events: usize) -> (String, String, BytesCount) {
    let (baseline, candidate) = (trace(events, false), trace(events, true));
    let bytes = BytesCount::new(baseline.len() + candidate.len());
    (baseline, candidate, bytes)
}

fn read(text: &str) -> Trace {
    Trace::read(text.as_bytes(), "trace.jsonl").expect("the trace is sound")
}

#[divan::bench(args = EVENTS, max_time = 3)]
fn read_and_judge(bencher: Bencher<'_, '_>, events: usize) {
    let spec = spec();
    let (baseline, candidate, bytes) = pair(events);
    bencher.counter(bytes).bench(|| {
        let verdict = judge(&spec, Some(&read(&baseline)), &read(&candidate));
        assert_eq!(verdict.status, Status::Pass);
    });
}

#[divan::bench(args = EVENTS, max_time = 3)]
fn judge_only(bencher: Bencher<'_, '_>, events: usize) {
    let spec = spec();
    let (baseline, candidate, bytes) = pair(events);
    let (baseline, candidate) = (read(&baseline), read(&candidate));
    bencher.counter(bytes).bench(|| judge(&spec, Some(&baseline), &candidate));
}

#[divan::bench(args = EVENTS, max_time = 3)]
fn floor_of_serde_json_and_sha256(bencher: Bencher<'_, '_>, events: usize) {
    let (baseline, candidate, bytes) = pair(events);
    bencher.counter(bytes).bench(|| {
        for text in [&baseline, &candidate] {
            let lines: Vec<serde_json::Value> =
                text.lines().map(|line| serde_json::from_str(line).expect("the line is JSON")).collect();
            black_box((lines, Sha256::digest(text)));
        }
    });
}
