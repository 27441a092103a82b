//! One test binary: what `main!` says of it, and the tests it holds.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::registry::{self, AgentTest, SnapshotFn};
use crate::env;

/// What the harness is told of the tests it runs.
#[derive(Debug, Clone)]
pub struct Suite {
    /// The folder that paths start from: a crate's manifest directory, or the project root of the command line.
    pub(crate) root: PathBuf,
    /// The test binary's place in its workspace; `None` for the command line.
    pub(crate) target: Option<Target>,
    pub(crate) snapshot: SnapshotFn,
    pub(crate) specs: Option<&'static str>,
    pub(crate) upstream: Option<Upstream>,
    pub(crate) overrides: Overrides,
}

/// What the command line says over what specs and folders say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overrides {
    /// In place of `strict` in every spec.
    pub(crate) strict: Option<bool>,
    /// In place of `.trajectly/baselines`, absolute.
    pub(crate) baseline_dir: Option<PathBuf>,
    /// In place of `.trajectly/fixtures`, absolute.
    pub(crate) fixtures_dir: Option<PathBuf>,
    /// In place of the version in force, where baselines have versions.
    pub(crate) version: Option<String>,
    /// Whether a recording of that version is to be in force.
    pub(crate) promote: bool,
    /// The flags that say the above again, with a space before each.
    pub(crate) flags: String,
    /// The same of the flag that names the project's folder.
    pub(crate) project_flag: String,
}

/// What cargo and the compiler know of a test binary.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) package: &'static str,
    pub(crate) crate_name: &'static str,
    /// Its main source file, as the compiler was given it.
    pub(crate) file: &'static str,
}

/// Starts a stand-in for a live model and returns its OpenAI-compatible base URL.
pub type Upstream = fn() -> io::Result<String>;

impl Suite {
    /// The suite of a test binary, without settings.
    pub fn new(
        manifest_dir: &'static str,
        package: &'static str,
        crate_name: &'static str,
        file: &'static str,
        snapshot: SnapshotFn,
    ) -> Self {
        let target = Some(Target { package, crate_name, file });
        let root = env::manifest_dir(manifest_dir, package);
        Self { root, target, snapshot, specs: None, upstream: None, overrides: Overrides::default() }
    }

    #[cfg(feature = "cli")]
    pub(crate) fn of_command_line(root: PathBuf, overrides: Overrides, snapshot: SnapshotFn) -> Self {
        Self { root, target: None, snapshot, specs: None, upstream: None, overrides }
    }

    /// Makes every spec that this glob matches a test, unless a function claims it.
    #[must_use]
    pub fn specs(mut self, glob: &'static str) -> Self {
        self.specs = Some(glob);
        self
    }

    /// Names the live model of recordings that are made without `OPENAI_API_KEY`.
    #[must_use]
    pub fn upstream(mut self, start: Upstream) -> Self {
        self.upstream = Some(start);
        self
    }

    pub(crate) fn of(test: &AgentTest) -> Self {
        Self::new(test.manifest_dir, test.package, test.crate_name, test.file, test.snapshot)
    }

    /// All tests of the binary, sorted by name.
    pub(crate) fn cases(&self) -> Result<Vec<Case>, String> {
        let mut cases: Vec<_> = registry::all().into_iter().map(Case::of_function).collect();
        if let Some(pattern) = self.specs {
            let claimed: HashSet<_> = cases.iter().map(|case| canonical(&case.spec)).collect();
            let found = self.glob(pattern)?;
            let unclaimed = found.into_iter().filter(|spec| !claimed.contains(&canonical(spec)));
            cases.extend(unclaimed.map(|spec| Case::of_spec(&self.root, spec)));
        }
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        match cases.windows(2).find(|pair| pair[0].name == pair[1].name) {
            Some(pair) => Err(format!(
                "error: two tests are named `{}`\n  --> {}\n  --> {}\n  = help: rename one, or give it a `name = \"…\"`",
                pair[0].name,
                pair[0].place(),
                pair[1].place()
            )),
            None => Ok(cases),
        }
    }

    fn glob(&self, pattern: &str) -> Result<Vec<PathBuf>, String> {
        let base = glob::Pattern::escape(&self.root.to_string_lossy());
        let paths = glob::glob(&format!("{base}/{pattern}")).map_err(|error| {
            format!("error: `specs = \"{pattern}\"` is no glob: {} at character {}", error.msg, error.pos)
        })?;
        let found: Result<Vec<_>, _> = paths.collect();
        let found = found.map_err(|error| format!("error: cannot look for specs in {error}"))?;
        if found.is_empty() {
            return Err(format!(
                "error: `specs = \"{pattern}\"` matches no file\n  = help: the glob is relative to {}",
                self.root.display()
            ));
        }
        Ok(found)
    }
}

/// One test.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// Name as cargo knows it.
    pub(crate) name: String,
    /// Path of the spec.
    pub(crate) spec: PathBuf,
    pub(crate) function: Option<&'static AgentTest>,
}

impl Case {
    pub(crate) fn of_function(test: &'static AgentTest) -> Self {
        Self { name: test.test_name(), spec: test.spec_path(), function: Some(test) }
    }

    /// A function as libtest knows it: by its own name, whatever the attribute calls it.
    pub(crate) fn under_libtest(test: &'static AgentTest) -> Self {
        Self { name: test.function_name(), ..Self::of_function(test) }
    }

    pub(crate) fn of_spec(base: &Path, spec: PathBuf) -> Self {
        let name = spec.strip_prefix(base).unwrap_or(&spec).to_string_lossy().replace('\\', "/");
        Self { name, spec, function: None }
    }

    pub(crate) fn ignored(&self) -> bool {
        self.function.is_some_and(|test| test.ignored)
    }

    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.function.and_then(AgentTest::timeout)
    }

    pub(crate) fn expect_fail(&self) -> Option<&'static str> {
        self.function.and_then(|test| test.expect_fail)
    }

    fn place(&self) -> String {
        match self.function {
            Some(test) => format!("{}:{}", test.file, test.line),
            None => self.name.clone(),
        }
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
