//! `contracts.data_leak`: what must not leave the agent in a call.

use regex::Regex;

use super::Input;
use crate::code::Code;
use crate::json::{Json, Object};
use crate::personal::DETECTORS;
use crate::spec::{Outbound, SpecPath};
use crate::trace::{Event, EventType};
use crate::verdict::Violation;

pub(super) fn check(input: &Input<'_>, violations: &mut Vec<Violation>) {
    let rules = &input.spec.contracts.data_leak;
    let path = SpecPath::root().key("contracts").key("data_leak");
    if rules.deny_pii_outbound {
        violations.extend(personal(input, rules.outbound, &path.key("deny_pii_outbound")));
    }
    for (rule, pattern) in rules.secret_patterns.iter().enumerate() {
        let path = path.key("secret_patterns").index(rule);
        violations.extend(secret(input, rules.outbound, pattern, &path));
    }
}

fn personal(input: &Input<'_>, outbound: Outbound, path: &SpecPath) -> Option<Violation> {
    let found = |event: &Event| {
        let mut detectors = DETECTORS.iter();
        detectors.find_map(|detector| Some((detector.described, find(&event.payload, |text| detector.is_in(text))?)))
    };
    let (index, event, (name, place)) = first(input, outbound, found)?;
    let message = format!("{name} leaves in {}", described(event));
    let violation = Violation::new(Code::ContractDataLeakPiiOutbound, index, message);
    Some(violation.observed(place).hint("leave it out of the call, or replace it before").rule(path))
}

fn secret(input: &Input<'_>, outbound: Outbound, pattern: &Regex, path: &SpecPath) -> Option<Violation> {
    let (index, event, place) = first(input, outbound, |event| find(&event.payload, |text| pattern.is_match(text)))?;
    let message = format!("a secret leaves in {}", described(event));
    let violation = Violation::new(Code::DataLeakSecretPattern, index, message).expected(pattern.as_str());
    Some(violation.observed(place).hint("leave it out of the call, and change it: it is in the trace").rule(path))
}

/// The first event that leaves the agent and in which `find` finds something.
fn first<'t, T>(
    input: &Input<'t>,
    outbound: Outbound,
    find: impl Fn(&Event) -> Option<T>,
) -> Option<(usize, &'t Event, T)> {
    let leaves = |event: &Event| match event.event_type {
        EventType::ToolCalled => outbound.tool_calls,
        EventType::LlmCalled => outbound.llm_requests,
        _ => false,
    };
    let events = input.trace.events.iter().enumerate().filter(|(_, event)| leaves(event));
    events.into_iter().find_map(|(index, event)| Some((index, event, find(event)?)))
}

/// The JSON path of the first text of a payload that is it. Reports tell the place only: what leaked stays out of them.
fn find(payload: &Object, is_it: impl Fn(&str) -> bool + Copy) -> Option<String> {
    in_members(payload, is_it).map(|path| format!("${path}"))
}

/// The path is put together on the way back, so that searching in vain costs nothing but the search.
fn in_value(value: &Json, is_it: impl Fn(&str) -> bool + Copy) -> Option<String> {
    match value {
        Json::String(text) => is_it(text).then(String::new),
        Json::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| in_value(item, is_it).map(|rest| format!("[{index}]{rest}")))
        }
        Json::Object(members) => in_members(members, is_it),
        _ => None,
    }
}

fn in_members(members: &Object, is_it: impl Fn(&str) -> bool + Copy) -> Option<String> {
    let mut members = members.iter();
    members.find_map(|(key, member)| in_value(member, is_it).map(|rest| format!(".{key}{rest}")))
}

fn described(event: &Event) -> String {
    match event.tool_name() {
        Some(tool) => format!("a call of `{tool}`"),
        None => format!("a request to `{}`", event.model_name().unwrap_or_default()),
    }
}
