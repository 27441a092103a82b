//! `evaluate`: judges traces that exist already. Nothing is run.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::num::NonZero;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::thread;

use clap::Args;
use trajectly_engine::report::Report;
use trajectly_engine::spec::{RefinementMode, Spec};
use trajectly_engine::trace::Trace;
use trajectly_engine::verdict::{Status, judge};

use super::batch::{self, Stop};
use super::outcome::{CliError, Exit};
use super::{print, workers};
use crate::env::paint_for;
use crate::render::{Commands, View, clean, failure};
use crate::runner::{check_whole, quoted, unrestricted};
use crate::store::Store;

#[derive(Args)]
pub(super) struct Evaluate {
    /// The spec to judge by
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    spec: Option<PathBuf>,
    /// The trace to judge, as JSON Lines
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    candidate: Option<PathBuf>,
    /// The trace to hold it against; the spec's recorded baseline if not given
    #[arg(long, value_name = "TRACE", conflicts_with = "batch")]
    baseline: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long, conflicts_with = "batch")]
    json: bool,
    /// Judge many cases: a JSON object a line from FILE, or from standard input, and an answer a line
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    batch: Option<PathBuf>,
    /// How many cases of a batch are judged at once; as many as there are cores if not given
    #[arg(long, value_name = "N", conflicts_with = "spec")]
    jobs: Option<NonZero<usize>>,
}

impl Evaluate {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        match (self.batch, self.spec, self.candidate) {
            (Some(file), ..) => many(&file, self.jobs),
            (None, Some(spec), Some(candidate)) => pair(&spec, &candidate, self.baseline.as_deref(), self.json),
            (None, ..) => Err(CliError::new("a spec and a trace are needed, or `--batch`")),
        }
    }
}

fn many(file: &Path, jobs: Option<NonZero<usize>>) -> Result<Exit, CliError> {
    let jobs = jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZero::get);
    let stdin = file == Path::new("-");
    let outcome = match stdin {
        true => batch::run(BufReader::new(io::stdin()), io::stdout(), jobs),
        false => batch::run(open(file)?, io::stdout(), jobs),
    };
    let name = if stdin { "standard input".into() } else { file.display().to_string() };
    match outcome {
        Ok(count) => {
            if count.refused > 0 {
                print::note(format_args!(
                    "{} of {} cases have no answer; `error` says why",
                    count.refused, count.cases
                ));
            } else if count.cases == 0 {
                print::note(format_args!("{name} holds no case"));
            }
            Ok(Exit::Clean)
        }
        Err(Stop::Starting(error)) => Err(workers::none(&error)),
        Err(Stop::Reading(error)) => Err(CliError::new(format!("cannot read {name}: {error}"))),
        // Whoever reads has what they wanted.
        Err(Stop::Writing(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Clean),
        Err(Stop::Writing(error)) => Err(CliError::new(format!("cannot write to standard output: {error}"))),
    }
}

fn open(file: &Path) -> Result<BufReader<File>, CliError> {
    let cannot = |error: io::Error| {
        CliError::new(format!("cannot read {}: {error}", file.display())).help("give the path of a file")
    };
    let kind = fs::metadata(file).map_err(cannot)?.file_type();
    // A shell's `<(…)` and standard input are pipes that somebody writes to. Any other may be waited for without end.
    let is_substitution = kind.is_fifo() && (file.starts_with("/dev") || file.starts_with("/proc"));
    if !kind.is_file() && !is_substitution {
        let what = if kind.is_dir() { "a folder" } else { "a pipe or a device" };
        return Err(CliError::new(format!("{} is {what}", file.display())).help("give the path of a file"));
    }
    Ok(BufReader::with_capacity(1 << 16, File::open(file).map_err(cannot)?))
}

fn read(file: &Path) -> Result<Trace, CliError> {
    Trace::read(open(file)?, &file.to_string_lossy()).map_err(CliError::new)
}

fn pair(spec_file: &Path, candidate: &Path, baseline: Option<&Path>, json: bool) -> Result<Exit, CliError> {
    let spec = Spec::load(spec_file).map_err(|error| CliError::from(error.to_string()))?;
    // A trace that somebody names may be made by hand; one that was recorded ends as its run did.
    let was_recorded = baseline.is_none();
    let baseline = match baseline {
        Some(file) => Some(file.to_owned()),
        None if spec.refinement.mode == RefinementMode::None => None,
        None => Some(recorded(&spec, spec_file)?),
    };
    // Reading takes nearly all of the time, and neither file waits for the other.
    let (base, cand) = thread::scope(|scope| {
        let base = baseline.as_deref().map(|file| scope.spawn(move || read(file)));
        let cand = read(candidate);
        let base = base.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        (base, cand)
    });
    let (base, cand) = (base.transpose()?, cand?);
    if let (Some(file), Some(base), true) = (&baseline, &base, was_recorded) {
        check_whole(base, &file.to_string_lossy()).map_err(|message| {
            CliError::new(message)
                .help("restore it from version control, record it again, or name another with `--baseline TRACE`")
        })?;
    }
    for (file, trace) in [(baseline.as_deref(), base.as_ref()), (Some(candidate), Some(&cand))] {
        if let (Some(file), Some(trace)) = (file, trace)
            && trace.events.is_empty()
        {
            let empty = CliError::new(format!("{} holds no event", file.display()));
            return Err(empty.help("a trace is JSON Lines, one event a line"));
        }
    }
    if let Some(note) = base.as_ref().and_then(|base| unrestricted(&spec, base, &cand)) {
        print::note(note);
    }
    let verdict = judge(&spec, base.as_ref(), &cand);
    let mut command = format!("trajectly evaluate {} {}", word(spec_file), word(candidate));
    if let Some(file) = &baseline {
        command.push_str(&format!(" --baseline {}", word(file)));
    }
    if json {
        let report = Report::new(&spec, &spec_file.to_string_lossy(), &verdict, None, &command);
        print::line(report.to_json_pretty().trim_end());
    } else if verdict.status == Status::Pass {
        print::line(format_args!("PASS {}", clean(&spec.name)));
    } else {
        let text = failure(&View {
            spec: &spec,
            verdict: &verdict,
            baseline: &base.unwrap_or_default(),
            candidate: &cand,
            baseline_file: &baseline.map(|file| file.display().to_string()).unwrap_or_default(),
            candidate_file: &candidate.display().to_string(),
            prefix_file: None,
            reduced: None,
            output: "",
            notes: &spec.warnings.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>(),
            commands: &Commands { reproduce: command, accept: None, record: None },
            paint: paint_for(&io::stdout()),
        });
        print::line(text);
    }
    Ok(if verdict.status == Status::Pass { Exit::Clean } else { Exit::Regression })
}

/// A path as a word of a command.
fn word(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

/// The accepted trace of a spec.
fn recorded(spec: &Spec, spec_file: &Path) -> Result<PathBuf, CliError> {
    let here = spec_file.canonicalize().map_err(|error| CliError::new(format!("{}: {error}", spec_file.display())))?;
    let folder = here.parent().unwrap_or(Path::new("/"));
    if let Some(path) = &spec.baseline_trace {
        return Ok(path.clone());
    }
    let place = Store::for_spec(&here, folder).place(&spec.slug(), None).map_err(|error| error.to_string())?;
    if place.is_meant() && place.trace.is_file() {
        return Ok(place.trace);
    }
    Err(CliError::new(format!("`{}` has no recorded baseline to hold the trace against", spec.name))
        .help("name one with `--baseline TRACE`, or set `refinement.mode: none`"))
}
