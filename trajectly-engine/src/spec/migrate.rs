//! Older specs, brought up to date in their own words: the text is edited where it has to change and stays as it is elsewhere.

use std::ops::Range;

use super::draft::{Draft, Kind, below};
use super::error::SpecError;
use super::locate::Fault;
use super::model::Spec;
use super::node::{Entry, Extent, Node, Place, Sources, Value};
use super::notes::Notes;
use super::path::SpecPath;
use super::schema;
use super::yaml;
use crate::suggest::nearest;

/// The version of the form that specs are brought to.
const CURRENT: &str = "0.4";

/// A spec that is up to date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// The whole text; what was given if nothing had to change.
    pub text: String,
    /// What has changed, and what means something else now, in the order of the file.
    pub notes: Vec<Note>,
}

/// A thing that whoever migrates a spec should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The line of the old text, from 1.
    pub line: usize,
    /// What it is, as a fragment of a sentence.
    pub message: String,
}

/// Brings a spec of any version up to date: comments, order and layout stay.
///
/// - The version becomes 0.4. Where it was left out, it comes first.
/// - Before 0.3, fixtures were found by index unless the spec said otherwise; it says so now.
/// - A key that had no effect, and that is not one of today's mistyped, becomes one of the user's own: `x-KEY`.
/// - Numbers where a string has to be are put in quotes, `yes` and `no` become `true` and `false`, quoted limits lose their quotes.
///
/// `file` is as for [`Spec::parse`].
///
/// # Errors
///
/// If the text is no YAML, or a person has to decide something: all of it at once, at the lines of the old text.
pub fn migrate(text: &str, file: &str) -> Result<Migrated, SpecError> {
    let mut sources = Sources::default();
    let source = sources.add(file, file.as_ref(), text);
    let refused = |faults: Vec<Fault>| {
        let notes = Notes::new(&sources);
        notes.faults(faults);
        SpecError::new(file, notes.into_findings(file))
    };
    let tree = yaml::read(text, source).map_err(refused)?;
    let mut migration = Migration { text, edits: Vec::new(), notes: Vec::new(), beyond: Vec::new(), added: (0, 0) };
    if let Value::Map(entries) = &tree.value {
        migration.version(entries);
        migration.block(&schema::draft(), "", &SpecPath::root(), entries);
    }
    if !migration.beyond.is_empty() {
        return Err(refused(migration.beyond));
    }
    let added = migration.added;
    let migrated = migration.finish();
    match Spec::parse(&migrated.text, file) {
        Ok(_) => Ok(migrated),
        Err(error) => Err(at_old_lines(error, file, text, added)),
    }
}

/// What is refused of the new text, at the lines of the old one. `count` lines were added after line `after`.
fn at_old_lines(mut error: SpecError, file: &str, old: &str, (after, count): (usize, usize)) -> SpecError {
    for problem in &mut error.problems {
        let Some(location) = problem.location.as_mut().filter(|location| location.file == file) else { continue };
        if location.line > after + count {
            location.line -= count;
        }
        let line = old.lines().nth(location.line - 1).unwrap_or_default().trim_start_matches('\u{feff}');
        if location.text.trim_start_matches('\u{feff}') != line {
            // It is about a text that nobody has written.
            (location.column, location.width) = (1, line.chars().count().max(1));
            location.text = line.to_owned();
            problem.message = format!("this line cannot be brought up to date by itself: {}", problem.message);
        }
    }
    error
}

/// A stretch of the text, and what it becomes.
struct Edit {
    range: Range<usize>,
    text: String,
}

struct Migration<'t> {
    text: &'t str,
    edits: Vec<Edit>,
    notes: Vec<Note>,
    /// What only a person can change.
    beyond: Vec<Fault>,
    /// After which line lines were added, and how many.
    added: (usize, usize),
}

