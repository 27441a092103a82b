//! `shrink`: leaves of a recorded failure what it needs.

use std::time::Duration;

use clap::Args;
use trajectly_engine::json::{Json, Object};
use trajectly_engine::report::{Reduced, Row, Summary};
use trajectly_engine::spec::Spec;
use trajectly_engine::trace::Trace;
use trajectly_engine::verdict::judge;

use super::latest::{Again, Latest, Project};
use super::outcome::{CliError, Exit};
use super::print::{line, note};
use crate::harness::Overrides;
use crate::render::{clean, outline};
use crate::runner::{Effort, Failed, file_slug};
use crate::store::{Store, StoreError, read_text};

#[derive(Args)]
pub(super) struct Shrink {
    /// Which failure: `latest` for the first, or the name or path of a spec
    #[arg(default_value = "latest")]
    selector: String,
    #[command(flatten)]
    project: Project,
    /// How long to look for a smaller one
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    max_seconds: Duration,
    /// How many parts of the run to try
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: u32,
    /// Print what came of it as JSON
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|time| !time.is_zero()).ok_or_else(|| "it is a number of seconds greater than 0".to_owned())
}

impl Shrink {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let latest = self.project.latest()?;
        let row = latest.select(&self.selector)?;
        let failure = Failure::read(&latest, row)?;
        let effort = Effort {
            max_iterations: usize::try_from(self.max_iterations).unwrap_or(usize::MAX),
            max_time: self.max_seconds,
            keep_unfinished: true,
        };
        let slug = file_slug(&row.spec_file);
        let (reduced, in_time) = match failure.as_failed().reduce(&failure.store, &slug, effort) {
            Ok(Some(reduced)) => reduced,
            Ok(None) => return Err(stale(row)),
            Err(error) => return Err(error.to_string().into()),
        };
        update(&latest, row, &reduced).map_err(|error| error.to_string())?;
        if !in_time {
            note(format!("the time was up after {} parts; --max-seconds gives it more", reduced.stats.iterations));
        } else if reduced.stats.iterations == effort.max_iterations {
            note(format!("the {} parts are used up; --max-iterations gives it more", effort.max_iterations));
        }
        if self.json {
            line(Json::from(to_json(row, &reduced)).to_pretty());
        } else {
            show(row, &reduced, &failure.left(&reduced)?);
        }
        Ok(Exit::Clean)
    }
}

/// A failure as it was recorded.
struct Failure {
    store: Store,
    spec: Spec,
    baseline: Trace,
    candidate: Trace,
}

impl Failure {
    fn read(latest: &Latest, row: &Row) -> Result<Self, CliError> {
        let Some(witness) = row.witness_index else { return Err(no_witness(row)) };
        let path = latest.spec_path(row);
        let spec = Spec::load_as(&path, &row.spec_file).map_err(|error| {
            let gone = CliError::new(format!("the spec of that report cannot be read\n{error}"));
            gone.help("run what is there now, with `cargo test` or `trajectly run`")
        })?;
        let told = match Again::of(row)? {
            Again::Replay(how) => how.overrides()?,
            Again::CargoTest(_) => Overrides::default(),
        };
        let store = Store::for_spec(&path, latest.store.root())
            .redirected(told.baseline_dir.as_deref(), told.fixtures_dir.as_deref());
        let place = store.place(&spec.slug(), told.version.as_deref()).map_err(|error| error.to_string())?;
        let baseline_path = spec.baseline_trace.clone().unwrap_or(place.trace);
        let baseline = read_text(&baseline_path).map_err(|error| {
            CliError::new(format!("the baseline of that run: {}: {error}", store.display(&baseline_path)))
                .help("restore it from version control, or record it again")
        })?;
        let candidate_path = store.current_path(&file_slug(&row.spec_file));
        let candidate = read_text(&candidate_path).map_err(|error| {
            CliError::new(format!("the run of that report: {}: {error}", store.display(&candidate_path)))
                .help(format!("make it again: {}", row.repro_command))
        })?;
        let parse = |text: &str, path| Trace::parse(text, &store.display(path)).map_err(CliError::new);
        let baseline = parse(&baseline, &baseline_path)?;
        let candidate = parse(&candidate, &candidate_path)?;
        let verdict = judge(&spec, Some(&baseline), &candidate);
        if verdict.witness() != Some(witness) || verdict.primary().map(|primary| primary.code) != row.code {
            return Err(stale(row));
        }
        Ok(Self { store, spec, baseline, candidate })
    }

