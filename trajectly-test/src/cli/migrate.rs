//! `migrate`: what older versions wrote becomes what this one reads.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use trajectly_engine::spec::migrate;

use super::outcome::{CliError, Exit};
use super::print;
use crate::store;

#[derive(Args)]
pub(super) struct Migrate {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Bring a spec up to date, with its comments and layout
    #[command(after_help = "Example:\n  trajectly migrate spec specs/triage.agent.yaml --in-place")]
    Spec(Spec),
}

#[derive(Args)]
struct Spec {
    /// The spec, of whatever version
    spec_path: PathBuf,
    /// Write the result to a file, instead of printing it
    #[arg(long, value_name = "PATH", conflicts_with = "in_place")]
    output: Option<PathBuf>,
    /// Write the result over the spec, instead of printing it
    #[arg(long)]
    in_place: bool,
}

impl Migrate {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        match self.command {
            Command::Spec(spec) => spec.run(),
        }
    }
}

impl Spec {
    fn run(self) -> Result<Exit, CliError> {
        let shown = self.spec_path.display().to_string();
        let old = read(&self.spec_path)?;
        let migrated = migrate(&old, &shown).map_err(|error| CliError::from(error.to_string()))?;
        for note in &migrated.notes {
            print::note(format_args!("{shown}:{}: {}", note.line, note.message));
        }
        if migrated.text == old {
            print::note(format_args!("{shown} is up to date"));
        }
        match self.output.or(self.in_place.then_some(self.spec_path)) {
            Some(path) if migrated.text != old || path.to_string_lossy() != shown => {
                store::write_named(&path, migrated.text.as_bytes())
                    .map_err(|error| CliError::from(error.to_string()))?;
            }
            Some(_) => {}
            None => print::verbatim(&migrated.text),
        }
        Ok(Exit::Clean)
    }
}

fn read(path: &Path) -> Result<String, CliError> {
    let help = "name a spec, such as specs/triage.agent.yaml";
    let cannot = |why: String| CliError::new(format!("cannot read {}: {why}", path.display())).help(help);
    let bytes = fs::read(path).map_err(|error| cannot(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| cannot("it is not UTF-8 text".to_owned()))
}
