//! What ends the agents of a harness that was killed itself.
//!
//! A process cannot clean up after its own `kill -9`, and the kernel's death signal reaches one process, not what that
//! has started: a shell dies, its pipeline lives on. So a shell of our own waits at the end of a pipe whose other end
//! nobody but the harness holds. When that end closes, for whatever reason, it kills every process group it was told of.

use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::process::{Pid, getpid};

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
    /// The group of a command that was started after [`announce`].
    pub(super) fn new(group: Pid) -> Self {
        Self(group)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        Watchdog::tell('-', self.0);
    }
}

/// Has the command itself tell the watchdog of its group, before it does anything else: it may be at work before whoever
/// starts it gets to say so.
#[expect(unsafe_code, reason = "only the child itself can speak before it runs")]
pub(super) fn announce(command: &mut Command) {
    let Some(pipe) = Watchdog::pipe() else { return };
    let hook = move || {
        let mut line = [0; 16];
        let length = spelled(getpid().as_raw_nonzero().get().unsigned_abs(), &mut line);
        // SAFETY: the watchdog of this process is never dropped, so its pipe stays open, in a child too until it runs.
        let pipe = unsafe { BorrowedFd::borrow_raw(pipe) };
        // It fails if somebody has killed the watchdog.
        let _ = rustix::io::write(pipe, &line[..length]);
        Ok(())
    };
    // SAFETY: between fork and exec the hook makes system calls and nothing else: it takes no lock and neither
    // allocates nor frees.
    unsafe { command.pre_exec(hook) };
}

/// Writes `+ NUMBER` and a newline; returns how many bytes that takes.
fn spelled(mut number: u32, line: &mut [u8; 16]) -> usize {
    let digits = number.checked_ilog10().unwrap_or(0) as usize + 1;
    line[..2].copy_from_slice(b"+ ");
    for place in (2..2 + digits).rev() {
        line[place] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    line[2 + digits] = b'\n';
    digits + 3
}

struct Watchdog(Child);

impl Watchdog {
    /// In a group of its own, so that what is sent to the harness's group does not reach it.
    fn start() -> io::Result<Self> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT]).env_clear().current_dir("/").process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(Self)
    }

    /// The one watchdog. Where there is no shell there is none, and a group merely outlives a harness that was killed.
    fn of_this_process() -> Option<&'static Mutex<Self>> {
        static THE: OnceLock<Option<Mutex<Watchdog>>> = OnceLock::new();
        THE.get_or_init(|| Self::start().ok().map(Mutex::new)).as_ref()
    }

    /// Its end of the pipe; starts the watchdog if none is there yet.
    fn pipe() -> Option<i32> {
        let watchdog = Self::of_this_process()?.lock().unwrap_or_else(PoisonError::into_inner);
        watchdog.0.stdin.as_ref().map(|pipe| pipe.as_raw_fd())
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
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn a_number_is_spelled_without_help() {
        for (number, expected) in [(0, "+ 0\n"), (7, "+ 7\n"), (4096, "+ 4096\n"), (u32::MAX, "+ 4294967295\n")] {
            let mut line = [0; 16];
            let length = spelled(number, &mut line);
            assert_eq!(std::str::from_utf8(&line[..length]), Ok(expected));
        }
    }

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
