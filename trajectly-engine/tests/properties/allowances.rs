//! Whoever allows more is never told of more.

use proptest::prelude::*;
use proptest::sample::select;
use trajectly_engine::json::{Json, Object};
use trajectly_engine::verdict::{Status, judge};

use crate::config;
use crate::generate::{HOSTS, TOOLS, read, runs, spec, trace};

/// A way of allowing more. The flag says whether it may also move what is broken to other calls, and so make it more.
type Allowance = (&'static str, bool, fn(&mut Object, &str, &str));

const ALLOWANCES: &[Allowance] = &[
    ("an extra tool", false, |spec, tool, _| add(spec, "refinement.allow_extra_tools", tool)),
    ("an extra side effect", false, |spec, tool, _| add(spec, "refinement.allow_extra_side_effect_tools", tool)),
    ("new names", false, |spec, _, _| set(spec, "refinement.allow_new_tool_names", true)),
    ("more model calls", false, |spec, _, _| set(spec, "refinement.allow_extra_llm_steps", true)),
    ("a tool to ignore", true, |spec, tool, _| add(spec, "refinement.ignore_call_tools", tool)),
    ("another mode", false, |spec, _, _| {
        let strict = find(spec, "refinement.mode").is_some_and(|mode| mode.as_str() == Some("strict"));
        let mode = if strict { "skeleton" } else { "none" };
        set(spec, "refinement.mode", mode);
    }),
    ("another order", true, |spec, _, _| set(spec, "refinement.parallel", "unordered")),
    ("a tool", false, |spec, tool, _| {
        // An empty list allows every tool, so that the first one in it allows fewer.
        if find(spec, "contracts.tools.allow").is_some() {
            set(spec, "contracts.tools.deny", Vec::<Json>::new());
            add(spec, "contracts.tools.allow", tool);
        }
    }),
    ("what was denied", false, |spec, _, _| shorten(spec, "contracts.tools.deny")),
    ("more calls", false, |spec, _, _| raise(spec, "contracts.tools.max_calls_total")),
    ("more calls of a tool", false, |spec, tool, _| raise(spec, &format!("contracts.tools.max_calls_per_tool.{tool}"))),
    ("less to require", false, |spec, _, _| shorten(spec, "contracts.sequence.require")),
    ("another order of two", false, |spec, _, _| shorten(spec, "contracts.sequence.require_before")),
    ("less to happen", false, |spec, _, _| shorten(spec, "contracts.sequence.eventually")),
    ("what was forbidden", false, |spec, _, _| shorten(spec, "contracts.sequence.forbid")),
    ("what should never be", false, |spec, _, _| shorten(spec, "contracts.sequence.never")),
    ("once more", false, |spec, _, _| shorten(spec, "contracts.sequence.at_most_once")),
    ("writing", false, |spec, _, _| set(spec, "contracts.side_effects.deny_write_tools", false)),
    ("other hosts", false, |spec, _, _| set(spec, "contracts.network.default", "allow")),
    ("a host", false, |spec, _, host| {
        // Where everything is allowed, the first host in the list allows fewer.
        if find(spec, "contracts.network.default").is_none_or(|default| default.as_str() != Some("allow")) {
            add(spec, "contracts.network.allow_domains", host);
        }
    }),
    ("personal data", false, |spec, _, _| set(spec, "contracts.data_leak.deny_pii_outbound", false)),
    ("a secret", false, |spec, _, _| shorten(spec, "contracts.data_leak.secret_patterns")),
    ("any argument", false, |spec, tool, _| set(spec, "contracts.args", Object::new().with(tool, Object::new()))),
    ("more latency", false, |spec, _, _| raise(spec, "budget_thresholds.max_latency_ms")),
    ("more tokens", false, |spec, _, _| raise(spec, "budget_thresholds.max_tokens")),
    ("more calls in the budget", false, |spec, _, _| raise(spec, "budget_thresholds.max_tool_calls")),
];

/// The value at a path, if it is there.
fn find<'s>(spec: &'s mut Object, path: &str) -> Option<&'s mut Json> {
    match path.split_once('.') {
        None => spec.get_mut(path),
        Some((first, rest)) => match spec.get_mut(first)? {
            Json::Object(members) => find(members, rest),
            _ => None,
        },
    }
}

fn set(spec: &mut Object, path: &str, value: impl Into<Json>) {
    let Some((first, rest)) = path.split_once('.') else {
        spec.insert(path, value);
        return;
    };
    let mut block = match spec.remove(first) {
        Some(Json::Object(members)) => members,
        _ => Object::new(),
    };
    set(&mut block, rest, value);
    spec.insert(first, block);
}

fn add(spec: &mut Object, path: &str, name: &str) {
    match find(spec, path) {
        Some(Json::Array(names)) => names.push(name.into()),
        _ => set(spec, path, vec![name]),
    }
}

fn shorten(spec: &mut Object, path: &str) {
    if let Some(Json::Array(names)) = find(spec, path) {
        names.pop();
    }
}

fn raise(spec: &mut Object, path: &str) {
    if let Some(limit) = find(spec, path)
        && let Some(held) = limit.as_u64()
    {
        *limit = (held + 1).into();
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_allowance_never_breaks_what_was_whole(
        (baseline, candidate) in runs(), spec in spec(), tool in select(TOOLS), host in select(HOSTS),
    ) {
        let (baseline, candidate) = (trace(&baseline), trace(&candidate));
        let before = judge(&read(&spec), Some(&baseline), &candidate);
        for (what, moves, allow) in ALLOWANCES {
            let mut allowing = spec.clone();
            allow(&mut allowing, tool, host);
            let after = judge(&read(&allowing), Some(&baseline), &candidate);
            prop_assert!(before.status == Status::Fail || after.status == Status::Pass, "{what}: {after:?}");
            prop_assert!(*moves || after.violations.len() <= before.violations.len(), "{what}: {before:?}\n{after:?}");
        }
    }
}

#[test]
fn some_generated_runs_pass_and_some_do_not() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(config());
    let strategy = (runs(), spec());
    let mut passes = 0;
    for _ in 0..200 {
        let ((baseline, candidate), spec) = strategy.new_tree(&mut runner).expect("a case").current();
        let verdict = judge(&read(&spec), Some(&trace(&baseline)), &trace(&candidate));
        passes += usize::from(verdict.status == Status::Pass);
    }
    assert!((20..180).contains(&passes), "{passes} of 200 pass, so that the properties say little");
}
