//! Typed reading of a spec's values. Every refusal is noted with its place, and reading goes on.
//!
//! The same readers make the schema: in a draft every key seems to be there, and what is asked of its value is noted instead.

use std::path::Path;
use std::time::Duration;

use regex::Regex;

use super::draft::{Kind, MOST_SECONDS};
use super::keys::Keys;
use super::node::{Entry, Node, Place, Value};
use super::notes::Notes;
use super::path::SpecPath;
use super::pattern;
use crate::json::{Json, Number};
use crate::suggest::nearest;

const ONE_WORD: &str = "write one of these words, or remove the key for the default";
const MAPPING: &str = "write its keys below it, each as `key: value`";

/// A value that is there, and the way to it.
#[derive(Clone)]
pub(super) struct Field<'a> {
    node: &'a Node,
    key_place: Option<Place>,
    pub(super) path: SpecPath,
    notes: &'a Notes<'a>,
}

impl<'a> Field<'a> {
    pub(super) fn root(node: &'a Node, notes: &'a Notes<'a>) -> Field<'a> {
        Field { node, key_place: None, path: SpecPath::root(), notes }
    }

    /// The folder that a path written here is relative to; none for a spec that was not read from text.
    pub(super) fn folder(&self) -> Option<&'a Path> {
        Some(self.notes.folder(self.node.place?.source))
    }

