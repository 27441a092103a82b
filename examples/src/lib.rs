//! Two agents on [async-openai](async_openai), as one would run them, and the tests that hold them to their specs.
//!
//! - [`support_triage`] is a fixed pipeline: fetch a ticket, let a model set its priority, store the triage.
//! - [`search_buy`] is a tool loop: the model searches, compares, fills a cart and checks out, until it stops asking.
//!
//! Their tools carry `#[trajectly_test::tool]`; nothing else here knows that it is under test. Each agent has one
//! deliberate defect behind an option ([`support_triage::Delivery::Export`], [`search_buy::WhenPending::Retry`]):
//! `tests/agents.rs` runs the sound and the defective variant against the same baseline.
//!
//! [`upstream`] stands in for the model when a recording is made without an API key.

pub mod chat;
mod error;
pub mod search_buy;
pub mod store;
pub mod support_triage;
pub mod upstream;

pub use error::{AgentError, ToolError};
