//! `baseline diff`: what two versions of a baseline differ in.

use std::path::PathBuf;

use clap::Args;
use trajectly_engine::code::Class;
use trajectly_engine::json::{Json, Object};
use trajectly_engine::spec::Spec;
use trajectly_engine::trace::{Event, EventType, Trace};
use trajectly_engine::verdict::{Violation, judge};

use super::baseline::version_name;
use super::outcome::{CliError, Exit};
use super::print;
use super::versions::{slug_of, store};
use crate::store::Store;

/// What differs from run to run.
const OF_ONE_RUN: [&str; 4] = ["duration_ms", "spec_path", "stderr_tail", "stdout_tail"];

#[derive(Args)]
pub(super) struct Diff {
    /// Name of a baseline, or a spec file
    #[arg(value_name = "BASELINE")]
    baseline: String,
    /// The version to start from
    #[arg(value_parser = version_name)]
    left: String,
    /// The version to compare with it
    #[arg(value_parser = version_name)]
    right: String,
    /// The folder that holds .trajectly/, or lies in one that does
    #[arg(long, value_name = "DIR", default_value = ".")]
    project_root: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Diff {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let store = store(&self.project_root)?;
        let slug = slug_of(&self.baseline)?;
        let left = read(&store, &slug, &self.left)?;
        let right = read(&store, &slug, &self.right)?;
        let compared =
            Compared { left_to_right: breaks(&left, &right)?, right_to_left: breaks(&right, &left)?, left, right };
        match self.json {
            true => print::line(Json::from(compared.to_json(&slug, &self.left, &self.right)).to_pretty()),
            false => print::line(compared.to_text(&slug, &self.left, &self.right)),
        }
        Ok(Exit::Clean)
    }
}

fn read(store: &Store, slug: &str, version: &str) -> Result<Trace, CliError> {
    let place = store.place(slug, Some(version)).map_err(|error| error.to_string())?;
    let files = store.baseline(&place, || ()).map_err(|error| error.to_string())?;
    let Some((files, ())) = files else {
        let nothing = CliError::new(format!("there is no version `{version}` of `{slug}`"));
        return Err(match store.versions(slug).as_slice() {
            [] => nothing.help("`trajectly baseline list` shows which baselines there are"),
            versions => nothing.help(format!("the versions that there are: {}", versions.join(", "))),
        });
    };
    Trace::parse(&files.trace, &store.display(&place.trace)).map_err(CliError::new)
}

/// How a run like the second breaks what the first promises, where nothing else is allowed or forbidden.
fn breaks(baseline: &Trace, candidate: &Trace) -> Result<Vec<Violation>, CliError> {
    let spec = Spec::parse("schema_version: \"0.4\"\nname: any\n", "").map_err(CliError::new)?;
    let mut violations = judge(&spec, Some(baseline), candidate).violations;
    violations.retain(|violation| violation.code.class() == Class::Refinement);
    Ok(violations)
}

struct Compared {
    left: Trace,
    right: Trace,
    left_to_right: Vec<Violation>,
    right_to_left: Vec<Violation>,
}

impl Compared {
    fn first_difference(&self) -> Option<(usize, String)> {
        let (left, right) = (&self.left.events, &self.right.events);
        (0..left.len().max(right.len())).find_map(|n| match (left.get(n), right.get(n)) {
            (Some(left), Some(right)) => difference(left, right).map(|path| (n, path)),
            _ => Some((n, "$".to_owned())),
        })
    }

    fn to_json(&self, slug: &str, left: &str, right: &str) -> Object {
        let list = |violations: &[Violation]| -> Json { violations.iter().map(|v| Json::from(v.to_json())).collect() };
        let first = self.first_difference().map(|(index, path)| {
            let event = |trace: &Trace| trace.events.get(index).map(|event| Json::from(seen(event)));
            let first = Object::new().with("event_index", index).with("path", path);
            Json::from(first.with("left", event(&self.left)).with("right", event(&self.right)))
        });
        Object::new()
            .with("schema_version", "v1")
            .with("slug", slug)
            .with("left", left)
            .with("right", right)
            .with("counts", Object::new().with("left", counts(&self.left)).with("right", counts(&self.right)))
            .with("first_difference", first)
            .with("left_to_right", list(&self.left_to_right))
            .with("right_to_left", list(&self.right_to_left))
    }

    fn to_text(&self, slug: &str, left: &str, right: &str) -> String {
        let counted = |trace: &Trace| {
            let count = |event_type| trace.events.iter().filter(|event| event.event_type == event_type).count();
            let (events, tools, models) =
                (trace.events.len(), count(EventType::ToolCalled), count(EventType::LlmCalled));
            format!("{events} events, {tools} tool calls, {models} model calls")
        };
        let mut lines = vec![
            format!("{slug}: {left} and {right}"),
            format!("  {left}: {}", counted(&self.left)),
            format!("  {right}: {}", counted(&self.right)),
        ];
        match self.first_difference() {
            None => lines.push("  they do the same".to_owned()),
            Some((index, path)) => {
                lines.push(format!("  they differ first at event {index}, in {path}"));
                for (version, trace) in [(left, &self.left), (right, &self.right)] {
                    let event = trace.events.get(index).map_or_else(
                        || "nothing".to_owned(),
                        |event| format!("{} {}", event.event_type.as_str(), Json::from(seen(event)).to_compact()),
                    );
                    lines.push(format!("    {version}: {event}"));
                }
            }
        }
        for (from, to, violations) in [(left, right, &self.left_to_right), (right, left, &self.right_to_left)] {
            match violations.as_slice() {
                [] => lines.push(format!("  a run like {to} keeps to {from}")),
                violations => {
                    lines.push(format!("  a run like {to} breaks {from}:"));
                    let told =
                        |v: &Violation| format!("    {} at event {}: {}", v.code.as_str(), v.event_index, v.message);
                    lines.extend(violations.iter().map(told));
                }
            }
        }
        lines.join("\n")
    }
}

fn counts(trace: &Trace) -> Object {
    let count = |event_type| trace.events.iter().filter(|event| event.event_type == event_type).count();
    Object::new()
        .with("events", trace.events.len())
        .with("tool_calls", count(EventType::ToolCalled))
        .with("llm_calls", count(EventType::LlmCalled))
}

/// What an event says, whatever run it is of.
fn seen(event: &Event) -> Object {
    let mut payload = event.payload.clone();
    payload.retain(|key, _| !OF_ONE_RUN.contains(&key));
    payload
}

/// Where two events differ first, as a JSON path.
fn difference(left: &Event, right: &Event) -> Option<String> {
    if left.event_type != right.event_type {
        return Some("$.event_type".to_owned());
    }
    let mut path = "$.payload".to_owned();
    differs(&seen(left).into(), &seen(right).into(), &mut path).then_some(path)
}

/// Whether two values differ; `path` then leads to the first place where they do.
fn differs(left: &Json, right: &Json, path: &mut String) -> bool {
    let length = path.len();
    match (left, right) {
        (Json::Object(a), Json::Object(b)) => {
            let mut keys: Vec<&str> = a.iter().chain(b.iter()).map(|(key, _)| key).collect();
            keys.sort_unstable();
            keys.dedup();
            keys.into_iter().any(|key| {
                path.truncate(length);
                path.push('.');
                path.push_str(key);
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => differs(a, b, path),
                    _ => true,
                }
            })
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => a.iter().zip(b).enumerate().any(|(n, (a, b))| {
            path.truncate(length);
            path.push_str(&format!("[{n}]"));
            differs(a, b, path)
        }),
        _ => left != right,
    }
}