    /// What a draft has under a key.
    pub(super) fn drafted(path: SpecPath, notes: &'a Notes<'a>) -> Field<'a> {
        static ABSENT: Node = Node { value: Value::Null, place: None };
        notes.draft(&path, |_| ());
        Field { node: &ABSENT, key_place: None, path, notes }
    }

    /// Says what the value is to be. `None` in a draft, where there is nothing to go on with.
    pub(super) fn is(&self, kind: Kind) -> Option<()> {
        self.notes.draft(&self.path, |part| part.kind = Some(kind));
        (!self.notes.is_drafting()).then_some(())
    }

    /// Says that the key may be there without a value.
    fn may_be_empty(&self) {
        self.notes.draft(&self.path, |part| part.may_be_empty = true);
    }

    /// The value, whatever it is.
    pub(super) fn json(&self) -> Json {
        let _ = self.is(Kind::Any);
        self.node.to_json()
    }

    pub(super) fn is_empty_list(&self) -> bool {
        matches!(&self.node.value, Value::List(items) if items.is_empty())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.node.value == Value::Null && !self.notes.is_drafting()
    }

    /// This value, unless its key is there without one, which then means nothing.
    pub(super) fn filled(self) -> Option<Field<'a>> {
        self.may_be_empty();
        (!self.is_empty()).then_some(self)
    }

    /// Notes that something is wrong with this value.
    pub(super) fn problem(&self, message: impl Into<String>, help: Option<&str>) {
        let place = self.node.mark(self.key_place);
        self.notes.note(place, &self.path, message.into(), help);
    }

    /// Tells of something that does not keep the spec from being used.
    pub(super) fn warn(&self, message: impl Into<String>, help: Option<&str>) {
        self.notes.warn(self.node.mark(self.key_place), &self.path, message.into(), help);
    }

    /// Notes that something is wrong with the key itself.
    pub(super) fn key_problem(&self, message: impl Into<String>, help: Option<&str>) {
        let place = self.key_place.or(self.node.place);
        self.notes.note(place, &self.path, message.into(), help);
    }

    /// Notes that the value is not what it should be.
    pub(super) fn expected<T>(&self, what: &str, help: Option<&str>) -> Option<T> {
        match self.path.steps() {
            [] => {
                let help = Some("a spec is lines such as `schema_version: \"0.4\"` and `command: python agent.py`");
                self.problem(format!("a spec must be {what}, not {}", self.node.described()), help);
            }
            _ if self.is_empty() => {
                let help = help.unwrap_or("give it a value, or remove the key");
                self.problem(format!("`{}` has no value; it must be {what}", self.path), Some(help));
            }
            _ => self.problem(format!("`{}` must be {what}, not {}", self.path, self.node.described()), help),
        }
        None
    }

    /// What to say of a value that is there and has no help of its own.
    fn or_else<'h>(&self, help: Option<&'h str>, otherwise: &'h str) -> Option<&'h str> {
        help.or((!self.is_empty()).then_some(otherwise))
    }

    /// A string with something beside blanks in it, trimmed.
    pub(super) fn text(&self) -> Option<String> {
        Some(self.name()?.trim().to_owned())
    }

    /// A text that names files and stands in messages: of one line, and short enough for a file's name.
    pub(super) fn title(&self) -> Option<String> {
        let title = self.text()?;
        match unfit_title(&title) {
            None => Some(title),
            Some((what, help)) => {
                self.problem(format!("`{}` {what}", self.path), Some(help));
                None
            }
        }
    }

    /// A string with something beside blanks in it, as it is written.
    pub(super) fn name(&self) -> Option<String> {
        let name = self.text_of(Kind::Text)?;
        if name.trim().is_empty() {
            self.problem(format!("`{}` is blank", self.path), Some("give it a value, or remove it"));
            return None;
        }
        Some(name)
    }

    pub(super) fn string(&self) -> Option<String> {
        self.text_of(Kind::String)
    }

    fn text_of(&self, kind: Kind) -> Option<String> {
        self.is(kind)?;
        match &self.node.value {
            Value::String(text) => Some(text.clone()),
            Value::Bool(_) | Value::Number(_) => self.expected("a string", Some("put it in quotes")),
            Value::Null => self.expected("a string", None),
            _ => self.expected("a string", Some("write one text")),
        }
    }

    pub(super) fn flag(&self) -> Option<bool> {
        self.is(Kind::Flag)?;
        let help = match &self.node.value {
            Value::Bool(value) => return Some(*value),
            Value::String(text) => flag_help(text),
            _ => None,
        };
        self.expected("`true` or `false`", self.or_else(help.as_deref(), "write true or false"))
    }

    /// A whole number from 0.
    pub(super) fn count(&self) -> Option<u64> {
        self.count_of(Kind::Count)
    }

    fn count_of(&self, kind: Kind) -> Option<u64> {
        self.is(kind)?;
        let help = match &self.node.value {
            Value::Number(number) => match number.as_u64() {
                Some(count) if number.is_integer() => return Some(count),
                _ => None,
            },
            Value::String(text) => {
                text.trim().parse::<u64>().ok().map(|number| format!("take the quotes off: {number}"))
            }
            _ => None,
        };
        let otherwise = "write a whole number, or remove the key";
        self.expected("a whole number, 0 or more", self.or_else(help.as_deref(), otherwise))
    }

    /// A whole number from 1.
    pub(super) fn positive(&self) -> Option<u64> {
        match self.count_of(Kind::Positive)? {
            0 => self.expected("1 or more", Some("remove the key if there is to be no limit")),
            count => Some(count),
        }
    }

    /// A number, as it is written.
    pub(super) fn number(&self) -> Option<Number> {
        self.is(Kind::Number)?;
        match &self.node.value {
            Value::Number(number) => Some(number.clone()),
            _ => self.expected("a number", self.or_else(None, "write a number without quotes")),
        }
    }

    /// A stretch of time, written as a number of seconds.
    pub(super) fn seconds(&self) -> Option<Duration> {
        self.is(Kind::Seconds)?;
        let help = self.or_else(None, "write for example 30 or 0.5");
        let Value::Number(number) = &self.node.value else { return self.expected("a number of seconds", help) };
        let seconds = number.as_f64().filter(|seconds| *seconds <= f64::from(MOST_SECONDS));
        match seconds.map(Duration::try_from_secs_f64) {
            Some(Ok(duration)) if !duration.is_zero() => Some(duration),
            _ => self.expected(&format!("a number of seconds greater than 0, and {MOST_SECONDS} at most"), help),
        }
    }

    /// This value, as a part of a rule that may be left out. A part of another kind than `what` is no rule: it is told of, and left
    /// out.
    pub(super) fn fitting(self, what: &str, fits: fn(&Value) -> bool) -> Option<Field<'a>> {
        let field = self.filled()?;
        if field.notes.is_drafting() || fits(&field.node.value) {
            return Some(field);
        }
        field.warn(format!("`{}` is {}, not {what}, and has no effect", field.path, field.node.described()), None);
        None
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(&self, choices: &[(&'static str, T)]) -> Option<T> {
        self.chosen(choices, |text, word| text == word)
    }

    /// One of a few words, in any case and with blanks around it: older specs may write them so.
    pub(super) fn loose_choice<T: Copy>(&self, choices: &[(&'static str, T)]) -> Option<T> {
        self.chosen(choices, |text, word| text.trim().eq_ignore_ascii_case(word))
    }

    fn chosen<T: Copy>(&self, choices: &[(&'static str, T)], is: impl Fn(&str, &str) -> bool) -> Option<T> {
        let words = choices.iter().map(|(word, _)| *word);
        self.is(Kind::one_of(words.clone()))?;
        let all = one_of(words.clone());
        let Value::String(text) = &self.node.value else {
            // `off` is a word of ours and a flag of older YAML: an editor may have turned one into the other.
            let off = self.node.value == Value::Bool(false) && words.clone().any(|word| word == "off");
            return self.expected(&all, self.or_else(off.then_some("write `off`"), ONE_WORD));
        };
        if let Some((_, value)) = choices.iter().find(|(word, _)| is(text, word)) {
            return Some(*value);
        }
        let help = nearest(text.trim(), words).map(|word| format!("did you mean `{word}`?"));
        self.expected(&all, Some(help.as_deref().unwrap_or(ONE_WORD)))
    }

    /// A text that is to be one of many words; whether it is, the caller sees.
    pub(super) fn word_of(&self, words: impl Iterator<Item = &'static str>) -> Option<String> {
        self.is(Kind::one_of(words))?;
        self.text()
    }

    /// The version of a form, as it is written: quoted or not, with a `v` before it or not. A draft is of the first that is known.
    pub(super) fn version(&self, known: &[&'static str]) -> Option<String> {
        if self.is(Kind::versions(known)).is_none() {
            return known.first().map(|version| (*version).to_owned());
        }
        match &self.node.value {
            Value::String(text) => Some(text.trim().to_owned()),
            Value::Number(number) => Some(number.to_string()),
            _ => {
                let all: Vec<String> = known.iter().rev().map(|version| format!("{version:?}")).collect();
                self.expected(
                    &all.join(" or "),
                    known.first().map(|v| format!("write `{}: {v:?}`", self.path)).as_deref(),
                )
            }
        }
    }

    /// The elements of a list; none if the key is there without a value.
    pub(super) fn list(&self) -> Option<Vec<Field<'a>>> {
        self.may_be_empty();
        if self.is(Kind::List).is_none() {
            return Some(vec![Field { path: self.path.index(0), ..self.clone() }]);
        }
        match &self.node.value {
            Value::List(items) => {
                let field =
                    |(index, node)| Field { node, key_place: None, path: self.path.index(index), notes: self.notes };
                Some(items.iter().enumerate().map(field).collect())
            }
            Value::Null => Some(Vec::new()),
            Value::String(text) => self.expected("a list", Some(&format!("write [{text}]"))),
            _ => self.expected("a list", Some("write [one, two]")),
        }
    }

    /// A list of strings, each as it is written. An element of another kind is noted and left out.
    pub(super) fn texts(&self) -> Option<Vec<String>> {
        Some(self.list()?.iter().filter_map(Field::string).collect())
    }

    pub(super) fn names(&self) -> Option<Vec<String>> {
        Some(self.list()?.iter().filter_map(Field::name).collect())
    }

    pub(super) fn pattern(&self) -> Option<Regex> {
        let text = self.string()?;
        match pattern::compile(&text) {
            Ok(pattern) => Some(pattern),
            Err((message, help)) => {
                self.problem(message, help.as_deref());
                None
            }
        }
    }

    pub(super) fn patterns(&self) -> Option<Vec<Regex>> {
        Some(self.list()?.iter().filter_map(Field::pattern).collect())
    }

    /// The entries of a mapping whose keys are the user's own; none if the key is there without a value.
    pub(super) fn entries(&self) -> Option<Vec<(String, Field<'a>)>> {
        self.may_be_empty();
        if self.is(Kind::Map).is_none() {
            // The key is of this place alone, so that what is read here does not count as read elsewhere.
            return Some(vec![(self.path.to_string(), Field { path: self.path.key("*"), ..self.clone() })]);
        }
        match &self.node.value {
            Value::Map(entries) => {
                Some(entries.iter().map(|entry| (entry.key.clone(), entry.field(&self.path, self.notes))).collect())
            }
            Value::Null => Some(Vec::new()),
            _ => self.expected("a mapping", Some(MAPPING)),
        }
    }

    /// Reads the spec as a whole.
    pub(super) fn whole<T: Default>(&self, read: impl FnOnce(&mut Keys<'a>) -> T) -> T {
        if self.is_empty() {
            self.problem("the spec is empty", Some("begin it with `schema_version: \"0.4\"`"));
            return T::default();
        }
        self.mapping(read)
    }

    /// Reads a mapping whose keys are ours. A key without a value reads like an absent block.
    pub(super) fn block<T: Default>(&self, read: impl FnOnce(&mut Keys<'a>) -> T) -> T {
        match self.clone().filled() {
            Some(field) => field.mapping(read),
            None => T::default(),
        }
    }

    /// Reads a mapping whose keys are ours, then notes the keys that `read` did not ask for. What is no mapping reads, after a note,
    /// like an absent one.
    pub(super) fn mapping<T: Default>(&self, read: impl FnOnce(&mut Keys<'a>) -> T) -> T {
        let entries = match &self.node.value {
            _ if self.is(Kind::Block).is_none() => &[],
            Value::Map(entries) => entries.as_slice(),
            _ => {
                return self.expected("a mapping", self.or_else(None, MAPPING)).unwrap_or_default();
            }
        };
        let mut keys = Keys::new(entries, self.node.mark(self.key_place), self.path.clone(), self.notes);
        let value = read(&mut keys);
        keys.finish();
        value
    }
}

impl Entry {
    pub(super) fn field<'a>(&'a self, holder: &SpecPath, notes: &'a Notes<'a>) -> Field<'a> {
        Field { node: &self.node, key_place: self.key_place, path: holder.key(&self.key), notes }
    }
}

/// Why a text cannot name files and stand in messages, and what to do about it.
pub(super) fn unfit_title(title: &str) -> Option<(String, &'static str)> {
    /// Bytes. File systems take 255, and `.counterexample.prefix.jsonl` and the like come on top.
    const LONGEST: usize = 200;
    if title.contains(char::is_control) {
        return Some(("holds a control character".to_owned(), "write it in one line of plain text"));
    }
    let long = title.len() > LONGEST;
    long.then(|| (format!("has {} bytes, and files are named by it", title.len()), "give it at most 200"))
}

fn flag_help(text: &str) -> Option<String> {
    let flag = match text.trim().to_ascii_lowercase().as_str() {
        "yes" | "on" | "y" | "true" => "true",
        "no" | "off" | "n" | "false" => "false",
        _ => return None,
    };
    Some(format!("write {flag}, without quotes"))
}

/// "`a`, `b` or `c`"
fn one_of<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let mut words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    match words.pop() {
        Some(last) if !words.is_empty() => format!("{} or {last}", words.join(", ")),
        last => last.unwrap_or_default(),
    }
}
