//! What ends the agents of a harness that was killed itself.
//!
//! A process cannot clean up after its own `kill -9`, and the kernel's death signal reaches one process, not what that
//! has started: a shell dies, its pipeline lives on. So a shell of our own waits at the end of a pipe whose other end
//! nobody but the harness holds. When that end closes, for whatever reason, it kills every process group it was told of.

use std::io::{self, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::process::Pid;

/// Reads `+ GROUP` and `- GROUP`. Any POSIX shell understands it.
const SCRIPT: &str = r#"
groups=' '
while read -r sign group; do
    case $sign in
        +) groups="$groups$group " ;;
        -) case $groups in *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;; esac ;;
    esac
done
for group in $groups; do kill -9 "-$group"; done
"#;

/// A process group that dies with this process. Dropping it lets the group live.
pub(super) struct Watched(Pid);

impl Watched {
    pub(super) fn new(group: Pid) -> Self {
        Watchdog::tell('+', group);
        Self(group)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        Watchdog::tell('-', self.0);
    }
}

/// Starts the watchdog, if none is there yet, and returns when it is: starting it takes longer than a child takes to do
/// harm.
pub(super) fn wake() {
    Watchdog::of_this_process();
}

struct Watchdog(Child);

impl Watchdog {
    /// In a group of its own, so that what is sent to the harness's group does not reach it.
    fn start() -> io::Result<Self> {
        use std::os::unix::process::CommandExt as _;

        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT]).env_clear().current_dir("/").process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(Self)
    }

    /// The one watchdog. Where there is no shell there is none, and a group merely outlives a harness that was killed.
    fn of_this_process() -> Option<&'static Mutex<Self>> {
        static THE: OnceLock<Option<Mutex<Watchdog>>> = OnceLock::new();
        THE.get_or_init(|| Self::start().ok().map(Mutex::new)).as_ref()
    }

    fn tell(sign: char, group: Pid) {
        if let Some(watchdog) = Self::of_this_process() {
            watchdog.lock().unwrap_or_else(PoisonError::into_inner).hear(sign, group);
        }
    }

    fn hear(&mut self, sign: char, group: Pid) {
        if let Some(pipe) = &mut self.0.stdin {
            // It fails if somebody has killed the watchdog.
            let _ = pipe.write_all(format!("{sign} {}\n", group.as_raw_nonzero()).as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};

    use super::*;

    #[test]
    fn the_groups_that_it_still_watches_die_with_the_pipe() {
        let sleeper = |_| Command::new("sleep").arg("600").process_group(0).spawn().expect("sleep is there");
        let mut sleepers: Vec<Child> = (0..4).map(sleeper).collect();
        let mut watchdog = Watchdog::start().expect("there is a shell");
        for (sign, which) in [('+', 0), ('+', 1), ('+', 2), ('-', 1), ('+', 3), ('-', 0), ('-', 3)] {
            watchdog.hear(sign, Pid::from_child(&sleepers[which]));
        }
        watchdog.0.wait().expect("its pipe is closed, so it ends");
        assert_eq!(sleepers[2].wait().expect("a child can be waited for").signal(), Some(9));
        for which in [0, 1, 3] {
            assert_eq!(sleepers[which].try_wait().expect("a child can be waited for"), None, "{which}");
            sleepers[which].kill().expect("it is alive");
            sleepers[which].wait().expect("a child can be waited for");
        }
    }
}
