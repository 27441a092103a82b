//! A test as it mostly runs: the agent replayed offline and held against its baseline.

use std::sync::Arc;

use trajectly_engine::abstraction::Predicates;
use trajectly_engine::code::Code;
use trajectly_engine::fixture::{Fixtures, MatchOptions};
use trajectly_engine::refinement::survivors;
use trajectly_engine::report::{DeterminismWarning, Reduced, Report};
use trajectly_engine::spec::{Drift, Expect, ReplayMode};
use trajectly_engine::trace::{EventType, Trace};
use trajectly_engine::verdict::{Status, Verdict, judge};

use super::counterexample::{self, Effort, Failed};
use super::meta::{BaselineMeta, Refusal};
use super::notes::{notes, tell_drift, tell_unenforced, tell_unrestricted};
use super::promote::Accepted;
use super::reports::Reports;
use super::seeds::Seeds;
use super::session::{self, Ran};
use super::test::Test;
use super::upstream::{is_keyless, route};
use super::{Failure, Runner, promote};
use crate::render::{View, drift, drifted, failure};
use crate::snapshot::{self, NoSnapshot};
use crate::store::{StoreError, read_text};
use crate::tape::Source;

/// What stands above a failure that was expected.
const EXPECTED: &str = "note: the failure below is expected, so the test passes";

/// The accepted recording, read.
pub(super) struct Baseline {
    pub(super) trace: Trace,
    pub(super) fixtures: Arc<Fixtures>,
    pub(super) seeds: Seeds,
    /// The accepted snapshot, if there is one.
    snapshot: Result<Option<String>, NoSnapshot>,
}

/// Runs a test against its baseline; with `accept`, makes what it did the new baseline.
pub(super) fn run(runner: &Runner, test: &Test<'_>, accept: bool) -> Result<String, Failure> {
    let baseline = load(runner, test)?;
    let ran = replay(runner, test, &baseline)?;
    tell_unenforced(test, &ran);
    tell_unrestricted(test, &baseline.trace, &ran);
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
    let judged = Judged { baseline: &baseline.trace, candidate: &candidate, verdict: &verdict, ran };
    let reduced = judged.keep(runner, test)?;
    if let Some(expected) = &test.expected {
        return judged.expected_end(test, expected, reduced.as_ref());
    }
    if accept {
        return promote::accept(runner, test, baseline, ran, &candidate, &verdict);
    }
    if verdict.status == Status::Fail {
        let code = verdict.primary().map(|primary| primary.code);
        return Err(Failure::verdict(code, judged.shown(test, reduced.as_ref())));
    }
    review(runner, test, baseline, ran, &candidate)
}

fn load(runner: &Runner, test: &Test<'_>) -> Result<Baseline, Failure> {
    let snapshot = || snapshot::accepted(&test.snapshot_path());
    let unreadable = |error: StoreError| match error.fault(&test.store) {
        Some(fault) => broken(test, &fault),
        None => error.into(),
    };
    let Some((files, snapshot)) = test.store.baseline(&test.place, snapshot).map_err(unreadable)? else {
        return Err(missing(runner, test));
    };
    let meta_file = test.store.display(&test.place.meta);
    BaselineMeta::check(&files.meta, &meta_file, &test.spec).map_err(|refusal| match refusal {
        Refusal::Broken(message) => broken(test, &message),
        Refusal::Other(code, message, help) => test.trouble(code, &message, &[], &[help], ""),
    })?;
    let fixtures_file = test.store.display(&test.place.fixtures);
    let trace = match &test.spec.baseline_trace {
        None => files.trace,
        Some(path) => read_text(path).map_err(|error| {
            let error = StoreError::new("read", path, error);
            let fault = error.fault(&test.store).unwrap_or_else(|| error.to_string());
            broken_elsewhere(test, &fault)
        })?,
    };
    Ok(Baseline {
        trace: whole(&trace, &test.baseline_file()).map_err(|message| match test.spec.baseline_trace {
            None => broken(test, &message),
            Some(_) => broken_elsewhere(test, &message),
        })?,
        fixtures: Fixtures::parse(&files.fixtures, &fixtures_file)
            .map(Arc::new)
            .map_err(|error| broken(test, &error.headline()))?,
        seeds: Seeds::of_baseline(&files.meta),
        snapshot,
    })
}

fn whole(text: &str, file: &str) -> Result<Trace, String> {
    let trace = Trace::parse(text, file).map_err(|error| error.headline())?;
    check_whole(&trace, file)?;
    Ok(trace)
}

/// Refuses an accepted trace that lost its end: it would let an agent lose its calls unseen.
pub(crate) fn check_whole(trace: &Trace, file: &str) -> Result<(), String> {
    match trace.events.last() {
        None => Err(format!("{file} holds no event")),
        Some(last) if last.event_type != EventType::RunFinished => {
            Err(format!("{file} ends before the run does: its last event is no `run_finished`"))
        }
        Some(_) => Ok(()),
    }
}

/// An accepted file that cannot be read.
fn broken(test: &Test<'_>, message: &str) -> Failure {
    let mut help = vec!["restore it from version control".to_owned()];
    help.extend(test.commands.record.as_ref().map(|record| format!("or record it again: {record}")));
    test.trouble(Code::BaselineInvalid, message, &[], &help, "")
}

/// A trace that the spec names and that cannot be read. No recording mends it.
fn broken_elsewhere(test: &Test<'_>, message: &str) -> Failure {
    let help = ["`baseline.trace` in the spec names it: mend it, or name another".to_owned()];
    test.trouble(Code::BaselineInvalid, message, &[], &help, "")
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
    session::run(runner, test, source, baseline.seeds)
}

