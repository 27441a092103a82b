//! Which tool call a model asked for, and what became of the ones that no instrumented tool made.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};

use super::super::{EventType, Row};
use super::calls::{Calls, UnitId};
use crate::canonical::{Hash, Strip, hash};
use crate::json::{Json, Number, Object};

/// How many of the latest unmade requests for a tool are compared with a call whose arguments meet none of them.
const COMPARED: usize = 64;

/// One tool call that a model response asks for.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    /// The model call that asks.
    pub(super) response: UnitId,
    /// The request's place among those of the response.
    pub(super) place: usize,
    pub(super) name: &'a str,
    pub(super) arguments: &'a Json,
    id: &'a str,
    thread: Option<u64>,
}

/// A call that was seen on the wire only: a request, and the result that a later model call quotes.
#[derive(Clone, Copy)]
pub(super) struct Observed<'a> {
    pub(super) request: Request<'a>,
    pub(super) content: &'a Json,
}

/// Requests for tools, joined to the calls that meet them.
pub(super) struct Asked<'a> {
    requests: Vec<Request<'a>>,
    /// By unit: the request that it meets.
    met: HashMap<UnitId, usize>,
    /// By the model call that quotes them: the calls seen on the wire only, in the order in which they were asked for.
    observed: HashMap<UnitId, Vec<Observed<'a>>>,
}

impl<'a> Asked<'a> {
    pub(super) fn of(rows: &'a [Row], calls: &Calls) -> Asked<'a> {
        let mut asked = Asked { requests: Vec::new(), met: HashMap::new(), observed: HashMap::new() };
        let moments = asked.collect(rows, calls);
        let mut open = vec![true; asked.requests.len()];
        asked.meet_by_arguments(&moments, &mut open);
        asked.meet_by_name(&moments, &mut open);
        asked.observe(&moments, &mut open);
        asked
    }

    /// The request that a tool call meets.
    pub(super) fn request(&self, unit: UnitId) -> Option<&Request<'a>> {
        self.met.get(&unit).map(|&request| &self.requests[request])
    }

    /// The calls that the model call `unit` quotes the results of and that were seen on the wire only.
    pub(super) fn observed(&self, unit: UnitId) -> &[Observed<'a>] {
        self.observed.get(&unit).map_or(&[], Vec::as_slice)
    }

