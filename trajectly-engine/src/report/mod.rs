//! Reports: what judging came to, for files that programs and people read.
//!
//! A report holds nothing that differs from one run of the same inputs to the next: no time, no duration, no absolute path, and
//! every object sorted by key.

use serde::{Serialize, Serializer};

use crate::abstraction::Predicates;
use crate::code::{Class, Code};
use crate::fixture::Usage;
use crate::json::{Json, Object};
use crate::spec::{Location, ModeProfile, Problem, Spec};
use crate::verdict::{Verdict, Violation};

mod determinism;
mod markdown;
mod reduced;
mod summary;

pub use determinism::DeterminismWarning;
pub use reduced::Reduced;
pub use summary::{Row, Stale, Summary};

/// The version of the report's members.
const REPORT_SCHEMA_VERSION: &str = "0.4";
/// The version of the normalisation that traces go through before they are judged.
const NORMALIZER_VERSION: &str = "1";
/// The version of the list of tools that are taken to have side effects.
const SIDE_EFFECT_REGISTRY_VERSION: &str = "1";

/// The report on one spec.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The spec's `name`.
    pub spec: String,
    /// The name under which the files of its baseline are kept.
    pub slug: String,
    /// The spec file, as people see it.
    pub spec_file: String,
    /// What judging came to.
    pub outcome: Outcome,
    /// The file that holds the candidate up to its witness, if there is one.
    pub prefix_file: Option<String>,
    /// What was left of the candidate when it was shrunk, if it was.
    pub reduced: Option<Reduced>,
    /// Whether the spec or its test is here to show this very failure.
    pub is_expected: bool,
    /// The command that does it all again.
    pub repro_command: String,
    /// What the spec says without effect.
    pub warnings: Vec<Problem>,
    /// What kept the run from the network, as whoever ran it names it; `None` where nothing did, or nothing ran.
    pub network_guard: Option<&'static str>,
    /// The spec's label.
    pub mode_profile: ModeProfile,
    /// How the run used the recorded answers; `None` where nothing was replayed.
    pub fixture_usage: Option<Usage>,
    /// What the agent complained of that is not the same in every run.
    pub determinism_warnings: Vec<DeterminismWarning>,
    /// What the candidate's trace says as a whole; `None` where there is no trace, or nobody asked.
    pub predicates: Option<Predicates>,
    /// Where the rule of each violation stands, in the order of the violations; `None` where the spec does not say it.
    pub places: Vec<Option<Location>>,
}

/// What judging a spec came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It could be judged.
    Judged(Verdict),
    /// It could not, or something beside the verdict keeps it from passing.
    Error {
        /// What that is.
        code: Code,
        /// The same in words.
        message: String,
    },
}

impl Outcome {
    /// `PASS`, `FAIL` or `ERROR`.
    pub fn status(&self) -> &'static str {
        match self {
            Outcome::Judged(verdict) => verdict.status.as_str(),
            Outcome::Error { code, .. } if code.is_regression() => "FAIL",
            Outcome::Error { .. } => "ERROR",
        }
    }

    /// What the outcome is called: the code of the primary violation, or of the error; none for PASS.
    pub fn code(&self) -> Option<Code> {
        match self {
            Outcome::Judged(verdict) => verdict.primary().map(|primary| primary.code),
            Outcome::Error { code, .. } => Some(*code),
        }
    }

    /// The kind of rule that failed.
    pub fn class(&self) -> Option<Class> {
        self.code().map(Code::class)
    }

    fn verdict(&self) -> Option<&Verdict> {
        match self {
            Outcome::Judged(verdict) => Some(verdict),
            Outcome::Error { .. } => None,
        }
    }

    /// Everything that is broken, sorted; empty for an error.
    pub fn violations(&self) -> &[Violation] {
        self.verdict().map(|verdict| verdict.violations.as_slice()).unwrap_or_default()
    }

    fn witness(&self) -> Option<usize> {
        self.verdict()?.witness()
    }
}

impl Report {
    /// The report on a spec that was judged. `spec_file` and `prefix_file` are named as people see them; a report is committed or
    /// uploaded, so neither may be absolute.
    pub fn new(
        spec: &Spec,
        spec_file: &str,
        verdict: &Verdict,
        prefix_file: Option<String>,
        repro_command: &str,
    ) -> Report {
        let place = |violation: &Violation| spec.locate(violation.rule.as_deref()?);
        let places = verdict.violations.iter().map(place).collect();
        let outcome = Outcome::Judged(verdict.clone());
        Report { prefix_file, places, ..Report::of(spec, spec_file, outcome, repro_command) }
    }

    /// The report on a spec that could not be judged, and why not.
    pub fn error(spec: &Spec, spec_file: &str, code: Code, message: &str, repro_command: &str) -> Report {
        let outcome = Outcome::Error { code, message: message.to_owned() };
        Report::of(spec, spec_file, outcome, repro_command)
    }