    /// What is left: the events of the counterexample.
    fn left(&self, reduced: &Reduced) -> Result<Trace, CliError> {
        let Some(file) = &reduced.file else { return Ok(self.candidate.clone()) };
        let text = read_text(&self.store.root().join(file));
        let text = text.map_err(|error| CliError::new(format!("{file}: {error}")))?;
        Trace::parse(&text, file).map_err(CliError::new)
    }

    fn as_failed(&self) -> Failed<'_> {
        Failed { spec: &self.spec, baseline: &self.baseline, candidate: &self.candidate }
    }
}

fn no_witness(row: &Row) -> CliError {
    let (file, again) = (&row.spec_file, &row.repro_command);
    match row.code {
        None => CliError::new(format!("{file} passed: there is nothing to shrink")),
        Some(code) => CliError::new(format!("{file} failed with {code}, which is at no event of its run"))
            .help(format!("look at it again: {again}")),
    }
}

fn stale(row: &Row) -> CliError {
    let changed = format!("{} or its baseline has changed since the run: it no longer fails like that", row.spec_file);
    CliError::new(changed).help(format!("run it again: {}", row.repro_command))
}

/// Adds the counterexample to the reports. What they say of the verdict stays.
fn update(latest: &Latest, row: &Row, reduced: &Reduced) -> Result<(), StoreError> {
    let (store, slug) = (&latest.store, file_slug(&row.spec_file));
    let (json, markdown) = (store.report_path(&slug, "json"), store.report_path(&slug, "md"));
    let read = |path| read_text(path).unwrap_or_default();
    if let Some((new_json, new_markdown)) = reduced.add_to_texts(&read(&json), &read(&markdown)) {
        store.write_run_file(&json, &new_json)?;
        store.write_run_file(&markdown, &new_markdown)?;
    }
    let latest_json = store.report_path("latest", "json");
    store.edit_shared(&latest_json, |text| {
        let Some(mut summary) = text.and_then(|text| Summary::parse(&text)) else { return Vec::new() };
        summary.put(Row { reduced_file: reduced.file.clone(), ..row.clone() });
        vec![(latest_json.clone(), summary.to_json_pretty())]
    })
}

fn to_json(row: &Row, reduced: &Reduced) -> Object {
    Object::new()
        .with("spec", row.spec.as_str())
        .with("spec_path", row.spec_file.as_str())
        .with("primary_violation", row.code.map(|code| code.as_str()))
        .with("witness_index", row.witness_index)
        .with("reduced", reduced.file.as_deref())
        .with("shrink_stats", reduced.stats.to_json())
}

fn show(row: &Row, reduced: &Reduced, left: &Trace) {
    let (stats, code) = (reduced.stats, row.code.map(|code| code.as_str()).unwrap_or_default());
    let tried = format!("{} part{} tried", stats.iterations, if stats.iterations == 1 { "" } else { "s" });
    line(format!("{}: {code} at event {}\n", clean(&row.spec_file), row.witness_index.unwrap_or_default()));
    line(outline(left));
    match &reduced.file {
        Some(file) => line(format!("   {file} ({} of {} events, {tried})", stats.reduced_len, stats.original_len)),
        None => line(format!("   all of its {} events are needed ({tried})", stats.original_len)),
    }
}
