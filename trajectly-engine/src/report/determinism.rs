//! What an agent complained of that is not the same in every run.

use crate::json::{Json, Object};

/// The codes under which agents with the Python SDK complain, where `determinism` of their spec is set.
const CODES: [&str; 4] = [
    "NONDETERMINISM_CLOCK_DETECTED",
    "NONDETERMINISM_FILESYSTEM_DETECTED",
    "NONDETERMINISM_RANDOM_DETECTED",
    "NONDETERMINISM_UUID_DETECTED",
];

/// A complaint of the agent about something that is not the same in every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeterminismWarning {
    /// The code, such as `NONDETERMINISM_UUID_DETECTED`.
    pub code: &'static str,
    /// What the agent said, on one line.
    pub message: String,
}

impl DeterminismWarning {
    /// The complaints in what an agent printed, one of each code.
    ///
    /// ```
    /// use trajectly_engine::report::DeterminismWarning;
    ///
    /// let output = "E: NONDETERMINISM_UUID_DETECTED: uuid4 is not allowed :: {\"actual\": 1}\n";
    /// let [warning] = &DeterminismWarning::in_output(output)[..] else { panic!("one complaint") };
    /// assert_eq!(warning.message, "uuid4 is not allowed");
    /// ```
    pub fn in_output(output: &str) -> Vec<DeterminismWarning> {
        let warning = |code: &'static str| {
            let (_, rest) = output.split_once(code)?;
            let line = rest.lines().next().unwrap_or_default().trim_start_matches(':');
            // What follows are details, with paths of the machine among them.
            let message = line.split(" :: ").next().unwrap_or_default().trim().to_owned();
            Some(DeterminismWarning { code, message })
        };
        CODES.into_iter().filter_map(warning).collect()
    }

    pub(super) fn to_json(&self) -> Json {
        Object::new().with("code", self.code).with("message", self.message.as_str()).into()
    }
}
