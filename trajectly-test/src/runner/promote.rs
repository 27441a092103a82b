//! How a run becomes the baseline: recorded live, or accepted as replayed.

use trajectly_engine::code::{Class, Code};
use trajectly_engine::fixture::{Fixture, Fixtures};
use trajectly_engine::spec::Spec;
use trajectly_engine::trace::{EventType, Trace};
use trajectly_engine::verdict::{Status, Verdict, judge};

use super::meta::{BaselineMeta, Refusal};
use super::notes::{conditions, tell_unenforced, troubles};
use super::replay::{Baseline, empty};
use super::seeds::Seeds;
use super::session::{self, Ran};
use super::test::Test;
use super::upstream::{is_keyless, route};
use super::{Failure, Runner};
use crate::secrets;
use crate::snapshot;
use crate::store::BaselineFiles;
use crate::tape::Source;

/// What may have been wrong with a recording whose model calls went to the provider without a key.
const KEYLESS: &str =
    "if the model refused for want of a key, set OPENAI_API_KEY; if the model is elsewhere, set OPENAI_BASE_URL";

/// A run that is to be the baseline.
pub(super) struct Accepted {
    trace: Trace,
    fixtures: Fixtures,
    seeds: Seeds,
}

impl Accepted {
    /// A live run. Fixtures are looked up by what the calls really were, and hold what may be stored.
    fn of_recording(spec: &Spec, ran: &Ran, seeds: Seeds) -> Self {
        let mut fixtures = ran.recorded.clone();
        redact_all(spec, &mut fixtures.entries);
        Self { trace: committed(redacted(spec, &ran.trace)), fixtures, seeds }
    }

    /// A replayed run: the fixtures it used, in the order in which it used them. Those that answered another call than the
    /// recorded one are from now on the answers to that call.
    pub(super) fn of_replay(spec: &Spec, baseline: &Baseline, ran: &Ran, candidate: &Trace) -> Self {
        let events = &ran.trace.events;
        let mut used: Vec<_> = events
            .iter()
            .zip(ran.trace.answered_calls())
            .filter_map(|(event, call)| {
                let index = usize::try_from(event.meta.get("fixture")?.as_u64()?).ok()?;
                let fixture = baseline.fixtures.entries.get(index)?.clone();
                let asked_otherwise = ran.usage.as_ref().is_some_and(|usage| usage.is_of_another_call(index));
                let input = call.filter(|_| asked_otherwise).and_then(|call| events.get(call)?.call_input());
                Some((
                    call,
                    match input {
                        Some(input) => fixture.answering(input, &spec.redact),
                        None => fixture,
                    },
                ))
            })
            .collect();
        // A call comes before those that were made in it, though it returns after them.
        used.sort_by_key(|(call, _)| *call);
        let fixtures = Fixtures { entries: used.into_iter().map(|(_, fixture)| fixture).collect() };
        Self { fixtures, trace: committed(candidate.clone()), seeds: baseline.seeds }
    }
}

/// A recording must not take the place of what another spec recorded under a name that makes the same file names.
pub(super) fn refuse_clash(test: &Test<'_>) -> Result<(), Failure> {
    // A baseline that cannot be read is one that a new recording mends.
    let Ok(Some((files, ()))) = test.store.baseline(&test.place, || ()) else { return Ok(()) };
    match BaselineMeta::check(&files.meta, &test.store.display(&test.place.meta), &test.spec) {
        Err(Refusal::Other(code @ Code::BaselineNameClash, message, help)) => {
            Err(test.trouble(code, &message, &[], &[help], ""))
        }
        _ => Ok(()),
    }
}

/// Runs a test live and makes the run its baseline, if it is fit to be one.
pub(super) fn record(runner: &Runner, test: &Test<'_>) -> Result<String, Failure> {
    let spec = &test.spec;
    let source = Source::Live(route(spec, runner.shared.suite.upstream));
    let old = test.store.baseline(&test.place, || ()).ok().flatten();
    let kept = old.map(|(files, ())| Seeds::of_baseline(&files.meta)).unwrap_or_default();
    let seeds = kept.for_recording(&spec.determinism);
    let ran = session::run(runner, test, source, seeds)?;
    tell_unenforced(test, &ran);
    let accepted = Accepted::of_recording(spec, &ran, seeds);
    let verdict = judge(spec, None, &accepted.trace);
    if ran.is_empty() && ran.ended_well() {
        return Err(empty(test, &ran));
    }
    let mut reasons = broken_rules(&verdict);
    reasons.extend(troubles(&ran));
    let found = secrets::find(&accepted.trace, &accepted.fixtures);
    reasons.extend(found.iter().map(ToString::to_string));
    if !reasons.is_empty() {
        let asked = accepted.trace.events.iter().any(|event| event.event_type == EventType::LlmCalled);
        let keyless = asked && !ran.ended_well() && is_keyless(spec, runner.shared.suite.upstream);
        return Err(reject(test, &accepted, &ran, &reasons, !found.is_empty(), keyless.then_some(KEYLESS)));
    }
    commit_with_snapshot(runner, test, &accepted)?;
    Ok(ran.output)
}

