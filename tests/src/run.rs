//! Running a command as a user's shell would, and what came of it.

use std::ffi::OsStr;
use std::fmt;
use std::io::Read;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::python::path_with_python;

/// A command that has not ended by now never will.
const PATIENCE: Duration = Duration::from_secs(120);
/// The same for one that has to build first.
const PATIENCE_WITH_CARGO: Duration = Duration::from_secs(30 * 60);

/// Leaves in the environment what finds programs, and nothing that tells them what to do.
pub(crate) fn clean(command: &mut Command) {
    const KEPT: [&str; 7] = ["PATH", "HOME", "TMPDIR", "USER", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];
    command.env_clear();
    command.envs(KEPT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
}

/// A command about to run, in a clean environment.
pub struct Run {
    command: Command,
    patience: Duration,
}

impl Run {
    /// A command in a clean environment.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        clean(&mut command);
        Self { command, patience: PATIENCE }
    }

    /// A command line as if it had been pasted into a terminal. Cargo, if it is called, keeps what it builds in `target`
    /// and asks no registry.
    pub fn shell(line: &str, target: &Path) -> Self {
        let shell = Self::new("/bin/sh").arg("-c").arg(line).env("CARGO_TARGET_DIR", target);
        Self { patience: PATIENCE_WITH_CARGO, ..shell.env("CARGO_NET_OFFLINE", "true") }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Sets environment variables.
    #[must_use]
    pub fn envs(mut self, variables: &[(&str, &str)]) -> Self {
        self.command.envs(variables.iter().copied());
        self
    }

    /// Puts the Python of `tests/python` first on the `PATH`.
    ///
    /// # Panics
    ///
    /// If there is no such Python, and none can be made.
    #[must_use]
    pub fn with_python(self) -> Self {
        self.env("PATH", path_with_python())
    }

    /// Sets `TRAJECTLY_UPDATE`: `1` records.
    #[must_use]
    pub fn update(self, mode: &str) -> Self {
        self.env("TRAJECTLY_UPDATE", mode)
    }

    /// Runs in this folder.
    #[must_use]
    pub fn current_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Runs as the user who owns next to nothing, if this user may do anything.
    #[must_use]
    pub fn as_user(mut self, uid: u32) -> Self {
        self.command.uid(uid);
        self
    }

    /// Starts the command. Its output is dropped.
    pub fn spawn(mut self) -> Child {
        self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.command.spawn().unwrap_or_else(|error| panic!("cannot run {:?}: {error}", self.command))
    }

    /// Starts the command, to be talked to. What it says on stderr is dropped.
    pub fn talk(mut self) -> Child {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        self.command.spawn().unwrap_or_else(|error| panic!("cannot run {:?}: {error}", self.command))
    }

    /// Runs the command to its end.
    ///
    /// # Panics
    ///
    /// If it does not end.
    pub fn output(mut self) -> Output {
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap_or_else(|error| panic!("cannot run {:?}: {error}", self.command));
        let (done, ended) = mpsc::channel();
        let stdout = read(child.stdout.take().expect("stdout is piped"), done.clone());
        let stderr = read(child.stderr.take().expect("stderr is piped"), done);
        for _ in 0..2 {
            if ended.recv_timeout(self.patience).is_err() {
                let _ = child.kill();
                panic!("{:?} has not ended after {:?}", self.command, self.patience);
            }
        }
        let status = child.wait().expect("a child can be waited for");
        Output {
            code: status.code().unwrap_or_else(|| -status.signal().unwrap_or_default()),
            stdout: stdout.join().expect("reading does not panic"),
            stderr: stderr.join().expect("reading does not panic"),
        }
    }
}

fn read(mut stream: impl Read + Send + 'static, done: mpsc::Sender<()>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let _ = done.send(());
        String::from_utf8(bytes).expect("all output is UTF-8")
    })
}

/// What a command said, and how it ended.
pub struct Output {
    /// Exit code; the negated number of the signal that ended it.
    pub code: i32,
    /// Everything on stdout.
    pub stdout: String,
    /// Everything on stderr.
    pub stderr: String,
}

impl Output {
    /// Asserts the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self}");
        self
    }

    /// Asserts that all tests passed, or that there were none.
    #[track_caller]
    pub fn passes(self) -> Self {
        self.exits(0)
    }

    /// Asserts that a test failed, as libtest reports it.
    #[track_caller]
    pub fn fails(self) -> Self {
        self.exits(101)
    }

    /// Asserts that all of `texts` are on stdout or stderr, each within one of them.
    #[track_caller]
    pub fn says(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stdout.contains(text) || self.stderr.contains(text), "nothing says {text:?}\n{self}");
        }
        self
    }

    /// Asserts that none of `texts` is on stdout or stderr.
    #[track_caller]
    pub fn never_says(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(!self.stdout.contains(text) && !self.stderr.contains(text), "something says {text:?}\n{self}");
        }
        self
    }

    /// The tests that ran, by name, each with its result: `ok`, `FAILED` or `ignored`.
    pub fn results(&self) -> Vec<(&str, &str)> {
        let lines = self.stdout.lines().filter_map(|line| line.strip_prefix("test ")?.split_once(" ... "));
        let mut results: Vec<_> = lines
            .map(|(name, result)| (name.trim_end(), result.split([',', ' ']).next().unwrap_or_default()))
            .collect();
        results.sort_unstable();
        results
    }

    /// The rest of the first line on stdout or stderr that begins with `label`, spaces aside.
    #[track_caller]
    pub fn row(&self, label: &str) -> String {
        let lines = self.stdout.lines().chain(self.stderr.lines());
        let mut rests = lines.filter_map(|line| line.trim_start().strip_prefix(label));
        rests.next().unwrap_or_else(|| panic!("no line begins with {label:?}\n{self}")).trim().to_owned()
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit code {}\n--- stdout\n{}\n--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}
