//! The order of the calls made inside one call, or inside none.

use std::collections::HashMap;

use super::super::Row;
use super::OrderHints;
use super::asked::Asked;
use super::calls::{Calls, UnitId};
use crate::canonical::{Strip, canonical_text};
use crate::fixture::{CallKind, call_input, call_name};

/// What the order of calls is judged by.
pub(super) struct Order<'a> {
    rows: &'a [Row],
    calls: &'a Calls,
    asked: &'a Asked<'a>,
    hints: &'a OrderHints,
    /// By conversation: its first model call.
    openings: HashMap<u64, UnitId>,
}

/// What keeps its own order among calls in flight together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Lane {
    /// A conversation: its model calls, and the tools that they asked for.
    Thread(u64),
    /// A model call that belongs to no conversation, and the tools that it asked for.
    Response(UnitId),
    /// A call on its own.
    Alone(UnitId),
}

/// What a call is, to sort calls by.
type Nature = (CallKind, String, String);

impl<'a> Order<'a> {
    pub(super) fn new(rows: &'a [Row], calls: &'a Calls, asked: &'a Asked<'a>, hints: &'a OrderHints) -> Order<'a> {
        let mut openings = HashMap::new();
        for (id, unit) in calls.units.iter().enumerate() {
            if let Some(thread) = unit.thread {
                openings.entry(thread).or_insert(id);
            }
        }
        Order { rows, calls, asked, hints, openings }
    }

    /// Sorts siblings, given in the order in which they began, into clusters: the calls of one were in flight together.
    pub(super) fn clusters(&self, siblings: &[UnitId]) -> Vec<Vec<UnitId>> {
        let alone = |unit: &UnitId| self.calls.units[*unit].kind.is_none();
        let stretches = siblings.chunk_by(|a, b| !alone(a) && !alone(b));
        let clusters = stretches.flat_map(|stretch| self.split(stretch));
        clusters.map(|cluster| if cluster.len() > 1 { self.sort(&cluster) } else { cluster }).collect()
    }

    /// Splits neighbouring calls where nothing joins those before to those after.
    fn split(&self, stretch: &[UnitId]) -> Vec<Vec<UnitId>> {
        let mut last_of_recorded: HashMap<u64, usize> = HashMap::new();
        for (place, &unit) in stretch.iter().enumerate() {
            if let Some(cluster) = self.recorded_cluster(unit) {
                last_of_recorded.insert(cluster, place);
            }
        }
        let mut clusters: Vec<Vec<UnitId>> = Vec::new();
        let (mut busy_until, mut recorded_until, mut response) = (0, 0, None);
        for (place, &id) in stretch.iter().enumerate() {
            let unit = &self.calls.units[id];
            let asked_by = self.asked.request(id).map(|request| request.response);
            let overlaps = unit.called < busy_until;
            let recorded_together = place > 0 && place <= recorded_until;
            let asked_together = asked_by.is_some() && asked_by == response;
            match clusters.last_mut() {
                Some(cluster) if overlaps || recorded_together || asked_together => cluster.push(id),
                _ => clusters.push(vec![id]),
            }
            busy_until = busy_until.max(unit.end());
            let recorded = self.recorded_cluster(id).and_then(|cluster| last_of_recorded.get(&cluster));
            recorded_until = recorded_until.max(recorded.copied().unwrap_or(0));
            response = asked_by;
        }
        clusters
    }

    fn recorded_cluster(&self, unit: UnitId) -> Option<u64> {
        self.hints.cluster(self.calls.units[unit].fixture?)
    }

    /// Sorts the calls of one cluster.
    fn sort(&self, cluster: &[UnitId]) -> Vec<UnitId> {
        let (recorded, mut unknown): (Vec<_>, Vec<_>) =
            self.lanes(cluster).into_iter().partition(|lane| lane.iter().any(|&unit| self.place(unit).is_some()));

        // Recorded lanes are merged as they were recorded, but no lane's own order is changed: a call has the place of
        // the latest before it in its lane, or of the first after it.
        let mut placed: Vec<(usize, UnitId)> = Vec::new();
        for lane in recorded {
            let mut latest = lane.iter().find_map(|&unit| self.place(unit)).unwrap_or_default();
            for unit in lane {
                latest = latest.max(self.place(unit).unwrap_or_default());
                placed.push((latest, unit));
            }
        }
        placed.sort_by_key(|(place, _)| *place);

        if unknown.len() > 1 {
            unknown.sort_by_cached_key(|lane| self.nature_of_lane(lane));
        }
        placed.into_iter().map(|(_, unit)| unit).chain(unknown.into_iter().flatten()).collect()
    }

    /// The calls of a cluster by lane, lanes in the order in which they began.
    fn lanes(&self, cluster: &[UnitId]) -> Vec<Vec<UnitId>> {
        let mut lanes: Vec<Vec<UnitId>> = Vec::new();
        let mut places: HashMap<Lane, usize> = HashMap::new();
        for &unit in cluster {
            let place = *places.entry(self.lane(unit)).or_insert(lanes.len());
            if place == lanes.len() {
                lanes.push(Vec::new());
            }
            lanes[place].push(unit);
        }
        let response = |unit: &UnitId| self.asked.request(*unit).map(|request| request.response);
        for lane in &mut lanes {
            for tools in lane.chunk_by_mut(|a, b| response(a).is_some() && response(a) == response(b)) {
                tools.sort_by_key(|unit| self.asked.request(*unit).map(|request| request.place));
            }
        }
        lanes
    }

    fn lane(&self, unit: UnitId) -> Lane {
        let of_model_call = |call: UnitId| match self.calls.units[call].thread {
            Some(thread) => Lane::Thread(thread),
            None => Lane::Response(call),
        };
        match (self.calls.units[unit].kind, self.asked.request(unit)) {
            (Some(CallKind::Llm), _) => of_model_call(unit),
            (_, Some(request)) => of_model_call(request.response),
            (_, None) => Lane::Alone(unit),
        }
    }

    /// Where the recording has the call.
    fn place(&self, unit: UnitId) -> Option<usize> {
        self.calls.units[unit].fixture
    }

    /// What tells a lane that was not recorded from others: how its conversation opened, then its calls here.
    fn nature_of_lane(&self, lane: &[UnitId]) -> Vec<Nature> {
        let opening = lane.first().map(|&first| match self.lane(first) {
            Lane::Thread(thread) => self.openings.get(&thread).copied().unwrap_or(first),
            Lane::Response(call) => call,
            Lane::Alone(unit) => unit,
        });
        opening.iter().chain(lane).map(|&unit| self.nature(unit)).collect()
    }

    fn nature(&self, unit: UnitId) -> Nature {
        let unit = &self.calls.units[unit];
        let payload = &self.rows[unit.called].payload;
        let kind = unit.kind.unwrap_or(CallKind::Tool);
        let input = call_input(kind, payload).map(|input| canonical_text(input, Strip::Volatile));
        (kind, call_name(kind, payload), input.unwrap_or_default())
    }
}
