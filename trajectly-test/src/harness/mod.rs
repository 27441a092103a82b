//! Agent tests as cargo sees them.

mod child;
mod registry;

pub use registry::{AgentOutput, AgentTest, Outcome, Registration, SnapshotFn, block_on, finish};

/// The body of the `#[test]` that stands for an agent test when libtest is the harness.
pub fn libtest(test: &'static AgentTest) {
    child::exit_if_child(test);
}
