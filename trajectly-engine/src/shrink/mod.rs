//! Counterexamples: the least part of a failing run that fails in the same way.

mod ddmin;

pub use ddmin::{Minimum, ddmin};

use crate::code::Code;
use crate::json::Object;
use crate::spec::Spec;
use crate::trace::Trace;
use crate::verdict::{Verdict, Violation, judge};

/// How far a trace was shrunk, and at what cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShrinkStats {
    /// The number of events of the whole trace.
    pub original_len: usize,
    /// The number of events that are left.
    pub reduced_len: usize,
    /// How many parts of the trace were judged.
    pub iterations: usize,
}

impl ShrinkStats {
    /// The numbers as reports write them.
    pub fn to_json(&self) -> Object {
        Object::new()
            .with("original_len", self.original_len)
            .with("reduced_len", self.reduced_len)
            .with("iterations", self.iterations)
    }
}

/// What [`shrink`] left of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shrunk {
    /// The indices of the events that are left, ascending.
    pub kept: Vec<usize>,
    /// The numbers.
    pub stats: ShrinkStats,
    /// Whether `go_on` put an end to it. What is left may then depend on when that was.
    pub interrupted: bool,
}

impl Shrunk {
    /// Whether any event could be left out.
    pub fn is_shorter(&self) -> bool {
        self.stats.reduced_len < self.stats.original_len
    }

    /// The events that are left, out of the trace that was shrunk. They keep their numbers.
    pub fn events_of(&self, trace: &Trace) -> Trace {
        Trace { events: self.kept.iter().filter_map(|index| trace.events.get(*index).cloned()).collect() }
    }
}

/// Leaves out of a failing candidate all that its failure does not need. `None` if it passes.
///
/// What is left fails with the same primary violation: the same code, by the same rule, at the same event. For a call of the
/// baseline that is missing this is the same call, so that those before it are still answered. Calls stay together with their
/// returns. The order of the events is kept, and so are their numbers.
///
/// At most `max_iterations` parts are judged; `go_on` is asked before each, and can end it by the clock, which this crate
/// does not have. Unless it does, the same arguments give the same result.
pub fn shrink(
    spec: &Spec,
    baseline: Option<&Trace>,
    candidate: &Trace,
    max_iterations: usize,
    go_on: impl FnMut() -> bool,
) -> Option<Shrunk> {
    let verdict = judge(spec, baseline, candidate);
    let everything: Vec<usize> = (0..candidate.events.len()).collect();
    let story = Story::of(&verdict, &everything)?;
    let units = units(candidate);
    let mut trials = Trials { trace: candidate.clone() };
    let minimum = ddmin(units.len(), max_iterations, go_on, |kept| {
        let events = events(&units, kept);
        let verdict = trials.with(&events, |part| judge(spec, baseline, part));
        Story::of(&verdict, &events) == Some(story)
    });
    let kept = events(&units, &minimum.kept);
    let stats = ShrinkStats { original_len: everything.len(), reduced_len: kept.len(), iterations: minimum.iterations };
    Some(Shrunk { kept, stats, interrupted: minimum.interrupted })
}

/// What a failure is about. Two traces that fail alike tell the same one.
#[derive(Clone, Copy, PartialEq)]
struct Story<'v> {
    code: Code,
    rule: Option<&'v str>,
    baseline_index: Option<usize>,
    /// The index of the witness in the whole trace.
    event: Option<usize>,
    message: Option<&'v str>,
}

impl<'v> Story<'v> {
    /// `events` are the indices, in the whole trace, of those that were judged.
    fn of(verdict: &'v Verdict, events: &[usize]) -> Option<Story<'v>> {
        let primary = verdict.primary()?;
        Some(Story {
            code: primary.code,
            rule: primary.rule.as_deref(),
            baseline_index: primary.baseline_index,
            event: events.get(primary.event_index).copied(),
            message: (!counts(primary)).then_some(primary.message.as_str()),
        })
    }
}

/// Whether the message says how many there were in all. That is for a smaller trace to change; whatever else a message says,
/// such as whether a call comes too late or never, is not.
fn counts(violation: &Violation) -> bool {
    matches!(
        violation.code,
        Code::BudgetMaxTokensExceeded
            | Code::BudgetMaxToolCallsExceeded
            | Code::ContractMaxCallsPerToolExceeded
            | Code::ContractMaxCallsTotalExceeded
    )
}

/// What is kept or left out as one: a call with its return, or a single event. In the order in which they begin.
fn units(trace: &Trace) -> Vec<Vec<usize>> {
    let answers = trace.answered_calls();
    let mut units: Vec<Vec<usize>> = (0..trace.events.len()).map(|index| vec![index]).collect();
    for (index, call) in answers.into_iter().enumerate() {
        if let Some(call) = call {
            units[index].clear();
            units[call].push(index);
        }
    }
    units.retain(|unit| !unit.is_empty());
    units
}

fn events(units: &[Vec<usize>], kept: &[usize]) -> Vec<usize> {
    let mut events: Vec<usize> = kept.iter().flat_map(|unit| &units[*unit]).copied().collect();
    events.sort_unstable();
    events
}

/// A trace of which parts are looked at without copying their events.
struct Trials {
    trace: Trace,
}

impl Trials {
    /// Calls `look` with the events at these indices, which ascend, and no other.
    fn with<T>(&mut self, kept: &[usize], look: impl FnOnce(&Trace) -> T) -> T {
        let events = &mut self.trace.events;
        // The event at an index has not moved when its turn comes: those that took its place before lie ahead of it.
        kept.iter().enumerate().for_each(|(place, index)| events.swap(place, *index));
        let rest = events.split_off(kept.len());
        let looked = look(&self.trace);
        let events = &mut self.trace.events;
        events.extend(rest);
        kept.iter().enumerate().rev().for_each(|(place, index)| events.swap(place, *index));
        looked
    }
}