impl Migration<'_> {
    /// Sees to the version, and to what older ones took for granted.
    fn version(&mut self, entries: &[Entry]) {
        let entry = |key| entries.iter().find(|entry: &&Entry| entry.key == key);
        let version = entry("schema_version");
        let written = version.map(|entry| match &entry.node.value {
            Value::String(text) => text.trim().trim_start_matches('v').to_owned(),
            value => Node { value: value.clone(), place: None }.to_json().to_compact(),
        });
        let is_old = match written.as_deref() {
            // It is that of the spec that this one builds on.
            None if entry("extends").is_some() => return,
            None | Some("0.1" | "0.2" | "1") => true,
            Some("0.3") => false,
            Some(_) => return,
        };
        let mut said = Vec::new();
        match version.and_then(|entry| entry.node.place) {
            Some(place) => self.replace(place, format!("{CURRENT:?}"), format!("`schema_version` is {CURRENT:?} now")),
            None => said.push(format!("schema_version: {CURRENT:?}")),
        }
        if is_old {
            let in_replay = entry("replay").and_then(|replay| replay.node.entry("fixture_policy"));
            if entry("fixture_policy").or(in_replay).is_none() {
                said.push("fixture_policy: by_index".to_owned());
            }
            for key in ["artifacts", "determinism", "mode_profile", "refinement", "replay"] {
                if let Some(place) = entry(key).and_then(|entry| entry.key_place) {
                    self.note(place, format!("`{key}` meant nothing before version 0.3, and is in force now"));
                }
            }
        }
        if let Some(place) = version.or(entries.first()).and_then(|entry| entry.key_place) {
            self.insert(place, version.is_some(), &said);
        }
    }

    /// Sees to the keys of a block and to their values. `drafted` is its path in the draft, `path` the one in the spec.
    fn block(&mut self, draft: &Draft, drafted: &str, path: &SpecPath, entries: &[Entry]) {
        let known: Vec<&str> = draft.keys(drafted).collect();
        for Entry { key, key_place, node } in entries {
            if known.contains(&key.as_str()) {
                self.value(draft, &below(drafted, key), &path.key(key), node);
            } else if !key.starts_with("x-")
                && nearest(key, known.iter().copied()).is_none()
                && let Some(place) = key_place
            {
                let own = SpecPath::root().key(&format!("x-{key}"));
                let message = format!("`{}` had no effect; it is `{own}` now", path.key(key));
                self.prefix(*place, key, message);
            }
        }
    }

    fn value(&mut self, draft: &Draft, drafted: &str, path: &SpecPath, node: &Node) {
        let inner = below(drafted, "*");
        match (draft.kind(drafted), &node.value) {
            (Some(Kind::Block), Value::Map(entries)) => self.block(draft, drafted, path, entries),
            (Some(Kind::Map), Value::Map(entries)) => {
                entries.iter().for_each(|entry| self.value(draft, &inner, &path.key(&entry.key), &entry.node));
            }
            (Some(Kind::List), Value::List(items)) => {
                items.iter().enumerate().for_each(|(index, item)| self.value(draft, &inner, &path.index(index), item));
            }
            (Some(kind), _) => {
                if let Some(place) = node.place
                    && let Some(range) = self.range(place)
                    && let Some(text) = mended(kind, &node.value, &self.text[range])
                {
                    let message = format!("`{path}` is {text} now");
                    self.replace(place, text, message);
                }
            }
            (None, _) => {}
        }
    }

    fn note(&mut self, place: Place, message: String) {
        self.notes.push(Note { line: place.line, message });
    }

    /// Puts `x-` before a key, within its quotes if it has them. One that is written in another way is left to a person.
    fn prefix(&mut self, place: Place, key: &str, message: String) {
        let Some(Range { start, end }) = self.range(place) else { return };
        let raw = &self.text[start..end];
        let at = match raw.starts_with(['"', '\'']) {
            true => start + 1,
            false if raw == key => start,
            false => return,
        };
        self.edits.push(Edit { range: at..at, text: "x-".to_owned() });
        self.note(place, message);
    }

    fn replace(&mut self, place: Place, text: String, message: String) {
        if let Some(range) = self.range(place)
            && !self.edits.iter().any(|edit| edit.range == range)
        {
            if self.text[range.clone()].starts_with('&') {
                // Something may refer to it.
                let message = "a value with an anchor cannot be brought up to date by itself".to_owned();
                return self.beyond.push(Fault { place, message, help: Some("write the value without its anchor") });
            }
            self.edits.push(Edit { range, text });
            self.note(place, message);
        }
    }

    /// Adds entries to the mapping at the top: before the key at `place`, or after its line.
    fn insert(&mut self, place: Place, after: bool, entries: &[String]) {
        let Some(Range { start: at, .. }) = self.range(place) else { return };
        let start = self.text[..at].rfind('\n').map_or(0, |before| before + 1);
        let indent = self.text[start..at].trim_start_matches('\u{feff}');
        for entry in entries {
            self.note(place, format!("`{entry}` is added"));
        }
        if !indent.trim().is_empty() {
            // All of it stands in braces.
            let text = entries.iter().map(|entry| format!("{entry}, ")).collect();
            return self.edits.push(Edit { range: at..at, text });
        }
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut text: String = entries.iter().map(|entry| format!("{indent}{entry}{newline}")).collect();
        let at = match self.text[at..].find('\n') {
            _ if !after => at - indent.len(),
            Some(length) => at + length + 1,
            None => {
                text.insert_str(0, newline);
                self.text.len()
            }
        };
        self.added = (if after { place.line } else { place.line - 1 }, entries.len());
        self.edits.push(Edit { range: at..at, text });
    }

    /// The bytes of a place that begins and ends on one line.
    fn range(&self, place: Place) -> Option<Range<usize>> {
        let mut lines = self.text.split_inclusive('\n').scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some((start, line.trim_end_matches(['\n', '\r'])))
        });
        let (mut start, mut line) = lines.nth(place.line.checked_sub(1)?)?;
        if let Some(rest) = line.strip_prefix('\u{feff}').filter(|_| place.line == 1) {
            start += line.len() - rest.len();
            line = rest;
        }
        let from = line.char_indices().map(|(at, _)| at).nth(place.column.checked_sub(1)?)?;
        let rest = &line[from..];
        let columns = match place.extent {
            Extent::Line => return None,
            extent => extent.width(rest),
        };
        let length = rest.char_indices().nth(columns).map_or(rest.len(), |(at, _)| at);
        Some(start + from..start + from + length)
    }

    fn finish(mut self) -> Migrated {
        self.edits.sort_by_key(|edit| edit.range.start);
        self.notes.sort_by_key(|note| note.line);
        let mut text = self.text.to_owned();
        for edit in self.edits.into_iter().rev() {
            text.replace_range(edit.range, &edit.text);
        }
        Migrated { text, notes: self.notes }
    }
}