/// What the spec says without effect, for people.
fn warnings(test: &Test<'_>) -> Vec<String> {
    test.spec.warnings.iter().map(|problem| problem.message.clone()).collect()
}

/// A run and its verdict.
struct Judged<'a> {
    baseline: &'a Trace,
    candidate: &'a Trace,
    verdict: &'a Verdict,
    ran: &'a Ran,
}

impl Judged<'_> {
    /// Keeps the run's own files: its trace, its reports, and its counterexamples if it fails. Returns the smallest of them.
    fn keep(&self, runner: &Runner, test: &Test<'_>) -> Result<Option<Reduced>, StoreError> {
        let (store, slug) = (&test.store, &test.file_slug);
        store.write_run_file(&store.current_path(slug), &self.candidate.to_jsonl())?;
        let failed = Failed { spec: &test.spec, baseline: self.baseline, candidate: self.candidate };
        let (prefix_file, reduced) = match self.verdict.witness() {
            Some(witness) => {
                let reduced = failed.reduce(store, slug, Effort::OF_A_TEST)?.map(|(reduced, _)| reduced);
                (Some(failed.cut(store, slug, witness)?), reduced)
            }
            None => {
                counterexample::remove(store, slug)?;
                (None, None)
            }
        };
        let is_expected = test.expected.is_some_and(|expected| expected.met_by(self.verdict).is_ok());
        let said = Report::new(&test.spec, test.spec_file(), self.verdict, prefix_file, &test.commands.reproduce);
        let said = Report {
            reduced: reduced.clone(),
            is_expected: is_expected && self.verdict.status == Status::Fail,
            network_guard: self.ran.guard.name(),
            fixture_usage: self.ran.usage.clone(),
            determinism_warnings: DeterminismWarning::in_output(&self.ran.output),
            predicates: Some(Predicates::of(self.candidate, &test.spec.abstraction)),
            ..said
        };
        Reports::of(runner, test.case).write(&said)?;
        Ok(reduced)
    }

    /// A test that is expected to fail passes exactly when it fails in that way.
    fn expected_end(&self, test: &Test<'_>, expected: &Expect, reduced: Option<&Reduced>) -> Result<String, Failure> {
        let Err(why) = expected.met_by(self.verdict) else {
            // Whoever asks for the output of passing tests sees how this one fails.
            return Ok(match self.verdict.status {
                Status::Pass => self.ran.output.clone(),
                Status::Fail => format!("{EXPECTED}\n\n{}", self.shown(test, reduced)),
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
        Err(match self.verdict.status {
            Status::Pass => failure,
            Status::Fail => failure.with(&self.shown(test, reduced)),
        })
    }

    /// The text of a failing verdict.
    fn shown(&self, test: &Test<'_>, reduced: Option<&Reduced>) -> String {
        let store = &test.store;
        failure(&View {
            spec: &test.spec,
            verdict: self.verdict,
            baseline: self.baseline,
            candidate: self.candidate,
            baseline_file: &test.baseline_file(),
            candidate_file: &store.display(&store.current_path(&test.file_slug)),
            prefix_file: Some(&store.display(&store.prefix_path(&test.file_slug))),
            reduced,
            output: &self.ran.output,
            notes: &[warnings(test), notes(&test.spec, self.ran)].concat(),
            commands: &test.commands,
            paint: test.paint,
        })
    }
}

/// Removes what an earlier run left: this one came to no verdict.
pub(super) fn forget(test: &Test<'_>) -> Result<(), StoreError> {
    counterexample::remove(&test.store, &test.file_slug)?;
    test.store.remove_run_file(&test.store.current_path(&test.file_slug))
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
    if !runner.shared.env.writes_refused {
        // What an earlier run left for review is no longer what the agent does.
        test.store.remove_run_file(&snapshot::pending_path(&path))?;
    }
    let before = snapshot::text_of(&test.spec, &baseline.trace, None);
    if !snapshot::same(&before, &now) && !runner.shared.env.writes_refused {
        // The drift was accepted: the trace and the fixtures follow the snapshot.
        promote::commit(test, &Accepted::of_replay(&test.spec, baseline, ran, candidate), None)?;
    }
    Ok(ran.output.clone())
}

fn missing(runner: &Runner, test: &Test<'_>) -> Failure {
    let file = test.store.display(&test.place.trace);
    let message = format!("there is no baseline at {file}");
    let mut help = vec![match &test.commands.record {
        Some(command) => format!("record one: {command}"),
        None => format!("record the spec that this one is held against: `name: {}`", test.spec.name),
    }];
    let versions = test.store.versions(&test.slug);
    if !versions.is_empty() {
        let versions = versions.join(", ");
        help = vec![format!("the versions that there are: {versions}; `trajectly baseline promote` puts one in force")];
    } else if is_keyless(&test.spec, runner.shared.suite.upstream) {
        help.push(
            "if the agent asks a model, that takes OPENAI_API_KEY, or OPENAI_BASE_URL if it is elsewhere".to_owned(),
        );
    }
    test.trouble(Code::BaselineMissing, &message, &[], &help, "")
}

pub(super) fn empty(test: &Test<'_>, ran: &Ran) -> Failure {
    let help = match test.case.function {
        Some(_) => {
            "mark the agent's tools with `#[tool]`, and let its model client use the session's base URL \
             (`OPENAI_BASE_URL`, or `session.openai_base_url()`)"
        }
        None => {
            "let the agent's model client use $OPENAI_BASE_URL, or let the agent append what it does to \
             $TRAJECTLY_EVENTS_FILE"
        }
    };
    let help = [help.to_owned()];
    let message = "the run called no tool and no model, so there is nothing to judge";
    test.trouble(Code::TraceEmpty, message, &notes(&test.spec, ran), &help, &ran.output)
}
