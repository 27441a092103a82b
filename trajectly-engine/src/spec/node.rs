//! A spec as it was written: values that know their place.

use std::path::{Path, PathBuf};

use super::error::Location;
use super::path::{SpecPath, Step};
use crate::json::{Json, Number};

/// One value of a spec.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Node {
    pub(super) value: Value,
    /// Where the value is written; absent in a spec that was not read from a text.
    pub(super) place: Option<Place>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Value {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// One key of a mapping and what it holds. Keys are unique within a mapping and keep the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_place: Option<Place>,
    pub(super) node: Node,
}

/// A stretch of one line of one source; by default, the beginning of the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Index into [`Sources`].
    pub(super) source: usize,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) extent: Extent,
}

impl Default for Place {
    fn default() -> Place {
        Place { source: 0, line: 1, column: 1, extent: Extent::Columns(1) }
    }
}

/// How far a place reaches; measured in the text only when the place is shown, since lines may be long and places many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Columns(usize),
    /// Up to the next blank or flow indicator.
    Word,
    /// Up to the closing quote, or to the end of the line if that is on a later one.
    Quoted(char),
    /// Up to the end of the line.
    Line,
}

impl Extent {
    /// The number of characters, from the beginning of `rest`.
    pub(super) fn width(self, rest: &str) -> usize {
        let width = match self {
            Extent::Columns(columns) => columns,
            Extent::Word => rest.chars().take_while(|c| !c.is_whitespace() && !",]}".contains(*c)).count(),
            Extent::Quoted(quote) => quoted(rest, quote),
            Extent::Line => rest.trim_end().chars().count(),
        };
        width.max(1)
    }
}

/// The width of the quoted scalar at the beginning of `rest`.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    let mut characters = rest.chars().enumerate().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        if escaped {
            escaped = false;
        } else if character == '\\' && quote == '"' {
            escaped = true;
        } else if character == quote {
            if quote == '\'' && characters.peek().is_some_and(|(_, next)| *next == '\'') {
                escaped = true;
            } else {
                return at + 1;
            }
        }
    }
    rest.trim_end().chars().count()
}

/// The texts that a spec was read from: its own file first, then those it extends.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sources(Vec<Source>);

#[derive(Debug, Clone, PartialEq)]
struct Source {
    file: String,
    folder: PathBuf,
    lines: Vec<String>,
}

impl Sources {
    /// Adds a text under its display name; paths in it are relative to `folder`. The index is what its places carry.
    pub(super) fn add(&mut self, file: &str, folder: &Path, text: &str) -> usize {
        let lines = text.lines().map(str::to_owned).collect();
        self.0.push(Source { file: file.to_owned(), folder: folder.to_owned(), lines });
        self.0.len() - 1
    }

    /// The display name of a source.
    pub(super) fn file(&self, source: usize) -> &str {
        self.0.get(source).map_or("", |source| source.file.as_str())
    }

    /// The folder that paths in a source are relative to.
    pub(super) fn folder(&self, source: usize) -> &Path {
        self.0.get(source).map_or(Path::new(""), |source| source.folder.as_path())
    }

    pub(super) fn location(&self, place: Place) -> Option<Location> {
        let source = self.0.get(place.source)?;
        let text = place.line.checked_sub(1).and_then(|line| source.lines.get(line)).cloned().unwrap_or_default();
        let start = text.char_indices().nth(place.column.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
        let width = place.extent.width(&text[start..]);
        Some(Location { file: source.file.clone(), line: place.line, column: place.column, width, text })
    }
}

impl Node {
    /// What the value is, for an error: "the number 5", "a list".
    pub(super) fn described(&self) -> String {
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Bool(value) => format!("`{value}`"),
            Value::Number(number) => format!("the number {number}"),
            Value::String(text) if text.chars().count() <= 40 => format!("the string {text:?}"),
            Value::String(_) => "a string".to_owned(),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a mapping".to_owned(),
        }
    }

    pub(super) fn entry_mut(&mut self, key: &str) -> Option<&mut Entry> {
        match &mut self.value {
            Value::Map(entries) => entries.iter_mut().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// Takes a key and its value out of a mapping.
    pub(super) fn remove(&mut self, key: &str) -> Option<Entry> {
        let Value::Map(entries) = &mut self.value else { return None };
        let at = entries.iter().position(|entry| entry.key == key)?;
        Some(entries.remove(at))
    }

    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// Where the value at `path` is: the value itself, or for a mapping, a list or nothing at all the key that holds it.
    pub(super) fn find(&self, path: &SpecPath) -> Option<Place> {
        let mut node = self;
        let mut key_place = None;
        for step in path.steps() {
            match step {
                Step::Key(key) => {
                    let entry = node.entry(key)?;
                    key_place = entry.key_place;
                    node = &entry.node;
                }
                Step::Index(index) => {
                    let Value::List(items) = &node.value else { return None };
                    key_place = None;
                    node = items.get(*index)?;
                }
            }
        }
        node.mark(key_place)
    }

    /// The best place to point at for this value, held by the key at `key_place`.
    pub(super) fn mark(&self, key_place: Option<Place>) -> Option<Place> {
        match &self.value {
            Value::List(_) | Value::Map(_) | Value::Null => key_place.or(self.place),
            _ => self.place.or(key_place),
        }
    }

    pub(super) fn to_json(&self) -> Json {
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(number) => Json::Number(number.clone()),
            Value::String(text) => Json::String(text.clone()),
            Value::List(items) => Json::Array(items.iter().map(Node::to_json).collect()),
            Value::Map(entries) => {
                Json::Object(entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect())
            }
        }
    }
}

impl From<&Json> for Node {
    fn from(json: &Json) -> Node {
        let value = match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => Value::Number(number.clone()),
            Json::String(text) => Value::String(text.clone()),
            Json::Array(items) => Value::List(items.iter().map(Node::from).collect()),
            Json::Object(fields) => Value::Map(
                fields
                    .iter()
                    .map(|(key, value)| Entry { key: key.to_owned(), key_place: None, node: Node::from(value) })
                    .collect(),
            ),
        };
        Node { value, place: None }
    }
}
