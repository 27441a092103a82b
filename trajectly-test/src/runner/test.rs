//! One test with everything it is known by: spec, store, names, expectation.

use std::path::PathBuf;
use std::time::Duration;

use trajectly_engine::code::{Code, UnknownCode};
use trajectly_engine::slug::slug;
use trajectly_engine::spec::{DEFAULT_TIMEOUT, Expect, ExpectedStatus, Problem, SnapshotLevel, Spec, SpecError};

use super::commands::commands_of;
use super::{Failure, Runner};
use crate::harness::{Case, Overrides};
use crate::render::{Commands, Paint, Trouble, spec_error, trouble};
use crate::store::{Place, Store};

pub(super) struct Test<'a> {
    pub(super) case: &'a Case,
    pub(super) spec: Spec,
    pub(super) store: Store,
    /// Where the baseline lies.
    pub(super) place: Place,
    /// Name of the baseline's files.
    pub(super) slug: String,
    /// Name of this run's own files.
    pub(super) file_slug: String,
    /// How the test is expected to fail, if it is.
    pub(super) expected: Option<Expect>,
    pub(super) commands: Commands,
    pub(super) paint: Paint,
    spec_file: String,
}

impl<'a> Test<'a> {
    /// # Errors
    ///
    /// If the spec cannot be read, or nothing says how to run it: the text to show.
    pub(super) fn load(runner: &Runner, case: &'a Case) -> Result<Self, Failure> {
        let suite = &runner.shared.suite;
        let overrides = &suite.overrides;
        let store = Store::for_spec(&case.spec, &suite.root)
            .redirected(overrides.baseline_dir.as_deref(), overrides.fixtures_dir.as_deref());
        let spec_file = store.display(&case.spec);
        let commands = commands_of(&runner.shared.program, case);
        let paint = runner.shared.paint;
        let mut spec = load(case, &spec_file).map_err(|error| {
            let text = spec_error(&case.name, &error, &commands, paint);
            Failure::outside(Code::SpecInvalid, &summary(&error), text)
        })?;
        spec.strict = overrides.strict.unwrap_or(spec.strict);
        let expected = match case.expect_fail() {
            Some(code) => Some(Expect { status: ExpectedStatus::Fail, code: Some(known(code)?), witness_index: None }),
            None => spec.expect,
        };
        Ok(Self {
            place: place(&store, &spec.slug(), overrides)?,
            slug: spec.slug(),
            file_slug: file_slug(&spec_file),
            expected,
            commands,
            paint,
            case,
            spec,
            store,
            spec_file,
        })
    }

    /// The spec's path as people see it.
    pub(super) fn spec_file(&self) -> &str {
        &self.spec_file
    }

    /// The trace that a run is held against, as people see its path.
    pub(super) fn baseline_file(&self) -> String {
        self.store.display(self.spec.baseline_trace.as_ref().unwrap_or(&self.place.trace))
    }

    /// Whether people review what a run does: in a project whose baselines have versions, where there is a snapshot of the
    /// one in force.
    pub(super) fn has_review(&self) -> bool {
        let is_kept = || self.place.is_in_force() && self.snapshot_path().exists();
        self.spec.snapshot != SnapshotLevel::Off && (self.place.version().is_none() || is_kept())
    }

    /// Whether a recording makes a snapshot.
    pub(super) fn takes_snapshot(&self) -> bool {
        let is_kept = || self.place.is_promoted_by_recording() && self.snapshot_path().exists();
        self.spec.snapshot != SnapshotLevel::Off && (self.place.version().is_none() || is_kept())
    }

    pub(super) fn snapshot_path(&self) -> PathBuf {
        crate::snapshot::path(&self.case.spec, &self.slug)
    }

    /// The attribute's limit, else the spec's, else a minute.
    pub(super) fn limit(&self) -> Duration {
        self.case.timeout().or(self.spec.timeout).unwrap_or(DEFAULT_TIMEOUT)
    }

