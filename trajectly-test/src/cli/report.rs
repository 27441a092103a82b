//! `report`: what came of the last runs, for people and for programs.

use std::path::{Path, PathBuf};

use clap::Args;

use super::latest::{Latest, Project};
use super::outcome::{CliError, Exit};
use super::print;
use super::targets::relative;
use crate::render::{Summed, annotations, junit};
use crate::store;

#[derive(Args)]
pub(super) struct Report {
    #[command(flatten)]
    project: Project,
    #[command(flatten)]
    form: Form,
}

/// Markdown, if nothing else is asked for.
#[derive(Args)]
#[group(multiple = false)]
struct Form {
    /// Print reports/latest.json
    #[arg(long)]
    json: bool,
    /// Print Markdown for a comment on a pull request: what failed, and how to see it again
    #[arg(long)]
    pr_comment: bool,
    /// Write JUnit XML to FILE, or print it
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    junit: Option<PathBuf>,
    /// Print workflow commands of GitHub Actions: an annotation for each broken rule, at its line of the spec
    #[arg(long)]
    github: bool,
}

impl Report {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let latest = self.project.latest()?;
        let Form { json, pr_comment, junit: junit_file, github } = self.form;
        let text = if json {
            latest.text.clone()
        } else if pr_comment {
            latest.summary.to_pr_comment()
        } else if let Some(file) = junit_file {
            let xml = junit(&summed(&latest));
            if file != Path::new("-") {
                store::write_named(&file, xml.as_bytes()).map_err(|error| error.to_string())?;
                print::note(format!("{} is in {}", latest.file(), file.display()));
                return Ok(Exit::Clean);
            }
            xml
        } else if github {
            let here =
                Path::new(".").canonicalize().map_err(|error| CliError::new(format!("the current folder: {error}")))?;
            let path = |file: &str| relative(&here, &latest.store.root().join(file)).to_string_lossy().into_owned();
            annotations(&summed(&latest), path)
        } else {
            latest.summary.to_markdown()
        };
        print::note(format!("from {}", latest.file()));
        if !text.is_empty() {
            print::line(text.strip_suffix('\n').unwrap_or(&text));
        }
        Ok(Exit::Clean)
    }
}

fn summed(latest: &Latest) -> Vec<Summed<'_>> {
    latest.summary.rows().iter().map(|row| Summed::new(row, latest.report_of(row).as_ref())).collect()
}
