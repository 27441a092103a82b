//! The pure, deterministic core of Trajectly.

pub mod canonical;
pub mod code;
pub mod json;
pub mod spec;
pub mod trace;
