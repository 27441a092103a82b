//! The gateway through its sockets: raw clients on one side, a scripted upstream on the other.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod layout;
#[cfg(feature = "record")]
mod record;
mod replay;
mod server;
#[cfg(feature = "record")]
mod streams;
mod support;
#[cfg(feature = "record")]
mod upstream;
