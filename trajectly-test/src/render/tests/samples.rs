//! Failures to be shown.

use trajectly_engine::code::Code;
use trajectly_engine::json::{Json, Object};
use trajectly_engine::report::Reduced;
use trajectly_engine::shrink::ShrinkStats;
use trajectly_engine::spec::Spec;
use trajectly_engine::trace::{Event, EventType, Trace};
use trajectly_engine::verdict::{Status, Verdict, Violation, judge};

use crate::render::{Commands, Paint, View, failure};

/// A trace put together call by call.
#[derive(Clone, Default)]
struct Run {
    events: Vec<Event>,
}

impl Run {
    fn new() -> Self {
        Self::default().event(EventType::RunStarted, r#"{"spec_name":"x"}"#)
    }

    fn event(mut self, event_type: EventType, payload: &str) -> Self {
        let Json::Object(payload) = Json::parse(payload).unwrap() else { panic!("a payload is an object") };
        self.events.push(Event {
            event_type,
            seq: self.events.len() as u64 + 1,
            run_id: "run".into(),
            rel_ms: 0,
            payload,
            meta: Object::new(),
            event_id: None,
        });
        self
    }

    /// A call of a tool and its return.
    fn tool(self, name: &str, kwargs: &str) -> Self {
        self.called(name, kwargs)
            .event(EventType::ToolReturned, &format!(r#"{{"tool_name":{},"output":"ok"}}"#, quote(name)))
    }

    fn called(self, name: &str, kwargs: &str) -> Self {
        let payload = format!(r#"{{"tool_name":{},"input":{{"args":[],"kwargs":{kwargs}}}}}"#, quote(name));
        self.event(EventType::ToolCalled, &payload)
    }

    /// A call of a model and its return.
    fn llm(self, tokens: u64) -> Self {
        self.llm_called().event(
            EventType::LlmReturned,
            &format!(r#"{{"provider":"openai","model":"gpt-4o-mini","usage":{{"total_tokens":{tokens}}}}}"#),
        )
    }

    fn llm_called(self) -> Self {
        self.event(EventType::LlmCalled, r#"{"provider":"openai","model":"gpt-4o-mini","request":{}}"#)
    }

    fn end(self, payload: &str) -> Trace {
        Trace { events: self.event(EventType::RunFinished, payload).events }
    }

    fn ended(self) -> Trace {
        self.end(r#"{"returncode":0}"#)
    }
}

fn quote(text: &str) -> String {
    Json::from(text).to_compact()
}

fn violation(code: Code, event_index: usize, message: &str) -> Violation {
    Violation::new(code, event_index, message)
}

/// What a failure is made of.
pub(super) struct Sample {
    pub(super) spec: String,
    pub(super) baseline: Trace,
    pub(super) candidate: Trace,
    pub(super) violations: Vec<Violation>,
    pub(super) reduced: Option<Reduced>,
    pub(super) output: String,
    pub(super) notes: Vec<String>,
}

impl Sample {
    pub(super) fn show(&self, paint: Paint) -> String {
        let spec = Spec::parse(&self.spec, "specs/agent.yaml").unwrap();
        let status = if self.violations.is_empty() { Status::Pass } else { Status::Fail };
        let verdict = Verdict { status, violations: self.violations.clone(), ..judge(&spec, None, &self.candidate) };
        failure(&View {
            spec: &spec,
            verdict: &verdict,
            baseline: &self.baseline,
            candidate: &self.candidate,
            baseline_file: ".trajectly/baselines/triage.jsonl",
            candidate_file: ".trajectly/current/agent.jsonl",
            prefix_file: Some(".trajectly/repros/agent.counterexample.prefix.jsonl"),
            reduced: self.reduced.as_ref(),
            output: &self.output,
            notes: &self.notes,
            commands: &commands(),
            paint,
        })
    }

    pub(super) fn plain(&self) -> String {
        self.show(Paint::plain())
    }
}

pub(super) fn commands() -> Commands {
    Commands {
        reproduce: "cargo test --test agents -- --exact triage".to_owned(),
        accept: Some("TRAJECTLY_UPDATE=accept cargo test --test agents -- --exact triage".to_owned()),
        record: Some("TRAJECTLY_UPDATE=1 cargo test --test agents -- --exact triage".to_owned()),
    }
}

const SPEC: &str = "schema_version: \"0.4\"
name: triage
command: triage
";

/// The regression of the design: a denied call in the place of a required one.
pub(super) fn denied() -> Sample {
    let run = || Run::new().tool("fetch_ticket", r#"{"ticket_id":"T-1042"}"#).llm(212);
    Sample {
        spec: format!("{SPEC}contracts:\n  tools:\n    deny: [unsafe_export]\n"),
        baseline: run().tool("store_triage", r#"{"priority":"high","ticket_id":"T-1042"}"#).ended(),
        candidate: run().tool("unsafe_export", r#"{"ticket_id":"T-1042"}"#).ended(),
        violations: vec![
            Violation {
                expected: Some("store_triage".into()),
                observed: Some(vec!["fetch_ticket", "unsafe_export"].into()),
                baseline_index: Some(5),
                ..violation(
                    Code::RefinementBaselineCallMissing,
                    5,
                    "the baseline calls `store_triage` here; this run never does",
                )
            },
            Violation {
                rule: Some("refinement.allow_extra_tools".to_owned()),
                ..violation(Code::RefinementExtraToolCall, 5, "`unsafe_export` is called beyond the baseline's calls")
            },
            Violation {
                rule: Some("contracts.tools.deny[0]".to_owned()),
                observed: Some("unsafe_export".into()),
                hint: Some("drop the call, or take the tool out of `deny` if it is now intended".to_owned()),
                ..violation(Code::ContractToolDenied, 5, "`unsafe_export` is denied")
            },
        ],
        reduced: Some(Reduced {
            file: Some(".trajectly/repros/agent.counterexample.min.jsonl".to_owned()),
            stats: ShrinkStats { original_len: 8, reduced_len: 4, iterations: 12 },
        }),
        output: String::new(),
        notes: Vec::new(),
    }
}

/// A denied call beside calls that one response asked for, and that came in another order.
pub(super) fn denied_in_parallel() -> Sample {
    let asks = |run: Run| {
        let call = |tool: &str| format!(r#"{{"function":{{"name":"{tool}"}}}}"#);
        let calls = ["weather", "news", "export"].map(call).join(",");
        let body = format!(r#"{{"choices":[{{"message":{{"tool_calls":[{calls}]}}}}]}}"#);
        let payload = format!(r#"{{"provider":"openai","model":"gpt-4o-mini","response":{body}}}"#);
        run.llm_called().event(EventType::LlmReturned, &payload)
    };
    let rule = Some("contracts.tools.deny[0]".to_owned());
    Sample {
        spec: format!("{SPEC}contracts: {{tools: {{deny: [export]}}}}\nrefinement: {{parallel: unordered}}\n"),
        baseline: asks(Run::new()).tool("weather", "{}").tool("news", "{}").ended(),
        candidate: asks(Run::new()).tool("news", "{}").tool("weather", "{}").tool("export", "{}").ended(),
        violations: vec![Violation { rule, ..violation(Code::ContractToolDenied, 7, "`export` is denied") }],
        output: String::new(),
        reduced: None,
        notes: Vec::new(),
    }
}

/// One call beyond a limit, in a run that goes on to break more.
pub(super) fn over_the_limit() -> Sample {
    let run = || Run::new().tool("search", r#"{"query":"mug"}"#);
    let limit = |event_index| Violation {
        rule: Some("contracts.tools.max_calls_total".to_owned()),
        expected: Some(1.into()),
        observed: Some(3.into()),
        ..violation(Code::ContractMaxCallsTotalExceeded, event_index, "too many tool calls")
    };
    let later = |event_index| violation(Code::RefinementExtraToolCall, event_index, "`search` is called again");
    Sample {
        spec: format!("{SPEC}contracts:\n  tools:\n    max_calls_total: 1  # per run\n"),
        baseline: run().ended(),
        candidate: run().tool("search", r#"{"query":"cup"}"#).tool("search", "{}").tool("search", "{}").ended(),
        violations: vec![limit(3), later(5), later(7), later(7), later(7), later(7)],
        reduced: None,
        output: String::new(),
        notes: vec!["the network guard was not in force".to_owned()],
    }
}

/// A prompt that was edited, so that the request was never recorded.
pub(super) fn edited_prompt() -> Sample {
    let recorded =
        "You buy things.\nBe brief.\nNever spend more than 50 dollars on one order.\nCheck the stock first.\n";
    let actual = recorded.replace("50", "60");
    let differences = Json::from(vec![
        Object::new().with("path", "$.messages[0].content").with("recorded", recorded).with("actual", actual),
        Object::new().with("path", "$.temperature").with("recorded", 0.2).with("actual", 0.7),
        Object::new().with("path", "$.model").with("recorded", "gpt-4o").with("actual", "gpt-4o-mini"),
        Object::new().with("path", "$.seed").with("actual", 7),
    ]);
    let details = Object::new()
        .with("available_count", 0)
        .with("consumed_count", 0)
        .with("nearest", Object::new().with("index", 2).with("differences", differences));
    let message = "this call of `openai:gpt-4o-mini` was not recorded";
    let payload = Object::new()
        .with("provider", "openai")
        .with("model", "gpt-4o-mini")
        .with("error", message)
        .with("error_code", "FIXTURE_MISSING")
        .with("error_details", details);
    let run = || Run::new().tool("search", r#"{"query":"mug"}"#);
    Sample {
        spec: SPEC.to_owned(),
        baseline: run().llm(90).tool("checkout", r#"{"cart":7}"#).ended(),
        candidate: run()
            .llm_called()
            .event(EventType::LlmReturned, &Json::from(payload).to_compact())
            .end(r#"{"returncode":1}"#),
        violations: vec![
            Violation {
                expected: Some(Object::new().with("available_count", 0).into()),
                hint: Some("record again if the call is now intended".to_owned()),
                ..violation(Code::FixtureMissing, 4, message)
            },
            violation(Code::AgentRunFailed, 5, "the agent ended with exit code 1"),
        ],
        reduced: None,
        output: "thinking…\nError: 400 Bad Request\n".to_owned(),
        notes: Vec::new(),
    }
}

/// A tool asked once more than was recorded.
pub(super) fn used_up() -> Sample {
    let details = Object::new().with("available_count", 2).with("consumed_count", 2);
    let payload = Object::new()
        .with("tool_name", "poll")
        .with("error", "nothing left")
        .with("error_code", "FIXTURE_EXHAUSTED")
        .with("error_details", details);
    let run = || Run::new().tool("poll", "{}").tool("poll", "{}");
    Sample {
        spec: SPEC.to_owned(),
        baseline: run().ended(),
        candidate: run()
            .called("poll", "{}")
            .event(EventType::AgentStep, r#"{"name":"waiting"}"#)
            .event(EventType::ToolReturned, &Json::from(payload).to_compact())
            .ended(),
        violations: vec![violation(Code::FixtureExhausted, 7, "`poll` was called 2 times, and now once more")],
        reduced: None,
        output: String::new(),
        notes: Vec::new(),
    }
}

/// An agent that panicked, and printed in colour before.
pub(super) fn panicked() -> Sample {
    let message = "panicked at src/main.rs:7:5:\nindex out of bounds: the len is 0 but the index is 0";
    let printed: String = (1..=2).map(|n| format!("\u{1b}[32mstep {n}\u{1b}[0m\n")).collect();
    Sample {
        spec: SPEC.to_owned(),
        baseline: Run::new().llm(10).ended(),
        candidate: Run::new().llm(10).end(&format!(r#"{{"returncode":101,"internal_error":{}}}"#, quote(message))),
        violations: vec![Violation {
            observed: Some(message.into()),
            ..violation(Code::AgentRunFailed, 3, &format!("the agent failed: {message}"))
        }],
        reduced: None,
        output: printed,
        notes: Vec::new(),
    }
}

/// An obligation that was never met, at the end of a long run.
pub(super) fn never_met() -> Sample {
    let calls = |run: Run, count: usize| {
        (0..count).fold(run, |run, n| run.llm(100).tool("look", &format!(r#"{{"page":{n}}}"#)))
    };
    let extra = calls(calls(Run::new(), 4).tool("pause", "{}"), 6);
    Sample {
        spec: format!("{SPEC}contracts:\n  sequence:\n    eventually:\n      - 'store'\n"),
        baseline: calls(Run::new(), 10).tool("store", "{}").ended(),
        candidate: extra.ended(),
        violations: vec![Violation {
            rule: Some("contracts.sequence.eventually[0]".to_owned()),
            expected: Some("store".into()),
            observed: Some(vec!["tool:look", "tool:look"].into()),
            ..violation(Code::ContractSequenceEventuallyMissing, 43, "`store` never happens")
        }],
        reduced: None,
        output: String::new(),
        notes: Vec::new(),
    }
}

/// Everything that a trace, a spec or an agent can say to spoil a terminal.
pub(super) fn hostile() -> Sample {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\r\n\u{202e}drowssap\u{9b}31m\u{200b}";
    let long = "x".repeat(5_000);
    let input = Object::new().with(evil, evil).with("long", long.as_str()).with("wide", "漢字".repeat(80));
    let run = || {
        Run::new()
            .called(evil, &Json::from(input.clone()).to_compact())
            .called(&long, "{}")
            .event(EventType::AgentStep, &format!(r#"{{"name":{}}}"#, quote(evil)))
    };
    let of = |code, message: &str| Violation {
        hint: Some(evil.to_owned()),
        observed: Some(Object::new().with(evil, long.as_str()).into()),
        expected: Some(evil.into()),
        rule: Some("contracts.tools.deny[0]".to_owned()),
        ..violation(code, 1, message)
    };
    Sample {
        spec: format!("{SPEC}contracts:\n  tools:\n    deny: ['\u{202e}{long}']\n"),
        baseline: run().ended(),
        candidate: run().tool("next", "{}").ended(),
        violations: vec![
            of(Code::ContractToolDenied, evil),
            of(Code::ContractToolNotAllowed, &long),
            Violation { baseline_index: Some(1), ..of(Code::RefinementBaselineCallMissing, evil) },
        ],
        reduced: None,
        output: format!("{evil}\n{long}\n10%\r20%\r\n\ttabbed\n"),
        notes: vec![evil.to_owned()],
    }
}

pub(super) fn samples() -> Vec<Sample> {
    vec![denied(), over_the_limit(), edited_prompt(), used_up(), panicked(), never_met(), hostile()]
}
