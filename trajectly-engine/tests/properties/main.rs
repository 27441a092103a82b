//! What holds of all specs and all traces, tried on generated ones.

mod allowances;
mod generate;
mod shrinking;
mod texts;
mod verdicts;

use proptest::test_runner::{Config, RngSeed};

/// The same cases in every run, so that whoever sees a failure can see it again.
fn config() -> Config {
    Config { cases: 100, failure_persistence: None, rng_seed: RngSeed::Fixed(20_260_220), ..Config::default() }
}
