//! What is seen while specs run: their results in order, and on a terminal how far it has come.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{IsTerminal as _, Write};
use std::sync::{Mutex, PoisonError};

use super::print;
use crate::render::clean;

/// Columns of the line that says how far it has come. Wider ones would wrap, and could not be rewritten.
const WIDTH: usize = 72;

/// The results of specs that run at the same time, shown in the order in which they were asked for.
pub(super) struct Progress {
    total: usize,
    results_on_stderr: bool,
    state: Mutex<State>,
}

struct State {
    status: Status,
    started: usize,
    ended: usize,
    /// How many results were shown.
    shown: usize,
    /// Results that wait for those before them.
    held: BTreeMap<usize, String>,
    last_was_long: bool,
}

impl Progress {
    pub(super) fn of(total: usize, results_on_stderr: bool) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let out = is_terminal.then(|| Box::new(std::io::stderr()) as _);
        let status = Status { out, text: String::new(), width: 0 };
        let state = State { status, started: 0, ended: 0, shown: 0, held: BTreeMap::new(), last_was_long: false };
        Self { total, results_on_stderr, state: Mutex::new(state) }
    }

    /// A spec starts.
    pub(super) fn start(&self, name: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.started += 1;
        let text = format!("{} of {} · {}", state.started, self.total, clean(name));
        state.status.show(text);
    }

    /// The spec in this place has ended.
    pub(super) fn end(&self, place: usize, result: String) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.held.insert(place, result);
        state.ended += 1;
        state.status.clear();
        loop {
            let next = state.shown;
            let Some(result) = state.held.remove(&next) else { break };
            // What takes many lines stands apart from the others.
            let is_long = result.contains('\n');
            let gap = if next > 0 && (is_long || state.last_was_long) { "\n" } else { "" };
            (state.shown, state.last_was_long) = (next + 1, is_long);
            self.show(format_args!("{gap}{result}"));
        }
        if state.ended < state.started {
            state.status.show_again();
        }
    }

    /// Shows what is to be seen beside the results.
    pub(super) fn show(&self, text: impl Display) {
        if self.results_on_stderr { print::aside(text) } else { print::line(text) }
    }
}

/// A line that is rewritten in place.
struct Status {
    /// Where it is shown, if anywhere.
    out: Option<Box<dyn Write + Send>>,
    /// What stood there last.
    text: String,
    /// Columns of what stands there now.
    width: usize,
}

impl Status {
    fn show(&mut self, text: String) {
        self.clear();
        self.text = text.chars().take(WIDTH).collect();
        self.show_again();
    }

    fn show_again(&mut self) {
        if let Some(out) = &mut self.out {
            self.width = self.text.chars().count();
            let _ = write!(out, "{}", self.text).and_then(|()| out.flush());
        }
    }

    fn clear(&mut self) {
        if let Some(out) = self.out.as_mut().filter(|_| self.width > 0) {
            let _ = write!(out, "\r{:1$}\r", "", self.width).and_then(|()| out.flush());
            self.width = 0;
        }
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("nobody panics").write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_status_is_rewritten_in_place_and_leaves_nothing() {
        let screen = Screen::default();
        let mut status = Status { out: Some(Box::new(screen.clone())), text: String::new(), width: 0 };
        status.show("1 of 2 · a".to_owned());
        status.show("x".repeat(200));
        drop(status);
        let wide = "x".repeat(WIDTH);
        let expected = format!("1 of 2 · a\r{:10}\r{wide}\r{:WIDTH$}\r", "", "");
        assert_eq!(String::from_utf8_lossy(&screen.0.lock().expect("nobody panics")), expected);
    }
}
