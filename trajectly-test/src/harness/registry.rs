//! What `#[agent_test]` leaves behind: one static an annotated function, found at run time.

use std::fmt::Display;
use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::env;
use crate::instrument::Session;

/// One function under `#[agent_test]`. Built by the macro only.
#[derive(Debug)]
pub struct AgentTest {
    /// The function's name; a raw identifier keeps its `r#`.
    pub name: &'static str,
    /// The name given in the attribute, if any.
    pub title: Option<&'static str>,
    /// The module of the function, crate name first.
    pub module_path: &'static str,
    /// Source file, as the compiler was given it.
    pub file: &'static str,
    /// Line of the attribute.
    pub line: u32,
    /// Manifest directory of the crate.
    pub manifest_dir: &'static str,
    /// Package of the crate.
    pub package: &'static str,
    /// Crate name of the test binary.
    pub crate_name: &'static str,
    /// Path of the spec, relative to the manifest directory.
    pub spec: &'static str,
    /// Time limit given in the attribute, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Whether the test is ignored unless asked for.
    pub ignored: bool,
    /// Why it is ignored.
    pub ignore_reason: Option<&'static str>,
    /// The code with which this test is expected to fail.
    pub expect_fail: Option<&'static str>,
    /// The user's function.
    pub run: fn(Session) -> Outcome,
    /// The crate's own door to insta.
    pub snapshot: SnapshotFn,
}

/// Asserts one named snapshot through insta, from the user's crate.
pub type SnapshotFn = fn(name: &str, value: &str);

/// An entry of the registry.
#[derive(Debug)]
pub struct Registration(pub &'static AgentTest);

inventory::collect!(Registration);

impl AgentTest {
    /// Name of the test as cargo knows it: module path without the crate, then the function or its title.
    pub(crate) fn test_name(&self) -> String {
        self.in_module(self.title.unwrap_or(self.name))
    }

    /// Name of the test where libtest lists it.
    pub(crate) fn function_name(&self) -> String {
        self.in_module(self.name)
    }

    fn in_module(&self, name: &str) -> String {
        match self.module_path.split_once("::") {
            Some((_, modules)) => format!("{modules}::{name}"),
            None => name.to_owned(),
        }
    }

    /// The function's own path, by which its child process finds it. Unlike the test's name it has no title.
    pub(crate) fn path(&self) -> String {
        format!("{}::{}", self.module_path, self.name)
    }

    pub(crate) fn spec_path(&self) -> PathBuf {
        env::manifest_dir(self.manifest_dir, self.package).join(self.spec)
    }

    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout_ms.map(Duration::from_millis)
    }
}

/// All annotated functions linked into this binary, sorted by name.
pub(crate) fn all() -> Vec<&'static AgentTest> {
    let mut tests: Vec<_> = inventory::iter::<Registration>().map(|entry| entry.0).collect();
    tests.sort_by_key(|test| (test.test_name(), test.file, test.line));
    tests
}

/// How a function under test ended: its answer, or the text of its error.
pub type Outcome = Result<Value, String>;

/// What an `#[agent_test]` function may return.
#[diagnostic::on_unimplemented(
    message = "an `#[agent_test]` function cannot return `{Self}`",
    label = "return `()`, or `Result<T, E>` with `T: Serialize` and `E: Display`",
    note = "`T` is kept as the agent's answer, `E` as the text of its failure"
)]
pub trait AgentOutput {
    /// The answer as it is recorded.
    fn into_outcome(self) -> Outcome;
}

#[diagnostic::do_not_recommend]
impl AgentOutput for () {
    fn into_outcome(self) -> Outcome {
        Ok(Value::Null)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize, E: Display> AgentOutput for Result<T, E> {
    fn into_outcome(self) -> Outcome {
        let answer = self.map_err(|error| format!("{error:#}"))?;
        serde_json::to_value(answer).map_err(|error| format!("the answer has no JSON form: {error}"))
    }
}

/// Ends a function under test.
pub fn finish<T: AgentOutput>(output: T) -> Outcome {
    output.into_outcome()
}

/// Runs an asynchronous function under test, on a tokio runtime of one thread with all drivers that are compiled in.
pub fn block_on<F: Future>(future: F) -> F::Output {
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(future),
        Err(error) => panic!("cannot start a tokio runtime: {error}"),
    }
}
