//! Cases in bulk: a line of JSON with a question, a line with the answer.
//!
//! A case is `{"id": …, "op": "verdict", "input": {"spec": {…}, "baseline_events": […], "candidate_events": […]}}`. The answer
//! is `{"id": …, "op": …, "result": {…}}`, and for a case that has none
//! `{"id": …, "op": …, "error": {"kind": …, "message": …, …}}`. Whatever the line holds, there is an answer to it, so that a bad
//! case costs only itself.

use std::fmt;

use crate::json::{Json, JsonError, Object};
use crate::spec::{RefinementMode, Spec, SpecError};
use crate::trace::{Event, Trace};
use crate::verdict::{Verdict, judge};

/// What a case has no answer for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The case is no case: not JSON, a member missing or of another type, an operation that is not known.
    Input,
    /// Its spec cannot be used.
    Spec,
    /// One of its traces cannot be read.
    Trace,
}

impl ErrorKind {
    /// `input`, `spec` or `trace`.
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorKind::Input => "input",
            ErrorKind::Spec => "spec",
            ErrorKind::Trace => "trace",
        }
    }
}

/// The answer to one case. Displays as its line, without a newline.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The case's `id`, whatever it is; null where it has none.
    pub id: Json,
    /// The case's `op`, whatever it is; null where it has none.
    pub op: Json,
    /// What came of it.
    pub result: Result<Json, Refusal>,
}

/// Why a case has no answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// What is wrong with the case.
    pub kind: ErrorKind,
    /// The same in words.
    pub message: String,
    /// Where and how to mend it: `column`, `path` and `help` of a value, `problems` of a spec.
    pub details: Object,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{\"id\":{},\"op\":{},", self.id, self.op)?;
        match &self.result {
            Ok(result) => write!(f, "\"result\":{result}}}"),
            Err(refusal) => {
                let error = refusal.details.clone().with("kind", refusal.kind.as_str());
                write!(f, "\"error\":{}}}", error.with("message", refusal.message.as_str()))
            }
        }
    }
}

impl Refusal {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Refusal {
        Refusal { kind, message: message.into(), details: Object::new() }
    }

    fn detail(mut self, key: &str, value: impl Into<Json>) -> Refusal {
        self.details.insert(key, value);
        self
    }

    /// Adds where in the case it is, and what to do, if anything is known.
    fn at(self, path: &str, help: Option<&str>) -> Refusal {
        let refusal = self.detail("path", path);
        match help {
            Some(help) => refusal.detail("help", help),
            None => refusal,
        }
    }
}

impl From<JsonError> for Refusal {
    fn from(error: JsonError) -> Refusal {
        Refusal::new(ErrorKind::Input, format!("the line is not JSON: {}", error.message))
            .detail("column", error.column)
    }
}

impl From<SpecError> for Refusal {
    fn from(error: SpecError) -> Refusal {
        let message = match error.problems.as_slice() {
            [first, rest @ ..] if rest.is_empty() && error.omitted == 0 => first.message.clone(),
            [first, rest @ ..] => format!("{} (and {} more)", first.message, rest.len() + error.omitted),
            [] => "the spec cannot be used".to_owned(),
        };
        let problem = |problem: crate::spec::Problem| {
            let described = Object::new().with("message", problem.message).with("path", problem.path);
            Json::from(match problem.help {
                Some(help) => described.with("help", help),
                None => described,
            })
        };
        let problems: Json = error.problems.into_iter().map(problem).collect();
        Refusal::new(ErrorKind::Spec, message).detail("problems", problems)
    }
}

