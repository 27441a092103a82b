//! The agent's side of a session: what `#[tool]` and [`Session`] call.

mod call;
mod error;
mod link;
mod pinned;
mod session;
mod shape;

pub use call::{Args, PendingCall, enter, run_async, run_sync};
pub use error::RecordedError;
pub use session::Session;
pub use shape::{AsResult, AsValue, Shape, Tag, ViaResult, ViaValue};
