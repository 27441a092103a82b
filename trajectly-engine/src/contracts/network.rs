//! `contracts.network`: the hosts that tools may reach.

use super::{Call, Input};
use crate::code::Code;
use crate::host;
use crate::json::Json;
use crate::spec::{Network, NetworkDefault, SpecPath};
use crate::verdict::Violation;

/// The tools that reach the network.
const NETWORK_TOOLS: [&str; 2] = ["http_request", "web_search"];

/// What a child's network guard writes when it stops a connection.
const BLOCKED: &str = "Trajectly replay mode blocks network access";

pub(super) fn check(input: &Input<'_>, violations: &mut Vec<Violation>) {
    let network = &input.spec.contracts.network;
    let path = SpecPath::root().key("contracts").key("network");
    let calls = input.calls.iter().filter(|call| NETWORK_TOOLS.contains(&call.tool));
    violations.extend(calls.filter_map(|call| denied(call, network, &path)));
    violations.extend(blocked(input, network, &path));
}

fn denied(call: &Call<'_>, network: &Network, path: &SpecPath) -> Option<Violation> {
    let host = url(call).and_then(reached);
    let hosts = || network.allowlist.iter().chain(&network.allow_domains);
    let message = match (&host, network.default) {
        (Some(host), _) if network.allowed().any(|allowed| allows(allowed.host, host)) => return None,
        (None, NetworkDefault::Allow) => return None,
        (Some(_), NetworkDefault::Allow) if hosts().next().is_none() => return None,
        (Some(host), _) => format!("`{}` reaches {host}, which is not allowed", call.tool),
        (None, NetworkDefault::Deny) => format!("`{}` reaches a host that its arguments do not name", call.tool),
    };
    let mut allowed: Vec<&str> = hosts().map(String::as_str).collect();
    allowed.sort_unstable();
    allowed.dedup();
    let rule = match network.default {
        NetworkDefault::Deny => path.key("default"),
        NetworkDefault::Allow if network.allowlist.is_empty() => path.key("allow_domains"),
        NetworkDefault::Allow => path.key("allowlist"),
    };
    let violation = Violation::new(Code::NetworkDomainDenied, call.index, message)
        .expected(allowed.into_iter().collect::<Json>())
        .observed(host.as_deref())
        .hint("add the host to `contracts.network.allowlist` if it is now intended")
        .rule(&rule);
    Some(violation)
}

/// Whether an entry of a list means a host: it is the host, or `*.` and what the host ends in.
fn allows(allowed: &str, host: &str) -> bool {
    match allowed.strip_prefix('*') {
        Some(suffix) if suffix.starts_with('.') => host.len() > suffix.len() && host.ends_with(suffix),
        _ => allowed == host,
    }
}

/// A connection that the guard stopped, as the end of the run tells.
fn blocked(input: &Input<'_>, network: &Network, path: &SpecPath) -> Option<Violation> {
    if network.allowlist.is_empty() && network.allow_domains.is_empty() {
        return None;
    }
    let (index, finished) = input.finished()?;
    let tail = finished.payload.str("stderr_tail").filter(|tail| tail.contains(BLOCKED))?;
    let line = tail.lines().find(|line| line.contains(BLOCKED)).unwrap_or(tail);
    let message = "the agent tried to reach a host that is not allowed, and was stopped";
    let rule = if network.allowlist.is_empty() { "allow_domains" } else { "allowlist" };
    let violation = Violation::new(Code::ContractNetworkAllowlistBlocked, index, message);
    Some(violation.observed(line.trim()).rule(&path.key(rule)))
}

/// The address that a call names: the first of its arguments `url`, `uri` and `endpoint` that is a text, else the first positional one.
fn url<'e>(call: &Call<'e>) -> Option<&'e str> {
    let input = call.event.payload.get("input")?;
    let text = |value: Option<&'e Json>| value?.as_str().map(str::trim).filter(|text| !text.is_empty());
    let keyword = |key| text(input.get("kwargs")?.get(key));
    ["url", "uri", "endpoint"].into_iter().find_map(keyword).or_else(|| text(input.get("args")?.as_array()?.first()))
}

/// The host that an address leads to; none where clients disagree, of which some take a backslash for a slash. A text without a scheme
/// is a host if it has a dot and no slash.
fn reached(url: &str) -> Option<String> {
    let bare = || (!url.contains("://") && !url.contains('/') && url.contains('.')).then(|| url.to_lowercase());
    match host::authority(url) {
        Some(authority) if authority.contains('\\') => bare(),
        Some(authority) => host::of_authority(&authority).or_else(bare),
        None => bare(),
    }
}
