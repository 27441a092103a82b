//! Typed reading of a spec's values. Every refusal is noted with its place, and reading goes on.

use std::cell::{Cell, RefCell};
use std::path::Path;

use regex::Regex;

use super::error::{self, Problem};
use super::locate::Fault;
use super::node::{Entry, Node, Place, Sources, Value};
use super::path::SpecPath;
use super::pattern;
use super::suggest::nearest;
use crate::json::{Json, Number};

/// A block with more keys than this does not list them all to whoever mistypes one.
const MOST_KEYS: usize = 12;

/// What all readers of one spec share: where its texts are, and what was found so far.
pub(super) struct Notes<'s> {
    sources: &'s Sources,
    problems: RefCell<Vec<Problem>>,
    omitted: Cell<usize>,
    warnings: RefCell<Vec<Problem>>,
}

/// What reading came to, beside the values.
pub(super) struct Findings {
    /// What makes the spec unusable.
    pub(super) problems: Vec<Problem>,
    /// How many further problems there are.
    pub(super) omitted: usize,
    /// What is only worth telling.
    pub(super) warnings: Vec<Problem>,
}

/// Nobody reads on after so many. A problem holds the line it stands on, which may be the whole text.
const MOST_PROBLEMS: usize = 100;

impl<'s> Notes<'s> {
    pub(super) fn new(sources: &'s Sources) -> Notes<'s> {
        Notes { sources, problems: RefCell::default(), omitted: Cell::default(), warnings: RefCell::default() }
    }

    fn found(&self, place: Option<Place>, path: &SpecPath, message: String, help: Option<&str>) -> Problem {
        let location = place.and_then(|place| self.sources.location(place));
        Problem { location, path: path.to_string(), message, help: help.map(str::to_owned) }
    }

    fn note(&self, place: Option<Place>, path: &SpecPath, message: String, help: Option<&str>) {
        if self.is_full() {
            self.omitted.set(self.omitted.get() + 1);
        } else {
            self.problems.borrow_mut().push(self.found(place, path, message, help));
        }
    }

    fn warn(&self, place: Option<Place>, path: &SpecPath, message: String, help: Option<&str>) {
        if self.warnings.borrow().len() < MOST_PROBLEMS {
            self.warnings.borrow_mut().push(self.found(place, path, message, help));
        }
    }

    fn is_full(&self) -> bool {
        self.problems.borrow().len() >= MOST_PROBLEMS
    }

    pub(super) fn faults(&self, faults: Vec<Fault>) {
        for fault in faults {
            self.note(Some(fault.place), &SpecPath::root(), fault.message, fault.help);
        }
    }

    /// All that was found, in the order of the places; `file` is the spec's own.
    pub(super) fn into_findings(self, file: &str) -> Findings {
        let (mut problems, mut warnings) = (self.problems.into_inner(), self.warnings.into_inner());
        error::sort(file, &mut problems);
        error::sort(file, &mut warnings);
        Findings { problems, omitted: self.omitted.get(), warnings }
    }
}

/// A value that is there, and the way to it.
#[derive(Clone)]
pub(super) struct Field<'a> {
    node: &'a Node,
    key_place: Option<Place>,
    path: SpecPath,
    notes: &'a Notes<'a>,
}

/// The keys of a mapping, taken one by one; what is left when the reader is done is unknown.
pub(super) struct Keys<'a> {
    entries: &'a [Entry],
    known: Vec<&'static str>,
    /// What to point at when the mapping as a whole is at fault.
    place: Option<Place>,
    path: SpecPath,
    notes: &'a Notes<'a>,
}

impl<'a> Field<'a> {
    pub(super) fn root(node: &'a Node, notes: &'a Notes<'a>) -> Field<'a> {
        Field { node, key_place: None, path: SpecPath::root(), notes }
    }

    /// The folder that a path written here is relative to; none for a spec that was not read from text.
    pub(super) fn folder(&self) -> Option<&'a Path> {
        Some(self.notes.sources.folder(self.node.place?.source))
    }

    pub(super) fn json(&self) -> Json {
        self.node.to_json()
    }

