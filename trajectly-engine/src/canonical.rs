//! Canonical JSON: one text for one value, and its SHA-256.
//!
//! Fixtures are looked up, and events told apart, by this hash. The text is the one that the Python tool hashes, so
//! that fixtures and traces are good on both sides: ASCII, sorted keys, no blanks, floats rounded to twelve decimals
//! and written as Python writes them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::json::{Json, Number, Object, push_float};

/// The keys that differ between two runs of the same agent and say nothing about what it did.
pub const VOLATILE_KEYS: [&str; 7] =
    ["timestamp", "run_id", "request_id", "event_id", "rel_ms", "created_at", "updated_at"];

/// Whether members under [`VOLATILE_KEYS`] are part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strip {
    /// Everything counts.
    Keep,
    /// Members under volatile keys are left out, at every depth.
    Volatile,
}

/// The canonical text of a value.
///
/// ```
/// use trajectly_engine::canonical::{Strip, canonical_text};
/// use trajectly_engine::json::Json;
///
/// let value = Json::parse(r#"{"run_id": 7, "é": 0.1234567890125}"#).unwrap();
/// assert_eq!(canonical_text(&value, Strip::Keep), r#"{"run_id":7,"\u00e9":0.123456789012}"#);
/// assert_eq!(canonical_text(&value, Strip::Volatile), r#"{"\u00e9":0.123456789012}"#);
/// ```
pub fn canonical_text(value: &Json, strip: Strip) -> String {
    let mut text = String::new();
    Writer::new(&mut text, strip).value(value);
    text
}

/// The SHA-256 of a value's canonical text, computed without building the text.
pub fn hash(value: &Json, strip: Strip) -> Hash {
    hash_with(strip, |writer| writer.value(value))
}

/// The SHA-256 of some bytes.
pub fn sha256_bytes(bytes: &[u8]) -> Hash {
    Hash(Sha256::digest(bytes).into())
}

/// The hash by which two runs' events are the same: kind and payload, volatile keys left out.
pub fn stable_hash(kind: &str, payload: &Object) -> Hash {
    hash_with(Strip::Volatile, |writer| {
        writer.raw("{\"kind\":");
        writer.string(kind);
        writer.raw(",\"payload\":");
        writer.object(payload);
        writer.raw("}");
    })
}

/// Hashes what `write` writes.
pub(crate) fn hash_with(strip: Strip, write: impl FnOnce(&mut Writer<'_, HashSink>)) -> Hash {
    let mut sink = HashSink::new();
    write(&mut Writer::new(&mut sink, strip));
    sink.finish()
}

/// A SHA-256 digest. Its text, in files and messages, is 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            let digit = |value: u8| b"0123456789abcdef"[usize::from(value)];
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        f.pad(std::str::from_utf8(&digits).unwrap_or_default())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not a [`struct@Hash`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseHashError;

impl fmt::Display for ParseHashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a SHA-256 is written as 64 hexadecimal digits")
    }
}

impl std::error::Error for ParseHashError {}

impl FromStr for Hash {
    type Err = ParseHashError;

    fn from_str(text: &str) -> Result<Hash, ParseHashError> {
        let mut bytes = [0; 32];
        if text.len() != 64 {
            return Err(ParseHashError);
        }
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digit = |ascii: u8| char::from(ascii).to_digit(16).ok_or(ParseHashError);
            let [high, low] = [digit(pair[0])?, digit(pair[1])?];
            *byte = (high * 16 + low) as u8;
        }
        Ok(Hash(bytes))
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hash, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Where canonical text goes. It is ASCII throughout.
pub(crate) trait Sink {
    fn push(&mut self, text: &str);
}

impl Sink for String {
    fn push(&mut self, text: &str) {
        self.push_str(text);
    }
}

/// Gathers the small pieces of a text, so that the digest sees few large ones.
pub(crate) struct HashSink {
    digest: Sha256,
    held: [u8; 512],
    length: usize,
}

impl HashSink {
    fn new() -> HashSink {
        HashSink { digest: Sha256::new(), held: [0; 512], length: 0 }
    }

