//! The pure, deterministic core of Trajectly.

pub mod canonical;
pub mod json;
pub mod trace;
