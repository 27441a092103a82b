//! Files that a command makes for its user. What is there already is the user's, and stays as it is.

use std::path::{Path, PathBuf};

use super::outcome::CliError;
use super::print;
use crate::store;

/// A project into which files are put.
pub(super) struct Scaffold {
    root: PathBuf,
}

impl Scaffold {
    /// The project of a folder, with a `.trajectly/` that says what of it to commit. The folder is made if it is missing.
    pub(super) fn at(root: &Path) -> Result<Self, CliError> {
        if root.exists() && !root.is_dir() {
            let error = CliError::new(format!("{} is no folder", root.display()));
            return Err(error.help("name the folder of the project"));
        }
        let scaffold = Self { root: root.to_owned() };
        scaffold.file(&format!("{}/.gitignore", store::FOLDER), store::IGNORED)?;
        Ok(scaffold)
    }

    /// Makes a file unless there is one, with the folders above it, and says on stdout which it was. `path` is relative
    /// to the project and has `/` between its parts.
    pub(super) fn file(&self, path: &str, content: &str) -> Result<(), CliError> {
        let target = self.path(path);
        let is_new = store::create(&target, content.as_bytes()).map_err(|error| CliError::from(error.to_string()))?;
        print::line(format_args!("{}  {}", if is_new { "made" } else { "kept" }, target.display()));
        Ok(())
    }

    /// The folder of the project, as it was named.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the project has a file or folder.
    pub(super) fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// A path of the project as a command has to name it that is typed where this one was.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        if self.root == Path::new(".") { path.into() } else { self.root.join(path) }
    }
}
