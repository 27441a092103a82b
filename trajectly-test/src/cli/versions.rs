//! `baseline create`, `list` and `promote`: the named versions of baselines.

use std::path::{Path, PathBuf};

use clap::Args;
use trajectly_engine::json::{Json, Object};
use trajectly_engine::slug::slug;
use trajectly_engine::spec::Spec;

use super::baseline::version_name;
use super::outcome::{CliError, Exit};
use super::print;
use super::specs::{self, Job};
use super::targets::Targets;
use crate::env::{Env, Mode};
use crate::harness::Overrides;
use crate::store::Store;

#[derive(Args)]
pub(super) struct Create {
    #[command(flatten)]
    targets: Targets,
    /// What to call the version
    #[arg(long, value_name = "VERSION", value_parser = version_name)]
    name: String,
    /// Put it in force, too; the first version of a baseline always is
    #[arg(long)]
    promote: bool,
    /// Write baselines even in CI
    #[arg(long)]
    allow_ci_write: bool,
}

impl Create {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let job = Job {
            mode: Mode::Record,
            allow_ci_write: self.allow_ci_write,
            overrides: Overrides { version: Some(self.name), promote: self.promote, ..Overrides::default() },
            // One after the other, as what they call is real.
            jobs: None,
            results_on_stderr: false,
        };
        Ok(specs::run(self.targets.find()?, job)?.0)
    }
}

/// The baselines of a project that a command is about.
#[derive(Args)]
pub(super) struct Baselines {
    /// Names of baselines, or spec files; all baselines if none is given
    #[arg(value_name = "BASELINE")]
    baselines: Vec<String>,
    /// The folder that holds .trajectly/, or lies in one that does
    #[arg(long, value_name = "DIR", default_value = ".")]
    project_root: PathBuf,
}

impl Baselines {
    /// The store, and the slugs in question: as given, or all in the order of their names.
    fn find(&self) -> Result<(Store, Vec<String>), CliError> {
        let store = store(&self.project_root)?;
        let mut slugs = match self.baselines.is_empty() {
            true => store.slugs(),
            false => self.baselines.iter().map(|target| slug_of(target)).collect::<Result<_, _>>()?,
        };
        slugs.sort_unstable();
        slugs.dedup();
        Ok((store, slugs))
    }
}

/// The store of a project.
pub(super) fn store(project_root: &Path) -> Result<Store, CliError> {
    let failed = |error| CliError::new(format!("--project-root {}: {error}", project_root.display()));
    let root = project_root.canonicalize().map_err(failed)?;
    Ok(Store::for_spec(&root.join("spec"), &root))
}

/// The slug that a spec file has, or that a name makes.
pub(super) fn slug_of(target: &str) -> Result<String, CliError> {
    match Path::new(target).is_file() {
        true => Ok(Spec::load(Path::new(target)).map_err(|error| CliError::from(error.to_string()))?.slug()),
        false => Ok(slug(target)),
    }
}

#[derive(Args)]
pub(super) struct List {
    #[command(flatten)]
    baselines: Baselines,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let (store, slugs) = self.baselines.find()?;
        let mut rows = Vec::new();
        for slug in slugs {
            let promoted = store.in_force(&slug).map_err(|error| error.to_string())?;
            rows.push((store.versions(&slug), promoted, slug));
        }
        if self.json {
            let specs = rows.iter().map(|(versions, promoted, slug)| {
                let versions: Json = versions.iter().map(|version| Json::from(version.as_str())).collect();
                let row = Object::new().with("slug", slug.as_str()).with("versions", versions);
                Json::from(row.with("promoted", promoted.clone()))
            });
            let specs: Json = specs.collect();
            print::line(Json::from(Object::new().with("schema_version", "v1").with("specs", specs)).to_pretty());
            return Ok(Exit::Clean);
        }
        if rows.is_empty() {
            print::note("there is no baseline");
        }
        for (versions, promoted, slug) in rows {
            let shown = versions.iter().map(|version| match promoted.as_ref() == Some(version) {
                true => format!("{version} (in force)"),
                false => version.clone(),
            });
            let shown: Vec<String> = shown.collect();
            print::line(format!("{slug}: {}", if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }));
        }
        Ok(Exit::Clean)
    }
}

#[derive(Args)]
pub(super) struct Promote {
    /// The version to put in force
    #[arg(value_name = "VERSION", value_parser = version_name)]
    version: String,
    #[command(flatten)]
    baselines: Baselines,
    /// Write even in CI
    #[arg(long)]
    allow_ci_write: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Promote {
    /// Baselines that have the version are promoted, whatever the others have.
    pub(super) fn run(self) -> Result<Exit, CliError> {
        if Env::read().map_err(|error| error.to_string())?.writes_refused && !self.allow_ci_write {
            let refused = CliError::new("baselines are not written in CI");
            return Err(refused.help("say --allow-ci-write in a job that is meant to update baselines"));
        }
        let (store, slugs) = self.baselines.find()?;
        let has_it = |slug: &String| store.versions(slug).contains(&self.version);
        let (promoted, missing): (Vec<String>, Vec<String>) = slugs.into_iter().partition(has_it);
        for slug in &promoted {
            store.promote(slug, &self.version).map_err(|error| error.to_string())?;
        }
        if self.json {
            let list = |slugs: &[String]| slugs.iter().map(|slug| Json::from(slug.as_str())).collect::<Json>();
            let said = Object::new()
                .with("schema_version", "v1")
                .with("version", self.version.as_str())
                .with("promoted", list(&promoted))
                .with("missing", list(&missing));
            print::line(Json::from(said).to_pretty());
        } else {
            promoted.iter().for_each(|slug| print::line(format!("{slug}: {} is in force", self.version)));
        }
        if promoted.is_empty() && missing.is_empty() {
            return Err(CliError::new("there is no baseline").help("record one: trajectly record SPEC"));
        }
        if missing.is_empty() {
            return Ok(Exit::Clean);
        }
        let nothing = CliError::new(format!("there is no version `{}` of {}", self.version, missing.join(", ")));
        Err(nothing.help("`trajectly baseline list` shows which there are"))
    }
}