    /// Reads what matters here from the rows, in the order of their arrival.
    fn collect(&mut self, rows: &'a [Row], calls: &Calls) -> Vec<Moment<'a>> {
        let mut moments: Vec<(usize, Moment<'a>)> = Vec::new();
        for (id, unit) in calls.units.iter().enumerate() {
            let row = &rows[unit.called];
            match row.event_type {
                EventType::ToolCalled => {
                    if let Some(name) = row.payload.str("tool_name") {
                        let arguments = arguments(row.payload.get("input"));
                        moments.push((unit.called, Moment::ToolCalled { unit: id, name, arguments }));
                    }
                }
                EventType::LlmCalled => {
                    let answered = list(&row.meta, "answered");
                    moments.push((unit.called, Moment::LlmCalled { unit: id, thread: unit.thread, answered }));
                }
                _ => {}
            }
            let Some(returned) = unit.returned else { continue };
            let first = self.requests.len();
            for (place, request) in list(&rows[returned].meta, "requested").iter().enumerate() {
                let text = |key| request.get(key).and_then(Json::as_str);
                let Some(name) = text("name") else { continue };
                let arguments = request.get("arguments").unwrap_or(&Json::Null);
                let id_text = text("id").unwrap_or_default();
                let thread = unit.thread;
                self.requests.push(Request { response: id, place, name, arguments, id: id_text, thread });
            }
            if self.requests.len() > first {
                moments.push((returned, Moment::Asks(first..self.requests.len())));
            }
        }
        moments.sort_by_key(|(row, _)| *row);
        moments.into_iter().map(|(_, moment)| moment).collect()
    }

    /// A call meets the latest response that asked for it with these arguments.
    fn meet_by_arguments(&mut self, moments: &[Moment<'a>], open: &mut [bool]) {
        let mut pending: HashMap<(&str, Hash), Vec<usize>> = HashMap::new();
        for moment in moments {
            match moment {
                Moment::Asks(requests) => {
                    for index in requests.clone().rev() {
                        let request = &self.requests[index];
                        pending.entry((request.name, likeness_key(request.arguments))).or_default().push(index);
                    }
                }
                Moment::ToolCalled { unit, name, arguments: Some(arguments) } => {
                    let key = (*name, likeness_key(arguments));
                    if let Some(index) = pending.get_mut(&key).and_then(Vec::pop) {
                        open[index] = false;
                        self.met.insert(*unit, index);
                    }
                }
                Moment::ToolCalled { .. } | Moment::LlmCalled { .. } => {}
            }
        }
    }

    /// A call that meets no request as it is meets the one of its name that it is most like: an agent may fill in defaults
    /// or change arguments. The requests of a conversation stand until its next model call.
    fn meet_by_name(&mut self, moments: &[Moment<'a>], open: &mut [bool]) {
        let mut pending: HashMap<&str, VecDeque<(usize, usize)>> = HashMap::new();
        let mut latest_call: HashMap<u64, usize> = HashMap::new();
        for (now, moment) in moments.iter().enumerate() {
            match moment {
                Moment::Asks(requests) => {
                    for index in requests.clone().filter(|&index| open[index]) {
                        let pending = pending.entry(self.requests[index].name).or_default();
                        pending.push_back((now, index));
                        if pending.len() > COMPARED {
                            pending.pop_front();
                        }
                    }
                }
                Moment::LlmCalled { thread: Some(thread), .. } => {
                    latest_call.insert(*thread, now);
                }
                Moment::ToolCalled { unit, name, arguments } if !self.met.contains_key(unit) => {
                    let Some(candidates) = pending.get_mut(name) else { continue };
                    candidates.retain(|&(asked, index)| {
                        let next = self.requests[index].thread.and_then(|thread| latest_call.get(&thread));
                        next.is_none_or(|&next| next < asked)
                    });
                    let best = candidates.iter().enumerate().max_by_key(|&(_, &(_, index))| {
                        let request = &self.requests[index];
                        (likeness(request.arguments, *arguments), request.response, Reverse(request.place))
                    });
                    let best = best.map(|(at, &(_, index))| (at, index));
                    if let Some((at, index)) = best {
                        candidates.remove(at);
                        open[index] = false;
                        self.met.insert(*unit, index);
                    }
                }
                Moment::ToolCalled { .. } | Moment::LlmCalled { thread: None, .. } => {}
            }
        }
    }

    /// A request that no call meets, quoted as answered, was met where only the wire shows it.
    fn observe(&mut self, moments: &[Moment<'a>], open: &mut [bool]) {
        let mut by_id: HashMap<&str, Vec<usize>> = HashMap::new();
        for moment in moments {
            match moment {
                Moment::Asks(requests) => {
                    for index in requests.clone() {
                        by_id.entry(self.requests[index].id).or_default().push(index);
                    }
                }
                Moment::LlmCalled { unit, thread, answered } => {
                    let mut observed: Vec<(usize, &Json)> = Vec::new();
                    for answer in *answered {
                        let id = answer.get("id").and_then(Json::as_str);
                        let Some(requests) = id.and_then(|id| by_id.get(id)) else { continue };
                        let own = |index: &&usize| self.requests[**index].thread == *thread;
                        let Some(&index) = requests.iter().rev().find(own).or(requests.last()) else { continue };
                        if std::mem::take(&mut open[index]) {
                            observed.push((index, answer.get("content").unwrap_or(&Json::Null)));
                        }
                    }
                    if observed.is_empty() {
                        continue;
                    }
                    observed.sort_by_key(|(index, _)| *index);
                    let observed = observed
                        .into_iter()
                        .map(|(index, content)| Observed { request: self.requests[index], content });
                    self.observed.insert(*unit, observed.collect());
                }
                Moment::ToolCalled { .. } => {}
            }
        }
    }
}

/// What happens in a row, as far as requests for tools go.
enum Moment<'a> {
    Asks(std::ops::Range<usize>),
    ToolCalled { unit: UnitId, name: &'a str, arguments: Option<&'a Json> },
    LlmCalled { unit: UnitId, thread: Option<u64>, answered: &'a [Json] },
}

fn list<'a>(meta: &'a Object, note: &str) -> &'a [Json] {
    meta.get(note).and_then(Json::as_array).unwrap_or_default()
}

/// The arguments of a tool by name: its keyword arguments, or the one object that it was given.
fn arguments(input: Option<&Json>) -> Option<&Json> {
    let input = input?;
    let positional = input.get("args").and_then(Json::as_array).unwrap_or_default();
    let keywords = input.get("kwargs").filter(|keywords| keywords.as_object().is_some());
    match (positional, keywords) {
        ([], Some(keywords)) => Some(keywords),
        ([only @ Json::Object(_)], None) => Some(only),
        ([only @ Json::Object(_)], Some(keywords)) if keywords.as_object().is_some_and(Object::is_empty) => Some(only),
        _ => None,
    }
}

/// The same for arguments that mean the same: a model writes `5` where a typed tool holds `5.0`, and leaves out what the
/// tool holds as nothing.
fn likeness_key(arguments: &Json) -> Hash {
    hash(&essence(arguments), Strip::Keep)
}

fn essence(value: &Json) -> Json {
    match value {
        Json::Number(number) => match number.as_f64() {
            Some(float) if !number.is_integer() && float.fract() == 0.0 && float.abs() < 9e15 => {
                Json::from(float as i64)
            }
            _ => Number::clone(number).into(),
        },
        Json::Array(items) => items.iter().map(essence).collect(),
        Json::Object(members) => {
            let members = members.iter().filter(|(_, value)| !value.is_null());
            Json::Object(members.map(|(key, value)| (key.to_owned(), essence(value))).collect())
        }
        scalar => scalar.clone(),
    }
}

/// How many of the arguments that were asked for a call has.
fn likeness(wanted: &Json, given: Option<&Json>) -> usize {
    let (Some(wanted), Some(given)) = (wanted.as_object(), given.and_then(Json::as_object)) else { return 0 };
    let shared =
        wanted.iter().filter(|(key, value)| given.get(key).is_some_and(|given| essence(given) == essence(value)));
    shared.count()
}