    fn finish(mut self) -> Hash {
        self.digest.update(&self.held[..self.length]);
        Hash(self.digest.finalize().into())
    }
}

impl Sink for HashSink {
    fn push(&mut self, text: &str) {
        let end = self.length + text.len();
        if let Some(room) = self.held.get_mut(self.length..end) {
            room.copy_from_slice(text.as_bytes());
            self.length = end;
        } else {
            self.digest.update(&self.held[..self.length]);
            self.digest.update(text.as_bytes());
            self.length = 0;
        }
    }
}

/// Writes canonical text into a [`Sink`].
pub(crate) struct Writer<'a, S> {
    sink: &'a mut S,
    strip: Strip,
    /// For the digits of one number at a time.
    scratch: String,
}

impl<'a, S: Sink> Writer<'a, S> {
    fn new(sink: &'a mut S, strip: Strip) -> Writer<'a, S> {
        Writer { sink, strip, scratch: String::new() }
    }

    /// Writes text that is canonical already.
    pub(crate) fn raw(&mut self, text: &str) {
        self.sink.push(text);
    }

    pub(crate) fn value(&mut self, value: &Json) {
        match value {
            Json::Null => self.raw("null"),
            Json::Bool(true) => self.raw("true"),
            Json::Bool(false) => self.raw("false"),
            Json::Number(number) => self.number(number),
            Json::String(text) => self.string(text),
            Json::Array(items) => {
                self.raw("[");
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        self.raw(",");
                    }
                    self.value(item);
                }
                self.raw("]");
            }
            Json::Object(members) => self.object(members),
        }
    }

    pub(crate) fn object(&mut self, members: &Object) {
        let strip = self.strip == Strip::Volatile;
        let kept = members.iter().filter(|(key, _)| !strip || !VOLATILE_KEYS.contains(key));
        self.raw("{");
        for (place, (key, value)) in kept.enumerate() {
            if place > 0 {
                self.raw(",");
            }
            self.string(key);
            self.raw(":");
            self.value(value);
        }
        self.raw("}");
    }

    pub(crate) fn string(&mut self, text: &str) {
        self.raw("\"");
        let mut done = 0;
        for (at, byte) in text.bytes().enumerate() {
            let escape = match byte {
                b'"' => "\\\"",
                b'\\' => "\\\\",
                b' '..=b'~' => continue,
                b'\n' => "\\n",
                b'\r' => "\\r",
                b'\t' => "\\t",
                0x08 => "\\b",
                0x0C => "\\f",
                _ if at < done => continue,
                _ => "",
            };
            self.sink.push(&text[done..at]);
            done = at + 1;
            if !escape.is_empty() {
                self.sink.push(escape);
            } else if let Some(character) = text[at..].chars().next() {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    self.unicode_escape(*unit);
                }
                done = at + character.len_utf8();
            }
        }
        self.sink.push(&text[done..]);
        self.raw("\"");
    }

    fn unicode_escape(&mut self, unit: u16) {
        let mut escape = *b"\\u0000";
        for (place, digit) in escape[2..].iter_mut().enumerate() {
            let value = unit >> (12 - 4 * place) & 15;
            *digit = b"0123456789abcdef"[usize::from(value)];
        }
        self.sink.push(std::str::from_utf8(&escape).unwrap_or_default());
    }

    fn number(&mut self, number: &Number) {
        use std::fmt::Write as _;

        self.scratch.clear();
        match number.float() {
            // Writing to a string cannot fail.
            None => drop(write!(self.scratch, "{number}")),
            Some(float) if float.is_finite() => push_rounded(float, &mut self.scratch),
            Some(float) if float > 0.0 => self.scratch.push_str("\"Infinity\""),
            Some(_) => self.scratch.push_str("\"-Infinity\""),
        }
        self.sink.push(&self.scratch);
    }

    /// Writes a count.
    pub(crate) fn integer(&mut self, integer: u64) {
        self.number(&Number::from(integer));
    }
}

/// Appends a float rounded to twelve decimals: the exact binary value, ties to even.
fn push_rounded(float: f64, out: &mut String) {
    const DECIMALS: usize = 12;

    push_float(float, out);
    // When the shortest digits need no more decimals than that, they are what rounding and reading back would give.
    let (digits, exponent) = out.split_once('e').unwrap_or((out, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let exponent: i64 = exponent.parse().unwrap_or(0);
    if decimals as i64 - exponent <= DECIMALS as i64 {
        return;
    }
    let rounded = format!("{float:.DECIMALS$}").parse().unwrap_or(float);
    out.clear();
    push_float(rounded, out);
}
