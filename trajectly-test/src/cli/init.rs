//! `init`: what a project needs before its first recording.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::outcome::{CliError, Exit};
use super::print;
use super::scaffold::Scaffold;
use crate::runner::quoted;

/// What the manifest of a crate needs besides.
const MANIFEST: &str = r#"
[dev-dependencies]
trajectly-test = { path = "../trajectly/trajectly-test" }

[[test]]
name = "agents"
harness = false
"#;

#[derive(Args)]
pub(super) struct Init {
    /// The folder of the project; made if it is missing
    #[arg(default_value = ".")]
    project_root: PathBuf,
}

impl Init {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let project = Scaffold::at(&self.project_root)?;
        let is_crate = project.has("Cargo.toml");
        if !project.has("specs") && is_crate && !project.has("tests/agents.rs") {
            project.file("specs/sample.agent.yaml", include_str!("init/function.agent.yaml"))?;
            project.file("tests/agents.rs", include_str!("init/agents.rs"))?;
        } else if !project.has("specs") && !is_crate {
            project.file("specs/sample.agent.yaml", include_str!("init/command.agent.yaml"))?;
            project.file("agents/sample.sh", include_str!("init/sample.sh"))?;
        }
        say_next(&project);
        Ok(Exit::Clean)
    }
}

/// How to go on in a project with specs.
pub(super) fn say_next(project: &Scaffold) {
    match project.has("Cargo.toml") {
        true => next_in_crate(&project.path("Cargo.toml")),
        false => next(project.root()),
    }
}

/// The commands for agents that a `command` runs.
fn next(root: &Path) {
    let root = match root == Path::new(".") {
        true => String::new(),
        false => format!(" --project-root {}", quoted(&root.to_string_lossy())),
    };
    print::line(format_args!(
        "\nRecord what the specs run, then replay it:\n\n  trajectly record --auto{root}\n  trajectly run --auto{root}"
    ));
}

/// The commands for agents that functions run.
fn next_in_crate(manifest: &Path) {
    let says = fs::read_to_string(manifest).unwrap_or_default();
    if !(says.contains("trajectly-test") && says.contains("harness = false")) {
        print::line(format_args!(
            "\nAdd this to {}, with the path of your clone of Trajectly:\n{MANIFEST}",
            manifest.display()
        ));
    }
    let manifest = match manifest == Path::new("Cargo.toml") {
        true => String::new(),
        false => format!(" --manifest-path {}", quoted(&manifest.to_string_lossy())),
    };
    print::line(format_args!(
        "\nRecord the agents, then replay them:\n\n  TRAJECTLY_UPDATE=1 cargo test --test agents{manifest}\n  \
         cargo test --test agents{manifest}"
    ));
}