/// Answers the case that a line holds.
///
/// ```
/// use trajectly_engine::batch::answer;
///
/// let case = br#"{"id": 7, "op": "verdict", "input": {
///     "spec": {"schema_version": "0.4", "name": "triage", "command": "true", "budget_thresholds": {"max_tool_calls": 0}},
///     "baseline_events": [],
///     "candidate_events": [{"event_type": "tool_called", "seq": 1, "run_id": "a", "rel_ms": 0,
///                           "payload": {"tool_name": "fetch"}}]}}"#;
/// let expected = r#"{"id":7,"op":"verdict","result":{"primary":"BUDGET_MAX_TOOL_CALLS_EXCEEDED","status":"FAIL","#;
/// assert!(answer(case).to_string().starts_with(expected));
///
/// // Whatever it is, it has an answer.
/// assert!(answer(b"{]").to_string().starts_with(r#"{"id":null,"op":null,"error":{"column":2,"kind":"input","#));
/// ```
pub fn answer(line: &[u8]) -> Answer {
    let mut case = match Json::parse_slice(line) {
        Ok(Json::Object(case)) => case,
        other => {
            let refusal = match other {
                Ok(_) => Refusal::new(ErrorKind::Input, "the line is JSON, but no object").at("$", Some(FORM)),
                Err(error) => error.into(),
            };
            return Answer { id: Json::Null, op: Json::Null, result: Err(refusal) };
        }
    };
    let mut take = |key| case.remove(key).unwrap_or(Json::Null);
    let (id, op, input) = (take("id"), take("op"), take("input"));
    let result = match op.as_str() {
        Some("verdict") => members(input).and_then(verdict),
        Some(other) => Err(Refusal::new(ErrorKind::Input, format!("`op` {other:?} is not known"))
            .at("$.op", Some("the operation is `verdict`"))),
        None => Err(Refusal::new(ErrorKind::Input, "`op` must be a string").at("$.op", Some(FORM))),
    };
    Answer { id, op, result }
}

const FORM: &str = "a case is {\"id\": …, \"op\": \"verdict\", \"input\": {…}}";

fn members(input: Json) -> Result<Object, Refusal> {
    match input {
        Json::Object(members) => Ok(members),
        _ => Err(Refusal::new(ErrorKind::Input, "`input` must be an object").at("$.input", Some(FORM))),
    }
}

fn verdict(mut input: Object) -> Result<Json, Refusal> {
    let missing = || Refusal::new(ErrorKind::Input, "`input` needs a `spec`").at("$.input.spec", None);
    let spec = Spec::from_json(input.get("spec").ok_or_else(missing)?)?;
    spec.require_command()?;
    // A baseline that the spec does not consult is not read either.
    let baseline = match spec.refinement.mode {
        RefinementMode::None => None,
        _ => Some(trace(&mut input, "baseline_events")?),
    };
    let candidate = trace(&mut input, "candidate_events")?;
    Ok(shaped(&judge(&spec, baseline.as_ref(), &candidate)))
}

fn trace(input: &mut Object, key: &str) -> Result<Trace, Refusal> {
    let Some(Json::Array(events)) = input.remove(key) else {
        let message = format!("`{key}` must be a list of events");
        return Err(Refusal::new(ErrorKind::Input, message).at(&format!("$.input.{key}"), None));
    };
    let event = |(index, event)| {
        Event::from_json(event).map_err(|error| {
            let path = format!("$.input.{key}[{index}]{}", error.path.trim_start_matches('$'));
            Refusal::new(ErrorKind::Trace, error.message).at(&path, error.help.as_deref())
        })
    };
    let events: Result<_, _> = events.into_iter().enumerate().map(event).collect();
    Ok(Trace { events: events? })
}

/// A verdict in short: what is broken, as code, class and event.
fn shaped(verdict: &Verdict) -> Json {
    let violations = verdict.violations.iter().map(|violation| {
        let (code, class) = (violation.code.as_str(), violation.class().as_str());
        Json::from(vec![Json::from(code), Json::from(class), Json::from(violation.event_index)])
    });
    let result = Object::new()
        .with("status", verdict.status.as_str())
        .with("witness_index", verdict.witness())
        .with("primary", verdict.primary().map(|primary| primary.code.as_str()))
        .with("violations", violations.collect::<Json>());
    Json::Object(result)
}
