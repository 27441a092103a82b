//! What can be begun with: one small agent, on five libraries.

use clap::ValueEnum;

/// A library that the agent is built on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Template {
    /// Rust, on async-openai
    Openai,
    /// Rust, on rig
    Rig,
    /// Rust, on genai
    Genai,
    /// Python, on langchain-openai
    Langchain,
    /// Python, on autogen-agentchat
    Autogen,
}

type Files = [(&'static str, &'static str)];

/// A file of `templates/`, by its path there.
macro_rules! text {
    ($($path:expr),*) => { include_str!(concat!("../../../templates/", $($path),*)) };
}

/// Paths in the project, each with the file of `templates/NAME/` that is of the same path.
macro_rules! files {
    ($name:literal: $($path:literal),*) => { [$(($path, text!($name, "/", $path))),*] };
}

/// What a recording leaves.
macro_rules! recording {
    ($name:literal) => {
        files!(
            $name: "specs/snapshots/triage.snap", ".trajectly/baselines/triage.jsonl",
            ".trajectly/baselines/triage.meta.json", ".trajectly/fixtures/triage.json"
        )
    };
}

/// What is alike in crates on any library. A folder with a `Cargo.toml`, or a `.gitignore`, would be no part of this
/// crate's package as it stands, so both have other names here.
const RUST: &Files = &[
    (".gitignore", text!("rust/gitignore")),
    ("src/lib.rs", text!("rust/src/lib.rs")),
    ("tests/agents.rs", text!("rust/tests/agents.rs")),
    ("specs/triage.agent.yaml", text!("rust/specs/triage.agent.yaml")),
];
const PYTHON: &Files = &files!("python": "specs/triage.agent.yaml");

macro_rules! rust {
    ($name:literal) => {
        [&[("Cargo.toml", text!($name, "/Cargo.toml.in"))], RUST, &files!($name: "src/triage.rs"), &recording!($name)]
    };
}

macro_rules! python {
    ($name:literal) => {
        [&files!($name: "requirements.txt"), PYTHON, &files!($name: "agents/triage.py"), &recording!($name)]
    };
}

impl Template {
    /// Whether the agent is part of a crate. Else a `command` runs it.
    pub(super) fn is_rust(self) -> bool {
        matches!(self, Self::Openai | Self::Rig | Self::Genai)
    }

    /// The files of a project, by their paths in it.
    pub(super) fn files(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let files: [&'static Files; 4] = match self {
            Self::Openai => rust!("openai"),
            Self::Rig => rust!("rig"),
            Self::Genai => rust!("genai"),
            Self::Langchain => python!("langchain"),
            Self::Autogen => python!("autogen"),
        };
        files.into_iter().flatten().copied()
    }
}