    fn of(spec: &Spec, spec_file: &str, outcome: Outcome, repro_command: &str) -> Report {
        Report {
            spec: spec.name.clone(),
            slug: spec.slug(),
            spec_file: spec_file.to_owned(),
            outcome,
            prefix_file: None,
            reduced: None,
            is_expected: false,
            repro_command: repro_command.to_owned(),
            warnings: spec.warnings.clone(),
            network_guard: None,
            mode_profile: spec.mode_profile,
            fixture_usage: None,
            determinism_warnings: Vec::new(),
            predicates: None,
            places: Vec::new(),
        }
    }

    /// The row that stands for this report in a [`Summary`].
    pub fn row(&self) -> Row {
        Row {
            spec: self.spec.clone(),
            slug: self.slug.clone(),
            spec_file: self.spec_file.clone(),
            status: self.outcome.status().to_owned(),
            code: self.outcome.code(),
            witness_index: self.outcome.witness(),
            message: match &self.outcome {
                Outcome::Judged(verdict) => verdict.primary().map(|primary| primary.message.clone()),
                Outcome::Error { message, .. } => Some(message.clone()),
            },
            prefix_file: self.prefix_file.clone(),
            reduced_file: self.reduced.as_ref().and_then(|reduced| reduced.file.clone()),
            is_expected: self.is_expected,
            repro_command: self.repro_command.clone(),
        }
    }

    /// The report as JSON over several lines, ended by a newline.
    pub fn to_json_pretty(&self) -> String {
        format!("{}\n", Json::from(self.to_object()).to_pretty())
    }

    /// The report as Markdown, ended by a newline.
    pub fn to_markdown(&self) -> String {
        markdown::report(self)
    }

    fn to_object(&self) -> Object {
        let verdict = self.outcome.verdict();
        let all = self.violations();
        let at_witness = verdict.map(Verdict::at_witness).unwrap_or_default().len();
        let skeleton_vacuous = verdict.is_some_and(|verdict| verdict.skeleton_vacuous);
        let mut paths = Object::new();
        if let Some(prefix) = &self.prefix_file {
            paths.insert("prefix", prefix.as_str());
        }
        let mut metadata = Object::new()
            .with("report_schema_version", REPORT_SCHEMA_VERSION)
            .with("normalizer_version", NORMALIZER_VERSION)
            .with("side_effect_registry_version", SIDE_EFFECT_REGISTRY_VERSION)
            .with("mode_profile", self.mode_profile.as_str())
            .with("metadata", Object::new().with("refinement_skeleton_vacuous", skeleton_vacuous));
        if let Some(guard) = self.network_guard {
            metadata.insert("network_guard", guard);
        }
        let mut report = Object::new()
            .with("spec", self.spec.as_str())
            .with("slug", self.slug.as_str())
            .with("spec_path", self.spec_file.as_str())
            .with("status", self.outcome.status())
            .with("all_violations_at_witness", all[..at_witness].to_vec())
            .with("violations", all.clone())
            .with("counterexample_paths", paths)
            .with("repro_command", self.repro_command.as_str())
            .with("warnings", self.warnings.iter().map(warning).collect::<Json>())
            .with("metadata", metadata);
        if let Some(class) = self.outcome.class() {
            report.insert("failure_class", class.as_str());
        }
        if let Some(reduced) = &self.reduced {
            reduced.add_to(&mut report);
        }
        if self.is_expected {
            report.insert("expected", true);
        }
        if let [primary, ..] = &all[..] {
            report.insert("witness_index", self.outcome.witness());
            report.insert("primary_violation", primary.clone());
        }
        if let Some(predicates) = &self.predicates {
            report.insert("predicates", predicates.to_json());
        }
        if let Some(usage) = &self.fixture_usage {
            report.insert("fixture_usage", usage.to_json());
        }
        if !self.determinism_warnings.is_empty() {
            let warnings = self.determinism_warnings.iter().map(DeterminismWarning::to_json);
            report.insert("determinism_warnings", warnings.collect::<Json>());
        }
        if let Outcome::Error { code, message } = &self.outcome {
            let error = Object::new().with("code", code.as_str()).with("message", message.as_str());
            report.insert("error", error);
        }
        report
    }

    /// The violations, each with the place of its rule.
    fn violations(&self) -> Vec<Json> {
        let places = self.places.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        let located = |(violation, place): (&Violation, Option<&Location>)| {
            let mut object = violation.to_json();
            if let Some(place) = place {
                let place = Object::new().with("file", place.file.as_str()).with("line", place.line);
                object.insert("location", place);
            }
            Json::from(object)
        };
        self.outcome.violations().iter().zip(places).map(located).collect()
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_object().serialize(serializer)
    }
}

fn warning(warning: &Problem) -> Json {
    let place = warning.location.as_ref();
    let object = Object::new()
        .with("path", warning.path.as_str())
        .with("message", warning.message.as_str())
        .with("file", place.map(|place| place.file.as_str()))
        .with("line", place.map(|place| place.line));
    Json::from(object)
}
