//! How an agent that looks its fixtures up itself is told to do it, so that it never runs a real tool in a replay.

use trajectly_engine::fixture::{CallKind, Fixtures, MatchMode, Policy};
use trajectly_engine::json::{Json, Object};
use trajectly_engine::spec::Spec;

/// What the Python SDK reads. Not strict, it calls what it finds no fixture for.
pub(super) struct Lookup {
    pub(super) policy: &'static str,
    pub(super) strict: bool,
    pub(super) contracts: Json,
}

impl Lookup {
    /// By hash, to be strict is to call nothing, and no more. By index it is to compare as well, so a spec that does not
    /// want that has to forbid what was not recorded in another way: by contract.
    pub(super) fn of(spec: &Spec, fixtures: Option<&Fixtures>) -> Self {
        let modes = [spec.replay.tool_match_mode, spec.replay.llm_match_mode];
        let in_sequence = modes.contains(&MatchMode::Sequence);
        let by_index = in_sequence || spec.fixture_policy == Policy::ByIndex;
        let strict = !by_index || (spec.strict && !in_sequence);
        let mut contracts = spec.contracts.to_json();
        if let Some(fixtures) = fixtures.filter(|_| !strict) {
            allow_recorded(&mut contracts, fixtures);
        }
        Self { policy: if by_index { "by_index" } else { "by_hash" }, strict, contracts: contracts.into() }
    }
}

/// Leaves of the tools that may be called those that were recorded.
fn allow_recorded(contracts: &mut Object, fixtures: &Fixtures) {
    let Some(Json::Object(tools)) = contracts.get_mut("tools") else { return };
    let listed = tools.get("allow").and_then(Json::as_array).unwrap_or_default();
    let is_allowed = |name: &str| listed.is_empty() || listed.iter().any(|allowed| allowed.as_str() == Some(name));
    let recorded = fixtures.entries.iter().filter(|fixture| fixture.kind == CallKind::Tool);
    let mut names: Vec<&str> = recorded.map(|fixture| fixture.name.as_str()).filter(|name| is_allowed(name)).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        // An empty list would allow all.
        names.push("");
    }
    let names: Json = names.into_iter().map(Json::from).collect();
    tools.insert("allow", names);
}
