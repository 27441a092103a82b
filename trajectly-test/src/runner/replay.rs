//! A test as it mostly runs: the agent replayed offline and held against its baseline.

use std::fs;
use std::sync::Arc;

use trajectly_engine::abstraction::Predicates;
use trajectly_engine::code::Code;
use trajectly_engine::fixture::{Fixtures, MatchOptions};
use trajectly_engine::refinement::survivors;
use trajectly_engine::report::Report;
use trajectly_engine::spec::{Drift, Expect, ReplayMode};
use trajectly_engine::trace::{EventType, Trace};
use trajectly_engine::verdict::{Status, Verdict, judge};

use super::meta::BaselineMeta;
use super::notes::{notes, tell_drift, tell_unenforced};
use super::promote::Accepted;
use super::reports::Reports;
use super::session::{self, Ran};
use super::test::Test;
use super::upstream::route;
use super::{Failure, Runner, promote};
use crate::render::{View, drift, drifted, failure};
use crate::snapshot::{self, NoSnapshot};
use crate::store::StoreError;
use crate::tape::Source;

/// The accepted recording, read.
pub(super) struct Baseline {
    pub(super) trace: Trace,
    pub(super) fixtures: Arc<Fixtures>,
    /// The accepted snapshot, if there is one.
    snapshot: Result<Option<String>, NoSnapshot>,
}

/// Runs a test against its baseline; with `accept`, makes what it did the new baseline.
pub(super) fn run(runner: &Runner, test: &Test<'_>, accept: bool) -> Result<String, Failure> {
    let baseline = load(test)?;
    let ran = replay(runner, test, &baseline)?;
    tell_unenforced(test, &ran);
    match decide(runner, test, accept, &baseline, &ran) {
        Ok(output) => {
            tell_drift(test, &ran);
            Ok(output)
        }
        Err(failure) => Err(match ran.usage.as_ref().map(|usage| drifted(usage, test.paint)) {
            Some(drift) if !drift.is_empty() => failure.with(&drift),
            _ => failure,
        }),
    }
}

fn decide(runner: &Runner, test: &Test<'_>, accept: bool, baseline: &Baseline, ran: &Ran) -> Result<String, Failure> {
    let candidate = promote::redacted(&test.spec, &ran.trace);
    let verdict = judge(&test.spec, Some(&baseline.trace), &candidate);
    if ran.is_empty() && ran.ended_well() {
        return Err(empty(test, ran));
    }
    keep(runner, test, &candidate, &verdict, ran)?;
    if let Some(expected) = &test.expected {
        return expected_end(test, expected, baseline, &candidate, &verdict, ran);
    }
    if accept {
        return promote::accept(runner, test, baseline, ran, &candidate, &verdict);
    }
    if verdict.status == Status::Fail {
        return Err(failed(test, &baseline.trace, &candidate, &verdict, ran));
    }
    review(runner, test, baseline, ran, &candidate)
}

fn load(test: &Test<'_>) -> Result<Baseline, Failure> {
    let snapshot = || snapshot::accepted(&test.snapshot_path());
    let Some((files, snapshot)) = test.store.baseline(&test.place, snapshot)? else {
        return Err(missing(test));
    };
    let meta_file = test.store.display(&test.place.meta);
    BaselineMeta::check(&files.meta, &meta_file, &test.spec)
        .map_err(|(code, message, help)| test.trouble(code, &message, &[], &[help], ""))?;
    let fixtures_file = test.store.display(&test.place.fixtures);
    let trace = match &test.spec.baseline_trace {
        None => files.trace,
        Some(path) => fs::read_to_string(path).map_err(|error| StoreError::new("read", path, error))?,
    };
    Ok(Baseline {
        trace: whole(&trace, &test.baseline_file()).map_err(|message| broken(test, &message))?,
        fixtures: Fixtures::parse(&files.fixtures, &fixtures_file)
            .map(Arc::new)
            .map_err(|error| broken(test, &error.to_string()))?,
        snapshot,
    })
}

