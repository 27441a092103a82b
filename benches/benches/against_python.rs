//! A pair of 100,000 events read and judged, here and by the public Python package, in one run: seconds, and the most memory
//! that either took. `cargo bench -p trajectly-benches --bench against_python`.
//!
//! Each side runs in a process of its own and times itself from the first byte read to the verdict; the time that Python
//! takes to start and to import is not counted.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use trajectly_benches::{SPEC, spec, trace};
use trajectly_engine::trace::Trace;
use trajectly_engine::verdict::judge;

const EVENTS: usize = 100_000;
const ROUNDS: usize = 5;

/// Prints status, seconds and peak memory in KiB.
const PYTHON: &str = "
import resource, sys, time
from pathlib import Path
from trajectly.core.events import read_events_jsonl
from trajectly.core.specs import load_spec
from trajectly.core.trt.runner import evaluate_trt

folder = Path(sys.argv[1])
start = time.perf_counter()
result = evaluate_trt(
    spec=load_spec(folder / 'bench.agent.yaml'),
    baseline_events=read_events_jsonl(folder / 'baseline.jsonl'),
    current_events=read_events_jsonl(folder / 'candidate.jsonl'),
)
took = time.perf_counter() - start
print(result.status, took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
";

fn main() {
    if let Some(folder) = std::env::var_os("BENCH_FOLDER") {
        measured(Path::new(&folder));
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("there is room for a trace");
    let (baseline, candidate) = (trace(EVENTS, false), trace(EVENTS, true));
    let size = baseline.len() + candidate.len();
    write("bench.agent.yaml", SPEC);
    write("baseline.jsonl", &baseline);
    write("candidate.jsonl", &candidate);

    let python = python();
    let itself = std::env::current_exe().expect("a benchmark has a path");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(run(Command::new(&itself).env("BENCH_FOLDER", folder.path())));
        theirs.push(run(Command::new(&python).args(["-c", PYTHON]).arg(folder.path())));
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let files = size as f64 / 1024.0;
    println!("a pair of {EVENTS} events, {:.1} MB; medians of {ROUNDS} turns", size as f64 / 1e6);
    for (name, (seconds, memory)) in [("this engine", ours), ("trajectly 0.4.2", theirs)] {
        println!(
            "{name:16} {seconds:8.3} s  {:8.1} MB at most, {:.2} times the files",
            memory / 1024.0,
            memory / files
        );
    }
    println!("ratio            {:8.1} x", theirs.0 / ours.0);
}

/// The least memory that it takes to judge the pair: what is printed is what [`PYTHON`] prints.
fn measured(folder: &Path) {
    let start = Instant::now();
    let read = |name: &str| {
        let file = File::open(folder.join(name)).expect("the trace is there");
        Trace::read(BufReader::with_capacity(1 << 16, file), name).expect("the trace is sound")
    };
    let (baseline, candidate) = (read("baseline.jsonl"), read("candidate.jsonl"));
    let verdict = judge(&spec(), Some(&baseline), &candidate);
    let took = start.elapsed().as_secs_f64();
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells what a process takes");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux tells the most memory");
    println!("{} {took} {}", verdict.status, peak.trim().trim_end_matches(" kB"));
}

/// Seconds, and KiB.
fn run(command: &mut Command) -> (f64, f64) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout);
    let words: Vec<&str> = text.split_whitespace().collect();
    let ["PASS", seconds, memory] = words[..] else {
        panic!("{command:?} said {text}\n{}", String::from_utf8_lossy(&output.stderr));
    };
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{text} is no number"));
    (number(seconds), number(memory))
}

fn median(mut turns: Vec<(f64, f64)>) -> (f64, f64) {
    turns.sort_by(|a, b| a.0.total_cmp(&b.0));
    turns[turns.len() / 2]
}

/// The Python of the tests, with its packages.
fn python() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let itself = std::env::current_exe().expect("a benchmark has a path");
    let target =
        itself.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists()).expect("cargo marks its folder");
    let folder = target.join("python");
    let made = Command::new(root.join("tests/python/install")).arg(&folder).status().expect("the script can be run");
    assert!(made.success(), "the Python package could not be installed");
    folder.join("bin/python")
}