/// Makes a replayed run the baseline, unless it broke a contract, asked for what was never recorded or holds a secret.
pub(super) fn accept(
    runner: &Runner,
    test: &Test<'_>,
    baseline: &Baseline,
    ran: &Ran,
    candidate: &Trace,
    verdict: &Verdict,
) -> Result<String, Failure> {
    let accepted = Accepted::of_replay(&test.spec, baseline, ran, candidate);
    let mut reasons: Vec<String> = verdict
        .violations
        .iter()
        .filter(|violation| violation.code.class() != Class::Refinement)
        .map(|violation| format!("{}: {}", violation.code.as_str(), violation.message))
        .collect();
    reasons.extend(secrets::find(&accepted.trace, &accepted.fixtures).iter().map(ToString::to_string));
    if !reasons.is_empty() {
        let help = match &test.commands.record {
            Some(record) => format!("what a replay cannot answer has to be recorded: {record}"),
            None => "mend the agent or the spec, then accept again".to_owned(),
        };
        let message = "this run cannot be a baseline";
        return Err(test.trouble(Code::AcceptRefused, message, &reasons, &[help], &ran.output));
    }
    commit_with_snapshot(runner, test, &accepted)?;
    Ok(ran.output.clone())
}

fn broken_rules(verdict: &Verdict) -> Vec<String> {
    match verdict.status {
        Status::Pass => Vec::new(),
        Status::Fail => verdict
            .violations
            .iter()
            .map(|v| format!("{} at event {}: {}", v.code.as_str(), v.event_index, v.message))
            .collect(),
    }
}

fn commit_with_snapshot(runner: &Runner, test: &Test<'_>, accepted: &Accepted) -> Result<(), Failure> {
    if !test.takes_snapshot() {
        return commit(test, accepted, None);
    }
    let suite = &runner.shared.suite;
    let text = snapshot::text_of(&test.spec, &accepted.trace, None);
    let of_suite = suite.target.map_or(test.spec_file(), |target| target.file);
    let source = test.case.function.map_or(of_suite, |function| function.file);
    commit(test, accepted, Some(&snapshot::file_content(&test.snapshot_path(), source, &text)))
}

/// Puts a run in the baseline's place, whole.
pub(super) fn commit(test: &Test<'_>, accepted: &Accepted, snapshot: Option<&str>) -> Result<(), Failure> {
    let spec_text = std::fs::read(&test.case.spec).unwrap_or_default();
    let files = BaselineFiles {
        trace: accepted.trace.to_jsonl(),
        meta: BaselineMeta::text(&test.spec, test.spec_file(), &spec_text, accepted.seeds),
        fixtures: accepted.fixtures.to_pretty(),
    };
    readable(test, &files)?;
    let path = test.snapshot_path();
    test.store.commit(&test.place, &files, snapshot.map(|text| (path.as_path(), text)))?;
    let pending = snapshot::pending_path(&path);
    test.store.remove_run_file(&pending)?;
    test.store.remove_rejected(&test.slug).map_err(Failure::from)
}

/// What cannot be read again, such as calls inside calls beyond all measure, is no baseline.
fn readable(test: &Test<'_>, files: &BaselineFiles) -> Result<(), Failure> {
    let trace = Trace::parse(&files.trace, &test.store.display(&test.place.trace)).map_err(|error| error.headline());
    let fixtures = test.store.display(&test.place.fixtures);
    let fixtures = || Fixtures::parse(&files.fixtures, &fixtures).map_err(|error| error.headline());
    trace.and_then(|_| fixtures()).map(drop).map_err(|message| {
        let help = ["the baseline is as it was".to_owned()];
        let body = [format!("it could not be read again: {message}")];
        test.trouble(Code::RecordingRejected, "this run cannot be a baseline", &body, &help, "")
    })
}

/// Keeps a recording that cannot be the baseline where a person can look at it, and says why it cannot.
fn reject(
    test: &Test<'_>,
    accepted: &Accepted,
    ran: &Ran,
    reasons: &[String],
    secret: bool,
    advice: Option<&str>,
) -> Failure {
    let dir = test.store.rejected_dir(&test.slug);
    let mut body = reasons.to_vec();
    body.extend(conditions(&test.spec, ran));
    let why = reasons.join("\n") + "\n";
    let mut kept = test.store.write_run_file(&dir.join("reason.txt"), &why);
    if secret {
        // The trace holds what must not be kept anywhere.
        kept = kept.and_then(|()| test.store.remove_run_file(&dir.join("trace.jsonl")));
    } else {
        kept = kept.and_then(|()| test.store.write_run_file(&dir.join("trace.jsonl"), &accepted.trace.to_jsonl()));
    }
    if let Err(error) = kept {
        body.push(error.to_string());
    }
    let mut help = vec![
        format!("the recording is kept in {}; the baseline is as it was", test.store.display(&dir)),
        "mend the agent, or the spec if this is meant to be allowed, and record again".to_owned(),
    ];
    help.extend(advice.map(str::to_owned));
    test.trouble(Code::RecordingRejected, "this run cannot be a baseline", &body, &help, &ran.output)
}

/// Fixtures as they may be stored.
fn redact_all(spec: &Spec, fixtures: &mut [Fixture]) {
    for fixture in fixtures {
        spec.redact.apply(&mut fixture.input);
        spec.redact.apply_to_members(&mut fixture.output);
        if let Some(error) = &mut fixture.error {
            spec.redact.apply_to_text(error);
        }
        redact_all(spec, &mut fixture.inside);
    }
}

/// The trace as it may be stored.
pub(super) fn redacted(spec: &Spec, trace: &Trace) -> Trace {
    let mut trace = trace.clone();
    if !spec.redact.is_empty() {
        for event in &mut trace.events {
            spec.redact.apply_to_members(&mut event.payload);
            spec.redact.apply_to_members(&mut event.meta);
        }
    }
    trace
}

/// A trace without what belongs to one run on one machine.
fn committed(mut trace: Trace) -> Trace {
    for event in &mut trace.events {
        for key in ["fixture", "replayed", "stream"] {
            event.meta.remove(key);
        }
        for key in ["stdout_tail", "stderr_tail"] {
            if event.event_type == EventType::RunFinished {
                event.payload.insert(key, "");
            }
        }
    }
    trace
}
