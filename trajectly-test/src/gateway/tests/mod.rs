//! The gateway through its sockets: raw clients on one side, a scripted upstream on the other.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod server;
mod support;
mod unary;
