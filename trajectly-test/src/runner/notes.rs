//! What a person should know of a run beside what the agent did.

use trajectly_engine::json::Json;
use trajectly_engine::report::DeterminismWarning;
use trajectly_engine::spec::{Drift, RefinementMode, Spec};
use trajectly_engine::trace::{EventType, Trace};

use super::session::Ran;
use super::test::Test;
use crate::env::paint_for;
use crate::process::{Guard, limits_set_in};
use crate::render::drifted;
use crate::tape::Trouble;

/// What went wrong beside the agent.
pub(super) fn troubles(ran: &Ran) -> Vec<String> {
    let said = |trouble: &Trouble| match trouble {
        Trouble::Upstream(message) => message.clone(),
        Trouble::Refused(host) => format!("the agent tried to reach {host}; a replay has no network"),
        Trouble::Events(message) => format!("events were lost: {message}"),
    };
    ran.trouble.iter().map(said).collect()
}

/// All that there is to say of a run that is not as it should be.
pub(super) fn notes(spec: &Spec, ran: &Ran) -> Vec<String> {
    let mut notes = troubles(ran);
    notes.extend(conditions(spec, ran));
    notes
}

/// What a run was under, where that may be why it failed.
pub(super) fn conditions(spec: &Spec, ran: &Ran) -> Vec<String> {
    let mut notes = Vec::new();
    if ran.timed_out {
        notes.push(
            "if the agent needs longer, say so with `timeout_s` in its spec, or `timeout = \"…\"` in `#[agent_test]`"
                .to_owned(),
        );
    }
    match &ran.guard {
        Guard::Proxy(why) => notes.push(format!("only proxy variables kept the agent from the network: {why}")),
        Guard::Landlock if is_about_connecting(ran) => notes.push(
            "a replay's network is closed but for the gateway: any other connection is refused with \"Permission \
             denied\", unless `contracts.network.allowlist` names its host, or `host:port`"
                .to_owned(),
        ),
        Guard::Landlock | Guard::None => {}
    }
    let limits: Vec<_> = limits_set_in(&spec.limits).map(|(name, limit)| format!("{name}: {limit}")).collect();
    if !ran.ended_well() && !limits.is_empty() {
        notes.push(format!("the agent ran under `limits`: {}", limits.join(", ")));
    }
    notes.extend(unenforced(ran));
    let complaint = |warning: DeterminismWarning| format!("{}: {}", warning.code, warning.message);
    notes.extend(DeterminismWarning::in_output(&ran.output).into_iter().map(complaint));
    notes
}

/// Says on stderr which limits the run was not held to, as a test that passes shows no notes.
pub(super) fn tell_unenforced(test: &Test<'_>, ran: &Ran) {
    if let Some(note) = unenforced(ran) {
        eprintln!("note: {}: {note}", test.spec_file());
    }
}

/// What to say of a run whose tool calls are held against none, so that refinement forbids no call at all.
pub(crate) fn unrestricted(spec: &Spec, baseline: &Trace, candidate: &Trace) -> Option<&'static str> {
    let calls_tools = |trace: &Trace| trace.events.iter().any(|event| event.event_type == EventType::ToolCalled);
    let is_open = spec.refinement.mode == RefinementMode::Skeleton && spec.contracts.tools.allow.is_empty();
    (is_open && !calls_tools(baseline) && calls_tools(candidate)).then_some(
        "the baseline calls no tool, so no call is extra; `contracts.tools.allow` or `refinement.mode: strict` restricts them",
    )
}

/// Says on stderr that refinement forbids this run no tool call, whether it passes or not.
pub(super) fn tell_unrestricted(test: &Test<'_>, baseline: &Trace, ran: &Ran) {
    if let Some(note) = unrestricted(&test.spec, baseline, &ran.trace) {
        eprintln!("note: {}: {note}", test.spec_file());
    }
}

/// Says on stderr which calls of a passing test were answered by their turn alone, where the spec asks for it.
pub(super) fn tell_drift(test: &Test<'_>, ran: &Ran) {
    let Some(usage) = ran.usage.as_ref().filter(|_| test.spec.replay.drift == Drift::Warn) else { return };
    let drift = drifted(usage, paint_for(&std::io::stderr()));
    if !drift.is_empty() {
        eprintln!("note: {} passes, and what it asks has drifted\n{drift}", test.spec_file());
    }
}

fn unenforced(ran: &Ran) -> Option<String> {
    let names: Vec<_> = ran.unenforced.iter().map(|name| format!("`limits.{name}`")).collect();
    (!names.is_empty()).then(|| format!("nothing held the agent to {} here", names.join(", ")))
}

/// Whether the run failed, and says that a connection did, in one of the ways in which clients say so.
fn is_about_connecting(ran: &Ran) -> bool {
    const WORDS: [&str; 4] = ["connect", "permission denied", "eacces", "error sending request"];
    let error = ran.trace.events.last().and_then(|end| end.payload.get("internal_error")).and_then(Json::as_str);
    let said = format!("{}\n{}", error.unwrap_or_default(), ran.output).to_lowercase();
    !ran.ended_well() && WORDS.iter().any(|word| said.contains(word))
}
