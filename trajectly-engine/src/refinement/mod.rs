//! Refinement: whether the candidate still does, in order, what the baseline did.

mod matching;

use std::collections::BTreeSet;

use crate::abstraction::{Abstraction, TokenKind};
use crate::canonical::{Strip, canonical_text};
use crate::code::Code;
use crate::json::Json;
use crate::spec::{Refinement, RefinementMode, SpecPath};
use crate::trace::Trace;
use crate::verdict::Violation;
use matching::{Call, Matching, Skeleton};

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
pub(crate) fn compare<'r>(rules: &'r Refinement, baseline: &'r Trace, candidate: &'r Trace) -> Comparison {
    if rules.mode == RefinementMode::None {
        return Comparison { violations: Vec::new(), vacuous: false };
    }
    let [of_baseline, of_candidate] =
        [baseline, candidate].map(|trace| Abstraction::of(trace, &rules.ignore_call_tools));
    let comparing = Comparing {
        allowed: Allowed::by(rules),
        baseline: Skeleton::of(of_baseline, rules.parallel),
        candidate: Skeleton::of(of_candidate, rules.parallel),
        last: candidate.events.len().saturating_sub(1),
    };
    let mut violations = Vec::new();
    let vacuous = comparing.baseline.calls.is_empty() && !comparing.allowed.strict;
    if !vacuous {
        comparing.calls(&mut violations);
    }
    if !rules.allow_extra_llm_steps {
        llm_steps(of_baseline, of_candidate, &mut violations);
    }
    Comparison { violations, vacuous }
}

/// The calls of a candidate that stand for those of its baseline, as event indices in the order of the baseline's skeleton. They
/// end before the first call of the baseline that the candidate does not make, whatever `refinement.mode` says.
///
/// Of calls that may change places, those with the same arguments stand for each other.
pub fn survivors(rules: &Refinement, baseline: &Trace, candidate: &Trace) -> Vec<usize> {
    let [of_baseline, of_candidate] =
        [baseline, candidate].map(|trace| Abstraction::of(trace, &rules.ignore_call_tools));
    let of_baseline = Skeleton::of(of_baseline, rules.parallel);
    let of_candidate = Skeleton::of(of_candidate, rules.parallel);
    let mut matching = Matching::of(&of_baseline, &of_candidate);
    let input = |trace: &Trace, call: Call<'_>| {
        let input = trace.events[call.index].payload.get("input");
        input.map(|input| canonical_text(input, Strip::Volatile)).unwrap_or_default()
    };
    matching.prefer_same(
        &of_baseline,
        |place| input(baseline, of_baseline.calls[place]),
        |place| input(candidate, of_candidate.calls[place]),
    );
    let places = matching.counterparts.into_iter().map_while(|place| place);
    places.map(|place| of_candidate.calls[place].index).collect()
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
    allowed: Allowed<'r>,
    baseline: Skeleton<'r>,
    candidate: Skeleton<'r>,
    /// The index of the candidate's last event.
    last: usize,
}

impl Comparing<'_> {
    /// What is missing and what is extra when each baseline call is matched with the earliest candidate call that is left for it.
    fn calls(&self, violations: &mut Vec<Violation>) {
        let matching = Matching::of(&self.baseline, &self.candidate);
        if let Some(place) = matching.counterparts.iter().position(Option::is_none) {
            violations.push(self.missing(place));
        }
        if matching.extra.is_empty() {
            return;
        }
        let known: BTreeSet<&str> = self.baseline.calls.iter().map(|call| call.tool).collect();
        for place in matching.extra {
            let Call { index, tool } = self.candidate.calls[place];
            self.extra(index, tool, &known, violations);
        }
    }

    /// The violation of a baseline call that no call of the candidate is left for.
    fn missing(&self, place: usize) -> Violation {
        let Call { index, tool } = self.baseline.calls[place];
        let called = &self.candidate.calls;
        let message = match self.baseline.before(place) {
            _ if !called.iter().any(|call| call.tool == tool) => {
                format!("the baseline calls `{tool}` here; this run never does")
            }
            Some(before) if before != tool => {
                format!("the baseline calls `{tool}` after `{before}`; this run does not")
            }
            _ => format!("the baseline calls `{tool}` once more; this run does not"),
        };
        let at = called.last().map_or(self.last, |call| call.index);
        let violation = Violation::new(Code::RefinementBaselineCallMissing, at, message)
            .expected(tool)
            .observed(called.iter().map(|call| call.tool).collect::<Json>())
            .hint("restore the call, or record a new baseline if it is no longer intended")
            .rule(&self.allowed.rule("mode"));
        Violation { baseline_index: Some(index), ..violation }
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
}

fn llm_steps(baseline: Abstraction<'_>, candidate: Abstraction<'_>, violations: &mut Vec<Violation>) {
    let count = baseline.of_kind(TokenKind::LlmRequest).count();
    let total = candidate.of_kind(TokenKind::LlmRequest).count();
    for (position, token) in candidate.of_kind(TokenKind::LlmRequest).enumerate().skip(count) {
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
