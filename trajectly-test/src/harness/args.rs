//! libtest's command line, as cargo and nextest use it: what libtest-mimic lacks is done here.

use std::fmt;

/// The arguments of a test binary, read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Args {
    /// A test runs if its name matches any of these, or if there is none.
    pub(crate) filters: Vec<String>,
    /// A test whose name matches any of these does not run.
    pub(crate) skip: Vec<String>,
    /// Whether filters and skips are whole names.
    pub(crate) exact: bool,
    /// Whether the output of tests that pass is shown too.
    pub(crate) nocapture: bool,
    /// Everything else, for libtest-mimic.
    pub(crate) rest: Vec<String>,
    /// Flags of libtest that are left out, as they change nothing here.
    pub(crate) dropped: Vec<String>,
}

/// Arguments that libtest refuses too.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ArgsError(String);

impl fmt::Display for ArgsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.0)
    }
}

impl Args {
    /// Reads the arguments after the program's name; `env` looks up environment variables.
    pub(crate) fn parse(
        argv: impl IntoIterator<Item = String>,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ArgsError> {
        let mut args = Self::default();
        let mut threads = None;
        let mut argv = argv.into_iter();
        while let Some(arg) = argv.next() {
            let (flag, inline) = match arg.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => (flag.to_owned(), Some(value.to_owned())),
                _ => (arg.clone(), None),
            };
            let mut value = |what: &str| {
                inline.clone().or_else(|| argv.next()).ok_or_else(|| ArgsError(format!("{what} needs a value")))
            };
            match flag.as_str() {
                "--exact" => args.exact = true,
                "--nocapture" | "--no-capture" => args.nocapture = true,
                "--skip" => args.skip.push(value("--skip")?),
                "--test-threads" => threads = Some(value("--test-threads")?),
                "--shuffle"
                | "--report-time"
                | "--ensure-time"
                | "--exclude-should-panic"
                | "--force-run-in-process" => args.dropped.push(flag),
                "--shuffle-seed" => {
                    value("--shuffle-seed")?;
                    args.dropped.push(flag);
                }
                "--logfile" | "--color" | "--format" | "-Z" => {
                    let value = value(&flag)?;
                    args.rest.extend([flag, value]);
                }
                "--" => {
                    args.filters.extend(argv.by_ref());
                }
                _ if flag.starts_with('-') => args.rest.push(arg),
                _ => args.filters.push(arg),
            }
        }
        args.nocapture |= env("RUST_TEST_NOCAPTURE").is_some_and(|value| value != "0");
        if let Some(threads) = threads_of(threads, env("RUST_TEST_THREADS"))? {
            args.rest.push(format!("--test-threads={threads}"));
        }
        Ok(args)
    }

    /// Whether a test of this name is to run, as far as names decide.
    pub(crate) fn selects(&self, name: &str) -> bool {
        let matches = |pattern: &String| if self.exact { name == pattern } else { name.contains(pattern.as_str()) };
        (self.filters.is_empty() || self.filters.iter().any(matches)) && !self.skip.iter().any(matches)
    }
}

fn threads_of(flag: Option<String>, env: Option<String>) -> Result<Option<usize>, ArgsError> {
    match (flag, env) {
        (Some(value), _) => match value.parse() {
            Ok(0) => Err(ArgsError("argument for --test-threads must not be 0".to_owned())),
            Ok(n) => Ok(Some(n)),
            Err(_) => Err(ArgsError(format!("argument for --test-threads must be a number > 0, not `{value}`"))),
        },
        (None, Some(value)) => match value.parse() {
            Ok(n) if n > 0 => Ok(Some(n)),
            _ => Err(ArgsError(format!("RUST_TEST_THREADS is `{value}`, should be a positive integer"))),
        },
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(argv: &[&str], env: &[(&str, &str)]) -> Result<Args, ArgsError> {
        Args::parse(argv.iter().map(|arg| (*arg).to_owned()), |name| {
            env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_test_runs_if_any_filter_matches_and_no_skip_does() {
        for (argv, name, runs) in [
            (&[][..], "a::b", true),
            (&["a", "c"], "a::b", true),
            (&["c", "b"], "a::b", true),
            (&["c"], "a::b", false),
            (&["--skip", "b"], "a::b", false),
            (&["--skip=b", "a"], "a::b", false),
            (&["--exact", "a"], "a::b", false),
            (&["--exact", "x", "a::b"], "a::b", true),
            (&["--exact", "--skip", "a"], "a::b", true),
            (&["--", "--odd"], "x--odd", true),
        ] {
            assert_eq!(parse(argv, &[]).map(|args| args.selects(name)), Ok(runs), "{argv:?}");
        }
    }

    #[test]
    fn the_number_of_threads_is_checked_as_libtest_does() {
        for (argv, env, rest) in [
            (&["--test-threads", "3"][..], &[][..], Some("--test-threads=3")),
            (&["--test-threads=3"], &[("RUST_TEST_THREADS", "5")], Some("--test-threads=3")),
            (&[], &[("RUST_TEST_THREADS", "5")], Some("--test-threads=5")),
            (&["--test-threads", "0"], &[], None),
            (&["--test-threads", "x"], &[], None),
            (&["--test-threads"], &[], None),
            (&[], &[("RUST_TEST_THREADS", "0")], None),
        ] {
            let found = parse(argv, env).ok().map(|args| args.rest.join(" "));
            assert_eq!(found.as_deref(), rest, "{argv:?} {env:?}");
        }
    }

    #[test]
    fn flags_that_change_nothing_are_dropped_and_the_others_passed_on() {
        let args = parse(
            &["--shuffle", "--list", "--format", "terse", "--shuffle-seed", "7", "--ignored", "--nocapture"],
            &[],
        );
        let expected = Args {
            nocapture: true,
            rest: ["--list", "--format", "terse", "--ignored"].map(str::to_owned).to_vec(),
            dropped: ["--shuffle", "--shuffle-seed"].map(str::to_owned).to_vec(),
            ..Args::default()
        };
        assert_eq!(args, Ok(expected));
    }
}