    pub(super) fn is_empty_list(&self) -> bool {
        matches!(&self.node.value, Value::List(items) if items.is_empty())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.node.value == Value::Null
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
            [] => self.problem(format!("a spec must be {what}, not {}", self.node.described()), help),
            _ if self.is_empty() => {
                let help = help.unwrap_or("give it a value, or remove the key");
                self.problem(format!("`{}` has no value; it must be {what}", self.path), Some(help));
            }
            _ => self.problem(format!("`{}` must be {what}, not {}", self.path, self.node.described()), help),
        }
        None
    }

    /// A string with something beside blanks in it, trimmed.
    pub(super) fn text(&self) -> Option<String> {
        Some(self.name()?.trim().to_owned())
    }

    /// A text that names files and stands in messages: of one line, and short enough for a file's name.
    pub(super) fn title(&self) -> Option<String> {
        /// Bytes. File systems take 255, and `.counterexample.prefix.jsonl` and the like come on top.
        const LONGEST: usize = 200;
        let title = self.text()?;
        if title.contains(char::is_control) {
            self.problem(
                format!("`{}` holds a control character", self.path),
                Some("write it in one line of plain text"),
            );
            return None;
        }
        if title.len() > LONGEST {
            let message = format!("`{}` has {} bytes, and files are named by it", self.path, title.len());
            self.problem(message, Some("give it at most 200"));
            return None;
        }
        Some(title)
    }

    /// A string with something beside blanks in it, as it is written.
    pub(super) fn name(&self) -> Option<String> {
        let name = self.string()?;
        if name.trim().is_empty() {
            self.problem(format!("`{}` is blank", self.path), Some("give it a value, or remove it"));
            return None;
        }
        Some(name)
    }

    pub(super) fn string(&self) -> Option<String> {
        match &self.node.value {
            Value::String(text) => Some(text.clone()),
            Value::Bool(_) | Value::Number(_) => self.expected("a string", Some("put it in quotes")),
            _ => self.expected("a string", None),
        }
    }

    pub(super) fn flag(&self) -> Option<bool> {
        let help = match &self.node.value {
            Value::Bool(value) => return Some(*value),
            Value::String(text) => flag_help(text),
            _ => None,
        };
        self.expected("`true` or `false`", help.as_deref())
    }

    /// A whole number from 0.
    pub(super) fn count(&self) -> Option<u64> {
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
        self.expected("a whole number, 0 or more", help.as_deref())
    }

    /// A whole number from 1.
    pub(super) fn positive(&self) -> Option<u64> {
        match self.count()? {
            0 => self.expected("1 or more", None),
            count => Some(count),
        }
    }

    /// A number, as it is written.
    pub(super) fn number(&self) -> Option<Number> {
        match &self.node.value {
            Value::Number(number) => Some(number.clone()),
            _ => self.expected("a number", None),
        }
    }

    /// This value, as a part of a rule that may be left out. A part of another kind than `what` is no rule: it is told of, and left
    /// out.
    pub(super) fn fitting(self, what: &str, fits: fn(&Value) -> bool) -> Option<Field<'a>> {
        if fits(&self.node.value) {
            return Some(self);
        }
        if !self.is_empty() {
            self.warn(format!("`{}` is {}, not {what}, and has no effect", self.path, self.node.described()), None);
        }
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
        let all = one_of(words.clone());
        let Value::String(text) = &self.node.value else {
            // `off` is a word of ours and a flag of older YAML: an editor may have turned one into the other.
            let off = self.node.value == Value::Bool(false) && words.clone().any(|word| word == "off");
            return self.expected(&all, off.then_some("write `off`"));
        };
        if let Some((_, value)) = choices.iter().find(|(word, _)| is(text, word)) {
            return Some(*value);
        }
        let help = nearest(text.trim(), words).map(|word| format!("did you mean `{word}`?"));
        self.expected(&all, help.as_deref())
    }

    /// The elements of a list; none if the key is there without a value.
    pub(super) fn list(&self) -> Option<Vec<Field<'a>>> {
        match &self.node.value {
            Value::List(items) => {
                let field =
                    |(index, node)| Field { node, key_place: None, path: self.path.index(index), notes: self.notes };
                Some(items.iter().enumerate().map(field).collect())
            }
            Value::Null => Some(Vec::new()),
            Value::String(text) => self.expected("a list", Some(&format!("write [{text}]"))),
            _ => self.expected("a list", None),
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
        match &self.node.value {
            Value::Map(entries) => {
                Some(entries.iter().map(|entry| (entry.key.clone(), entry.field(&self.path, self.notes))).collect())
            }
            Value::Null => Some(Vec::new()),
            _ => self.expected("a mapping", None),
        }
    }

    /// Reads the spec as a whole, which must be a mapping.
    pub(super) fn whole<T: Default>(&self, read: impl FnOnce(&mut Keys<'a>) -> T) -> T {
        if self.is_empty() {
            self.problem("the spec is empty", Some("begin it with `schema_version: \"0.4\"`"));
        }
        self.block(read)
    }

    /// Reads a mapping whose keys are ours, then notes the keys that `read` did not ask for. A key without a value reads like an
    /// absent block; so does, after a note, a value that is no mapping.
    pub(super) fn block<T: Default>(&self, read: impl FnOnce(&mut Keys<'a>) -> T) -> T {
        let entries = match &self.node.value {
            Value::Map(entries) => entries.as_slice(),
            Value::Null => return T::default(),
            _ => return self.expected("a mapping", None).unwrap_or_default(),
        };
        let mut keys = Keys {
            entries,
            known: Vec::new(),
            place: self.node.mark(self.key_place),
            path: self.path.clone(),
            notes: self.notes,
        };
        let value = read(&mut keys);
        keys.finish();
        value
    }
}

impl Entry {
    fn field<'a>(&'a self, holder: &SpecPath, notes: &'a Notes<'a>) -> Field<'a> {
        Field { node: &self.node, key_place: self.key_place, path: holder.key(&self.key), notes }
    }
}

