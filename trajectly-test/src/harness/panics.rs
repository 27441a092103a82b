//! Panics that are caught keep quiet, and keep their place.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use super::child::panic_text;

thread_local! {
    static CAUGHT: RefCell<Option<Option<String>>> = const { RefCell::new(None) };
}

/// Runs `f`. If it panics, the message and the place are the error and nothing is printed; panics of other threads
/// are reported as ever.
pub(crate) fn quietly<R>(f: impl FnOnce() -> R) -> Result<R, String> {
    install();
    let outer = CAUGHT.replace(Some(None));
    let result = catch_unwind(AssertUnwindSafe(f));
    let place = CAUGHT.replace(outer).flatten();
    result.map_err(|panic| {
        let text = panic_text(&*panic);
        match place {
            Some(place) => format!("{text}\n  at {place}"),
            None => text.to_owned(),
        }
    })
}

fn install() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let caught = CAUGHT.with_borrow_mut(|caught| match caught {
                Some(place) => {
                    *place = info.location().map(ToString::to_string);
                    true
                }
                None => false,
            });
            if !caught {
                previous(info);
            }
        }));
    });
}
