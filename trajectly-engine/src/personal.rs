//! What counts as personal.

use std::sync::LazyLock;

use regex::Regex;

/// A pattern of texts that are personal.
pub(crate) struct Detector {
    /// What it finds, in a message.
    pub(crate) described: &'static str,
    pub(crate) pattern: Regex,
}

/// E-mail addresses, then telephone numbers.
pub(crate) static DETECTORS: LazyLock<[Detector; 2]> = LazyLock::new(|| {
    let detector =
        |described, pattern: &str| Detector { described, pattern: Regex::new(pattern).expect("a constant pattern") };
    [
        detector("an e-mail address", r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}\b"),
        detector("a telephone number", r"\b(?:\+?1[-.\s]?)?(?:\(?\d{3}\)?[-.\s]?)?\d{3}[-.\s]?\d{4}\b"),
    ]
});
