//! Reading a spec from a file, a text or a value.

use std::path::Path;
use std::str::Utf8Error;

use super::compose::compose;
use super::error::{Location, Problem, SpecError};
use super::file;
use super::model::Spec;
use super::node::{Node, Sources};
use super::notes::Notes;
use super::path::SpecPath;
use super::read::Field;
use super::sections::{self, Origin};
use crate::json::Json;
use crate::slug::slug;

impl Spec {
    /// Reads a spec file, and those it builds on with `extends` and `contracts.config`. Errors and reports name it as `path` does, so
    /// give a path that is fit to be shown.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is no UTF-8 or no YAML, or says anything that is not a spec: all problems at once.
    pub fn load(path: &Path) -> Result<Spec, SpecError> {
        Spec::load_as(path, &path.to_string_lossy())
    }

    /// As [`Spec::load`], under another name for errors and reports.
    ///
    /// # Errors
    ///
    /// As [`Spec::load`].
    pub fn load_as(path: &Path, file: &str) -> Result<Spec, SpecError> {
        let bytes = file::read(path).map_err(|error| {
            let help = "name a file that is there and may be read, such as specs/triage.agent.yaml";
            SpecError::of_file(file, format!("the spec cannot be read: {error}"), Some(help.to_owned()))
        })?;
        let text = String::from_utf8(bytes).map_err(|error| not_text(error.as_bytes(), error.utf8_error(), file))?;
        read_text(&text, &Origin { file, path })
    }

    /// Reads a spec from YAML text. `file` names it in errors and reports, and gives the default `name` and the folder that paths in the
    /// spec start from; it need not exist. The files that the spec builds on are read.
    ///
    /// # Errors
    ///
    /// If the text is no YAML or says anything that is not a spec: all problems at once.
    pub fn parse(text: &str, file: &str) -> Result<Spec, SpecError> {
        read_text(text, &Origin { file, path: Path::new(file) })
    }

    /// Reads a spec from a value. Its problems have paths, but no places, and it cannot build on files.
    ///
    /// # Errors
    ///
    /// If the value says anything that is not a spec: all problems at once.
    pub fn from_json(value: &Json) -> Result<Spec, SpecError> {
        check(Node::from(value), Sources::default(), &Origin { file: "", path: Path::new("") })
    }

    /// The name under which files of this spec's baseline are kept.
    pub fn slug(&self) -> String {
        slug(&self.name)
    }

    /// Where the value at a path such as `contracts.tools.deny[0]` is written; for a list or a mapping, where its key is.
    ///
    /// Absent for what the spec does not say (a default), for a text that is no path, and for a spec that was not read from text.
    pub fn locate(&self, path: &str) -> Option<Location> {
        self.sources.location(self.tree.find(&SpecPath::parse(path)?)?)
    }

    /// The command, for a caller that has no function to run in its place.
    ///
    /// # Errors
    ///
    /// If the spec has neither `command` nor `entrypoint`.
    pub fn require_command(&self) -> Result<&str, SpecError> {
        self.command.as_deref().ok_or_else(|| {
            let message = "nothing runs this spec here: it has no `command`";
            let help = match self.file.as_str() {
                "" => "add `command: …`".to_owned(),
                file => {
                    format!("add `command: …`, or a function with #[agent_test(spec = \"{file}\")], for `cargo test`")
                }
            };
            SpecError::of_file(&self.file, message.to_owned(), Some(help))
        })
    }
}

/// Where bytes cease to be text.
fn not_text(bytes: &[u8], error: Utf8Error, file: &str) -> SpecError {
    let after = error.valid_up_to();
    let before = String::from_utf8_lossy(&bytes[..after]);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = bytes[after..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| after + length);
    let location = Location {
        file: file.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[start..].chars().count() + 1,
        width: 1,
        text: String::from_utf8_lossy(&bytes[start..end]).replace(char::is_control, "\u{fffd}"),
    };
    let problem = Problem {
        location: Some(location),
        path: String::new(),
        message: "the spec is not UTF-8 text: no character begins like this".to_owned(),
        help: Some("save the file as UTF-8".to_owned()),
    };
    SpecError { file: file.to_owned(), problems: vec![problem], omitted: 0 }
}

fn read_text(text: &str, origin: &Origin<'_>) -> Result<Spec, SpecError> {
    let mut sources = Sources::default();
    let tree = compose(text, origin.path, origin.file, &mut sources).map_err(|faults| {
        let notes = Notes::new(&sources);
        notes.faults(faults);
        SpecError::new(origin.file, notes.into_findings(origin.file))
    })?;
    check(tree, sources, origin)
}

fn check(tree: Node, sources: Sources, origin: &Origin<'_>) -> Result<Spec, SpecError> {
    let notes = Notes::new(&sources);
    let spec = Field::root(&tree, &notes).whole(|keys| sections::spec(keys, origin));
    let findings = notes.into_findings(origin.file);
    match spec {
        Some(spec) if findings.problems.is_empty() => Ok(Spec { tree, sources, warnings: findings.warnings, ..spec }),
        _ => Err(SpecError::new(origin.file, findings)),
    }
}
