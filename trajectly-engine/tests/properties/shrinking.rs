//! Shrinking: what is left fails alike, is a part of what was there, and has no part to spare.

use proptest::prelude::*;
use trajectly_engine::code::Code;
use trajectly_engine::shrink::shrink;
use trajectly_engine::spec::Spec;
use trajectly_engine::trace::Trace;
use trajectly_engine::verdict::judge;

use crate::config;
use crate::generate::{read, runs, spec, trace};

/// More than any of these traces needs.
const ENOUGH: usize = 10_000;

/// What a failure is about: code, rule, the baseline's call that is missing, the number of the event, and the message unless
/// it counts what a smaller trace has less of.
type Story = (Code, Option<String>, Option<usize>, Option<u64>, Option<String>);

fn story(spec: &Spec, baseline: &Trace, candidate: &Trace) -> Option<Story> {
    let counts = [
        Code::BudgetMaxTokensExceeded,
        Code::BudgetMaxToolCallsExceeded,
        Code::ContractMaxCallsPerToolExceeded,
        Code::ContractMaxCallsTotalExceeded,
    ];
    let verdict = judge(spec, Some(baseline), candidate);
    let primary = verdict.primary()?.clone();
    let message = Some(primary.message).filter(|_| !counts.contains(&primary.code));
    let event = candidate.events.get(primary.event_index).map(|event| event.seq);
    Some((primary.code, primary.rule, primary.baseline_index, event, message))
}

/// The trace without each of its calls (with their returns) and other events in turn.
fn with_one_less(whole: &Trace) -> Vec<Trace> {
    let answers = whole.answered_calls();
    let begins = (0..whole.events.len()).filter(|index| answers[*index].is_none());
    let without = |call: usize| {
        let stays = |index: usize| index != call && answers[index] != Some(call);
        Trace {
            events: (0..whole.events.len())
                .filter(|index| stays(*index))
                .map(|index| whole.events[index].clone())
                .collect(),
        }
    };
    begins.map(without).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_left_fails_alike_and_has_nothing_to_spare((baseline, candidate) in runs(), spec in spec()) {
        let (spec, baseline, candidate) = (read(&spec), trace(&baseline), trace(&candidate));
        let story = |trace: &Trace| story(&spec, &baseline, trace);
        let shrunk = shrink(&spec, Some(&baseline), &candidate, ENOUGH, || true);
        prop_assert_eq!(shrunk.is_some(), story(&candidate).is_some());
        let Some(shrunk) = shrunk else { return Ok(()) };
        let left = shrunk.events_of(&candidate);
        prop_assert_eq!(story(&left), story(&candidate));
        if left.events.len() > 1 {
            let spare = with_one_less(&left).into_iter().find(|part| !part.events.is_empty() && story(part) == story(&left));
            prop_assert_eq!(spare, None);
        }
    }

    #[test]
    fn what_is_left_is_a_part_of_what_was_there((baseline, candidate) in runs(), spec in spec(), budget in 0usize..40) {
        let (spec, baseline, candidate) = (read(&spec), trace(&baseline), trace(&candidate));
        let once = || shrink(&spec, Some(&baseline), &candidate, budget, || true);
        let Some(shrunk) = once() else { return Ok(()) };
        prop_assert!(shrunk.kept.is_sorted_by(|a, b| a < b));
        prop_assert!(shrunk.kept.last().is_none_or(|last| *last < candidate.events.len()));
        prop_assert!(shrunk.stats.iterations <= budget);
        for (index, call) in candidate.answered_calls().into_iter().enumerate() {
            let is_kept = |index| shrunk.kept.contains(&index);
            prop_assert!(call.is_none_or(|call| is_kept(call) == is_kept(index)), "{} and {:?}", index, call);
        }
        let again = once().expect("it failed before");
        prop_assert_eq!(again.events_of(&candidate).to_jsonl(), shrunk.events_of(&candidate).to_jsonl());
        prop_assert_eq!(again, shrunk);
    }
}
