//! `contracts.sequence`: which operations must, must not, or may only in some order happen.

use super::Input;
use crate::code::Code;
use crate::json::Json;
use crate::spec::{Sequence as Rules, SpecPath};
use crate::trace::{Event, EventType};
use crate::verdict::Violation;

/// One thing that the agent did: `tool:NAME`, `llm:PROVIDER:MODEL` or `step:NAME`.
struct Operation {
    index: usize,
    text: String,
}

/// A violation lists the operations of a run if there are no more than this.
const MOST_OBSERVED: usize = 100;

/// The prefix that a bare name stands for.
const TOOL: &str = "tool:";

impl Operation {
    fn of((index, event): (usize, &Event)) -> Option<Operation> {
        let text = match event.event_type {
            EventType::ToolCalled => format!("{TOOL}{}", event.tool_name()?),
            EventType::LlmCalled => format!("llm:{}:{}", event.payload.str("provider")?, event.payload.str("model")?),
            EventType::AgentStep => format!("step:{}", event.payload.str("name")?),
            _ => return None,
        };
        Some(Operation { index, text })
    }

    /// Whether a name in the spec means this operation: it is the operation, or the tool that the operation calls.
    fn is(&self, name: &str) -> bool {
        self.text == name || self.text.strip_prefix(TOOL) == Some(name)
    }
}

pub(super) fn check(input: &Input<'_>, violations: &mut Vec<Violation>) {
    if input.spec.contracts.sequence == Rules::default() {
        return;
    }
    let operations: Vec<Operation> = input.trace.events.iter().enumerate().filter_map(Operation::of).collect();
    let path = SpecPath::root().key("contracts").key("sequence");
    let sequence = Sequence { input, operations, path };
    sequence.require(violations);
    sequence.absent(&input.spec.contracts.sequence.forbid, "forbid", Code::ContractSequenceForbiddenSeen, violations);
    sequence.require_before(violations);
    sequence.eventually(violations);
    sequence.absent(&input.spec.contracts.sequence.never, "never", Code::ContractSequenceNeverSeen, violations);
    sequence.at_most_once(violations);
}

struct Sequence<'i> {
    input: &'i Input<'i>,
    operations: Vec<Operation>,
    path: SpecPath,
}

impl Sequence<'_> {
    /// Each name is looked for after the one before it; one that is not found is passed over.
    fn require(&self, violations: &mut Vec<Violation>) {
        let mut cursor = 0;
        let mut last_found: Option<&str> = None;
        for (rule, name) in self.input.spec.contracts.sequence.require.iter().enumerate() {
            if let Some(found) = self.operations[cursor..].iter().position(|operation| operation.is(name)) {
                cursor += found + 1;
                last_found = Some(name);
                continue;
            }
            let message = match last_found {
                Some(before) if self.operations.iter().any(|operation| operation.is(name)) => {
                    format!("`{name}` is required after `{before}`, and does not happen there")
                }
                _ => format!("`{name}` is required and never happens"),
            };
            let violation = Violation::new(Code::ContractSequenceRequiredMissing, self.input.last(), message)
                .expected(name.as_str())
                .rule(&self.path.key("require").index(rule));
            violations.push(Violation { observed: self.observed(), ..violation });
        }
    }

    /// `forbid` and `never`: every operation that is named, one time each.
    fn absent(&self, names: &[String], key: &str, code: Code, violations: &mut Vec<Violation>) {
        for operation in &self.operations {
            if let Some(rule) = names.iter().position(|name| operation.is(name)) {
                violations.push(
                    Violation::new(code, operation.index, format!("`{}` happens, and `{key}` lists it", names[rule]))
                        .observed(operation.text.as_str())
                        .rule(&self.path.key(key).index(rule)),
                );
            }
        }
    }

    fn require_before(&self, violations: &mut Vec<Violation>) {
        for (rule, pair) in self.input.spec.contracts.sequence.require_before.iter().enumerate() {
            let (before, after) = (&pair.before, &pair.after);
            let (index, message) = match (self.first(before), self.first(after)) {
                (Some(first), Some(second)) if first <= second => continue,
                (Some(_), Some(second)) => (second, format!("`{after}` happens before `{before}`")),
                (None, Some(second)) => (second, format!("`{after}` happens, and `{before}` never does")),
                (Some(_), None) => (self.input.last(), format!("`{after}` never happens after `{before}`")),
                (None, None) => (self.input.last(), format!("neither `{before}` nor `{after}` happens")),
            };
            let violation = Violation::new(Code::ContractSequenceRequireBeforeViolated, index, message)
                .expected(Json::from(vec![before.as_str(), after.as_str()]))
                .rule(&self.path.key("require_before").index(rule));
            violations.push(Violation { observed: self.observed(), ..violation });
        }
    }

    fn eventually(&self, violations: &mut Vec<Violation>) {
        for (rule, name) in self.input.spec.contracts.sequence.eventually.iter().enumerate() {
            if self.first(name).is_some() {
                continue;
            }
            let message = format!("`{name}` never happens");
            let violation = Violation::new(Code::ContractSequenceEventuallyMissing, self.input.last(), message)
                .expected(name.as_str())
                .rule(&self.path.key("eventually").index(rule));
            violations.push(Violation { observed: self.observed(), ..violation });
        }
    }

    fn at_most_once(&self, violations: &mut Vec<Violation>) {
        for (rule, name) in self.input.spec.contracts.sequence.at_most_once.iter().enumerate() {
            let indices: Vec<usize> = self.operations.iter().filter(|o| o.is(name)).map(|o| o.index).collect();
            if let [_, second, ..] = indices[..] {
                let message = format!("`{name}` happens a second time, and may happen once");
                violations.push(
                    Violation::new(Code::ContractSequenceAtMostOnceExceeded, second, message)
                        .expected(1)
                        .observed(indices.len())
                        .rule(&self.path.key("at_most_once").index(rule)),
                );
            }
        }
    }

    /// The event index of the first operation that `name` means.
    fn first(&self, name: &str) -> Option<usize> {
        self.operations.iter().find(|operation| operation.is(name)).map(|operation| operation.index)
    }

    /// What happened instead, unless it is too much to read: the trace tells it then.
    fn observed(&self) -> Option<Json> {
        let few = self.operations.len() <= MOST_OBSERVED;
        few.then(|| self.operations.iter().map(|operation| operation.text.as_str()).collect())
    }
}
