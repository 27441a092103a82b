//! One session: an agent run once, recording or replaying, and the trace that it left.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use trajectly_engine::canonical::sha256_bytes;
use trajectly_engine::code::Code;
use trajectly_engine::fixture::{Fixture, Fixtures, Usage};
use trajectly_engine::json::{Json, Object};
use trajectly_engine::spec::Spec;
use trajectly_engine::trace::{EventType, OrderHints, Row, Trace, adopt, linearize, number, parse_rows};

use super::child::Setting;
use super::seeds::Seeds;
use super::test::Test;
use super::{Failure, Runner, inside};
use crate::harness::OUTPUT_MARK;
use crate::process::{self, Bounds, Exceeded, Finished, Guard, Network};
use crate::protocol;
use crate::store::{RunDir, StoreError};
use crate::tape::{Source, Tape, Trouble};

/// Bytes of each output stream that are kept for a failure's text.
const OUTPUT_KEPT: usize = 256 * 1024;
/// The event file, as messages call it.
const EVENTS: &str = "events of the run";
/// Bytes of it that are read at most: reading takes many times as much memory.
const MOST_EVENTS: u64 = 64 << 20;
/// Characters of each output stream that `run_finished` keeps.
const TAIL: usize = 2000;

/// What a session left.
pub(super) struct Ran {
    /// The trace in linear order, before redaction.
    pub(super) trace: Trace,
    /// The answers of a live run; none of a replay.
    pub(super) recorded: Fixtures,
    /// How a replay used the answers of the baseline; `None` for a live run.
    pub(super) usage: Option<Usage>,
    /// What the agent printed.
    pub(super) output: String,
    pub(super) trouble: Vec<Trouble>,
    /// Whether it ran until its time limit.
    pub(super) timed_out: bool,
    /// What kept the agent from the network.
    pub(super) guard: Guard,
    /// The limits that this system could not hold it to, by their names in a spec.
    pub(super) unenforced: Vec<&'static str>,
}

impl Ran {
    /// Whether the agent did nothing that could be judged.
    pub(super) fn is_empty(&self) -> bool {
        let ends = [EventType::RunStarted, EventType::RunFinished];
        self.trace.events.iter().all(|event| ends.contains(&event.event_type))
    }

    /// Whether the agent came to a good end.
    pub(super) fn ended_well(&self) -> bool {
        self.trace.events.last().is_some_and(|event| {
            event.payload.get("returncode").and_then(Json::as_i64) == Some(0)
                && event.payload.get("internal_error").is_none_or(Json::is_null)
        })
    }
}

