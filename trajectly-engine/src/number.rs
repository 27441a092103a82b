//! Numbers that are compared by their value, whatever their form.

use std::cmp::Ordering;

use crate::json::{Json, Number};

/// A finite number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Numeric {
    Whole(i128),
    Real(f64),
}

/// The number that a value is: a JSON number, or a text that is a finite decimal number and may have blanks around it.
pub(crate) fn of(value: &Json) -> Option<Numeric> {
    match value {
        Json::Number(number) => Some(Numeric::of(number)),
        Json::String(text) => decimal(text.trim()),
        _ => None,
    }
}

impl Numeric {
    /// A number beyond what either form holds counts as the greatest, or the least.
    pub(crate) fn of(number: &Number) -> Numeric {
        let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        if let Some(whole) = whole {
            return Numeric::Whole(whole);
        }
        let beyond = if number.to_string().starts_with('-') { f64::MIN } else { f64::MAX };
        Numeric::Real(number.as_f64().unwrap_or(beyond))
    }

    /// Whether the number has no fraction.
    pub(crate) fn is_whole(self) -> bool {
        match self {
            Numeric::Whole(_) => true,
            Numeric::Real(real) => real.fract() == 0.0,
        }
    }

    pub(crate) fn compare(self, other: Numeric) -> Ordering {
        match (self, other) {
            (Numeric::Whole(a), Numeric::Whole(b)) => a.cmp(&b),
            // Neither side is NaN.
            _ => self.real().partial_cmp(&other.real()).unwrap_or(Ordering::Equal),
        }
    }

    fn real(self) -> f64 {
        match self {
            Numeric::Whole(whole) => whole as f64,
            Numeric::Real(real) => real,
        }
    }
}

/// Reads digits with an optional sign, fraction and exponent.
fn decimal(text: &str) -> Option<Numeric> {
    let written = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let real: f64 = text.parse().ok().filter(|real: &f64| written && real.is_finite())?;
    Some(text.parse().map_or(Numeric::Real(real), Numeric::Whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_count_when_they_are_decimal_numbers() {
        for (text, expected) in [
            ("12", Some(Numeric::Whole(12))),
            (" -7 ", Some(Numeric::Whole(-7))),
            ("+3", Some(Numeric::Whole(3))),
            (".5", Some(Numeric::Real(0.5))),
            ("1.", Some(Numeric::Real(1.0))),
            ("1e3", Some(Numeric::Real(1000.0))),
            ("1e400", None),
            ("inf", None),
            ("NaN", None),
            ("0x10", None),
            ("1_000", None),
            ("", None),
            ("-", None),
            ("٣", None),
        ] {
            assert_eq!(of(&Json::from(text)), expected, "{text}");
        }
        assert_eq!(of(&Json::from(true)), None);
    }

    #[test]
    fn large_whole_numbers_are_compared_exactly() {
        let number = |text: &str| of(&Json::parse(text).expect("JSON")).expect("a number");
        for (a, b, expected) in [
            ("9007199254740993", "9007199254740992", Ordering::Greater),
            ("18446744073709551615", "-1", Ordering::Greater),
            ("2.0", "2", Ordering::Equal),
            ("-123456789012345678901234567890", "-1e300", Ordering::Greater),
        ] {
            assert_eq!(number(a).compare(number(b)), expected, "{a} and {b}");
        }
    }
}
