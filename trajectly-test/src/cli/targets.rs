//! Which specs a command is about.

use std::fs;
use std::path::{Component, Path, PathBuf};

use clap::Args;
use trajectly_engine::spec::Spec;

use super::outcome::CliError;
use super::print::note;
use crate::harness::Case;

/// What a spec file is called.
const ENDING: &str = ".agent.yaml";
/// Folders of what others made, besides virtual environments and folders whose names begin with a dot.
const NOT_OURS: [&str; 5] = ["node_modules", "dist", "build", "target", "__pycache__"];

#[derive(Args)]
pub(super) struct Targets {
    /// Spec files, globs, or folders: all specs below them
    #[arg(value_name = "SPEC")]
    specs: Vec<String>,
    /// Every *.agent.yaml below the project root
    #[arg(long, conflicts_with = "specs")]
    auto: bool,
    /// The folder that holds .trajectly/, where no folder above a spec does
    #[arg(long, value_name = "DIR", default_value = ".")]
    project_root: PathBuf,
}

/// The specs that a command is about, and where they lie.
pub(super) struct Found {
    /// The project's folder, absolute.
    pub(super) root: PathBuf,
    /// The flag that names it, with a space before; empty for the current folder.
    pub(super) project_flag: String,
    /// Sorted by path, each once, named by its path from the project's folder.
    pub(super) cases: Vec<Case>,
}

impl Found {
    fn new(here: &Path, root: PathBuf, specs: Vec<PathBuf>) -> Self {
        let project_flag = match here == root {
            true => String::new(),
            false => format!(" --project-root {}", crate::runner::quoted(&relative(here, &root).to_string_lossy())),
        };
        let mut cases: Vec<Case> = specs
            .into_iter()
            .map(|spec| {
                let name = relative(&root, &spec).to_string_lossy().into_owned();
                Case { name, ..Case::of_spec(&root, spec) }
            })
            .collect();
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        cases.dedup_by(|a, b| a.name == b.name);
        Self { root, project_flag, cases }
    }

    /// One spec of a project.
    ///
    /// # Errors
    ///
    /// If it is not there.
    pub(super) fn spec(root: &Path, spec_file: &str) -> Result<Self, CliError> {
        let here = absolute(Path::new("."), "the current folder")?;
        let spec = absolute(&root.join(spec_file), spec_file)?;
        Ok(Self::new(&here, root.to_owned(), vec![spec]))
    }
}

impl Targets {
    /// # Errors
    ///
    /// If there is nothing to run, or a target is not there.
    pub(super) fn find(&self) -> Result<Found, CliError> {
        let here = absolute(Path::new("."), "the current folder")?;
        let root = absolute(&self.project_root, "--project-root")?;
        let specs = match (self.auto, self.specs.is_empty()) {
            (true, _) => with_command(below(&root)?, &root, &root)?,
            (false, true) => {
                let help = format!("name files, folders or globs, or say --auto for every *{ENDING} of the project");
                return Err(CliError::new("there is no spec to run").help(help));
            }
            (false, false) => self.named(&root)?,
        };
        Ok(Found::new(&here, root, specs))
    }

    fn named(&self, root: &Path) -> Result<Vec<PathBuf>, CliError> {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for target in &self.specs {
            let matched = match [Path::new(target), &root.join(target)].into_iter().find(|path| path.exists()) {
                Some(folder) if folder.is_dir() => {
                    let folder = absolute(folder, target)?;
                    with_command(below(&folder)?, &folder, root)?
                }
                Some(file) => vec![absolute(file, target)?],
                None => matching(target)?,
            };
            if matched.is_empty() {
                missing.push(format!("`{target}`"));
            }
            found.extend(matched);
        }
        if missing.is_empty() {
            return Ok(found);
        }
        let nothing = CliError::new(format!("no spec matches {}", missing.join(", ")));
        Err(nothing.help(format!("give the path of an `{ENDING}` file, a folder or a glob")))
    }
}

/// Every spec of a project, sorted, by a path from the current folder.
pub(super) fn of_project(root: &Path) -> Result<Vec<PathBuf>, CliError> {
    let here = absolute(Path::new("."), "the current folder")?;
    let mut specs: Vec<PathBuf> = below(root)?.iter().map(|spec| relative(&here, spec)).collect();
    specs.sort();
    Ok(specs)
}

fn matching(pattern: &str) -> Result<Vec<PathBuf>, CliError> {
    let paths = glob::glob(pattern).map_err(|error| {
        CliError::new(format!("`{pattern}` is no glob: {} at character {}", error.msg, error.pos))
            .help("write for example 'specs/**/*.agent.yaml'")
    })?;
    let files = paths.flatten().filter(|path| path.is_file());
    files.map(|path| absolute(&path, pattern)).collect()
}

/// Leaves out what the command line cannot run: a spec without a `command` belongs to a test function, or is there for
/// others to extend. One that cannot be read stays, to be told of.
fn with_command(specs: Vec<PathBuf>, searched: &Path, root: &Path) -> Result<Vec<PathBuf>, CliError> {
    let is_left_out = |path: &PathBuf| Spec::load(path).is_ok_and(|spec| spec.command.is_none());
    let (left_out, runnable): (Vec<_>, Vec<_>) = specs.into_iter().partition(is_left_out);
    for spec in &left_out {
        let shown = relative(root, spec);
        note(format!("{} has no `command` and is left out; {}", shown.display(), cargo_test(spec, root)));
    }
    if runnable.is_empty() {
        let nothing = CliError::new(format!("no spec below {} has a `command`", searched.display()));
        return Err(nothing.help(format!("add an *{ENDING} file with `command: …`; `trajectly init` makes a sample")));
    }
    Ok(runnable)
}

/// How the tests of the crate around a spec are run.
fn cargo_test(spec: &Path, root: &Path) -> String {
    let Some(folder) = spec.ancestors().find(|folder| folder.join("Cargo.toml").exists()) else {
        return "a test function may run it".to_owned();
    };
    let manifest = relative(root, &folder.join("Cargo.toml"));
    match manifest == Path::new("Cargo.toml") {
        true => "if a test function claims it, `cargo test` runs it".to_owned(),
        false => {
            let manifest = crate::runner::quoted(&manifest.to_string_lossy());
            format!("if a test function claims it, `cargo test --manifest-path {manifest}` runs it")
        }
    }
}

/// Every spec below a folder.
fn below(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |error| {
            let error = CliError::new(format!("cannot look for specs in {}: {error}", folder.display()));
            error.help("make the folder readable, or name the specs")
        };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
            let name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_dir() && is_ours(&name, &path) {
                folders.push(path);
            } else if name.ends_with(ENDING) && path.is_file() {
                found.push(absolute(&path, &name)?);
            }
        }
    }
    Ok(found)
}

fn is_ours(name: &str, folder: &Path) -> bool {
    !name.starts_with('.') && !NOT_OURS.contains(&name) && !folder.join("pyvenv.cfg").exists()
}

fn absolute(path: &Path, what: &str) -> Result<PathBuf, CliError> {
    path.canonicalize().map_err(|error| {
        CliError::new(format!("{what}: {}: {error}", path.display())).help("give a path that leads somewhere")
    })
}

/// The way from one absolute path to another.
pub(super) fn relative(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(shared)).collect();
    if way.as_os_str().is_empty() { ".".into() } else { way }
}
