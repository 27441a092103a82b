//! Generated values, runs and specs. Names come from a few, so that specs and runs often speak of the same thing.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use trajectly_engine::json::{Json, Number, Object};
use trajectly_engine::spec::Spec;
use trajectly_engine::trace::{EventType, Row, Trace, number};

pub(crate) const TOOLS: &[&str] = &["a", "b", "checkout", "http_request", "db_write", "log"];
pub(crate) const HOSTS: &[&str] = &["a.test", "*.b.test", "10.0.0.1:80"];
const OPERATIONS: &[&str] = &["a", "tool:b", "log", "llm:p:m", "step:plan"];
const URLS: &[&str] = &["https://a.test/x", "http://sub.b.test", "http://evil.test", "nowhere"];
const TEXTS: &[&str] = &["", "x", "a@b.co", "555-0199", "sk_1", "7"];

/// Any JSON value.
pub(crate) fn value() -> impl Strategy<Value = Json> {
    let scalar = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u128>().prop_map(|integer| Json::from(Number::from(integer))),
        any::<f64>().prop_map(Json::from),
        (-1000i64..1000).prop_map(|thousandths| Json::from(thousandths as f64 / 1000.0)),
        any::<String>().prop_map(Json::from),
    ];
    scalar.prop_recursive(4, 32, 5, |inner| {
        let members = vec((any::<String>(), inner.clone()), 0..5);
        prop_oneof![
            vec(inner, 0..5).prop_map(Json::from),
            members.prop_map(|members| Json::from(members.into_iter().collect::<Object>())),
        ]
    })
}

