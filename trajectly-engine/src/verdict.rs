//! The verdict: contracts and refinement together, and the first event at which something is broken.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::code::{Class, Code};
use crate::contracts::{self, Input};
use crate::json::{Json, Object};
use crate::refinement;
use crate::spec::{Expect, ExpectedStatus, Spec, SpecPath};
use crate::trace::Trace;

/// A broken rule, at the event that broke it.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// What is broken.
    pub code: Code,
    /// The position in the candidate of the event that broke it, from 0.
    pub event_index: usize,
    /// What happened, as a fragment of a sentence that names the tool or the operation.
    pub message: String,
    /// What the rule asks for.
    pub expected: Option<Json>,
    /// What was there instead.
    pub observed: Option<Json>,
    /// What to do about it.
    pub hint: Option<String>,
    /// The path of the rule in the spec, such as `contracts.tools.deny[0]`, whether the spec states it or it holds by default;
    /// see [`Spec::locate`].
    pub rule: Option<String>,
    /// The event of the baseline that has no counterpart, from 0; only for [`Code::RefinementBaselineCallMissing`].
    pub baseline_index: Option<usize>,
}

impl Violation {
    /// A violation with nothing but its code, its place and its message.
    pub fn new(code: Code, event_index: usize, message: impl Into<String>) -> Violation {
        Violation {
            code,
            event_index,
            message: message.into(),
            expected: None,
            observed: None,
            hint: None,
            rule: None,
            baseline_index: None,
        }
    }

    pub(crate) fn expected(mut self, expected: impl Into<Json>) -> Violation {
        self.expected = Some(expected.into());
        self
    }

    pub(crate) fn observed(mut self, observed: impl Into<Json>) -> Violation {
        self.observed = Some(observed.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Violation {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn rule(mut self, rule: &SpecPath) -> Violation {
        self.rule = Some(rule.to_string());
        self
    }

    /// The kind of rule that is broken.
    pub fn class(&self) -> Class {
        self.code.class()
    }

    /// The violation as reports write it: the class as `failure_class`, and what is absent left out.
    pub fn to_json(&self) -> Object {
        let mut object = Object::new()
            .with("code", self.code.as_str())
            .with("failure_class", self.class().as_str())
            .with("event_index", self.event_index)
            .with("message", self.message.as_str());
        let optional = [
            ("expected", self.expected.clone()),
            ("observed", self.observed.clone()),
            ("hint", self.hint.as_deref().map(Json::from)),
            ("rule", self.rule.as_deref().map(Json::from)),
            ("baseline_index", self.baseline_index.map(Json::from)),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                object.insert(key, value);
            }
        }
        object
    }
}

impl Serialize for Violation {
    /// As [`Violation::to_json`].
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

/// Whether anything is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Nothing is.
    Pass,
    /// Something is.
    Fail,
}

impl Status {
    /// `PASS` or `FAIL`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Pass => "PASS",
            Status::Fail => "FAIL",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What judging a candidate came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Whether anything is broken.
    pub status: Status,
    /// Everything that is broken, sorted by event, then class, code and message.
    pub violations: Vec<Violation>,
    /// Whether the baseline calls no tool, so that its skeleton asks for nothing.
    pub skeleton_vacuous: bool,
}

impl Verdict {
    /// The index of the first event that breaks a rule, from 0.
    pub fn witness(&self) -> Option<usize> {
        self.primary().map(|violation| violation.event_index)
    }

    /// Everything that is broken at the witness; the primary violation is the first.
    pub fn at_witness(&self) -> &[Violation] {
        let first = self.violations.first().map(|first| first.event_index);
        let count = self.violations.iter().take_while(|violation| Some(violation.event_index) == first).count();
        &self.violations[..count]
    }

    /// The violation that decides what the failure is called: the first at the witness.
    pub fn primary(&self) -> Option<&Violation> {
        self.violations.first()
    }
}

impl Expect {
    /// Whether a verdict is the one that the spec is here to show.
    ///
    /// # Errors
    ///
    /// What was expected and what came instead, as one sentence.
    pub fn met_by(&self, verdict: &Verdict) -> Result<(), String> {
        match (self.status, verdict.primary()) {
            (ExpectedStatus::Pass, None) => return Ok(()),
            (ExpectedStatus::Pass, Some(primary)) => {
                return Err(format!("the run fails with {}, and is expected to pass", primary.code));
            }
            (ExpectedStatus::Error, None) => {
                return Err("the run passes, and is expected not to be judged at all".to_owned());
            }
            (ExpectedStatus::Error, Some(primary)) => {
                return Err(format!("the run fails with {}, and is expected not to be judged at all", primary.code));
            }
            (ExpectedStatus::Fail, None) => {
                let code = self.code.map(|code| format!(" with {code}")).unwrap_or_default();
                return Err(format!("the run passes, and is expected to fail{code}"));
            }
            (ExpectedStatus::Fail, Some(_)) => {}
        }
        if let Some(code) = self.code
            && !verdict.at_witness().iter().any(|violation| violation.code == code)
        {
            let codes: Vec<&str> = verdict.at_witness().iter().map(|violation| violation.code.as_str()).collect();
            return Err(format!("the run fails with {}, and is expected to fail with {code}", codes.join(", ")));
        }
        match (self.witness_index, verdict.witness()) {
            (Some(expected), Some(witness)) if expected != witness as u64 => {
                Err(format!("the run fails at event {witness}, and is expected to fail at event {expected}"))
            }
            _ => Ok(()),
        }
    }
}

/// Judges a candidate by a spec, and against a baseline unless there is none or `refinement.mode` is `none`.
///
/// The same arguments give the same verdict, to the last byte.
pub fn judge(spec: &Spec, baseline: Option<&Trace>, candidate: &Trace) -> Verdict {
    let mut violations = contracts::check(&Input::new(spec, candidate));
    let mut skeleton_vacuous = false;
    if let Some(baseline) = baseline {
        let comparison = refinement::compare(&spec.refinement, baseline, candidate);
        violations.extend(comparison.violations);
        skeleton_vacuous = comparison.vacuous;
    }
    violations.sort_by(|a, b| {
        let order = a.event_index.cmp(&b.event_index).then_with(|| a.class().cmp(&b.class()));
        order.then_with(|| a.code.cmp(&b.code)).then_with(|| a.message.cmp(&b.message))
    });
    let status = if violations.is_empty() { Status::Pass } else { Status::Fail };
    Verdict { status, violations, skeleton_vacuous }
}
