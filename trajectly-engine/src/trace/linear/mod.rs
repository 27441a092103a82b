//! Putting the rows of a run in one order, the same for every run of the same agent.
//!
//! Rows arrive as calls happen, and calls that run at the same time arrive in any order. A trace must not depend on that:
//! its order is compared, judged and committed. So calls are laid out one after the other, each with the calls made inside
//! it and its return before the next begins, and those that were in flight together are sorted by what they are:
//!
//! - by conversation: what one thread of model calls and their tools did stays together and in its own order;
//! - the tools that one model response asked for, in the order in which it asked;
//! - conversations and other calls among each other as the recording has them, else by name and input.
//!
//! Calls that follow each other keep the order of their arrival. Which calls ran at the same time is told by
//! `meta.call_id`, which the rows of our own children and of the gateway carry; rows without it keep their place.

mod asked;
mod calls;
mod emit;
mod order;

use asked::Asked;
use calls::Calls;

use super::Row;
use crate::fixture::Fixtures;

/// What a recording knows about the order of its calls; lets a replay put concurrent calls in the same one.
#[derive(Clone, Debug, Default)]
pub struct OrderHints {
    /// By fixture index: the group of calls that were in flight together.
    clusters: Vec<Option<u64>>,
}

impl OrderHints {
    /// The order that these fixtures were recorded in.
    pub fn from_fixtures(fixtures: &Fixtures) -> OrderHints {
        OrderHints { clusters: fixtures.entries.iter().map(|fixture| fixture.cluster()).collect() }
    }

    fn cluster(&self, fixture: usize) -> Option<u64> {
        self.clusters.get(fixture).copied().flatten()
    }
}

/// Puts rows in the order of a trace; `rows` come in the order of their arrival.
///
/// In the result `meta.call_id` is `c1`, `c2`, … and `meta.thread` 1, 2, … in that order, and `meta.cluster` numbers the
/// groups of more than one call that were in flight together. A tool call that a model asked for and a later request
/// answers, but that no instrumented tool made, is added before that request, marked `meta.observed = "wire"`.
pub fn linearize(rows: Vec<Row>, hints: &OrderHints) -> Vec<Row> {
    let calls = Calls::of(&rows);
    let asked = Asked::of(&rows, &calls);
    let order = order::Order::new(&rows, &calls, &asked, hints);
    let plan = emit::plan(&calls, &asked, &order);
    emit::emit(rows, &calls, plan)
}
