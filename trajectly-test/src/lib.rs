//! A cargo test harness for LLM agents.
#![cfg_attr(feature = "harness", allow(dead_code, reason = "the runner is yet to come"))]

#[cfg(feature = "harness")]
mod harness;
mod instrument;
mod protocol;

pub use instrument::{RecordedError, Session};
#[cfg(feature = "harness")]
pub use trajectly_macros::agent_test;
pub use trajectly_macros::tool;

/// What generated code calls. No part of the public interface.
#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "harness")]
    pub use {insta, inventory};

    #[cfg(feature = "harness")]
    pub use crate::harness::{
        AgentOutput, AgentTest, Outcome, Registration, SnapshotFn, block_on, finish, libtest,
    };
    pub use crate::instrument::{
        Args, AsResult, AsValue, PendingCall, Shape, Tag, ViaResult, ViaValue, enter, run_async, run_sync,
    };
}