impl<'a> Keys<'a> {
    /// The value of a key, if the mapping has it.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Field<'a>> {
        self.known.push(key);
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        Some(entry.field(&self.path, self.notes))
    }

    /// The value of a key, read as a block; an absent key reads like an empty block.
    pub(super) fn block<T: Default>(&mut self, key: &'static str, read: impl FnOnce(&mut Keys<'a>) -> T) -> T {
        self.take(key).map_or_else(T::default, |field| field.block(read))
    }

    /// The flag under a key; false if it is absent.
    pub(super) fn flag(&mut self, key: &'static str) -> bool {
        self.take(key).and_then(|field| field.flag()).unwrap_or_default()
    }

    /// The whole number under a key.
    pub(super) fn count(&mut self, key: &'static str) -> Option<u64> {
        self.take(key)?.count()
    }

    /// The names listed under a key; none if it is absent.
    pub(super) fn names(&mut self, key: &'static str) -> Vec<String> {
        self.take(key).and_then(|field| field.names()).unwrap_or_default()
    }

    /// Refuses a key whose feature is not there yet, so that nothing in a spec is without effect in silence.
    pub(super) fn not_yet(&mut self, key: &'static str) {
        if let Some(field) = self.take(key).filter(|field| !field.is_empty()) {
            field.key_problem(format!("`{}` is not supported by this version", field.path), Some("remove it for now"));
        }
    }

    /// Refuses a key that names a file to build on, and that should have been followed and taken out before: in a spec that is no file,
    /// and in a contracts file, it cannot be.
    pub(super) fn only_in_files(&mut self, key: &'static str) {
        if let Some(field) = self.take(key).filter(|field| !field.is_empty()) {
            field.key_problem(format!("`{}` can only stand in a spec file", field.path), None);
        }
    }

    /// Tells of a text that is taken for the sake of older specs and changes nothing.
    pub(super) fn no_effect(&mut self, key: &'static str) {
        if let Some(field) = self.take(key).filter(|field| !field.is_empty())
            && field.text().is_some()
        {
            field.warn(format!("`{}` has no effect", field.path), Some("remove it"));
        }
    }

    /// Tells of keys that are read, and whose effect is still to come.
    pub(super) fn no_effect_yet(&self, keys: &[&str]) {
        for entry in self.entries.iter().filter(|entry| keys.contains(&entry.key.as_str())) {
            let field = entry.field(&self.path, self.notes);
            field.warn(format!("`{}` has no effect yet", field.path), None);
        }
    }

    /// Notes that something is wrong with the mapping as a whole, such as a key that is missing.
    pub(super) fn problem(&self, message: &str, help: Option<&str>) {
        self.notes.note(self.place, &self.path, message.to_owned(), help);
    }

    /// Lets the keys that were not asked for pass.
    pub(super) fn leave_unread(&mut self) {
        self.entries = &[];
    }

    fn finish(self) {
        let unknown = self.entries.iter().filter(|entry| !self.known.contains(&entry.key.as_str()));
        for entry in unknown.filter(|entry| !entry.key.starts_with("x-")) {
            let field = entry.field(&self.path, self.notes);
            let near = if self.notes.is_full() { None } else { nearest(&entry.key, self.known.iter().copied()) };
            let help = match near {
                Some(known) => format!("did you mean `{known}`?"),
                None if self.known.len() > MOST_KEYS => "keys of your own begin with `x-`".to_owned(),
                None => format!("the keys here are {}; those of your own begin with `x-`", listed(&self.known)),
            };
            field.key_problem(format!("unknown key `{}`", field.path), Some(&help));
        }
    }
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

fn listed(words: &[&str]) -> String {
    let mut words = words.to_vec();
    words.sort_unstable();
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
