//! What a trace says as a whole: how often, where to, how much.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::canonical::VOLATILE_KEYS;
use crate::host;
use crate::json::{Json, Number, Object};
use crate::number::{self, Numeric};
use crate::personal::DETECTORS;
use crate::spec::AbstractionConfig;
use crate::trace::{Event, EventType, Trace};

/// Addresses inside a text.
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"https?://[^\s)]+").expect("a constant pattern"));

/// What can be told of a trace without a rule in mind. No verdict depends on it.
///
/// Values are those that the agent sent and received: the payloads of its calls and steps, and its answer. Members whose names are
/// volatile (`timestamp` and the like) do not count.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Predicates {
    /// How many tool calls there are, those of `refinement.ignore_call_tools` included.
    pub tool_calls_total: usize,
    /// How many there are of each tool.
    pub tool_calls_by_name: BTreeMap<String, usize>,
    /// The hosts of the addresses in all texts, in lower case: of texts that are an address, and of `http` addresses inside of
    /// texts.
    pub domains: BTreeSet<String>,
    /// Whether there is an e-mail address in any text.
    pub email: bool,
    /// Whether there is a telephone number in any text.
    pub phone: bool,
    /// The numbers at the paths of `abstraction.price.paths`, in the order of the events, and for each event of the paths.
    pub price: Vec<Price>,
    /// The greatest number of all.
    pub max_numeric_value: Option<Number>,
    /// How many calls are of a tool with `refund` in its name, in capitals or not.
    pub refund_count: usize,
}

/// A number that a spec calls a price.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// The position of the event in the trace, from 0.
    pub event_index: usize,
    /// Where in the event's payload the number is: `$.output.price`.
    pub path: String,
    /// The number, as it stands there: a JSON number, or a text that is a decimal number.
    pub value: Json,
}

impl Predicates {
    /// Derives the predicates of a trace, in a pass of its own.
    pub fn of(trace: &Trace, config: &AbstractionConfig) -> Predicates {
        let mut predicates = Predicates::default();
        for (index, event) in trace.events.iter().enumerate() {
            predicates.call(event);
            for path in &config.price_paths {
                let numbers = path.find(&event.payload).into_iter().filter(|(_, value)| number::of(value).is_some());
                let price = |(path, value): (String, &Json)| Price { event_index: index, path, value: value.clone() };
                predicates.price.extend(numbers.map(price));
            }
            match event.event_type {
                EventType::RunStarted => {}
                // What else is there says how the run went, not what the agent did.
                EventType::RunFinished => {
                    event.payload.get("output").into_iter().for_each(|answer| predicates.value(answer))
                }
                _ => predicates.members(&event.payload),
            }
        }
        predicates
    }

    fn call(&mut self, event: &Event) {
        let Some(tool) = event.tool_name().filter(|_| event.event_type == EventType::ToolCalled) else { return };
        self.tool_calls_total += 1;
        *self.tool_calls_by_name.entry(tool.to_owned()).or_default() += 1;
        self.refund_count += usize::from(tool.to_lowercase().contains("refund"));
    }

    fn members(&mut self, members: &Object) {
        members.iter().filter(|(key, _)| !VOLATILE_KEYS.contains(key)).for_each(|(_, value)| self.value(value));
    }

    fn value(&mut self, value: &Json) {
        match value {
            Json::String(text) => self.text(text),
            Json::Number(number) => {
                let held = self.max_numeric_value.as_ref();
                if held.is_none_or(|held| Numeric::of(number).compare(Numeric::of(held)) == Ordering::Greater) {
                    self.max_numeric_value = Some(number.clone());
                }
            }
            Json::Array(items) => items.iter().for_each(|item| self.value(item)),
            Json::Object(members) => self.members(members),
            Json::Null | Json::Bool(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        let [email, phone] = &*DETECTORS;
        self.email = self.email || email.is_in(text);
        self.phone = self.phone || phone.is_in(text);
        self.domains.extend(host::of(text));
        self.domains.extend(ADDRESS.find_iter(text).filter_map(|address| host::of(address.as_str())));
    }

    /// The predicates as reports write them.
    pub fn to_json(&self) -> Object {
        let by_name = self.tool_calls_by_name.iter().map(|(tool, count)| (tool.clone(), Json::from(*count)));
        let price = |price: &Price| {
            let place = Object::new().with("event_index", price.event_index).with("path", price.path.as_str());
            place.with("value", price.value.clone())
        };
        Object::new()
            .with("tool_calls_total", self.tool_calls_total)
            .with("tool_calls_by_name", by_name.collect::<Object>())
            .with("domains", self.domains.iter().map(String::as_str).collect::<Json>())
            .with("pii", Object::new().with("email", self.email).with("phone", self.phone))
            .with("price", self.price.iter().map(price).collect::<Json>())
            .with("max_numeric_value", self.max_numeric_value.clone())
            .with("refund_count", self.refund_count)
    }
}
