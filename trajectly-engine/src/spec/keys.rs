//! The keys of a mapping, each to be asked for by its reader.

use super::draft::Kind;
use super::node::{Entry, Place};
use super::notes::Notes;
use super::path::SpecPath;
use super::read::Field;
use super::schema;
use crate::suggest::nearest;

/// A block with more keys than this does not list them all to whoever mistypes one.
const MOST_KEYS: usize = 12;

/// The keys of a mapping, taken one by one; what is left when the reader is done is unknown.
pub(super) struct Keys<'a> {
    entries: &'a [Entry],
    known: Vec<&'static str>,
    /// What to point at when the mapping as a whole is at fault.
    place: Option<Place>,
    path: SpecPath,
    notes: &'a Notes<'a>,
}

impl<'a> Keys<'a> {
    pub(super) fn new(entries: &'a [Entry], place: Option<Place>, path: SpecPath, notes: &'a Notes<'a>) -> Keys<'a> {
        Keys { entries, known: Vec::new(), place, path, notes }
    }

    /// The value of a key, if the mapping has it.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Field<'a>> {
        self.known.push(key);
        if self.notes.is_drafting() {
            return Some(Field::drafted(self.path.key(key), self.notes));
        }
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        Some(entry.field(&self.path, self.notes))
    }

    /// The value of a key that the mapping must have.
    pub(super) fn required(&mut self, key: &'static str, help: &str) -> Option<Field<'a>> {
        self.notes.draft(&self.path, |part| part.required.push(key));
        let field = self.take(key);
        if field.is_none() {
            self.problem(&format!("`{key}` is missing"), Some(help));
        }
        field
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
        self.known.push(key);
        let entry = self.entries.iter().find(|entry| entry.key == key);
        let field = entry.map(|entry| entry.field(&self.path, self.notes));
        if let Some(field) = field.filter(|field| !field.is_empty()) {
            field.key_problem(format!("`{}` is not supported by this version", field.path), Some("remove it for now"));
        }
    }

    /// Refuses a key that names a file to build on, and that should have been followed and taken out before: in a spec that is no file,
    /// and in a contracts file, it cannot be.
    pub(super) fn only_in_files(&mut self, key: &'static str) {
        if let Some(field) = self.take(key).and_then(Field::filled)
            && field.is(Kind::Text).is_some()
        {
            let help = Some("write what the file holds here instead");
            field.key_problem(format!("`{}` can only stand in a spec file", field.path), help);
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

    /// Notes the keys that nobody asked for.
    pub(super) fn finish(self) {
        let unknown = self.entries.iter().filter(|entry| !self.known.contains(&entry.key.as_str()));
        for entry in unknown.filter(|entry| !entry.key.starts_with("x-")) {
            let field = entry.field(&self.path, self.notes);
            let near = if self.notes.is_full() { None } else { nearest(&entry.key, self.known.iter().copied()) };
            let help = match near {
                Some(known) => format!("did you mean `{known}`?"),
                None => match schema::elsewhere(&entry.key) {
                    Some(path) => format!("did you mean `{path}`?"),
                    None if self.known.len() > MOST_KEYS => "keys of your own begin with `x-`".to_owned(),
                    None => format!("the keys here are {}; those of your own begin with `x-`", listed(&self.known)),
                },
            };
            field.key_problem(format!("unknown key `{}`", field.path), Some(&help));
        }
    }
}

fn listed(words: &[&str]) -> String {
    let mut words = words.to_vec();
    words.sort_unstable();
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
