//! `enable`: a project with an agent to begin with, or one that has agents already.

mod manifest;
mod template;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::outcome::{CliError, Exit};
use super::scaffold::Scaffold;
use super::{init, print, targets};
use crate::runner::quoted;
use crate::store::StoreError;
use template::Template;

#[derive(Args)]
pub(super) struct Enable {
    /// The folder of the project; made if it is missing
    #[arg(default_value = ".")]
    project_root: PathBuf,
    /// Add an agent with its test and a recording of it
    #[arg(long)]
    template: Option<Template>,
}

impl Enable {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        match self.template {
            Some(template) => add(template, &self.project_root)?,
            None => discover(&self.project_root)?,
        }
        Ok(Exit::Clean)
    }
}

/// Says which specs there are.
fn discover(root: &Path) -> Result<(), CliError> {
    let project = Scaffold::at(root)?;
    let specs = targets::of_project(root)?;
    if specs.is_empty() {
        print::line("\nThere are no specs yet. `trajectly init` makes a sample, and `--template` adds a whole agent.");
        return Ok(());
    }
    for spec in &specs {
        print::line(format_args!("found  {}", spec.display()));
    }
    init::say_next(&project);
    Ok(())
}

/// Adds the files of a template that the project does not have, and says what is left to do.
fn add(template: Template, root: &Path) -> Result<(), CliError> {
    let crate_name = match template.is_rust() {
        true => manifest::crate_name(&root.join("Cargo.toml"))?,
        false => None,
    };
    let text_of = |text: &str| match &crate_name {
        Some(name) => text.replace("triage_agent::", &format!("{name}::")),
        None => text.to_owned(),
    };
    let kept: Vec<&str> = template.files().map(|(path, _)| path).filter(|path| root.join(path).exists()).collect();
    let project = Scaffold::at(root)?;
    for (path, text) in template.files() {
        project.file(path, &text_of(text))?;
    }
    let mut complete = true;
    for (path, text) in template.files().filter(|(path, _)| kept.contains(path)) {
        let target = project.path(path);
        let says = fs::read_to_string(&target)
            .map_err(|error| CliError::from(StoreError::new("read", &target, error).to_string()))?;
        let lines = missing(path, &text_of(text), &says);
        if !lines.is_empty() {
            print::line(format_args!("\nAdd this to {}:\n\n{lines}", target.display()));
            complete = false;
        }
    }
    say_next(template, &project, complete);
    Ok(())
}

/// What a file that was there lacks of what the template needs in it. Nothing, for files that stand for themselves.
fn missing(path: &str, template: &str, says: &str) -> String {
    let is_missing =
        |line: &&str| !line.is_empty() && !line.starts_with("//!") && !says.lines().any(|has| has == *line);
    match path {
        "Cargo.toml" => manifest::missing(template, says),
        "src/lib.rs" | "requirements.txt" | ".gitignore" => {
            template.lines().filter(is_missing).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn say_next(template: Template, project: &Scaffold, complete: bool) {
    let at = |path: &str| quoted(&project.path(path).to_string_lossy());
    let then = if complete { "The agent was recorded. Replay it" } else { "Then replay the agent, which was recorded" };
    if template.is_rust() {
        let manifest = match project.root() == Path::new(".") {
            true => String::new(),
            false => format!(" --manifest-path {}", at("Cargo.toml")),
        };
        print::line(format_args!(
            "\n{then}, without a key or a network:\n\n  cargo test --test agents{manifest}\n\n\
             Record it anew, with a real model:\n\n  \
             OPENAI_API_KEY=... TRAJECTLY_UPDATE=1 cargo test --test agents{manifest}\n\n\
             As long as Trajectly is not on crates.io, cargo finds it with one more argument, the path of your clone:\n\n  \
             --config 'patch.crates-io.trajectly-test.path = \"../trajectly/trajectly-test\"'"
        ));
    } else {
        let (requirements, spec) = (at("requirements.txt"), at("specs/triage.agent.yaml"));
        print::line(format_args!(
            "\n{then}, without a key or a network:\n\n  python3 -m pip install -r {requirements}\n  \
             trajectly run {spec}\n\nRecord it anew, with a real model:\n\n  OPENAI_API_KEY=... trajectly record {spec}"
        ));
    }
}