/// What a value that is written as `raw` has to be written as to be of a kind. `None` where nothing has to change, and where only
/// a person can tell.
fn mended(kind: &Kind, value: &Value, raw: &str) -> Option<String> {
    match (kind, value) {
        (Kind::Flag, Value::String(text)) if text == raw => match raw.to_ascii_lowercase().as_str() {
            "yes" | "on" => Some("true".to_owned()),
            "no" | "off" => Some("false".to_owned()),
            _ => None,
        },
        (Kind::Flag, Value::Number(_)) if ["0", "1"].contains(&raw) => Some((raw == "1").to_string()),
        (Kind::Text | Kind::String, Value::Number(_)) if is_plain_decimal(raw) => Some(format!("{raw:?}")),
        (Kind::Text | Kind::String, Value::Bool(flag)) => Some(if *flag { "\"True\"" } else { "\"False\"" }.to_owned()),
        (Kind::Count | Kind::Positive, Value::String(text))
            if text.parse::<u64>().is_ok() && is_plain_decimal(text) =>
        {
            Some(text.clone())
        }
        _ => None,
    }
}

/// Whether a number is written as it would be written out again, so that quotes around it change nothing but its type.
fn is_plain_decimal(raw: &str) -> bool {
    let (whole, fraction) = raw.split_once('.').unwrap_or((raw, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    digits(whole)
        && digits(fraction)
        && (whole == "0" || !whole.starts_with('0'))
        && (fraction == "0" || !fraction.ends_with('0'))
}
