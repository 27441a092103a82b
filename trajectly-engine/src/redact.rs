//! Redaction: what must not be stored is replaced before it is.

use regex::Regex;

use crate::json::{Json, Object};

/// What stands in the place of redacted text.
pub const REDACTED: &str = "[REDACTED]";

/// Patterns whose matches are replaced by [`REDACTED`] in the strings of a value.
///
/// Keys and numbers are left alone. The patterns apply one after the other, each to what the one before left; a
/// pattern that matches the empty text puts the replacement between characters.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    patterns: Vec<Regex>,
}

impl Redactor {
    /// A redactor that applies `patterns` in this order.
    pub fn new(patterns: Vec<Regex>) -> Redactor {
        Redactor { patterns }
    }

    /// Whether there is no pattern, so that nothing is ever redacted.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Redacts every string of a value, at any depth.
    pub fn apply(&self, value: &mut Json) {
        if self.is_empty() {
            return;
        }
        match value {
            Json::String(text) => self.apply_to_text(text),
            Json::Array(items) => items.iter_mut().for_each(|item| self.apply(item)),
            Json::Object(members) => self.apply_to_members(members),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    /// Redacts every string of an object, at any depth.
    pub fn apply_to_members(&self, members: &mut Object) {
        if !self.is_empty() {
            members.iter_mut().for_each(|(_, value)| self.apply(value));
        }
    }

    /// Redacts a text.
    pub fn apply_to_text(&self, text: &mut String) {
        for pattern in &self.patterns {
            if let Some(redacted) = replace_all(pattern, text) {
                *text = redacted;
            }
        }
    }
}

/// The text with all matches replaced; `None` if there is none.
///
/// As the Python tool does it, and unlike [`Regex::replace_all`], an empty match counts also where another match ends:
/// a redacted text must be the same whichever tool stored it.
fn replace_all(pattern: &Regex, text: &str) -> Option<String> {
    let mut redacted = String::new();
    let mut copied = 0;
    let mut at = 0;
    let mut empty_at = None;
    let mut any = false;
    while let Some(found) = pattern.find_at(text, at) {
        if found.is_empty() && empty_at == Some(found.end()) {
            let Some(next) = text[found.end()..].chars().next() else { break };
            at = found.end() + next.len_utf8();
            continue;
        }
        any = true;
        redacted.push_str(&text[copied..found.start()]);
        redacted.push_str(REDACTED);
        copied = found.end();
        at = found.end();
        empty_at = found.is_empty().then_some(found.end());
    }
    redacted.push_str(&text[copied..]);
    any.then_some(redacted)
}
