//! Laying rows out in their order, with names that do not depend on the run.

use std::collections::HashMap;

use super::super::{EventType, Row};
use super::asked::{Asked, Observed};
use super::calls::{Calls, UnitId};
use super::order::Order;
use crate::json::{Json, Object};

/// One step of the layout.
pub(super) enum Step {
    /// The row that begins a unit, and the cluster that it belongs to.
    Called(UnitId, Option<usize>),
    /// The row that ends it.
    Returned(UnitId),
    /// A call that was seen on the wire only: both its rows.
    Observed { tool: String, input: Object, output: Json, before: UnitId },
}

/// The order of all rows: every unit as a whole, its children between its first row and its last.
pub(super) fn plan(calls: &Calls, asked: &Asked<'_>, order: &Order<'_>) -> Vec<Step> {
    // By hand rather than by recursion, since the depth of a run is not ours to bound.
    enum Task {
        Begin(UnitId, Option<usize>),
        End(UnitId),
    }
    let mut clusters = 0;
    let mut push = |tasks: &mut Vec<Task>, siblings: &[UnitId]| {
        let from = tasks.len();
        for cluster in order.clusters(siblings) {
            let number = (cluster.len() > 1).then(|| {
                clusters += 1;
                clusters
            });
            tasks.extend(cluster.into_iter().map(|unit| Task::Begin(unit, number)));
        }
        tasks[from..].reverse();
    };
    let mut tasks = Vec::new();
    let mut steps = Vec::new();
    push(&mut tasks, &calls.roots);
    while let Some(task) = tasks.pop() {
        match task {
            Task::Begin(unit, cluster) => {
                steps.extend(asked.observed(unit).iter().map(|call| observed(call, unit)));
                steps.push(Step::Called(unit, cluster));
                tasks.push(Task::End(unit));
                push(&mut tasks, calls.children(unit));
            }
            Task::End(unit) => steps.push(Step::Returned(unit)),
        }
    }
    steps
}

fn observed(call: &Observed<'_>, before: UnitId) -> Step {
    let (args, kwargs) = match call.request.arguments {
        Json::Object(arguments) => (Vec::new(), arguments.clone()),
        Json::Null => (Vec::new(), Object::new()),
        other => (vec![other.clone()], Object::new()),
    };
    Step::Observed {
        tool: call.request.name.to_owned(),
        input: Object::new().with("args", args).with("kwargs", kwargs),
        output: call.content.clone(),
        before,
    }
}

/// Moves the rows into their order.
pub(super) fn emit(rows: Vec<Row>, calls: &Calls, plan: Vec<Step>) -> Vec<Row> {
    let mut rows: Vec<Option<Row>> = rows.into_iter().map(Some).collect();
    let times: Vec<u64> = rows.iter().flatten().map(|row| row.rel_ms).collect();
    let mut names = Names::default();
    let mut out = Vec::with_capacity(rows.len());
    for step in plan {
        match step {
            Step::Called(id, cluster) => {
                let unit = &calls.units[id];
                let Some(mut row) = rows[unit.called].take() else { continue };
                names.begin(&mut row, id, unit.kind.is_some(), unit.parent);
                if let Some(cluster) = cluster {
                    row.meta.insert("cluster", cluster);
                }
                out.push(row);
            }
            Step::Returned(id) => {
                let row = calls.units[id].returned.and_then(|place| rows[place].take());
                out.extend(row.map(|mut row| {
                    names.end(&mut row, id);
                    row
                }));
            }
            Step::Observed { tool, input, output, before } => {
                let meta = Object::new().with("call_id", names.next()).with("observed", "wire");
                let rel_ms = times[calls.units[before].called];
                let called = Object::new().with("tool_name", tool.as_str()).with("input", input);
                let returned = Object::new().with("tool_name", tool).with("output", output).with("error", Json::Null);
                out.push(Row { event_type: EventType::ToolCalled, rel_ms, payload: called, meta: meta.clone() });
                out.push(Row { event_type: EventType::ToolReturned, rel_ms, payload: returned, meta });
            }
        }
    }
    out
}

/// The names of calls and conversations, given in the order of the result.
#[derive(Default)]
struct Names {
    given: usize,
    calls: HashMap<UnitId, String>,
    threads: HashMap<u64, usize>,
}

impl Names {
    fn next(&mut self) -> String {
        self.given += 1;
        format!("c{}", self.given)
    }

    fn begin(&mut self, row: &mut Row, unit: UnitId, is_call: bool, parent: Option<UnitId>) {
        // What a row calls itself or its parent is left out where it leads nowhere: it could name another call now.
        row.meta.remove("call_id");
        row.meta.remove("parent");
        if let Some(parent) = parent.and_then(|parent| self.calls.get(&parent)) {
            row.meta.insert("parent", parent.as_str());
        }
        if is_call {
            let name = self.next();
            row.meta.insert("call_id", name.as_str());
            self.calls.insert(unit, name);
        }
        self.thread(row);
    }

    fn end(&mut self, row: &mut Row, unit: UnitId) {
        if let Some(name) = self.calls.get(&unit) {
            row.meta.insert("call_id", name.as_str());
        }
        self.thread(row);
    }

    fn thread(&mut self, row: &mut Row) {
        if let Some(thread) = row.meta.get("thread").and_then(Json::as_u64) {
            let next = self.threads.len() + 1;
            let number = *self.threads.entry(thread).or_insert(next);
            row.meta.insert("thread", number);
        }
    }
}
