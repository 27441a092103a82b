//! What counts as personal.

use std::sync::LazyLock;

use regex::Regex;

/// A pattern of texts that are personal.
pub(crate) struct Detector {
    /// What it finds, in a message.
    pub(crate) described: &'static str,
    pattern: Regex,
    /// Whether a text may match at all; far cheaper than the pattern.
    may_match: fn(&str) -> bool,
}

impl Detector {
    /// Whether the text holds such a thing.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        (self.may_match)(text) && self.pattern.is_match(text)
    }
}

/// The shortest telephone number has seven digits, with nothing but separators between them.
fn has_seven_digits(text: &str) -> bool {
    let mut digits = 0;
    for c in text.chars() {
        if c.is_numeric() {
            digits += 1;
        } else if !c.is_whitespace() && !matches!(c, '-' | '.' | '(' | ')' | '+') {
            digits = 0;
        }
        if digits == 7 {
            return true;
        }
    }
    false
}

/// E-mail addresses, then telephone numbers.
pub(crate) static DETECTORS: LazyLock<[Detector; 2]> = LazyLock::new(|| {
    let detector = |described, may_match, pattern: &str| {
        let pattern = Regex::new(pattern).expect("a constant pattern");
        Detector { described, pattern, may_match }
    };
    [
        detector("an e-mail address", |text| text.contains('@'), r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}\b"),
        detector(
            "a telephone number",
            has_seven_digits,
            r"\b(?:\+?1[-.\s]?)?(?:\(?\d{3}\)?[-.\s]?)?\d{3}[-.\s]?\d{4}\b",
        ),
    ]
});
