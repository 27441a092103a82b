//! A spec of a summary, with what its own report says of it.

use std::fmt;

use trajectly_engine::json::Json;
use trajectly_engine::report::Row;

/// What is known of the last run of a spec.
pub(crate) struct Summed<'a> {
    pub(crate) row: &'a Row,
    /// What is broken at its first bad event; empty for what has no event.
    pub(crate) broken: Vec<Broken>,
}

/// A broken rule.
pub(crate) struct Broken {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) event: u64,
    /// The file and the line of the rule, where a spec states it.
    pub(crate) place: Option<(String, u64)>,
}

impl<'a> Summed<'a> {
    /// `report` is the whole report that the row stands for, where there is one.
    pub(crate) fn new(row: &'a Row, report: Option<&Json>) -> Self {
        let broken = report.and_then(|report| report.get("all_violations_at_witness")?.as_array());
        Self { row, broken: broken.unwrap_or_default().iter().filter_map(Broken::of).collect() }
    }
}

impl Broken {
    fn of(violation: &Json) -> Option<Self> {
        let text = |key| Some(violation.get(key)?.as_str()?.to_owned());
        let place = violation.get("location");
        let place =
            place.and_then(|place| Some((place.get("file")?.as_str()?.to_owned(), place.get("line")?.as_u64()?)));
        let event = violation.get("event_index")?.as_u64()?;
        Some(Self { code: text("code")?, message: text("message")?, event, place })
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {}: {}: {}", self.event, self.code, self.message)?;
        match &self.place {
            Some((file, line)) => write!(f, " ({file}:{line})"),
            None => Ok(()),
        }
    }
}
