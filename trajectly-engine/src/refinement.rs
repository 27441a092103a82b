//! Refinement: whether the candidate still does, in order, what the baseline did.

use std::collections::BTreeSet;

use crate::abstraction::{Abstraction, TokenKind};
use crate::code::Code;
use crate::json::Json;
use crate::spec::{Refinement, RefinementMode, SpecPath};
use crate::trace::Trace;
use crate::verdict::Violation;

/// Tools whose extra calls need a permission of their own.
const SIDE_EFFECT_TOOLS: [&str; 6] =
    ["checkout", "create_refund", "send_email", "db_write", "filesystem_write", "http_request"];

/// What comparing the two traces found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Comparison {
    pub(crate) violations: Vec<Violation>,
    /// Whether there was nothing to hold the candidate to: the baseline calls no tool.
    pub(crate) vacuous: bool,
}

/// Holds a candidate against a baseline.
pub(crate) fn compare(rules: &Refinement, baseline: &Trace, candidate: &Trace) -> Comparison {
    if rules.mode == RefinementMode::None {
        return Comparison { violations: Vec::new(), vacuous: false };
    }
    let comparing = Comparing {
        rules,
        allowed: Allowed::by(rules),
        baseline: Abstraction::of(baseline, &rules.ignore_call_tools),
        candidate: Abstraction::of(candidate, &rules.ignore_call_tools),
        last: candidate.events.len().saturating_sub(1),
    };
    comparing.compare()
}

/// The allowances for extra calls that are in force, and where to point when one is missing.
struct Allowed<'r> {
    strict: bool,
    new_tool_names: bool,
    extra_tools: BTreeSet<&'r str>,
    extra_side_effect_tools: BTreeSet<&'r str>,
}

impl<'r> Allowed<'r> {
    fn by(rules: &'r Refinement) -> Allowed<'r> {
        let strict = rules.mode == RefinementMode::Strict;
        let set = |names: &'r [String]| names.iter().map(String::as_str).filter(|_| !strict).collect();
        Allowed {
            strict,
            new_tool_names: rules.allow_new_tool_names && !strict,
            extra_tools: set(&rules.allow_extra_tools),
            extra_side_effect_tools: set(&rules.allow_extra_side_effect_tools),
        }
    }

    fn rule(&self, key: &str) -> SpecPath {
        SpecPath::root().key("refinement").key(if self.strict { "mode" } else { key })
    }

    /// What to do about an extra call: nothing in the spec can allow one when the mode is strict.
    fn hint(&self, permission: &str) -> String {
        match self.strict {
            true => "drop the call, or record a new baseline if it is now intended".to_owned(),
            false => format!("drop the call, or {permission} if it is now intended"),
        }
    }
}

struct Comparing<'r> {
    rules: &'r Refinement,
    allowed: Allowed<'r>,
    baseline: Abstraction,
    candidate: Abstraction,
    /// The index of the candidate's last event.
    last: usize,
}