    /// A failure outside the verdict.
    pub(super) fn trouble(&self, code: Code, message: &str, body: &[String], help: &[String], output: &str) -> Failure {
        let shown = Trouble {
            name: &self.spec.name,
            code,
            message,
            place: Some(self.spec_file()),
            body,
            help,
            output,
            commands: &self.commands,
        };
        Failure::outside(code, message, trouble(&shown, self.paint))
    }

    pub(super) fn writes_refused(&self, by_command_line: bool) -> Failure {
        let how = if by_command_line { "say --allow-ci-write" } else { "set TRAJECTLY_ALLOW_CI_WRITE=1" };
        let help = [format!("{how} in a job that is meant to update baselines")];
        self.trouble(Code::CiWriteRefused, "baselines are not written in CI", &[], &help, "")
    }
}

fn place(store: &Store, slug: &str, overrides: &Overrides) -> Result<Place, Failure> {
    let place = store.place(slug, overrides.version.as_deref())?;
    Ok(if overrides.promote { place.put_in_force() } else { place })
}

/// The spec of a case that something can run.
fn load(case: &Case, spec_file: &str) -> Result<Spec, SpecError> {
    let spec = Spec::load_as(&case.spec, spec_file)?;
    if case.function.is_none() {
        spec.require_command()?;
        require_workdir(&spec)?;
    }
    Ok(spec)
}

/// What starting the command would say of a missing folder reads as if the shell were missing.
fn require_workdir(spec: &Spec) -> Result<(), SpecError> {
    let path = "workdir";
    match spec.locate(path).filter(|_| !spec.workdir.is_dir()) {
        None => Ok(()),
        location => {
            let message = "`workdir` is no folder".to_owned();
            let help =
                Some("make the folder, or correct the path: it starts from the file that it stands in".to_owned());
            let problem = Problem { location, path: path.to_owned(), message, help };
            Err(SpecError { file: spec.file.clone(), problems: vec![problem], omitted: 0 })
        }
    }
}

/// The first problem of a spec, on one line.
fn summary(error: &SpecError) -> String {
    let Some(first) = error.problems.first() else { return "the spec cannot be used".to_owned() };
    let place = first.location.as_ref().map(|at| match at.file == error.file {
        true => format!("line {}: ", at.line),
        false => format!("{}, line {}: ", at.file, at.line),
    });
    let more = match error.problems.len() + error.omitted {
        0 | 1 => String::new(),
        count => format!(" (the first of {count} problems)"),
    };
    format!("{}{}{more}", place.unwrap_or_default(), first.message)
}

/// Name of the files of a spec file's runs. `latest` is taken: the summary of all has it.
pub(crate) fn file_slug(spec_file: &str) -> String {
    let slug = slug(&stem(spec_file));
    if slug == "latest" { "spec-latest".to_owned() } else { slug }
}

/// `specs/a/b.agent.yaml` → `a/b`: what tells a spec file from the others of its project.
pub(super) fn stem(spec_file: &str) -> String {
    let path = spec_file.strip_prefix("specs/").unwrap_or(spec_file);
    let endings = [".agent.yaml", ".agent.yml", ".yaml", ".yml"];
    endings.iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(path).to_owned()
}

fn known(code: &str) -> Result<Code, Failure> {
    code.parse().map_err(|unknown: UnknownCode| {
        Failure::from(format!("error: `expect_fail = \"{code}\"` names no code\n  = help: {}", unknown.help()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_file_names_its_runs_but_never_as_the_summary() {
        for (file, expected) in [
            ("specs/greet.agent.yaml", "greet"),
            ("commands/greet.yml", "commands-greet"),
            ("specs/latest.agent.yaml", "spec-latest"),
            ("Latest.yaml", "spec-latest"),
        ] {
            assert_eq!(file_slug(file), expected, "{file}");
        }
    }
}
