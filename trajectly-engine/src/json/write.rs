//! Writing JSON text.

use std::fmt::Write as _;

use super::number::Repr;
use super::{Json, Number, Object};

pub(super) fn compact(value: &Json, out: &mut String) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Json::Number(held) => number(held, out),
        Json::String(text) => push_string(text, out),
        Json::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                compact(item, out);
            }
            out.push(']');
        }
        Json::Object(members) => compact_object(members, out),
    }
}

pub(super) fn compact_object(members: &Object, out: &mut String) {
    out.push('{');
    for (place, (key, value)) in members.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        push_string(key, out);
        out.push(':');
        compact(value, out);
    }
    out.push('}');
}

pub(super) fn pretty(value: &Json, level: usize, out: &mut String) {
    let line = |out: &mut String, level: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", level));
    };
    match value {
        Json::Array(items) if !items.is_empty() => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                line(out, level + 1);
                pretty(item, level + 1, out);
            }
            line(out, level);
            out.push(']');
        }
        Json::Object(members) if !members.is_empty() => {
            out.push('{');
            for (place, (key, item)) in members.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                line(out, level + 1);
                push_string(key, out);
                out.push_str(": ");
                pretty(item, level + 1, out);
            }
            line(out, level);
            out.push('}');
        }
        scalar_or_empty => compact(scalar_or_empty, out),
    }
}

pub(super) fn number(number: &Number, out: &mut String) {
    match number.repr() {
        Repr::Signed(integer) => push(out, format_args!("{integer}")),
        Repr::Unsigned(integer) => push(out, format_args!("{integer}")),
        Repr::Big(digits) => out.push_str(digits),
        Repr::Float(float) if float.is_finite() => push_float(*float, out),
        // Beyond the range of doubles, as the number that was read into an infinite one.
        Repr::Float(float) => out.push_str(if *float > 0.0 { "1e999" } else { "-1e999" }),
    }
}

/// Appends a finite float as Python writes it: the shortest digits that read back the same, positional from 1e-4 up to
/// 1e16, always with a point or an exponent.
pub(crate) fn push_float(float: f64, out: &mut String) {
    let text = shortest(float);
    let text = text.as_str();
    // Rust writes [-]digit[.digits]e[-]exponent.
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let zeros = |out: &mut String, count: usize| out.extend(std::iter::repeat_n('0', count));

    out.push_str(sign);
    match usize::try_from(exponent) {
        Ok(whole @ 0..16) => {
            out.push_str(first);
            out.push_str(&rest[..whole.min(rest.len())]);
            zeros(out, whole.saturating_sub(rest.len()));
            out.push('.');
            out.push_str(rest.get(whole..).filter(|decimals| !decimals.is_empty()).unwrap_or("0"));
        }
        Err(_) if exponent >= -4 => {
            out.push_str("0.");
            zeros(out, exponent.unsigned_abs() as usize - 1);
            out.push_str(first);
            out.push_str(rest);
        }
        _ => {
            out.push_str(mantissa);
            let sign = if exponent < 0 { '-' } else { '+' };
            push(out, format_args!("e{sign}{:02}", exponent.unsigned_abs()));
        }
    }
}

/// The shortest digits that read back the same, and of two as short and as near the one with the even last digit: there
/// Rust takes the other.
fn shortest(float: f64) -> Digits {
    /// With fewer digits than this, two neighbours never read back the same.
    const AMBIGUOUS: usize = 16;

    let mut shortest = Digits::default();
    let _ = write!(shortest, "{float:e}");
    let mantissa = shortest.as_str().split('e').next().unwrap_or_default();
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    if digits >= AMBIGUOUS {
        let mut nearest = Digits::default();
        let _ = write!(nearest, "{float:.*e}", digits - 1);
        if nearest.as_str().parse() == Ok(float) {
            return nearest;
        }
    }
    shortest
}

/// Room for the digits of one float.
#[derive(Default)]
struct Digits {
    bytes: [u8; 32],
    length: usize,
}

impl Digits {
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl std::fmt::Write for Digits {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(std::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// Appends a text in quotes, with the escapes that JSON asks for and those that keep it on one line.
pub(crate) fn push_string(text: &str, out: &mut String) {
    out.push('"');
    let mut done = 0;
    for (at, byte) in text.bytes().enumerate() {
        // The first byte of U+0085, and of U+2028 and U+2029.
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            0x08 => "\\b",
            0x0C => "\\f",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => "",
            0xC2 if text[at..].starts_with('\u{85}') => "",
            0xE2 if text[at..].starts_with(['\u{2028}', '\u{2029}']) => "",
            _ => continue,
        };
        out.push_str(&text[done..at]);
        done = at + 1;
        if !escape.is_empty() {
            out.push_str(escape);
        } else if let Some(character) = text[at..].chars().next() {
            push(out, format_args!("\\u{:04x}", u32::from(character)));
            done = at + character.len_utf8();
        }
    }
    out.push_str(&text[done..]);
    out.push('"');
}

fn push(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(arguments);
}