impl Comparing<'_> {
    fn compare(&self) -> Comparison {
        let (baseline, candidate) = (self.baseline.skeleton(), self.candidate.skeleton());
        let mut violations = Vec::new();
        let vacuous = baseline.is_empty() && !self.allowed.strict;
        if !vacuous {
            self.calls(&baseline, &candidate, &mut violations);
        }
        if !self.rules.allow_extra_llm_steps {
            self.llm_steps(&mut violations);
        }
        Comparison { violations, vacuous }
    }

    /// Matches each baseline call with the earliest candidate call that is left for it; what cannot be matched is missing or
    /// extra.
    fn calls(&self, baseline: &[(usize, &str)], candidate: &[(usize, &str)], violations: &mut Vec<Violation>) {
        let mut matched = 0;
        let mut extra = Vec::new();
        for call in candidate {
            match baseline.get(matched) {
                Some((_, tool)) if *tool == call.1 => matched += 1,
                _ => extra.push(*call),
            }
        }
        if let Some((baseline_index, tool)) = baseline.get(matched) {
            let message = match baseline[..matched].last() {
                _ if !candidate.iter().any(|(_, called)| called == tool) => {
                    format!("the baseline calls `{tool}` here; this run never does")
                }
                Some((_, before)) if before != tool => {
                    format!("the baseline calls `{tool}` after `{before}`; this run does not")
                }
                _ => format!("the baseline calls `{tool}` once more; this run does not"),
            };
            let names: Json = candidate.iter().map(|(_, tool)| *tool).collect();
            let mut violation = Violation::new(
                Code::RefinementBaselineCallMissing,
                candidate.last().map_or(self.last, |(index, _)| *index),
                message,
            )
            .expected(*tool)
            .observed(names)
            .hint("restore the call, or record a new baseline if it is no longer intended")
            .rule(&self.allowed.rule("mode"));
            violation.baseline_index = Some(*baseline_index);
            violations.push(violation);
        }
        let known: BTreeSet<&str> = baseline.iter().map(|(_, tool)| *tool).collect();
        for (index, tool) in extra {
            self.extra(index, tool, &known, violations);
        }
    }

    fn extra(&self, index: usize, tool: &str, known: &BTreeSet<&str>, violations: &mut Vec<Violation>) {
        let Allowed { extra_tools, extra_side_effect_tools, .. } = &self.allowed;
        if !extra_tools.contains(tool) {
            violations.push(
                Violation::new(
                    Code::RefinementExtraToolCall,
                    index,
                    format!("`{tool}` is called beyond the baseline's calls"),
                )
                .expected(extra_tools.iter().copied().collect::<Json>())
                .observed(tool)
                .hint(self.allowed.hint("add the tool to `allow_extra_tools`"))
                .rule(&self.allowed.rule("allow_extra_tools")),
            );
        }
        if SIDE_EFFECT_TOOLS.contains(&tool) && !extra_side_effect_tools.contains(tool) {
            violations.push(
                Violation::new(
                    Code::RefinementExtraSideEffectCall,
                    index,
                    format!("`{tool}` has side effects and is called beyond the baseline's calls"),
                )
                .expected(extra_side_effect_tools.iter().copied().collect::<Json>())
                .observed(tool)
                .hint(self.allowed.hint("add the tool to `allow_extra_side_effect_tools` too"))
                .rule(&self.allowed.rule("allow_extra_side_effect_tools")),
            );
        }
        if !self.allowed.new_tool_names && !known.contains(tool) && !extra_tools.contains(tool) {
            let names: BTreeSet<&str> = known.union(extra_tools).copied().collect();
            violations.push(
                Violation::new(
                    Code::RefinementNewToolNameForbidden,
                    index,
                    format!("`{tool}` is a tool that the baseline never calls"),
                )
                .expected(names.into_iter().collect::<Json>())
                .observed(tool)
                .hint(self.allowed.hint("set `allow_new_tool_names: true`"))
                .rule(&self.allowed.rule("allow_new_tool_names")),
            );
        }
    }

    fn llm_steps(&self, violations: &mut Vec<Violation>) {
        let count = self.baseline.of_kind(TokenKind::LlmRequest).count();
        let total = self.candidate.of_kind(TokenKind::LlmRequest).count();
        for (position, token) in self.candidate.of_kind(TokenKind::LlmRequest).enumerate().skip(count) {
            let message = format!("model call {} (`{}`), where the baseline makes {count}", position + 1, token.name);
            violations.push(
                Violation::new(Code::RefinementExtraLlmStep, token.index, message)
                    .expected(count)
                    .observed(total)
                    .hint("drop the model call, or set `allow_extra_llm_steps: true` if it is now intended")
                    .rule(&SpecPath::root().key("refinement").key("allow_extra_llm_steps")),
            );
        }
    }
}
