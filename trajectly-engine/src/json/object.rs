//! Objects: members in one vector, sorted by key.

use std::fmt;
use std::sync::Arc;

use super::Json;

/// The members of a JSON object, sorted by key in code point order, each key once.
///
/// A sorted vector rather than a tree: objects of traces are small, mostly read, and always written in this order. Keys are
/// shared, as a trace has few of them and each many times.
///
/// ```
/// use trajectly_engine::json::Object;
///
/// let input = Object::new().with("kwargs", Object::new().with("id", "T-1042")).with("args", Vec::<i64>::new());
/// assert_eq!(input.to_string(), r#"{"args":[],"kwargs":{"id":"T-1042"}}"#);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Object {
    members: Vec<Member>,
}

const SMALL: usize = 12;

/// A key and its value.
pub(super) type Member = (Arc<str>, Json);

impl Object {
    /// An object without members.
    pub const fn new() -> Object {
        Object { members: Vec::new() }
    }

    /// The member `key`.
    pub fn get(&self, key: &str) -> Option<&Json> {
        // Most objects are so small that looking at all keys beats comparing the right ones.
        if self.members.len() <= SMALL {
            return self.members.iter().find(|(held, _)| **held == *key).map(|(_, value)| value);
        }
        self.find(key).ok().map(|place| &self.members[place].1)
    }

    /// The member `key`, to change in place.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        self.find(key).ok().map(|place| &mut self.members[place].1)
    }

    /// Sets the member `key` and returns the value it had before, if any.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Json>) -> Option<Json> {
        let (key, value) = (key.into(), value.into());
        match self.find(&key) {
            Ok(place) => Some(std::mem::replace(&mut self.members[place].1, value)),
            Err(place) => {
                self.members.insert(place, (key.into(), value));
                None
            }
        }
    }

    /// Takes the member `key` out.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        self.find(key).ok().map(|place| self.members.remove(place).1)
    }

    /// The object with the member `key` set to `value`: for building one in a single expression.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Json>) -> Object {
        self.insert(key, value);
        self
    }

    /// Whether there is a member `key`.
    pub fn contains_key(&self, key: &str) -> bool {
        self.find(key).is_ok()
    }

    /// The members, sorted by key.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Json)> + ExactSizeIterator {
        self.members.iter().map(|(key, value)| (&**key, value))
    }

    /// The members, sorted by key, their values to change in place.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&str, &mut Json)> + ExactSizeIterator {
        self.members.iter_mut().map(|(key, value)| (&**key, value))
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Keeps only the members that `wanted` says yes to.
    pub fn retain(&mut self, mut wanted: impl FnMut(&str, &Json) -> bool) {
        self.members.retain(|(key, value)| wanted(key, value));
    }

    /// The text of the member `key`, if it is a string.
    pub fn str(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// Appends the object as [`Json::to_compact`] writes it.
    pub(crate) fn write_compact(&self, out: &mut String) {
        super::write::compact_object(self, out);
    }

    /// Sorts members read in the order of a text; of equal keys the last one stays.
    pub(super) fn from_unsorted(mut members: Vec<Member>) -> Object {
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        members.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
        Object { members }
    }

    /// Takes members that are already sorted, each key once.
    pub(super) fn from_sorted(members: Vec<Member>) -> Object {
        debug_assert!(members.is_sorted_by(|(a, _), (b, _)| a < b));
        Object { members }
    }

    fn find(&self, key: &str) -> Result<usize, usize> {
        self.members.binary_search_by(|(held, _)| (**held).cmp(key))
    }
}

impl FromIterator<(String, Json)> for Object {
    /// Of entries with the same key, the last one stays.
    fn from_iter<I: IntoIterator<Item = (String, Json)>>(entries: I) -> Object {
        Object::from_unsorted(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl IntoIterator for Object {
    type Item = (String, Json);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(self.members.into_iter())
    }
}

/// The members of an [`Object`], sorted by key.
#[derive(Debug)]
pub struct IntoIter(std::vec::IntoIter<Member>);

impl Iterator for IntoIter {
    type Item = (String, Json);

    fn next(&mut self) -> Option<(String, Json)> {
        self.0.next().map(|(key, value)| (String::from(&*key), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for IntoIter {}

impl fmt::Display for Object {
    /// Writes the object as [`Json::to_compact`] does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        super::write::compact_object(self, &mut text);
        f.write_str(&text)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
