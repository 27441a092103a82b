//! What a failing test says: one text, plain or coloured, in the manner of rustc.
//!
//! Everything that comes from a trace, from a spec or from the agent's output is made safe to print on the way
//! ([`text::clean`]), and a line is never much wider than [`text::WIDTH`].

mod align;
mod block;
mod closing;
mod columns;
mod diff;
mod event;
mod failure;
mod fixture;
#[cfg(feature = "cli")]
mod github;
#[cfg(feature = "cli")]
mod junit;
mod paint;
#[cfg(feature = "cli")]
mod summed;
#[cfg(test)]
mod tests;
mod text;
mod trouble;

pub(crate) use closing::Commands;
#[cfg(feature = "cli")]
pub(crate) use event::outline;
pub(crate) use failure::{View, failure};
pub(crate) use fixture::drifted;
#[cfg(feature = "cli")]
pub(crate) use github::annotations;
#[cfg(feature = "cli")]
pub(crate) use junit::junit;
pub(crate) use paint::Paint;
#[cfg(feature = "cli")]
pub(crate) use summed::Summed;
pub(crate) use text::clean;
#[cfg(feature = "cli")]
pub(crate) use trouble::passed;
pub(crate) use trouble::{Trouble, drift, failure_title, spec_error, trouble};