/// Runs the agent of a case. An error is about the harness, not about the agent.
pub(super) fn run(runner: &Runner, test: &Test<'_>, source: Source, seeds: Seeds) -> Result<Ran, Failure> {
    let Test { case, spec, store, .. } = test;
    let gateway = runner.gateway()?;
    let dir = RunDir::new(store)?;
    let fixtures = match &source {
        Source::Recorded(fixtures, _) => Some(Arc::clone(fixtures)),
        Source::Live(_) => None,
    };
    if let Some(fixtures) = &fixtures
        && case.function.is_none()
    {
        let path = dir.fixtures();
        fs::write(&path, fixtures.to_pretty()).map_err(|error| StoreError::new("write", &path, error))?;
    }
    let tape = Tape::new(source, spec.contracts.clone(), &dir.events())
        .map(Arc::new)
        .map_err(|error| StoreError::new("write", &dir.events(), error))?;
    let session = gateway.open(Arc::clone(&tape) as _);
    let replaying = fixtures.is_some();
    let setting = Setting { case, spec, store, dir: &dir, session: &session, seeds, fixtures: fixtures.as_deref() };
    let mut command = setting.command()?;
    let bounds = Bounds {
        time: test.limit(),
        keep: OUTPUT_KEPT,
        limits: spec.limits,
        network: match replaying {
            true => Network::replay(gateway.port(), &spec.contracts.network),
            false => Network::Open,
        },
        // A function asks itself to die with this process. A shell more would be felt in a short replay.
        watched: case.function.is_none(),
    };
    let finished = match case.function.filter(|_| runner.shared.env.in_process) {
        Some(function) => inside::run(function, &command, &bounds),
        None => process::run(&mut command, &bounds)
            .map_err(|error| format!("error: cannot start {}: {error}", command.get_program().to_string_lossy()))?,
    };
    session.close();

    let stdout = without_mark(&finished.stdout.text());
    let mut rows = events(&dir)
        .and_then(|text| {
            let was_killed = was_killed(&finished);
            parse_rows(&text, EVENTS, was_killed).map_err(|error| (error.headline(), error.help))
        })
        .map_err(|(message, help)| spoilt(test, &message, help, &output(&finished, &stdout)))?;
    if let Some(lost) = rows.iter().find(|row| row.payload.str("error_code") == Some(protocol::SESSION_LOST)) {
        let message = lost.payload.str("error").unwrap_or_default();
        return Err(format!("error[{}]: {message}", protocol::SESSION_LOST).into());
    }
    rows = tape.look_up(adopt(rows));
    let said = take_ending(&mut rows);
    let ending = ending(&finished, said, &stdout, &bounds, case.function.is_some());
    if fixtures.is_none() {
        measure(&mut rows);
    }
    let mut rows = linearize(rows, &fixtures.as_deref().map(OrderHints::from_fixtures).unwrap_or_default());
    let duration = match &fixtures {
        // Replaying takes no time worth judging; the recorded times stand for it.
        Some(fixtures) => retime(&mut rows, fixtures),
        None => u64::try_from(finished.took.as_millis()).unwrap_or(u64::MAX),
    };
    let recorded = if fixtures.is_some() { Fixtures::default() } else { Fixtures::from_rows(&rows) };
    rows.insert(0, row(EventType::RunStarted, 0, Object::new().with("spec_name", spec.name.as_str())));
    rows.push(row(EventType::RunFinished, duration, ending.with("duration_ms", duration)));
    let trace = number(rows, &run_id(spec));
    Ok(Ran {
        usage: tape.usage(&trace),
        trace,
        recorded,
        output: output(&finished, &stdout),
        trouble: tape.trouble(),
        timed_out: matches!(finished.exceeded, Some(Exceeded::Time)),
        guard: finished.guard,
        unenforced: finished.unenforced,
    })
}

/// What the agent and the harness wrote. The agent could put anything in the file's place, a pipe without end included.
/// An error says what is wrong, and what else to do than usual.
fn events(dir: &RunDir) -> Result<String, (String, Option<String>)> {
    let path = dir.events();
    let failed = |error: io::Error| (format!("cannot read the {EVENTS}: {error}"), None);
    let file = fs::symlink_metadata(&path).map_err(failed)?;
    if !file.is_file() {
        return Err((format!("the agent put something else in the place of the {EVENTS}"), None));
    }
    if file.len() > MOST_EVENTS {
        let message = format!("the {EVENTS} take {} bytes, and no more than {MOST_EVENTS} are read", file.len());
        return Err((message, Some("let the agent make fewer calls, or say less in each".to_owned())));
    }
    fs::read_to_string(path).map_err(failed)
}

/// Whether the agent had no say in its end, so that it may have been writing.
fn was_killed(finished: &Finished) -> bool {
    // A shell that outlives what it ran says by such a code that a signal ended it.
    finished.exceeded.is_some() || finished.signal.is_some() || finished.code > 128
}

fn spoilt(test: &Test<'_>, message: &str, help: Option<String>, output: &str) -> Failure {
    let lines = "what the agent appends to $TRAJECTLY_EVENTS_FILE has to be whole lines, each an event".to_owned();
    let help: Vec<String> = help.into_iter().chain([lines]).collect();
    test.trouble(Code::TraceInvalid, message, &[], &help, output)
}

/// The same for every run of a spec, so that a recording made again differs in its times only.
fn run_id(spec: &Spec) -> String {
    let hash = sha256_bytes(spec.name.as_bytes()).to_string();
    format!("{}-{}", spec.slug(), &hash[..8])
}

fn row(event_type: EventType, rel_ms: u64, payload: Object) -> Row {
    Row { event_type, rel_ms, payload, meta: Object::new() }
}

