//! JSON Schema, as far as the schema of specs uses it.

use regex::Regex;
use serde_json::Value;
use trajectly_engine::spec;

/// A schema, or a part of one.
#[derive(Clone, Copy, Debug)]
pub struct Schema<'a>(pub &'a Value);

impl<'a> Schema<'a> {
    /// A member of it.
    pub fn get(self, keyword: &str) -> Option<&'a Value> {
        self.0.get(keyword)
    }

    /// What a value does that it may not, each as a path and a keyword. Empty for what is as it should be.
    ///
    /// # Panics
    ///
    /// If the schema has a keyword that this does not know.
    #[track_caller]
    pub fn breaches(self, value: &Value) -> Vec<String> {
        let mut breaches = Vec::new();
        self.check(value, "", &mut breaches);
        breaches
    }

    fn check(self, value: &Value, path: &str, breaches: &mut Vec<String>) {
        let Value::Object(keywords) = self.0 else {
            assert_eq!(*self.0, Value::Bool(true), "a schema is an object or `true`");
            return;
        };
        for (keyword, says) in keywords {
            let holds = match keyword.as_str() {
                "$schema" | "title" | "description" => true,
                "type" => names(says).iter().any(|name| is(value, name)),
                "enum" => items(says).contains(value),
                "pattern" => value.as_str().is_none_or(|text| pattern(says).is_match(text)),
                "minimum" => value.as_f64().is_none_or(|number| says.as_f64().is_some_and(|least| number >= least)),
                "maximum" => value.as_f64().is_none_or(|number| says.as_f64().is_some_and(|most| number <= most)),
                "exclusiveMinimum" => {
                    value.as_f64().is_none_or(|number| says.as_f64().is_some_and(|least| number > least))
                }
                "required" => {
                    value.as_object().is_none_or(|object| names(says).iter().all(|key| object.contains_key(*key)))
                }
                "anyOf" => items(says).iter().any(|one| Schema(one).breaches(value).is_empty()),
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        Schema(says).check(item, &format!("{path}/{index}"), breaches);
                    }
                    true
                }
                "properties" | "patternProperties" | "additionalProperties" => true,
                unknown => panic!("{unknown} is no keyword that specs are checked with"),
            };
            if !holds {
                breaches.push(format!("{path}: {keyword}"));
            }
        }
        for (key, member) in value.as_object().into_iter().flatten() {
            let path = format!("{path}/{key}");
            match self.property(key) {
                Some(Value::Bool(false)) => breaches.push(format!("{path}: additionalProperties")),
                Some(says) => Schema(says).check(member, &path, breaches),
                None => {}
            }
        }
    }

    /// What holds for a member.
    fn property(self, key: &str) -> Option<&'a Value> {
        let own = self.get("properties").and_then(|properties| properties.get(key));
        let patterns = self.get("patternProperties").and_then(Value::as_object);
        let matching =
            || patterns.into_iter().flatten().find(|(text, _)| pattern(&Value::from(text.as_str())).is_match(key));
        own.or_else(|| matching().map(|(_, says)| says)).or_else(|| self.get("additionalProperties"))
    }
}

/// The schema of specs.
pub fn of_specs() -> Value {
    serde_json::from_str(&spec::schema().to_compact()).expect("the schema is JSON")
}

fn items(says: &Value) -> &[Value] {
    says.as_array().expect("a list")
}

fn names(says: &Value) -> Vec<&str> {
    match says {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    }
}

fn pattern(says: &Value) -> Regex {
    Regex::new(says.as_str().expect("a pattern")).expect("a pattern that compiles")
}

fn is(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        unknown => panic!("{unknown} is no type"),
    }
}
