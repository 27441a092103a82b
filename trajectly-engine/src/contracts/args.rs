//! `contracts.args`: what a tool's arguments must be.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{Call, Input};
use crate::code::Code;
use crate::json::{Json, Number};
use crate::number::{self, Numeric};
use crate::spec::{ArgRules, ArgSource, FieldRule, FieldType, SpecPath};
use crate::verdict::Violation;

pub(super) fn check(input: &Input<'_>, violations: &mut Vec<Violation>) {
    for call in &input.calls {
        if let Some(rules) = input.spec.contracts.args.get(call.tool) {
            let arguments = arguments(call);
            required(call, rules, &arguments, violations);
            fields(call, rules, &arguments, violations);
        }
    }
}

/// Arguments by name; positional ones are `arg_0`, `arg_1`, … and come before keyword arguments of that name.
fn arguments<'e>(call: &Call<'e>) -> BTreeMap<Cow<'e, str>, &'e Json> {
    let input = call.event.payload.get("input");
    let member = |key| input.and_then(|input| input.get(key));
    let keywords = member("kwargs").and_then(Json::as_object).into_iter().flat_map(|kwargs| kwargs.iter());
    let positional = member("args").and_then(Json::as_array).unwrap_or_default().iter().enumerate();
    let mut arguments: BTreeMap<Cow<'e, str>, &'e Json> =
        keywords.map(|(name, value)| (Cow::Borrowed(name), value)).collect();
    arguments.extend(positional.map(|(index, value)| (Cow::Owned(format!("arg_{index}")), value)));
    arguments
}

/// Where the rules on a tool's arguments stand.
fn path(source: Option<ArgSource>, tool: &str) -> SpecPath {
    let contracts = SpecPath::root().key("contracts");
    match source {
        Some(ArgSource::Schema) => contracts.key("tools").key("schema").key(tool),
        _ => contracts.key("args").key(tool),
    }
}

fn required(
    call: &Call<'_>,
    rules: &ArgRules,
    arguments: &BTreeMap<Cow<'_, str>, &Json>,
    violations: &mut Vec<Violation>,
) {
    for (rule, key) in rules.required_keys.iter().enumerate() {
        if !arguments.contains_key(key.as_str()) {
            let names: Json = arguments.keys().map(|name| name.as_ref()).collect();
            violations.push(
                Violation::new(
                    Code::ContractArgsRequiredKeyMissing,
                    call.index,
                    format!("`{}` is called without `{key}`", call.tool),
                )
                .expected(key.as_str())
                .observed(names)
                .rule(&path(rules.required_from, call.tool).key("required_keys").index(rule)),
            );
        }
    }
}

fn fields(
    call: &Call<'_>,
    rules: &ArgRules,
    arguments: &BTreeMap<Cow<'_, str>, &Json>,
    violations: &mut Vec<Violation>,
) {
    for (name, rule) in &rules.fields {
        if let Some(value) = arguments.get(name.as_str()) {
            let path = path(rules.fields_from, call.tool).key("fields").key(name);
            Field { call, name, rule, value, path }.check(violations);
        }
    }
}

/// One argument that is there, and the rule on it.
struct Field<'c> {
    call: &'c Call<'c>,
    name: &'c str,
    rule: &'c FieldRule,
    value: &'c Json,
    path: SpecPath,
}

impl Field<'_> {
    fn check(&self, violations: &mut Vec<Violation>) {
        if let Some((kind, key)) = self.wanted()
            && !is_of(self.value, kind)
        {
            let wrong = format!("must be {}, and is {}", described(kind), shown(self.value));
            let violation = self.violation(Code::ContractArgsTypeViolation, wrong, key);
            return violations.push(violation.expected(kind.as_str()));
        }
        self.bounds(violations);
        if let Some(choices) = &self.rule.choices
            && !choices.iter().any(|choice| same(choice, self.value))
        {
            let wrong = format!("is {}, none of the values in `enum`", shown(self.value));
            let violation = self.violation(Code::ContractArgsEnumViolation, wrong, "enum");
            violations.push(violation.expected(choices.clone()));
        }
        if let None | Some(FieldType::String) = self.rule.kind
            && let Some(pattern) = &self.rule.pattern
            && let Some(text) = self.value.as_str()
            && !pattern.is_match(text)
        {
            let wrong = format!("is {}, and does not match `regex`", shown(self.value));
            let violation = self.violation(Code::ContractArgsRegexViolation, wrong, "regex");
            violations.push(violation.expected(pattern.as_str()));
        }
    }

    /// The type that the value must have, and the key that says so: without a `type`, a bound wants a number and a pattern a string.
    fn wanted(&self) -> Option<(FieldType, &'static str)> {
        let FieldRule { kind, min, max, pattern, .. } = self.rule;
        let by_type = kind.map(|kind| (kind, "type"));
        let by_min = min.as_ref().map(|_| (FieldType::Number, "min"));
        let by_max = max.as_ref().map(|_| (FieldType::Number, "max"));
        let by_pattern = pattern.as_ref().map(|_| (FieldType::String, "regex"));
        by_type.or(by_min).or(by_max).or(by_pattern)
    }

    fn bounds(&self, violations: &mut Vec<Violation>) {
        let (None | Some(FieldType::Number | FieldType::Integer)) = self.rule.kind else { return };
        let Some(value) = number::of(self.value) else { return };
        let beyond = |bound: &Option<Number>, side: Ordering| {
            bound.as_ref().filter(|bound| value.compare(Numeric::of(bound)) == side).cloned()
        };
        if let Some(max) = beyond(&self.rule.max, Ordering::Greater) {
            let wrong = format!("is {}, above its `max` of {max}", shown(self.value));
            violations.push(self.violation(Code::ContractArgsMaxViolation, wrong, "max").expected(max));
        }
        if let Some(min) = beyond(&self.rule.min, Ordering::Less) {
            let wrong = format!("is {}, below its `min` of {min}", shown(self.value));
            violations.push(self.violation(Code::ContractArgsMinViolation, wrong, "min").expected(min));
        }
    }

    /// The violation of the rule under `key`; `wrong` says what is wrong with the argument.
    fn violation(&self, code: Code, wrong: String, key: &str) -> Violation {
        let message = format!("argument `{}` of `{}` {wrong}", self.name, self.call.tool);
        Violation::new(code, self.call.index, message).observed(self.value.clone()).rule(&self.path.key(key))
    }
}

fn is_of(value: &Json, kind: FieldType) -> bool {
    match kind {
        FieldType::String => matches!(value, Json::String(_)),
        FieldType::Number => number::of(value).is_some(),
        FieldType::Integer => number::of(value).is_some_and(|number| number.is_whole()),
        FieldType::Boolean => matches!(value, Json::Bool(_)),
        FieldType::Array => matches!(value, Json::Array(_)),
        FieldType::Object => matches!(value, Json::Object(_)),
    }
}

fn described(kind: FieldType) -> &'static str {
    match kind {
        FieldType::String => "a string",
        FieldType::Number => "a number",
        FieldType::Integer => "a whole number",
        FieldType::Boolean => "a boolean",
        FieldType::Array => "an array",
        FieldType::Object => "an object",
    }
}

/// JSON equality: numbers are equal by their value.
fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => Numeric::of(a).compare(Numeric::of(b)) == Ordering::Equal,
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|((ka, a), (kb, b))| ka == kb && same(a, b))
        }
        _ => a == b,
    }
}

/// A value in a message: as it is, cut short.
fn shown(value: &Json) -> String {
    const LONGEST: usize = 60;
    let text = value.to_compact();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