/// A trace from its first event to its last: one that lost some of them would let an agent lose its calls unseen.
fn whole(text: &str, file: &str) -> Result<Trace, String> {
    let trace = Trace::parse(text, file).map_err(|error| error.to_string())?;
    match trace.events.last() {
        None => Err(format!("{file} holds no event")),
        Some(last) if last.event_type != EventType::RunFinished => {
            Err(format!("{file} ends before the run does: its last event is no `run_finished`"))
        }
        Some(_) => Ok(trace),
    }
}

/// An accepted file that cannot be read.
fn broken(test: &Test<'_>, message: &str) -> Failure {
    let mut help = vec!["restore it from version control".to_owned()];
    help.extend(test.commands.record.as_ref().map(|record| format!("or record it again: {record}")));
    test.trouble(Code::TraceInvalid, message, &[], &help, "")
}

fn replay(runner: &Runner, test: &Test<'_>, baseline: &Baseline) -> Result<Ran, Failure> {
    let spec = &test.spec;
    let source = match spec.replay.mode {
        ReplayMode::Online => Source::Live(route(spec, runner.shared.suite.upstream)),
        ReplayMode::Offline => {
            let options = MatchOptions {
                policy: spec.fixture_policy,
                strict: spec.strict,
                tool_mode: spec.replay.tool_match_mode,
                llm_mode: spec.replay.llm_match_mode,
                redactor: spec.redact.clone(),
                ignore_paths: spec.replay.ignore_paths.clone(),
                normalize: spec.replay.normalize.clone(),
                drift: spec.replay.drift != Drift::Fail,
            };
            Source::Recorded(Arc::clone(&baseline.fixtures), options)
        }
    };
    session::run(runner, test, source)
}

/// Keeps the run's own files: its trace, its reports, and the prefix that fails.
fn keep(runner: &Runner, test: &Test<'_>, candidate: &Trace, verdict: &Verdict, ran: &Ran) -> Result<(), StoreError> {
    let store = &test.store;
    store.write_run_file(&store.current_path(&test.file_slug), &candidate.to_jsonl())?;
    let prefix = store.prefix_path(&test.file_slug);
    let prefix_file = match verdict.witness() {
        Some(witness) => {
            let events = candidate.events.iter().take(witness + 1).cloned().collect();
            store.write_run_file(&prefix, &Trace { events }.to_jsonl())?;
            Some(store.display(&prefix))
        }
        None => {
            store.remove_run_file(&prefix)?;
            None
        }
    };
    let said = Report::new(&test.spec, test.spec_file(), verdict, prefix_file, &test.commands.reproduce);
    let predicates = Some(Predicates::of(candidate, &test.spec.abstraction));
    let fixture_usage = ran.usage.clone();
    let said = Report { network_guard: ran.guard.name(), fixture_usage, predicates, ..said };
    Reports::of(runner, test.case).write(&said)
}

fn failed(test: &Test<'_>, baseline: &Trace, candidate: &Trace, verdict: &Verdict, ran: &Ran) -> Failure {
    let code = verdict.primary().map(|primary| primary.code);
    Failure::verdict(code, shown(test, baseline, candidate, verdict, ran))
}

fn shown(test: &Test<'_>, baseline: &Trace, candidate: &Trace, verdict: &Verdict, ran: &Ran) -> String {
    let store = &test.store;
    failure(&View {
        spec: &test.spec,
        verdict,
        baseline,
        candidate,
        baseline_file: &test.baseline_file(),
        candidate_file: &store.display(&store.current_path(&test.file_slug)),
        prefix_file: Some(&store.display(&store.prefix_path(&test.file_slug))),
        output: &ran.output,
        notes: &[warnings(test), notes(&test.spec, ran)].concat(),
        commands: &test.commands,
        paint: test.paint,
    })
}

/// What the spec says without effect, for people.
fn warnings(test: &Test<'_>) -> Vec<String> {
    test.spec.warnings.iter().map(|problem| problem.message.clone()).collect()
}

