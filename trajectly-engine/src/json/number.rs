//! Numbers that keep what was written: all digits of an integer, the exact double of a float.

use std::fmt;
use std::hash::{Hash, Hasher};

/// A JSON number: an integer of any size, or a 64-bit float.
///
/// Whether a number is an integer is a matter of how it was written: `1` is, `1.0` and `1e0` are not.
#[derive(Clone)]
pub struct Number(Repr);

/// Integers have one representation each: `Signed` if it fits, else `Unsigned`, else `Big`.
#[derive(Clone)]
pub(super) enum Repr {
    Signed(i64),
    Unsigned(u64),
    /// Never NaN; infinite when a text wrote more than a double can hold.
    Float(f64),
    /// The digits, with a `-` for a negative number and no leading zero.
    Big(Box<str>),
}

impl Number {
    /// The number as an `i64`, if it is an integer that fits one.
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Signed(integer) => Some(integer),
            _ => None,
        }
    }

    /// The number as a `u64`, if it is an integer that fits one.
    pub fn as_u64(&self) -> Option<u64> {
        match self.0 {
            Repr::Signed(integer) => integer.try_into().ok(),
            Repr::Unsigned(integer) => Some(integer),
            _ => None,
        }
    }

    /// The nearest `f64`; `None` for a number beyond the range of finite doubles.
    pub fn as_f64(&self) -> Option<f64> {
        let float = match &self.0 {
            Repr::Signed(integer) => *integer as f64,
            Repr::Unsigned(integer) => *integer as f64,
            Repr::Float(float) => *float,
            Repr::Big(digits) => digits.parse().ok()?,
        };
        float.is_finite().then_some(float)
    }

    /// Whether the number was written as an integer: without a fraction and without an exponent.
    pub fn is_integer(&self) -> bool {
        !matches!(self.0, Repr::Float(_))
    }

    /// A float; `None` if it is not finite, which JSON cannot say.
    pub fn from_f64(float: f64) -> Option<Number> {
        float.is_finite().then_some(Number(Repr::Float(float)))
    }

    /// Reads a number token; the caller has checked it against the grammar of JSON.
    pub(super) fn from_token(token: &str, integer: bool) -> Option<Number> {
        if !integer {
            return token.parse().ok().map(|float| Number(Repr::Float(float)));
        }
        Some(Number(if let Ok(signed) = token.parse() {
            Repr::Signed(signed)
        } else if let Ok(unsigned) = token.parse() {
            Repr::Unsigned(unsigned)
        } else {
            Repr::Big(token.into())
        }))
    }

    pub(super) fn repr(&self) -> &Repr {
        &self.0
    }

    /// The float, infinite ones included; `None` for an integer.
    pub(crate) fn float(&self) -> Option<f64> {
        match self.0 {
            Repr::Float(float) => Some(float),
            _ => None,
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        match (&self.0, &other.0) {
            (Repr::Signed(a), Repr::Signed(b)) => a == b,
            (Repr::Unsigned(a), Repr::Unsigned(b)) => a == b,
            (Repr::Float(a), Repr::Float(b)) => a.to_bits() == b.to_bits(),
            (Repr::Big(a), Repr::Big(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Repr::Signed(integer) => integer.hash(state),
            Repr::Unsigned(integer) => integer.hash(state),
            Repr::Float(float) => float.to_bits().hash(state),
            Repr::Big(digits) => digits.hash(state),
        }
    }
}

impl fmt::Display for Number {
    /// Writes the number as JSON does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        super::write::number(self, &mut text);
        f.write_str(&text)
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<i64> for Number {
    fn from(integer: i64) -> Number {
        Number(Repr::Signed(integer))
    }
}

impl From<u64> for Number {
    fn from(integer: u64) -> Number {
        Number(i64::try_from(integer).map_or(Repr::Unsigned(integer), Repr::Signed))
    }
}

impl From<i32> for Number {
    fn from(integer: i32) -> Number {
        Number::from(i64::from(integer))
    }
}

impl From<u32> for Number {
    fn from(integer: u32) -> Number {
        Number::from(i64::from(integer))
    }
}

impl From<usize> for Number {
    fn from(integer: usize) -> Number {
        Number::from(integer as u64)
    }
}

impl From<i128> for Number {
    fn from(integer: i128) -> Number {
        match i64::try_from(integer) {
            Ok(small) => Number::from(small),
            Err(_) => {
                u64::try_from(integer).map_or_else(|_| Number(Repr::Big(integer.to_string().into())), Number::from)
            }
        }
    }
}

impl From<u128> for Number {
    fn from(integer: u128) -> Number {
        u64::try_from(integer).map_or_else(|_| Number(Repr::Big(integer.to_string().into())), Number::from)
    }
}
