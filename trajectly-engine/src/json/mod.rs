//! The engine's one JSON value: lossless numbers, objects sorted by key.
//!
//! Traces and fixtures are hashed, compared and shown, so a value must survive reading and writing unchanged. That
//! rules out a general-purpose value type: integers keep all their digits here, floats are read correctly rounded, and
//! an object has one order, whatever the order of the text it came from.

mod bridge;
mod keys;
mod number;
mod object;
mod path;
mod read;
mod write;

use std::fmt;

pub use bridge::{from_json, to_json};
pub use number::Number;
pub use object::{IntoIter, Object};
pub(crate) use path::without;
pub use path::{JsonPath, JsonPathError};
use read::MAX_DEPTH;
pub(crate) use read::{Reader, Scratch};
pub(crate) use write::{push_float, push_string};

/// A JSON value.
///
/// Equality is strict, as hashing is: `1` differs from `1.0`, and `0.0` from `-0.0`.
///
/// ```
/// use trajectly_engine::json::Json;
///
/// let value = Json::parse(r#"{"b": 18446744073709551616, "a": [1, 1.0]}"#).unwrap();
/// assert_eq!(value.to_compact(), r#"{"a":[1,1.0],"b":18446744073709551616}"#);
/// assert_eq!(value.at("/a/0").and_then(Json::as_i64), Some(1));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, with every digit of an integer.
    Number(Number),
    /// A text. JSON escapes of lone surrogates have no text and are refused when read.
    String(String),
    /// A list, in order.
    Array(Vec<Json>),
    /// A set of members, sorted by key.
    Object(Object),
}

impl Json {
    /// Reads one JSON text, with blanks allowed around it.
    ///
    /// Of members with the same key, the last one counts. A float too large for 64 bits becomes infinite, as in most
    /// readers.
    ///
    /// # Errors
    ///
    /// When `text` is not JSON (`NaN` and `Infinity` are not), holds a lone surrogate, or nests deeper than 128 levels.
    pub fn parse(text: &str) -> Result<Json, JsonError> {
        let mut scratch = Scratch::default();
        let mut reader = Reader::new(text, &mut scratch);
        let value = reader.value().and_then(|value| reader.end().map(|()| value));
        value.map_err(|fault| fault.explain(text))
    }

    /// Reads one JSON text from bytes, which must be UTF-8.
    ///
    /// # Errors
    ///
    /// As [`Json::parse`], and when the bytes are not UTF-8.
    pub fn parse_slice(bytes: &[u8]) -> Result<Json, JsonError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Json::parse(text),
            Err(error) => {
                let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                Err(JsonError::at_end_of(&valid, "these bytes are not UTF-8".to_owned()))
            }
        }
    }

    /// The member `key` of an object; `None` for an object without it and for any other value.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object()?.get(key)
    }

    /// The value that a JSON Pointer (RFC 6901) such as `/messages/0/content` leads to; the empty pointer leads to
    /// `self`.
    pub fn at(&self, pointer: &str) -> Option<&Json> {
        let Some(path) = pointer.strip_prefix('/') else {
            return pointer.is_empty().then_some(self);
        };
        path.split('/').try_fold(self, |value, step| match value {
            Json::Object(members) if step.contains('~') => members.get(&step.replace("~1", "/").replace("~0", "~")),
            Json::Object(members) => members.get(step),
            Json::Array(items) => {
                let index: usize = step.parse().ok()?;
                items.get(index)
            }
            _ => None,
        })
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The flag, if this is `true` or `false`.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The number, if this is one.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Json::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The number as an `i64`, if this is an integer that fits one.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// The number as a `u64`, if this is an integer that fits one.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The number as the nearest `f64`, if this is a number within its range.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// The items, if this is an array.
    pub fn as_array(&self) -> Option<&[Json]> {
        match self {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The members, if this is an object.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Json::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }

    /// What kind of value this is, in a word that fits a message: `null`, `boolean`, `number`, `string`, `array` or
    /// `object`.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    /// The value as one line of UTF-8: members sorted by key, no blanks.
    ///
    /// The result holds no line separator of any alphabet (U+0085, U+2028 and U+2029 are escaped), so it is one line
    /// to every reader. An infinite number is written `1e999`, which reads back as it was.
    pub fn to_compact(&self) -> String {
        let mut out = String::new();
        write::compact(self, &mut out);
        out
    }

    /// The value over several lines: two blanks a level, members sorted by key, no newline at the end.
    pub fn to_pretty(&self) -> String {
        let mut out = String::new();
        write::pretty(self, 0, &mut out);
        out
    }
}

impl fmt::Display for Json {
    /// Writes the value as [`Json::to_compact`] does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_compact())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::String(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::String(text)
    }
}

impl From<bool> for Json {
    fn from(flag: bool) -> Json {
        Json::Bool(flag)
    }
}

impl From<Number> for Json {
    fn from(number: Number) -> Json {
        Json::Number(number)
    }
}

macro_rules! from_integer {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Json {
            fn from(integer: $integer) -> Json {
                Json::Number(Number::from(integer))
            }
        }
    )*};
}

from_integer!(i32, i64, u32, u64, usize);

impl From<f64> for Json {
    /// A number that is not finite has no JSON form and becomes `null`.
    fn from(float: f64) -> Json {
        Number::from_f64(float).map_or(Json::Null, Json::Number)
    }
}

impl From<Object> for Json {
    fn from(members: Object) -> Json {
        Json::Object(members)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Json {
        Json::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    /// `None` becomes `null`.
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}

impl<T: Into<Json>> FromIterator<T> for Json {
    /// Collects an array.
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Json {
        Json::Array(items.into_iter().map(Into::into).collect())
    }
}

/// Why a text is not JSON, or a value has no JSON form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The line of the text at fault, counted from 1; 0 when the error has no place in a text.
    pub line: usize,
    /// The character of that line, counted from 1; 0 when the error has no place in a text.
    pub column: usize,
    /// What is wrong, as the fragment of a sentence: `expected a value, found end of text`.
    pub message: String,
}

impl JsonError {
    /// An error that no place in a text explains.
    pub(crate) fn nowhere(message: String) -> JsonError {
        JsonError { line: 0, column: 0, message }
    }

    /// An error at the character that follows `before`.
    pub(crate) fn at_end_of(before: &str, message: String) -> JsonError {
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        JsonError {
            line: before.bytes().filter(|&byte| byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message,
        }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.line > 0 {
            write!(f, " at line {} column {}", self.line, self.column)?;
        }
        Ok(())
    }
}

impl std::error::Error for JsonError {}
