//! Reading JSON text.
//!
//! Written by hand because three things matter here that a general reader trades away: floats correctly rounded (a hash
//! depends on the last bit), integers with all their digits, and the envelope of a trace line read without building a
//! value for it.

use std::borrow::Cow;
use std::sync::Arc;

use super::keys::Keys;
use super::object::Member;
use super::{Json, JsonError, Number, Object};

/// How many arrays and objects may stand inside one another. Guards the stack, in reading and in everything that later
/// walks or drops the value.
pub(super) const MAX_DEPTH: usize = 128;

/// What is wrong with a text, and the byte at which it is.
#[derive(Debug)]
pub(crate) struct Fault {
    at: usize,
    what: What,
}

#[derive(Debug)]
enum What {
    /// Something else was due here.
    Expected(&'static str),
    /// A statement of its own.
    Says(&'static str),
}

impl Fault {
    /// Turns the fault into an error about `text`, the text that was read.
    #[cold]
    pub(crate) fn explain(self, text: &str) -> JsonError {
        let rest = text.get(self.at..).unwrap_or("");
        let message = match self.what {
            What::Says(statement) => statement.to_owned(),
            What::Expected(due) => match rest.chars().next() {
                None => format!("expected {due}, found the end of the text"),
                Some('\u{feff}') => {
                    format!("expected {due}, found a byte order mark; save the text as UTF-8 without one")
                }
                Some(found) => format!("expected {due}, found {found:?}"),
            },
        };
        JsonError::at_end_of(text.get(..self.at).unwrap_or(text), message)
    }
}

type Read<T> = Result<T, Fault>;

/// A position in a text, moving forward.
pub(crate) struct Reader<'a, 'k> {
    text: &'a str,
    at: usize,
    depth: usize,
    scratch: &'k mut Scratch,
}

/// What reading uses over and over; one for many texts makes them share their keys.
#[derive(Default)]
pub(crate) struct Scratch {
    keys: Keys,
    /// Members of the objects that are being read, so that each object is allocated once, at its size.
    members: Vec<Member>,
    /// The same for the items of arrays.
    items: Vec<Json>,
}

impl<'a, 'k> Reader<'a, 'k> {
    pub(crate) fn new(text: &'a str, scratch: &'k mut Scratch) -> Reader<'a, 'k> {
        // A text that was given up on may have left some.
        scratch.members.clear();
        scratch.items.clear();
        Reader { text, at: 0, depth: 0, scratch }
    }

    /// Reads the next value.
    pub(crate) fn value(&mut self) -> Read<Json> {
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                Ok(Json::String(self.string()?.into_owned()))
            }
            Some(b'{') => self.object().map(Json::Object),
            Some(b'[') => self.array(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => Err(self.expected("a value")),
        }
    }

    /// Reads the next value if it is a string, and one that many texts repeat.
    pub(crate) fn shared_text(&mut self) -> Read<Option<Arc<str>>> {
        if !self.eat(b'"') {
            return Ok(None);
        }
        let text = self.string()?;
        Ok(Some(self.scratch.keys.share(&text)))
    }

    /// Reads the next value, which must be an object, and hands each key to `member`, which must read the value.
    pub(crate) fn members(&mut self, mut member: impl FnMut(Cow<'a, str>, &mut Self) -> Read<()>) -> Read<()> {
        self.enter(b'{', "an object")?;
        if !self.eat(b'}') {
            loop {
                if !self.eat(b'"') {
                    return Err(self.expected("a key in quotes"));
                }
                let key = self.string()?;
                if !self.eat(b':') {
                    return Err(self.expected("`:` after the key"));
                }
                member(key, self)?;
                if !self.eat(b',') {
                    break;
                }
            }
            if !self.eat(b'}') {
                return Err(self.expected("`,` or `}` after the member"));
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Whether the next value is an object.
    pub(crate) fn at_object(&mut self) -> bool {
        self.peek() == Some(b'{')
    }

    /// Checks that only blanks are left.
    pub(crate) fn end(&mut self) -> Read<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.expected("the end of the text")),
        }
    }

    fn object(&mut self) -> Read<Object> {
        let start = self.scratch.members.len();
        let mut sorted = true;
        self.members(|key, reader| {
            let value = reader.value()?;
            let scratch = &mut *reader.scratch;
            sorted = sorted && scratch.members[start..].last().is_none_or(|(last, _)| **last < *key);
            scratch.members.push((scratch.keys.share(&key), value));
            Ok(())
        })?;
        let members = self.scratch.members.drain(start..).collect();
        Ok(if sorted { Object::from_sorted(members) } else { Object::from_unsorted(members) })
    }

    fn array(&mut self) -> Read<Json> {
        self.enter(b'[', "an array")?;
        let start = self.scratch.items.len();
        if !self.eat(b']') {
            loop {
                let item = self.value()?;
                self.scratch.items.push(item);
                if !self.eat(b',') {
                    break;
                }
            }
            if !self.eat(b']') {
                return Err(self.expected("`,` or `]` after the item"));
            }
        }
        self.depth -= 1;
        Ok(Json::Array(self.scratch.items.drain(start..).collect()))
    }

    fn enter(&mut self, bracket: u8, due: &'static str) -> Read<()> {
        if self.depth == MAX_DEPTH {
            return Err(self.says("nested deeper than 128 levels"));
        }
        if !self.eat(bracket) {
            return Err(self.expected(due));
        }
        self.depth += 1;
        Ok(())
    }

    fn word(&mut self, word: &'static str, value: Json) -> Read<Json> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(self.expected("a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Read<Json> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        if bytes[self.at] == b'-' {
            self.at += 1;
        }
        match bytes.get(self.at) {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        let mut integer = true;
        if bytes.get(self.at) == Some(&b'.') {
            integer = false;
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = bytes.get(self.at) {
            integer = false;
            self.at += 1;
            if let Some(b'+' | b'-') = bytes.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        Number::from_token(&self.text[start..self.at], integer)
            .map(Json::Number)
            .ok_or_else(|| self.says("not a number"))
    }

    fn digits(&mut self) -> Read<()> {
        let rest = &self.text.as_bytes()[self.at..];
        match rest.iter().take_while(|byte| byte.is_ascii_digit()).count() {
            0 => Err(self.expected_here("a digit")),
            count => {
                self.at += count;
                Ok(())
            }
        }
    }

    /// Reads a string whose opening quote has been read, borrowing it when it holds no escape.
    fn string(&mut self) -> Read<Cow<'a, str>> {
        let start = self.at;
        self.at += plain_length(&self.text.as_bytes()[self.at..]);
        let plain = &self.text[start..self.at];
        if self.byte() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(plain));
        }
        let mut text = String::with_capacity(plain.len() + 16);
        text.push_str(plain);
        loop {
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => {
                    self.at += 1;
                    text.push(self.escape()?);
                }
                Some(_) => return Err(self.says("a control character in a string must be escaped")),
                None => return Err(self.expected_here("the closing quote of a string")),
            }
            let start = self.at;
            self.at += plain_length(&self.text.as_bytes()[start..]);
            text.push_str(&self.text[start..self.at]);
        }
    }

