//! Everything that the harness reads from its environment, read and checked in one place.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use crate::render::Paint;

/// What a run does with baselines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Replay against the baseline.
    Replay,
    /// Run live and rewrite the baseline.
    Record,
    /// Record what has no baseline, replay the rest.
    RecordMissing,
    /// Replay, then make the candidate the new baseline.
    Accept,
}

impl Mode {
    pub(crate) const fn may_write(self) -> bool {
        !matches!(self, Self::Replay)
    }
}

/// The harness's settings, from the environment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Env {
    pub(crate) mode: Mode,
    /// Whether writing baselines is refused: a CI that did not say otherwise.
    pub(crate) writes_refused: bool,
    /// Whether the one selected test runs in the harness's own process.
    pub(crate) in_process: bool,
}

/// Whether text for `stream` is coloured: if it is a terminal, unless `NO_COLOR` and its kin say otherwise.
pub(crate) fn paint_for(stream: &impl anstream::stream::RawStream) -> Paint {
    match anstream::AutoStream::choice(stream) {
        anstream::ColorChoice::Never => Paint::plain(),
        _ => Paint::coloured(),
    }
}

/// The folder of a package's manifest. Where it was compiled may be another machine (`cargo nextest archive`), so cargo
/// and nextest say where it lies now; what they say of another package, from which this binary was started, is nothing
/// to go by.
pub(crate) fn manifest_dir(compiled: &str, package: &str) -> PathBuf {
    manifest_dir_of(compiled, package, |name| std::env::var_os(name))
}

fn manifest_dir_of(compiled: &str, package: &str, get: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    let is_ours = get("CARGO_PKG_NAME").is_some_and(|running| running == package);
    get("CARGO_MANIFEST_DIR").filter(|_| is_ours).unwrap_or_else(|| compiled.into()).into()
}

/// A variable with a value that means nothing.
#[derive(Debug)]
pub(crate) struct EnvError {
    name: &'static str,
    value: String,
    allowed: &'static str,
}

impl fmt::Display for EnvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "error: the environment variable {} is `{}`\n  = help: it may be {}",
            self.name, self.value, self.allowed
        )
    }
}

impl Env {
    /// Reads the process's environment.
    pub(crate) fn read() -> Result<Self, EnvError> {
        Self::from_lookup(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    fn from_lookup(get: impl Fn(&str) -> Option<String>) -> Result<Self, EnvError> {
        let mode = match get("TRAJECTLY_UPDATE").as_deref() {
            None | Some("" | "0") => Mode::Replay,
            Some("1") => Mode::Record,
            Some("new") => Mode::RecordMissing,
            Some("accept") => Mode::Accept,
            Some(other) => {
                return Err(EnvError {
                    name: "TRAJECTLY_UPDATE",
                    value: other.to_owned(),
                    allowed: "`1` (record again), `new` (record what has no baseline), `accept` (make the replayed \
                              run the baseline), or unset (replay)",
                });
            }
        };
        let flag = |name: &'static str| match get(name).as_deref() {
            None | Some("") => Ok(None),
            Some("0" | "false") => Ok(Some(false)),
            Some("1" | "true") => Ok(Some(true)),
            Some(other) => Err(EnvError { name, value: other.to_owned(), allowed: "`1`, `0` or unset" }),
        };
        // Every CI service sets `CI`, to values of its own.
        let ci_set = get("CI").is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
        let ci = flag("TRAJECTLY_CI")?.unwrap_or(ci_set);
        let allowed = flag("TRAJECTLY_ALLOW_CI_WRITE")?.unwrap_or(false);
        let in_process = match get("TRAJECTLY_ISOLATION").as_deref() {
            None | Some("" | "process") => false,
            Some("off") => true,
            Some(other) => {
                return Err(EnvError {
                    name: "TRAJECTLY_ISOLATION",
                    value: other.to_owned(),
                    allowed: "`off` (run the one selected test in this process, for a debugger), `process` or unset",
                });
            }
        };
        Ok(Self { mode, writes_refused: ci && !allowed, in_process })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(vars: &[(&str, &str)]) -> Result<Env, String> {
        Env::from_lookup(|name| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_package_lies_where_it_runs() {
        for (vars, expected) in [
            (&[][..], "/built"),
            (&[("CARGO_PKG_NAME", "ours"), ("CARGO_MANIFEST_DIR", "/here")], "/here"),
            (&[("CARGO_PKG_NAME", "another"), ("CARGO_MANIFEST_DIR", "/there")], "/built"),
            (&[("CARGO_MANIFEST_DIR", "/there")], "/built"),
        ] {
            let get = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into());
            assert_eq!(manifest_dir_of("/built", "ours", get), PathBuf::from(expected), "{vars:?}");
        }
    }

    #[test]
    fn modes() {
        for (value, mode) in [
            ("", Mode::Replay),
            ("0", Mode::Replay),
            ("1", Mode::Record),
            ("new", Mode::RecordMissing),
            ("accept", Mode::Accept),
        ] {
            assert_eq!(read(&[("TRAJECTLY_UPDATE", value)]).map(|env| env.mode), Ok(mode), "{value:?}");
        }
    }

    #[test]
    fn a_meaningless_value_is_refused_with_the_valid_ones() {
        for (name, allowed) in [
            ("TRAJECTLY_UPDATE", "`accept`"),
            ("TRAJECTLY_CI", "`1`"),
            ("TRAJECTLY_ALLOW_CI_WRITE", "`1`"),
            ("TRAJECTLY_ISOLATION", "`off`"),
        ] {
            let error = read(&[(name, "maybe")]).expect_err("the value means nothing");
            assert!(error.contains(name) && error.contains("`maybe`") && error.contains(allowed), "{error}");
        }
    }

    #[test]
    fn ci_refuses_writes_unless_told_otherwise() {
        for (vars, refused) in [
            (&[][..], false),
            (&[("CI", "true")], true),
            (&[("CI", "woodpecker")], true),
            (&[("CI", "false")], false),
            (&[("CI", "true"), ("TRAJECTLY_CI", "0")], false),
            (&[("TRAJECTLY_CI", "1")], true),
            (&[("TRAJECTLY_CI", "1"), ("TRAJECTLY_ALLOW_CI_WRITE", "1")], false),
        ] {
            assert_eq!(read(vars).map(|env| env.writes_refused), Ok(refused), "{vars:?}");
        }
    }
}