/// What the child itself said of its start and end. The harness writes both events.
fn take_ending(rows: &mut Vec<Row>) -> Option<Object> {
    let mut said = None;
    rows.retain_mut(|row| match row.event_type {
        EventType::RunStarted => false,
        EventType::RunFinished => {
            said = Some(std::mem::take(&mut row.payload));
            false
        }
        _ => true,
    });
    said
}

fn ending(finished: &Finished, said: Option<Object>, stdout: &str, bounds: &Bounds, is_function: bool) -> Object {
    let mut payload = Object::new();
    let mut internal_error = None;
    let has_ended = said.is_some();
    if let Some(said) = said {
        internal_error = said.str("internal_error").map(str::to_owned);
        if let Some(output) = said.get("output").filter(|output| !output.is_null()) {
            payload.insert("output", output.clone());
        }
    }
    if let Some(exceeded) = finished.exceeded {
        internal_error = Some(match exceeded {
            Exceeded::Time => format!("it was still running after {}, its time limit", seconds(bounds.time)),
            Exceeded::Output => {
                let limit = bounds.limits.output_bytes.unwrap_or_default();
                format!("it printed more than {limit} bytes, its limit")
            }
        });
    } else if let Some(signal) = finished.signal {
        internal_error = Some(format!("it was ended by {}", signal_name(signal)));
    } else if is_function && !has_ended {
        internal_error = Some(format!("the process exited with code {} before the function returned", finished.code));
    }
    payload
        .with("returncode", i64::from(finished.code))
        .with("internal_error", internal_error)
        .with("stdout_tail", tail(stdout))
        .with("stderr_tail", tail(&finished.stderr.text()))
}

/// Notes on each return how long its call took.
fn measure(rows: &mut [Row]) {
    let mut called: HashMap<String, u64> = HashMap::new();
    for row in rows {
        let Some(id) = row.meta.str("call_id").map(str::to_owned) else { continue };
        match row.event_type {
            EventType::ToolCalled | EventType::LlmCalled => {
                called.insert(id, row.rel_ms);
            }
            EventType::ToolReturned | EventType::LlmReturned => {
                if let Some(start) = called.remove(&id) {
                    row.meta.insert("duration_ms", row.rel_ms.saturating_sub(start));
                }
            }
            _ => {}
        }
    }
}

/// Sets the times of a replayed run to what the recording measured, call by call. Returns when it ended.
fn retime(rows: &mut [Row], fixtures: &Fixtures) -> u64 {
    let mut clock = 0u64;
    for row in rows {
        let fixture = row.meta.get("fixture").and_then(Json::as_u64).and_then(|n| usize::try_from(n).ok());
        if let Some(fixture) = fixture.and_then(|n| fixtures.entries.get(n)) {
            let took = duration_of(fixture);
            clock = clock.saturating_add(took);
            row.meta.insert("duration_ms", took);
        }
        row.rel_ms = clock;
    }
    clock
}

fn duration_of(fixture: &Fixture) -> u64 {
    fixture.output.get("duration_ms").and_then(Json::as_u64).unwrap_or(0)
}

fn seconds(limit: Duration) -> String {
    if limit.subsec_millis() == 0 { format!("{} s", limit.as_secs()) } else { format!("{} ms", limit.as_millis()) }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}

fn tail(text: &str) -> String {
    let from = text.char_indices().rev().nth(TAIL - 1).map_or(0, |(at, _)| at);
    text[from..].to_owned()
}

fn without_mark(stdout: &str) -> String {
    stdout.split_once(OUTPUT_MARK).map_or(stdout, |(_, after)| after).to_owned()
}

fn output(finished: &Finished, stdout: &str) -> String {
    let dropped = finished.stdout.dropped() + finished.stderr.dropped();
    let mut all = String::new();
    if dropped > 0 {
        all.push_str(&format!("… {dropped} bytes before this were dropped\n"));
    }
    for part in [stdout, &finished.stderr.text()] {
        all.push_str(part);
        if !part.is_empty() && !part.ends_with('\n') {
            all.push('\n');
        }
    }
    all
}
