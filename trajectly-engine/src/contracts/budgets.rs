//! `budget_thresholds`: what a run may cost.

use super::Input;
use crate::code::Code;
use crate::json::Json;
use crate::spec::SpecPath;
use crate::trace::EventType;
use crate::verdict::Violation;

pub(super) fn check(input: &Input<'_>, violations: &mut Vec<Violation>) {
    let path = SpecPath::root().key("budget_thresholds");
    violations.extend(tool_calls(input, &path.key("max_tool_calls")));
    violations.extend(tokens(input, &path.key("max_tokens")));
    violations.extend(latency(input, &path.key("max_latency_ms")));
}

fn tool_calls(input: &Input<'_>, path: &SpecPath) -> Option<Violation> {
    let limit = input.spec.budgets.max_tool_calls?;
    let first_over = input.calls.get(usize::try_from(limit).ok()?)?;
    let count = input.calls.len();
    let message = format!("{count} tool call{}, and the budget is {limit}", if count == 1 { "" } else { "s" });
    let violation = Violation::new(Code::BudgetMaxToolCallsExceeded, first_over.index, message);
    Some(violation.expected(limit).observed(count).rule(path))
}

fn tokens(input: &Input<'_>, path: &SpecPath) -> Option<Violation> {
    let limit = input.spec.budgets.max_tokens?;
    let mut total: i128 = 0;
    let mut first_over = None;
    for (index, event) in input.trace.events.iter().enumerate() {
        if event.event_type == EventType::LlmReturned {
            let used = event.payload.get("usage").and_then(|usage| usage.get("total_tokens"));
            total = total.saturating_add(used.and_then(Json::as_i64).unwrap_or_default().into());
            first_over = first_over.or((total > limit.into()).then_some(index));
        }
    }
    let message = format!("{total} tokens, and the budget is {limit}");
    let violation = Violation::new(Code::BudgetMaxTokensExceeded, first_over?, message);
    Some(violation.expected(limit).observed(u64::try_from(total).ok()).rule(path))
}

fn latency(input: &Input<'_>, path: &SpecPath) -> Option<Violation> {
    let limit = input.spec.budgets.max_latency_ms?;
    let (index, finished) = input.finished()?;
    let took = finished.payload.get("duration_ms").and_then(Json::as_number)?;
    // A fraction of a millisecond is within the limit.
    let over = took.as_f64().is_none_or(|took| took.trunc() > limit as f64);
    let message = format!("the run took {took} ms, and the budget is {limit}");
    let violation = Violation::new(Code::BudgetMaxLatencyExceeded, index, message);
    over.then(|| violation.expected(limit).observed(took.clone()).rule(path))
}
