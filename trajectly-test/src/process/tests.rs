use std::time::Duration;

use super::*;

/// Bounds that nothing comes near.
fn bounds() -> Bounds {
    Bounds {
        time: Duration::from_secs(60),
        keep: 1 << 16,
        limits: Limits::default(),
        network: Network::Open,
        watched: false,
    }
}

fn sh(script: &str, bounds: &Bounds) -> Finished {
    run(Command::new("/bin/sh").args(["-c", script]), bounds).expect("there is a shell")
}

#[test]
fn a_child_s_end_is_told() {
    for (script, code, signal) in [("exit 0", 0, None), ("exit 7", 7, None), ("kill -9 $$", -9, Some(9))] {
        let finished = sh(&format!("echo out; echo err >&2; {script}"), &bounds());
        assert_eq!((finished.code, finished.signal, finished.exceeded), (code, signal, None), "{script}");
        assert_eq!((finished.stdout.text().as_str(), finished.stderr.text().as_str()), ("out\n", "err\n"));
        assert_eq!(finished.guard, Guard::None);
    }
    let missing = run(&mut Command::new("/nowhere/at/all"), &bounds()).expect_err("nothing is there");
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_child_that_takes_too_long_is_killed() {
    let bounds = Bounds { time: Duration::from_millis(50), ..bounds() };
    let finished = sh("sleep 600", &bounds);
    assert_eq!((finished.code, finished.exceeded, finished.signal), (-9, Some(Exceeded::Time), None));
}

#[test]
fn a_child_may_print_up_to_its_limit_and_no_more() {
    let limited = |limit| Bounds { limits: Limits { output_bytes: Some(limit), ..Limits::default() }, ..bounds() };
    let print = "printf 12345; printf 12345 >&2";
    for (limit, exceeded) in [(11, None), (10, None), (9, Some(Exceeded::Output))] {
        let finished = sh(print, &limited(limit));
        assert_eq!((finished.exceeded, finished.signal), (exceeded, None), "{limit}");
    }
    let endless = sh("while :; do echo more; done", &limited(100_000));
    assert_eq!((endless.exceeded, endless.signal), (Some(Exceeded::Output), None));
}

#[test]
#[cfg(target_os = "linux")]
fn a_child_is_limited_before_it_runs_and_so_is_what_it_starts() {
    let limits = Limits { memory_mb: Some(512), open_files: Some(40), output_bytes: None };
    let finished = sh("ulimit -v; ulimit -n; (ulimit -v; ulimit -n) | cat", &Bounds { limits, ..bounds() });
    assert_eq!(finished.stdout.text(), "524288\n40\n524288\n40\n");
    assert!(finished.unenforced.is_empty());
    let most = sh("ulimit -H -n", &bounds()).stdout.text();
    let limits = Limits { open_files: Some(u64::MAX), ..Limits::default() };
    assert_eq!(sh("ulimit -H -n", &Bounds { limits, ..bounds() }).stdout.text(), most);
}

#[test]
fn what_runs_in_the_harness_s_own_process_is_bound_by_nothing() {
    let limits = Limits { open_files: Some(40), output_bytes: Some(1), ..Limits::default() };
    let bounds = Bounds { limits, network: Network::Ports(vec![1]), ..bounds() };
    let finished = Finished::here(0, Duration::ZERO, &bounds);
    assert_eq!(finished.unenforced, ["open_files", "output_bytes"]);
    assert_eq!(finished.guard.name(), Some("proxy"));
}
