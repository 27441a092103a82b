//! What of an agent's surroundings is the same in every run, as the harness says in the environment.

use std::env;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::protocol;

/// What `determinism` of the spec pins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pinned {
    /// The instant that the clock shows.
    pub(crate) instant: Option<SystemTime>,
    pub(crate) random_seed: Option<u64>,
}

impl Pinned {
    pub(crate) fn from_env() -> Self {
        let instant = env::var(protocol::CLOCK_SEED).ok().filter(|_| clock_stands_still());
        Self {
            instant: instant.and_then(|seconds| instant_at(&seconds)),
            random_seed: env::var(protocol::RANDOM_SEED).ok().and_then(|seed| seed.parse().ok()),
        }
    }
}

fn clock_stands_still() -> bool {
    let modes = env::var(protocol::DETERMINISM_JSON).unwrap_or_default();
    let modes: Value = serde_json::from_str(&modes).unwrap_or_default();
    match modes["clock"]["mode"].as_str() {
        Some("record_and_freeze") => true,
        Some("freeze_only") => env::var(protocol::MODE).is_ok_and(|mode| mode == "replay"),
        _ => false,
    }
}

fn instant_at(seconds: &str) -> Option<SystemTime> {
    let since = Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
    UNIX_EPOCH.checked_add(since)
}
