//! `contracts.tools`: which tools may be called, and how often.

use super::{Call, Input, side_effects};
use crate::code::Code;
use crate::spec::{Contracts, SpecPath, Tools};
use crate::verdict::Violation;

impl Contracts {
    /// The code that a call of `tool` would earn whatever its arguments, so that the tool must not be run.
    pub fn forbid_tool(&self, tool: &str) -> Option<Code> {
        if denied(&self.tools, tool).is_some() {
            return Some(Code::ContractToolDenied);
        }
        if !allowed(&self.tools, tool) {
            return Some(Code::ContractToolNotAllowed);
        }
        let writes = self.side_effects.deny_write_tools && side_effects::writing_word(tool).is_some();
        writes.then_some(Code::ContractSideEffectWriteToolDenied)
    }
}

/// The element of `deny` that names the tool.
fn denied(tools: &Tools, tool: &str) -> Option<usize> {
    tools.deny.iter().position(|name| name == tool)
}

fn allowed(tools: &Tools, tool: &str) -> bool {
    tools.allow.is_empty() || tools.allow.iter().any(|name| name == tool)
}

pub(super) fn check(input: &Input<'_>, violations: &mut Vec<Violation>) {
    let tools = &input.spec.contracts.tools;
    let path = SpecPath::root().key("contracts").key("tools");
    for call in &input.calls {
        if let Some(rule) = denied(tools, call.tool) {
            violations.push(
                Violation::new(Code::ContractToolDenied, call.index, format!("`{}` is denied", call.tool))
                    .observed(call.tool)
                    .hint("drop the call, or take the tool out of `deny` if it is now intended")
                    .rule(&path.key("deny").index(rule)),
            );
        }
        if !allowed(tools, call.tool) {
            violations.push(
                Violation::new(Code::ContractToolNotAllowed, call.index, format!("`{}` is not in `allow`", call.tool))
                    .expected(tools.allow.clone())
                    .observed(call.tool)
                    .hint("drop the call, or add the tool to `allow` if it is now intended")
                    .rule(&path.key("allow")),
            );
        }
    }
    if let Some(limit) = tools.max_calls_total {
        let calls: Vec<&Call<'_>> = input.calls.iter().collect();
        if let Some(over) = first_over(&calls, limit) {
            let message = format!("{}, and `max_calls_total` is {limit}", tool_calls(calls.len()));
            violations.push(
                Violation::new(Code::ContractMaxCallsTotalExceeded, over, message)
                    .expected(limit)
                    .observed(calls.len())
                    .rule(&path.key("max_calls_total")),
            );
        }
    }
    for (tool, limit) in &tools.max_calls_per_tool {
        let calls: Vec<&Call<'_>> = input.calls.iter().filter(|call| call.tool == tool).collect();
        if let Some(over) = first_over(&calls, *limit) {
            let message = format!("`{tool}` is called {}, and its limit is {limit}", times(calls.len()));
            violations.push(
                Violation::new(Code::ContractMaxCallsPerToolExceeded, over, message)
                    .expected(*limit)
                    .observed(calls.len())
                    .rule(&path.key("max_calls_per_tool").key(tool)),
            );
        }
    }
}

/// The index of the first call beyond `limit` of them.
fn first_over(calls: &[&Call<'_>], limit: u64) -> Option<usize> {
    let limit = usize::try_from(limit).ok()?;
    calls.get(limit).map(|call| call.index)
}

fn tool_calls(count: usize) -> String {
    if count == 1 { "1 tool call".to_owned() } else { format!("{count} tool calls") }
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{count} times"),
    }
}