/// A step of a run.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// A call of a tool with these keyword arguments.
    Call(&'static str, Object),
    /// A model that asks for these calls, which then happen in this order.
    Ask(Vec<(&'static str, Object)>),
    Say(&'static str),
    /// The end, with this exit code and duration.
    End(i64, u64),
}

fn call() -> impl Strategy<Value = (&'static str, Object)> {
    let text = option::of(select(TEXTS));
    let arguments = (text, option::of(select(URLS)), option::of(-3i64..10)).prop_map(|(text, url, cents)| {
        let arguments =
            [("text", text.map(Json::from)), ("url", url.map(Json::from)), ("cents", cents.map(Json::from))];
        arguments.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    });
    (select(TOOLS), arguments)
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => call().prop_map(|(tool, arguments)| Step::Call(tool, arguments)),
        2 => vec(call(), 0..4).prop_map(Step::Ask),
        1 => select(&["plan", "stop"][..]).prop_map(Step::Say),
        1 => (select(&[0, 0, 0, 1][..]), 0u64..20).prop_map(|(code, duration)| Step::End(code, duration)),
    ]
}

/// A baseline, and a candidate that does some of the same.
pub(crate) fn runs() -> impl Strategy<Value = (Vec<Step>, Vec<Step>)> {
    vec(step(), 0..8).prop_flat_map(|baseline| {
        let length = baseline.len();
        let kept = subsequence((0..length).collect::<Vec<_>>(), length.saturating_sub(2)..=length);
        let candidate = (kept, vec((0..=length, step()), 0..3)).prop_map({
            let baseline = baseline.clone();
            move |(kept, added)| {
                let mut candidate: Vec<Step> = kept.into_iter().map(|place| baseline[place].clone()).collect();
                for (place, step) in added {
                    candidate.insert(place.min(candidate.len()), step);
                }
                candidate
            }
        });
        (Just(baseline), candidate)
    })
}

/// The trace of a run.
pub(crate) fn trace(steps: &[Step]) -> Trace {
    let mut rows = Vec::new();
    let mut push = |event_type, payload: Object, meta: Object| rows.push(Row { event_type, rel_ms: 0, payload, meta });
    let none = Object::new;
    let called = |(tool, arguments): &(&'static str, Object)| {
        let input = Object::new().with("args", Vec::<Json>::new()).with("kwargs", arguments.clone());
        Object::new().with("tool_name", *tool).with("input", input)
    };
    let model = || Object::new().with("provider", "p").with("model", "m");
    for step in steps {
        match step {
            Step::Call(tool, arguments) => {
                push(EventType::ToolCalled, called(&(*tool, arguments.clone())), none());
                push(EventType::ToolReturned, Object::new().with("tool_name", *tool), none());
            }
            Step::Ask(calls) => {
                push(EventType::LlmCalled, model().with("request", calls.len()), none());
                let requested: Vec<Object> = calls.iter().map(|(tool, _)| Object::new().with("name", *tool)).collect();
                let usage = Object::new().with("total_tokens", 5);
                push(EventType::LlmReturned, model().with("usage", usage), Object::new().with("requested", requested));
                calls.iter().for_each(|call| push(EventType::ToolCalled, called(call), none()));
            }
            Step::Say(name) => push(EventType::AgentStep, Object::new().with("name", *name), none()),
            Step::End(code, duration) => {
                let end = Object::new().with("returncode", *code).with("duration_ms", *duration);
                push(EventType::RunFinished, end, none());
            }
        }
    }
    number(rows, "run")
}

fn some(names: &'static [&'static str]) -> impl Strategy<Value = Json> {
    subsequence(names, 0..=names.len().min(2)).prop_map(|names| names.into_iter().collect())
}

fn limit() -> impl Strategy<Value = Json> {
    option::weighted(0.3, 0u64..6).prop_map(Json::from)
}

/// A block with those of these members that come out as something.
fn block(members: Vec<(&'static str, BoxedStrategy<Json>)>) -> BoxedStrategy<Json> {
    let (names, values): (Vec<_>, Vec<_>) = members.into_iter().unzip();
    values
        .prop_map(move |values| {
            let members = names.iter().zip(values).filter(|(_, value)| !value.is_null());
            Json::from(members.map(|(name, value)| ((*name).to_owned(), value)).collect::<Object>())
        })
        .boxed()
}

fn flag() -> BoxedStrategy<Json> {
    any::<bool>().prop_map(Json::from).boxed()
}

fn word(words: &'static [&'static str]) -> BoxedStrategy<Json> {
    select(words).prop_map(Json::from).boxed()
}

/// A block that is there once in three times.
fn sometimes(block: BoxedStrategy<Json>) -> BoxedStrategy<Json> {
    option::weighted(0.33, block).prop_map(Json::from).boxed()
}

/// A spec, as the value that it is written as.
pub(crate) fn spec() -> impl Strategy<Value = Object> {
    let refinement = block(vec![
        ("mode", word(&["skeleton", "skeleton", "strict", "none"])),
        ("allow_extra_tools", some(TOOLS).boxed()),
        ("allow_extra_side_effect_tools", some(TOOLS).boxed()),
        ("allow_new_tool_names", flag()),
        ("allow_extra_llm_steps", flag()),
        ("ignore_call_tools", some(&["log"]).boxed()),
        ("parallel", word(&["ordered", "unordered"])),
    ]);
    let per_tool = (select(TOOLS), 0u64..3).prop_map(|(tool, limit)| Json::from(Object::new().with(tool, limit)));
    let tools = block(vec![
        (
            "allow",
            option::weighted(0.2, subsequence(&TOOLS[..5], 3..=5))
                .prop_map(|tools| tools.map_or(Json::Null, |tools| tools.into_iter().collect()))
                .boxed(),
        ),
        ("deny", some(&["log"]).boxed()),
        ("max_calls_total", limit().boxed()),
        ("max_calls_per_tool", option::weighted(0.3, per_tool).prop_map(Json::from).boxed()),
    ]);
    let pair = (select(OPERATIONS), select(OPERATIONS))
        .prop_map(|(before, after)| Json::from(vec![Object::new().with("before", before).with("after", after)]));
    let sequence = block(vec![
        ("require", some(OPERATIONS).boxed()),
        ("require_before", option::weighted(0.2, pair).prop_map(Json::from).boxed()),
        ("eventually", some(OPERATIONS).boxed()),
        ("forbid", some(OPERATIONS).boxed()),
        ("never", some(OPERATIONS).boxed()),
        ("at_most_once", some(OPERATIONS).boxed()),
    ]);
    let network = block(vec![
        ("default", word(&["deny", "allow"])),
        ("allowlist", some(HOSTS).boxed()),
        ("allow_domains", some(HOSTS).boxed()),
    ]);
    let data_leak = block(vec![
        ("deny_pii_outbound", flag()),
        ("outbound_kinds", some(&["TOOL_CALL", "LLM_REQUEST"]).boxed()),
        ("secret_patterns", some(&["sk_\\d", "x"]).boxed()),
    ]);
    let field = block(vec![("min", limit().boxed()), ("type", word(&["number", "integer", "string"]))]);
    let args = (select(TOOLS), field, some(&["text", "url"])).prop_map(|(tool, field, required)| {
        let rules = Object::new().with("fields", Object::new().with("cents", field)).with("required_keys", required);
        Json::from(Object::new().with(tool, rules))
    });
    let contracts = block(vec![
        ("tools", sometimes(tools)),
        ("sequence", sometimes(sequence)),
        ("side_effects", sometimes(block(vec![("deny_write_tools", flag())]))),
        ("network", network),
        ("data_leak", sometimes(data_leak)),
        ("args", sometimes(args.boxed())),
    ]);
    let budgets = block(vec![
        ("max_tool_calls", limit().boxed()),
        ("max_tokens", limit().boxed()),
        ("max_latency_ms", limit().boxed()),
    ]);
    (refinement, contracts, sometimes(budgets)).prop_map(|(refinement, contracts, budgets)| {
        let spec = Object::new().with("schema_version", "0.4").with("name", "generated").with("refinement", refinement);
        spec.with("contracts", contracts).with("budget_thresholds", budgets)
    })
}

/// Reads a generated spec.
pub(crate) fn read(spec: &Object) -> Spec {
    Spec::from_json(&Json::from(spec.clone())).unwrap_or_else(|error| panic!("{error}\n{spec}"))
}
