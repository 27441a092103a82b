//! What one replayed test costs, beside an empty libtest-mimic trial that spawns `/bin/true`.
//!
//! Both are timed in this process, in turns, on the same machine at the same time: `cargo bench -p trajectly-tests`.
//! A replayed test is timed as cargo runs it, the test binary's own start included, and so is the empty trial.

use std::process::Command;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};
use trajectly_tests::Project;

/// A test with a tool and no model client: what it takes is the harness's.
const TEST: &str = "greet";
const ROUNDS: usize = 200;

fn main() {
    if std::env::var_os("EMPTY_TRIAL").is_some() {
        empty_trial();
        return;
    }
    let project = Project::recorded(&[TEST]);
    let itself = std::env::current_exe().expect("a benchmark has a path");
    let (mut replays, mut trials) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        replays.push(timed(|| {
            project.agents(&[TEST]).output().passes();
        }));
        trials.push(timed(|| {
            let status = Command::new(&itself).env("EMPTY_TRIAL", "1").output().expect("it runs").status;
            assert!(status.success());
        }));
    }
    let (replay, trial) = (median(&mut replays), median(&mut trials));
    println!("replayed test           {:>8.2} ms", milliseconds(replay));
    println!("empty trial, /bin/true  {:>8.2} ms", milliseconds(trial));
    println!("difference              {:>8.2} ms", milliseconds(replay.saturating_sub(trial)));
}

fn empty_trial() {
    let spawn = || {
        let status = Command::new("/bin/true").status()?;
        if status.success() { Ok(()) } else { Err("/bin/true failed".into()) }
    };
    libtest_mimic::run(&Arguments::from_iter(["empty"]), vec![Trial::test("spawn", spawn)]).exit_if_failed();
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
