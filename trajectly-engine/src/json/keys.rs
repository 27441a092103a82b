//! Keys that many objects share.

use std::sync::Arc;

/// Keys that were read lately, each to be had again without a copy.
///
/// A key has one place, by its length and its ends, and the last one there stays: the keys of a trace are few, and the memory
/// of those of a hostile text is bounded.
pub(super) struct Keys {
    places: [Option<Arc<str>>; PLACES],
}

const PLACES: usize = 128;

impl Default for Keys {
    fn default() -> Self {
        Self { places: [const { None }; PLACES] }
    }
}

impl Keys {
    /// The key, shared with earlier ones where it can be.
    pub(super) fn share(&mut self, key: &str) -> Arc<str> {
        let place = &mut self.places[place(key.as_bytes())];
        match place {
            Some(known) if **known == *key => Arc::clone(known),
            _ => Arc::clone(place.insert(key.into())),
        }
    }
}

fn place(key: &[u8]) -> usize {
    let byte = |at: usize| usize::from(key.get(at).copied().unwrap_or_default());
    let ends = byte(0) + 5 * byte(key.len() / 2) + 11 * byte(key.len().wrapping_sub(1));
    (key.len() * 31 + ends) % PLACES
}
