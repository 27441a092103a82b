//! The pure, deterministic core of Trajectly.

pub mod abstraction;
pub mod canonical;
pub mod code;
pub mod fixture;
pub mod json;
pub mod redact;
pub mod report;
pub mod slug;
pub mod spec;
pub mod trace;
pub mod verdict;

mod contracts;
mod refinement;