/// A test that is expected to fail passes exactly when it fails in that way.
fn expected_end(
    test: &Test<'_>,
    expected: &Expect,
    baseline: &Baseline,
    candidate: &Trace,
    verdict: &Verdict,
    ran: &Ran,
) -> Result<String, Failure> {
    let Err(why) = expected.met_by(verdict) else {
        // Whoever asks for the output of passing tests sees how this one fails.
        return Ok(match verdict.status {
            Status::Pass => ran.output.clone(),
            Status::Fail => shown(test, &baseline.trace, candidate, verdict, ran),
        });
    };
    let said = match test.case.function {
        Some(function) if function.expect_fail.is_some() => {
            format!("`expect_fail` in {}:{}", function.file, function.line)
        }
        _ => {
            let line = test.spec.locate("expect").map(|at| format!(":{}", at.line));
            format!("`expect` in {}{}", test.spec_file(), line.unwrap_or_default())
        }
    };
    let help = [format!("if the agent is right now, change what is expected of it: {said}")];
    let failure = test.trouble(Code::ExpectedFailureNotSeen, &why, &[], &help, "");
    Err(match verdict.status {
        Status::Pass => failure,
        Status::Fail => failure.with(&shown(test, &baseline.trace, candidate, verdict, ran)),
    })
}

/// Holds a passing run against its snapshot.
fn review(
    runner: &Runner,
    test: &Test<'_>,
    baseline: &Baseline,
    ran: &Ran,
    candidate: &Trace,
) -> Result<String, Failure> {
    if !test.has_review() {
        return Ok(ran.output.clone());
    }
    let path = test.snapshot_path();
    let file = test.store.display(&path);
    let required = survivors(&test.spec.refinement, &baseline.trace, candidate);
    let now = snapshot::text_of(&test.spec, candidate, Some(&required));
    let says_so = |accepted: &Option<String>| accepted.as_deref().is_some_and(|text| snapshot::same(text, &now));
    let old = baseline.snapshot.as_ref().map_err(|NoSnapshot| {
        let help = ["restore it from version control, or record again".to_owned()];
        test.trouble(Code::SnapshotDrift, &format!("{file} is no insta snapshot"), &[], &help, "")
    })?;
    let mut agrees = says_so(old);
    // insta writes, if only what is to be reviewed.
    let may_assert = agrees || !runner.shared.env.writes_refused;
    if may_assert && (!agrees || snapshot::insta_wants_all()) {
        let content = snapshot::assert(runner.shared.suite.snapshot, &path, &now);
        // It may have been told to accept at once, or to let drift pass for now.
        agrees = agrees || snapshot::accepted(&path).is_ok_and(|accepted| says_so(&accepted));
        if content && !agrees {
            return Ok(ran.output.clone());
        }
    }
    if !agrees {
        let pending = snapshot::pending_path(&path);
        let pending = pending.exists().then(|| test.store.display(&pending));
        let old = old.as_deref().unwrap_or_default();
        let text = drift(&test.spec.name, &file, pending.as_deref(), old, &now, &test.commands, test.paint);
        return Err(Failure::outside(Code::SnapshotDrift, &format!("the run differs from {file}"), text));
    }
    let before = snapshot::text_of(&test.spec, &baseline.trace, None);
    if !snapshot::same(&before, &now) && !runner.shared.env.writes_refused {
        // The drift was accepted: the trace and the fixtures follow the snapshot.
        promote::commit(test, &Accepted::of_replay(&test.spec, baseline, ran, candidate), None)?;
    }
    Ok(ran.output.clone())
}

fn missing(test: &Test<'_>) -> Failure {
    let file = test.store.display(&test.place.trace);
    let message = format!("there is no baseline at {file}");
    let help = match &test.commands.record {
        Some(command) => format!("record one: {command}"),
        None => format!("record the spec that this one is held against: `name: {}`", test.spec.name),
    };
    let help = match test.store.versions(&test.slug).as_slice() {
        [] => help,
        versions => format!(
            "the versions that there are: {}; `trajectly baseline promote` puts one in force",
            versions.join(", ")
        ),
    };
    test.trouble(Code::BaselineMissing, &message, &[], &[help], "")
}

pub(super) fn empty(test: &Test<'_>, ran: &Ran) -> Failure {
    let help = ["mark the agent's tools with `#[tool]`, and let its model client use the session's base URL \
         (`OPENAI_BASE_URL`, or `session.openai_base_url()`)"
        .to_owned()];
    let message = "the run called no tool and no model, so there is nothing to judge";
    test.trouble(Code::TraceEmpty, message, &notes(&test.spec, ran), &help, &ran.output)
}
