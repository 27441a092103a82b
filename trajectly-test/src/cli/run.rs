//! `run`: specs replayed and judged.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::baseline::version_name;
use super::outcome::{CliError, Exit};
use super::print;
use super::specs::{self, Job};
use super::targets::{Targets, relative};
use crate::env::Mode;
use crate::harness::Overrides;
use crate::runner::quoted;

#[derive(Args)]
pub(super) struct Run {
    #[command(flatten)]
    targets: Targets,
    #[command(flatten)]
    how: How,
    /// How many specs run at the same time [default: one for each processor]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print the summary of this run as JSON; all else goes to stderr
    #[arg(long)]
    json: bool,
}

/// What a replay is told beside its spec.
#[derive(Args)]
pub(super) struct How {
    /// Where baselines lie, in place of .trajectly/baselines
    #[arg(long, value_name = "DIR")]
    baseline_dir: Option<PathBuf>,
    /// Hold runs against this version of their baselines
    #[arg(long, value_name = "VERSION", value_parser = version_name)]
    baseline: Option<String>,
    /// Where fixtures lie, in place of .trajectly/fixtures
    #[arg(long, value_name = "DIR")]
    fixtures_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(super) strictness: Strictness,
}

#[derive(Args, Clone, Copy)]
pub(super) struct Strictness {
    /// Replay as if the specs said `strict: true`
    #[arg(long, overrides_with = "no_strict")]
    strict: bool,
    /// Replay as if the specs said `strict: false`
    #[arg(long)]
    no_strict: bool,
}

impl Strictness {
    /// What is said in place of the specs, if anything is.
    pub(super) fn said(self) -> Option<bool> {
        self.strict.then_some(true).or(self.no_strict.then_some(false))
    }
}

impl Run {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let found = self.targets.find()?;
        let job = Job {
            mode: Mode::Replay,
            allow_ci_write: false,
            overrides: self.how.overrides()?,
            jobs: self.jobs.or_else(|| std::thread::available_parallelism().ok()),
            results_on_stderr: self.json,
        };
        let (exit, summary) = specs::run(found, job)?;
        if self.json {
            print::line(summary.to_json_pretty().trim_end());
        }
        Ok(exit)
    }
}

impl How {
    pub(super) fn overrides(&self) -> Result<Overrides, CliError> {
        let strict = self.strictness.said();
        let mut flags = match strict {
            Some(true) => " --strict".to_owned(),
            Some(false) => " --no-strict".to_owned(),
            None => String::new(),
        };
        let mut folder = |flag: &str, path: &Option<PathBuf>| {
            let Some(path) = path else { return Ok(None) };
            let failed = |error| CliError::new(format!("{flag} {}: {error}", path.display()));
            let (here, there) =
                (PathBuf::from(".").canonicalize().map_err(failed)?, path.canonicalize().map_err(failed)?);
            flags += &format!(" {flag} {}", quoted(&relative(&here, &there).to_string_lossy()));
            Ok::<_, CliError>(Some(there))
        };
        let baseline_dir = folder("--baseline-dir", &self.baseline_dir)?;
        let fixtures_dir = folder("--fixtures-dir", &self.fixtures_dir)?;
        let version = self.baseline.clone();
        flags.extend(version.iter().map(|version| format!(" --baseline {version}")));
        Ok(Overrides { strict, baseline_dir, fixtures_dir, version, flags, ..Overrides::default() })
    }
}