    /// Reads what follows a backslash.
    fn escape(&mut self) -> Read<char> {
        let plain = match self.byte() {
            Some(b'u') => {
                self.at += 1;
                return self.unicode_escape();
            }
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => return Err(self.expected_here("an escape such as `\\n`")),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode_escape(&mut self) -> Read<char> {
        let start = self.at;
        let lone = Fault { at: start, what: What::Says("a lone surrogate is no character") };
        let high = self.four_hex_digits()?;
        if let Some(character) = char::from_u32(high) {
            return Ok(character);
        }
        if high >= 0xDC00 || !self.text.as_bytes()[self.at..].starts_with(b"\\u") {
            return Err(lone);
        }
        self.at += 2;
        let low = self.four_hex_digits()?;
        if !(0xDC00..0xE000).contains(&low) {
            return Err(lone);
        }
        char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)).ok_or(lone)
    }

    fn four_hex_digits(&mut self) -> Read<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.byte().and_then(|byte| char::from(byte).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.expected_here("four hexadecimal digits"))?;
            self.at += 1;
        }
        Ok(code)
    }

    /// The next byte that is not a blank.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    fn eat(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[cold]
    fn expected(&mut self, due: &'static str) -> Fault {
        self.peek();
        self.expected_here(due)
    }

    #[cold]
    fn expected_here(&self, due: &'static str) -> Fault {
        Fault { at: self.at, what: What::Expected(due) }
    }

    #[cold]
    fn says(&self, statement: &'static str) -> Fault {
        Fault { at: self.at, what: What::Says(statement) }
    }
}

/// How many bytes stand before the next quote, backslash or control character; eight at a time, since most of a trace
/// is text.
fn plain_length(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = ONES << 7;
    // The classic test for a zero byte; in `word ^ byte` a byte is zero where it equals `byte`.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & TOPS;

    let mut length = 0;
    for chunk in bytes.chunks_exact(8) {
        let Ok(eight) = <[u8; 8]>::try_from(chunk) else {
            break;
        };
        let word = u64::from_le_bytes(eight);
        let control = word.wrapping_sub(ONES * 0x20) & !word & TOPS;
        let special = control | zero(word ^ (ONES * 0x22)) | zero(word ^ (ONES * 0x5C));
        if special != 0 {
            return length + (special.trailing_zeros() / 8) as usize;
        }
        length += 8;
    }
    let special = |byte: &u8| matches!(byte, 0..0x20 | b'"' | b'\\');
    bytes[length..].iter().position(special).map_or(bytes.len(), |rest| length + rest)
}
