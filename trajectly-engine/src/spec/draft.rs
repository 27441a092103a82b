//! What readers ask for where there is no spec to be read: the keys, and what each is to hold.

use std::collections::BTreeMap;

use super::path::{SpecPath, Step};
use crate::json::{Json, Number, Object};

/// The longest stretch of time that a spec can name: a day, in seconds.
pub(super) const MOST_SECONDS: i32 = 86_400;

/// All that was asked for, by path. A step into a list, or to a key of the user's own, is `*`: `contracts.args.*.required_keys`.
#[derive(Default)]
pub(super) struct Draft(BTreeMap<String, Part>);

/// What is known of one value.
#[derive(Default)]
pub(super) struct Part {
    /// What it is to be, as the last reader has it.
    pub(super) kind: Option<Kind>,
    /// Whether the key may stand there without a value.
    pub(super) may_be_empty: bool,
    /// Keys that must be there, if it is a block.
    pub(super) required: Vec<&'static str>,
}

/// What a value is to be.
pub(super) enum Kind {
    Any,
    Flag,
    String,
    /// A string with something beside blanks in it.
    Text,
    /// A whole number from 0.
    Count,
    /// A whole number from 1.
    Positive,
    Number,
    /// A number above 0.
    Seconds,
    OneOf(Vec<Json>),
    List,
    /// A mapping whose keys are the user's own.
    Map,
    /// A mapping whose keys are ours.
    Block,
}

impl Kind {
    pub(super) fn one_of(words: impl Iterator<Item = &'static str>) -> Kind {
        Kind::OneOf(words.map(Json::from).collect())
    }

    /// Versions such as `0.4`, in the ways in which they may be written.
    pub(super) fn versions(known: &[&'static str]) -> Kind {
        let quoted = known.iter().map(|version| Json::from(*version));
        let with_v = known.iter().map(|version| Json::from(format!("v{version}")));
        let bare = known.iter().filter_map(|version| Some(Json::from(Number::from_f64(version.parse().ok()?)?)));
        Kind::OneOf(quoted.chain(with_v).chain(bare).collect())
    }
}

impl Draft {
    /// What is known of the value at `path`, to be added to.
    pub(super) fn part(&mut self, path: &SpecPath) -> &mut Part {
        let step = |step: &Step| match step {
            Step::Key(key) => key.clone(),
            Step::Index(_) => "*".to_owned(),
        };
        let path: Vec<String> = path.steps().iter().map(step).collect();
        self.0.entry(path.join(".")).or_default()
    }

    /// The schema of the value at `path`; `describe` says what a path means.
    pub(super) fn schema(&self, path: &str, describe: &dyn Fn(&str) -> Option<&'static str>) -> Object {
        let schema = match self.0.get(path) {
            Some(part) => self.schema_of(part, path, describe),
            None => Object::new(),
        };
        match describe(path) {
            Some(description) => schema.with("description", description),
            None => schema,
        }
    }

    fn schema_of(&self, part: &Part, path: &str, describe: &dyn Fn(&str) -> Option<&'static str>) -> Object {
        let typed = |name: &'static str| match part.may_be_empty {
            true => Object::new().with("type", vec![name, "null"]),
            false => Object::new().with("type", name),
        };
        let inner = || self.schema(&below(path, "*"), describe);
        match &part.kind {
            None | Some(Kind::Any) => Object::new(),
            Some(Kind::Flag) => typed("boolean"),
            Some(Kind::String) => typed("string"),
            Some(Kind::Text) => typed("string").with("pattern", r"\S"),
            Some(Kind::Count) => typed("integer").with("minimum", 0),
            Some(Kind::Positive) => typed("integer").with("minimum", 1),
            Some(Kind::Number) => typed("number"),
            Some(Kind::Seconds) => typed("number").with("exclusiveMinimum", 0).with("maximum", MOST_SECONDS),
            Some(Kind::OneOf(values)) => {
                let null = part.may_be_empty.then_some(Json::Null);
                Object::new().with("enum", values.iter().cloned().chain(null).collect::<Json>())
            }
            Some(Kind::List) => typed("array").with("items", inner()),
            Some(Kind::Map) => typed("object").with("additionalProperties", inner()),
            Some(Kind::Block) => {
                let properties: Object = self
                    .keys(path)
                    .map(|key| (key.to_owned(), self.schema(&below(path, key), describe).into()))
                    .collect();
                let block = typed("object")
                    .with("properties", properties)
                    .with("patternProperties", Object::new().with("^x-", true))
                    .with("additionalProperties", false);
                if part.required.is_empty() { block } else { block.with("required", part.required.clone()) }
            }
        }
    }

    /// What the value at `path` is to be.
    pub(super) fn kind(&self, path: &str) -> Option<&Kind> {
        self.0.get(path)?.kind.as_ref()
    }

    /// The keys of the block at `path`.
    pub(super) fn keys<'d>(&'d self, path: &'d str) -> impl Iterator<Item = &'d str> {
        self.0.keys().filter_map(move |below| {
            let key = if path.is_empty() { below } else { below.strip_prefix(path)?.strip_prefix('.')? };
            (!key.is_empty() && !key.contains('.')).then_some(key)
        })
    }

    /// The paths of all keys that are ours.
    #[cfg(test)]
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str).filter(|path| !path.is_empty() && !path.ends_with('*'))
    }

    /// The paths of values that nobody has asked to be anything.
    #[cfg(test)]
    pub(super) fn without_kind(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, part)| part.kind.is_none()).map(|(path, _)| path.as_str())
    }
}

/// The path of a key in the block at `path`.
pub(super) fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
