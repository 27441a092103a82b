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
    let start = out.len();
    push(out, format_args!("{float:e}"));
    // Rust writes digits[.digits]e[-]exponent.
    let Some(e) = out[start..].find('e').map(|e| start + e) else {
        return;
    };
    let exponent: i32 = out[e + 1..].parse().unwrap_or(0);
    if !(-4..16).contains(&exponent) {
        out.truncate(e);
        let sign = if exponent < 0 { '-' } else { '+' };
        push(out, format_args!("e{sign}{:02}", exponent.unsigned_abs()));
        return;
    }
    out.truncate(start);
    push(out, format_args!("{float}"));
    if !out[start..].contains('.') {
        out.push_str(".0");
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
