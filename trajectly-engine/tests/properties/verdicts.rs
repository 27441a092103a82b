//! Verdicts: what they are made of, and what makes no difference to them.

use proptest::prelude::*;
use trajectly_engine::json::{Json, Object};
use trajectly_engine::report::Report;
use trajectly_engine::spec::Spec;
use trajectly_engine::trace::Trace;
use trajectly_engine::verdict::{Status, Verdict, judge};

use crate::config;
use crate::generate::{Step, read, runs, spec, trace};

fn report(spec: &Spec, baseline: &Trace, candidate: &Trace) -> String {
    Report::new(spec, "specs/a.yaml", &judge(spec, Some(baseline), candidate), None, "again").to_json_pretty()
}

/// A value written with the members of every object in the opposite order.
fn backwards(value: &Json) -> String {
    match value {
        Json::Array(items) => format!("[{}]", items.iter().map(backwards).collect::<Vec<_>>().join(", ")),
        Json::Object(members) => {
            let members = members.iter().rev().map(|(key, value)| format!("{}: {}", Json::from(key), backwards(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        scalar => scalar.to_compact(),
    }
}

/// What is broken, however it is ordered, without what depends on where calls stand.
fn codes(verdict: &Verdict) -> Vec<&str> {
    let mut codes: Vec<&str> = verdict.violations.iter().map(|violation| violation.code.as_str()).collect();
    codes.sort_unstable();
    codes
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_run_passes_if_and_only_if_nothing_is_broken((baseline, candidate) in runs(), spec in spec()) {
        let candidate = trace(&candidate);
        let verdict = judge(&read(&spec), Some(&trace(&baseline)), &candidate);
        prop_assert_eq!(verdict.status == Status::Pass, verdict.violations.is_empty());
        prop_assert_eq!(verdict.witness().is_none(), verdict.violations.is_empty());
        let last = candidate.events.len().saturating_sub(1);
        prop_assert!(verdict.violations.iter().all(|violation| violation.event_index <= last));
    }

    #[test]
    fn the_witness_is_the_first_event_and_the_primary_violation_the_first_there((baseline, candidate) in runs(), spec in spec()) {
        let verdict = judge(&read(&spec), Some(&trace(&baseline)), &trace(&candidate));
        prop_assert_eq!(verdict.witness(), verdict.violations.iter().map(|violation| violation.event_index).min());
        let rank = ["REFINEMENT", "CONTRACT", "TOOLING"];
        let key = |violation: &trajectly_engine::verdict::Violation| {
            let class = rank.iter().position(|class| *class == violation.class().as_str());
            (violation.event_index, class, violation.code.as_str(), violation.message.clone())
        };
        prop_assert_eq!(verdict.primary().map(key), verdict.violations.iter().map(key).min());
        prop_assert!(verdict.violations.is_sorted_by_key(key));
        prop_assert!(verdict.at_witness().iter().all(|violation| Some(violation.event_index) == verdict.witness()));
    }

    #[test]
    fn a_run_refines_itself((run, _) in runs(), spec in spec()) {
        let run = trace(&run);
        let verdict = judge(&read(&spec), Some(&run), &run);
        prop_assert!(verdict.violations.iter().all(|violation| violation.class().as_str() != "REFINEMENT"), "{:?}", verdict);
    }

    #[test]
    fn the_order_of_keys_changes_nothing((baseline, candidate) in runs(), spec in spec()) {
        let [before, after] = [Trace::to_jsonl, |trace: &Trace| {
            trace.events.iter().map(|event| backwards(&event.to_json()) + "\n").collect()
        }].map(|written| {
            let traces = [&baseline, &candidate].map(|steps| Trace::parse(&written(&trace(steps)), "t").expect("a trace"));
            [backwards(&Json::from(spec.clone())), spec.to_string()].map(|spec| {
                let spec = Spec::parse(&spec, "specs/a.yaml").expect("a spec");
                report(&spec, &traces[0], &traces[1])
            })
        });
        prop_assert_eq!(&before, &after);
        prop_assert_eq!(&before[0], &before[1]);
    }

    #[test]
    fn threads_change_nothing((baseline, candidate) in runs(), spec in spec()) {
        let (spec, baseline, candidate) = (read(&spec), trace(&baseline), trace(&candidate));
        let alone = report(&spec, &baseline, &candidate);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| report(&spec, &baseline, &candidate))).collect();
            for thread in threads {
                assert_eq!(thread.join().expect("a report"), alone);
            }
        });
    }

    #[test]
    fn calls_of_one_response_change_places_freely_if_they_may((baseline, candidate) in runs(), spec in spec()) {
        let turned = |steps: &[Step]| -> Vec<Step> {
            let turn = |step: &Step| match step {
                Step::Ask(calls) => Step::Ask(calls.iter().rev().cloned().collect()),
                other => other.clone(),
            };
            steps.iter().map(turn).collect()
        };
        let Some(Json::Object(refinement)) = spec.get("refinement").cloned() else { panic!("{spec}") };
        // Contracts look at the order in which calls happened; only refinement does not.
        let refinement = refinement.with("parallel", "unordered");
        let network = Object::new().with("network", Object::new().with("default", "allow"));
        let spec = read(&spec.with("refinement", refinement).with("contracts", network).with("budget_thresholds", Json::Null));
        let as_it_was = judge(&spec, Some(&trace(&baseline)), &trace(&candidate));
        for (baseline, candidate) in [(turned(&baseline), candidate.clone()), (baseline.clone(), turned(&candidate))] {
            let now = judge(&spec, Some(&trace(&baseline)), &trace(&candidate));
            prop_assert_eq!(codes(&as_it_was), codes(&now));
        }
    }
}
