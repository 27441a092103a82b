//! The contracts Φ: what a candidate must obey, whatever the baseline did. One file an obligation family.

mod args;
mod budgets;
mod data_leak;
mod network;
mod run;
mod sequence;
mod side_effects;
mod tools;

use crate::spec::Spec;
use crate::trace::{Event, EventType, Trace};
use crate::verdict::Violation;

/// What the families judge, with what several of them look at.
pub(crate) struct Input<'a> {
    /// The spec whose contracts hold.
    pub(crate) spec: &'a Spec,
    /// The candidate.
    pub(crate) trace: &'a Trace,
    /// The tool calls in order; `refinement.ignore_call_tools` does not reach here.
    pub(crate) calls: Vec<Call<'a>>,
}

/// One tool call of the candidate.
pub(crate) struct Call<'a> {
    /// The position of the event in the trace, from 0.
    pub(crate) index: usize,
    /// The tool.
    pub(crate) tool: &'a str,
    /// The `tool_called` event.
    pub(crate) event: &'a Event,
}

impl<'a> Input<'a> {
    /// Prepares a candidate for judging.
    pub(crate) fn new(spec: &'a Spec, trace: &'a Trace) -> Input<'a> {
        let call = |(index, event): (usize, &'a Event)| {
            let called = event.event_type == EventType::ToolCalled;
            let tool = event.tool_name().filter(|_| called)?;
            Some(Call { index, tool, event })
        };
        Input { spec, trace, calls: trace.events.iter().enumerate().filter_map(call).collect() }
    }

    /// The end of the run: the last such event, and its position.
    fn finished(&self) -> Option<(usize, &'a Event)> {
        let events = self.trace.events.iter().enumerate();
        events.rev().find(|(_, event)| event.event_type == EventType::RunFinished)
    }

    /// The index of the last event, where an obligation that was never met is reported; 0 in an empty trace.
    fn last(&self) -> usize {
        self.trace.events.len().saturating_sub(1)
    }
}

/// Everything in the candidate that breaks a contract, family by family.
pub(crate) fn check(input: &Input<'_>) -> Vec<Violation> {
    let mut violations = Vec::new();
    let families = [
        tools::check,
        side_effects::check,
        sequence::check,
        args::check,
        network::check,
        data_leak::check,
        budgets::check,
        run::check,
    ];
    for family in families {
        family(input, &mut violations);
    }
    violations
}
