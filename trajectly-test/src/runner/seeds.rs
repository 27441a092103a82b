//! What pins an agent's clock and its random numbers: drawn by the first recording, the same in every run after it.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use trajectly_engine::json::{Json, Object};
use trajectly_engine::spec::{ClockMode, Determinism, RandomMode};

use crate::protocol;

/// The keys of the seeds in what a baseline was made with.
const CLOCK: &str = "clock_seed";
const RANDOM: &str = "random_seed";

/// The seeds of a baseline. A mode of `determinism` that is off has none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Seeds {
    /// An instant, in seconds of Unix time.
    clock: Option<f64>,
    /// From 1 to 2³¹ - 1, as other tools draw them.
    random: Option<u64>,
}

impl Seeds {
    /// Those that a baseline was made with.
    pub(super) fn of_baseline(meta: &str) -> Self {
        let meta = Json::parse(meta).unwrap_or_default();
        let clock = meta.get(CLOCK).and_then(Json::as_f64).filter(|seconds| seconds.is_finite());
        Self { clock, random: meta.get(RANDOM).and_then(Json::as_u64) }
    }

    /// Those of a new recording: what the spec asks for and the old baseline does not have is drawn.
    pub(super) fn for_recording(self, wanted: &Determinism) -> Self {
        Self {
            clock: (wanted.clock != ClockMode::Disabled).then(|| self.clock.unwrap_or_else(now)),
            random: (wanted.random != RandomMode::Disabled).then(|| self.random.unwrap_or_else(number)),
        }
    }

    /// Adds the seeds to what a baseline was made with.
    pub(super) fn add_to(self, meta: &mut Object) {
        if let Some(clock) = self.clock {
            meta.insert(CLOCK, clock);
        }
        if let Some(random) = self.random {
            meta.insert(RANDOM, random);
        }
    }

    /// Hands the seeds to an agent.
    pub(super) fn give_to(self, command: &mut Command) {
        command.envs(self.clock.map(|seconds| (protocol::CLOCK_SEED, seconds.to_string())));
        command.envs(self.random.map(|number| (protocol::RANDOM_SEED, number.to_string())));
    }
}

/// Now, to the millisecond.
fn now() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u32::try_from(now.as_secs()).map_or(0.0, f64::from) + f64::from(now.subsec_millis()) / 1000.0
}

fn number() -> u64 {
    const MOST: u64 = (1 << 31) - 1;
    RandomState::new().build_hasher().finish() % MOST + 1
}
