//! Which call of the candidate stands for which call of the baseline.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::abstraction::{Abstraction, responses};
use crate::spec::Parallel;

/// One call of a skeleton.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    /// The position of the event in its trace, from 0.
    pub(super) index: usize,
    pub(super) tool: &'a str,
}

/// The tool calls of a trace in order, cut into groups: the calls of one group may change places.
pub(super) struct Skeleton<'a> {
    pub(super) calls: Vec<Call<'a>>,
    /// The groups one after the other, as positions in `calls`.
    groups: Vec<Range<usize>>,
}

impl<'a> Skeleton<'a> {
    /// A group is one call; with [`Parallel::Unordered`], neighbouring calls that one model response asked for.
    pub(super) fn of(abstraction: Abstraction<'a>, parallel: Parallel) -> Skeleton<'a> {
        let calls: Vec<Call<'a>> = abstraction.skeleton().map(|(index, tool)| Call { index, tool }).collect();
        let groups = match parallel {
            Parallel::Ordered => (0..calls.len()).map(|place| place..place + 1).collect(),
            Parallel::Unordered => {
                let responses = responses(abstraction.trace);
                let asked = |call: &Call<'_>| responses[call.index];
                let groups = calls.chunk_by(|a, b| asked(a).is_some() && asked(a) == asked(b));
                let mut start = 0;
                let range = |group: &[Call<'_>]| {
                    let range = start..start + group.len();
                    start = range.end;
                    range
                };
                groups.map(range).collect()
            }
        };
        Skeleton { calls, groups }
    }

    /// The tool that is called last before the group of the call at `place`.
    pub(super) fn before(&self, place: usize) -> Option<&'a str> {
        let group = self.groups.partition_point(|group| group.end <= place);
        let start = self.groups.get(group)?.start;
        self.calls[..start].last().map(|call| call.tool)
    }

    fn by_tool(&self, group: &Range<usize>) -> ByTool<'a> {
        let mut by_tool = ByTool::new();
        for place in group.clone().rev() {
            by_tool.entry(self.calls[place].tool).or_default().push(place);
        }
        by_tool
    }
}

/// The positions of a group's calls by tool, the first one last. Never holds a tool without a call.
type ByTool<'a> = BTreeMap<&'a str, Vec<usize>>;

/// What stands for what, as positions in two skeletons.
pub(super) struct Matching {
    /// For each call of the baseline the call of the candidate that stands for it.
    pub(super) counterparts: Vec<Option<usize>>,
    /// The calls of the candidate that stand for none, in order.
    pub(super) extra: Vec<usize>,
}

impl Matching {
    /// Matches group after group: each call of the baseline's first open group takes the earliest call of its tool that is left, and
    /// the group after it is open when none of them is missing.
    ///
    /// Where every group is one call, that is a walk along both skeletons.
    pub(super) fn of(baseline: &Skeleton<'_>, candidate: &Skeleton<'_>) -> Matching {
        let one_by_one = |skeleton: &Skeleton<'_>| skeleton.groups.len() == skeleton.calls.len();
        if one_by_one(baseline) && one_by_one(candidate) {
            Matching::call_by_call(baseline, candidate)
        } else {
            Matching::group_by_group(baseline, candidate)
        }
    }

    fn call_by_call(baseline: &Skeleton<'_>, candidate: &Skeleton<'_>) -> Matching {
        let mut matching = Matching { counterparts: vec![None; baseline.calls.len()], extra: Vec::new() };
        let mut wanted = baseline.calls.iter().zip(&mut matching.counterparts).peekable();
        for (place, call) in candidate.calls.iter().enumerate() {
            match wanted.next_if(|(wanted, _)| wanted.tool == call.tool) {
                Some((_, counterpart)) => *counterpart = Some(place),
                None => matching.extra.push(place),
            }
        }
        matching
    }

    /// Every step goes through the smaller of two groups, so that the whole takes no longer than sorting the calls.
    fn group_by_group(baseline: &Skeleton<'_>, candidate: &Skeleton<'_>) -> Matching {
        let mut matching = Matching { counterparts: vec![None; baseline.calls.len()], extra: Vec::new() };
        let mut groups = baseline.groups.iter();
        let mut wanted = ByTool::new();
        for group in &candidate.groups {
            let mut left = candidate.by_tool(group);
            matching.pair(&mut wanted, &mut left);
            while wanted.is_empty()
                && let Some(next) = groups.next()
            {
                wanted = baseline.by_tool(next);
                matching.pair(&mut wanted, &mut left);
            }
            let extra = matching.extra.len();
            matching.extra.extend(left.into_values().flatten());
            matching.extra[extra..].sort_unstable();
        }
        matching
    }

    /// Pairs the calls of a group anew, within each tool, so that those with the same key stand for each other where there are such.
    pub(super) fn prefer_same(
        &mut self,
        baseline: &Skeleton<'_>,
        key_in_baseline: impl Fn(usize) -> String,
        key_in_candidate: impl Fn(usize) -> String,
    ) {
        for group in baseline.groups.iter().filter(|group| group.len() > 1) {
            for places in baseline.by_tool(group).into_values().filter(|places| places.len() > 1) {
                let paired: Vec<usize> =
                    places.into_iter().rev().filter(|&place| self.counterparts[place].is_some()).collect();
                let mut calls: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
                for call in paired.iter().filter_map(|&place| self.counterparts[place].take()) {
                    calls.entry(key_in_candidate(call)).or_default().push_back(call);
                }
                for &place in &paired {
                    self.counterparts[place] = calls.get_mut(&key_in_baseline(place)).and_then(VecDeque::pop_front);
                }
                let mut rest: Vec<usize> = calls.into_values().flatten().collect();
                rest.sort_unstable();
                let open = paired.into_iter().filter(|&place| self.counterparts[place].is_none()).collect::<Vec<_>>();
                for (place, call) in open.into_iter().zip(rest) {
                    self.counterparts[place] = Some(call);
                }
            }
        }
    }

    /// Pairs calls of one tool as far as both sides have some.
    fn pair<'a>(&mut self, wanted: &mut ByTool<'a>, left: &mut ByTool<'a>) {
        let smaller = if wanted.len() < left.len() { &*wanted } else { &*left };
        let tools: Vec<&str> = smaller.keys().copied().collect();
        for tool in tools {
            let (Some(places), Some(calls)) = (wanted.get_mut(tool), left.get_mut(tool)) else { continue };
            let pairs = places.len().min(calls.len());
            let (places, calls) = (places.split_off(places.len() - pairs), calls.split_off(calls.len() - pairs));
            for (place, call) in places.into_iter().zip(calls) {
                self.counterparts[place] = Some(call);
            }
            for side in [&mut *wanted, &mut *left] {
                if side.get(tool).is_some_and(Vec::is_empty) {
                    side.remove(tool);
                }
            }
        }
    }
}
