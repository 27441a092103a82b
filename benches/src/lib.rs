//! Traces of any length for the benchmarks, the same ones every time.

use trajectly_engine::json::{Json, Object};
use trajectly_engine::spec::Spec;
use trajectly_engine::trace::{EventType, Row, number};

/// A spec with a rule of every family, none of which the generated traces break.
pub const SPEC: &str = "\
schema_version: \"0.4\"
name: bench
command: \"true\"
refinement:
  allow_extra_tools: [search_manual]
contracts:
  tools:
    allow: [fetch_ticket, search_manual, store_triage]
    deny: [delete_ticket]
    max_calls_total: 2000000
  sequence:
    require: [fetch_ticket, store_triage]
    never: [tool:delete_ticket]
  side_effects:
    deny_write_tools: false
  data_leak:
    deny_pii_outbound: true
    secret_patterns: [\"sk_live_[0-9a-zA-Z]{16,}\"]
  args:
    store_triage:
      required_keys: [ticket_id, priority]
      fields:
        priority: { type: string, enum: [low, normal, high] }
budget_thresholds:
  max_tokens: 4000000000
";

/// The spec that the traces are judged by.
///
/// # Panics
///
/// Never: the spec is sound.
pub fn spec() -> Spec {
    Spec::parse(SPEC, "bench.agent.yaml").unwrap_or_else(|error| panic!("{error}"))
}

/// A trace of about `events` events as JSON Lines: turns of an agent that asks a model and calls the tool it asks for. A
/// candidate differs from its baseline in its run and in one tool call more every thousand events, which the spec allows.
pub fn trace(events: usize, candidate: bool) -> String {
    let mut rows = vec![row(EventType::RunStarted, Object::new().with("spec_name", "bench"))];
    for turn in 0..events / EVENTS_OF_A_TURN {
        let ticket = format!("T-{}", 1000 + turn);
        let (tool, arguments) = match turn % 2 {
            0 => ("fetch_ticket", Object::new().with("ticket_id", ticket.as_str())),
            _ => ("store_triage", Object::new().with("ticket_id", ticket.as_str()).with("priority", "normal")),
        };
        model(&mut rows, turn, &ticket, tool);
        call(&mut rows, tool, arguments, &ticket);
        if candidate && turn % 250 == 249 {
            call(&mut rows, "search_manual", Object::new().with("words", "printer paper"), &ticket);
        }
    }
    rows.push(row(EventType::RunFinished, Object::new().with("returncode", 0).with("duration_ms", 1)));
    number(rows, if candidate { "bench-c" } else { "bench-b" }).to_jsonl()
}

const EVENTS_OF_A_TURN: usize = 4;

fn model(rows: &mut Vec<Row>, turn: usize, ticket: &str, tool: &str) {
    let named = || Object::new().with("provider", "openai").with("model", "gpt-4o-mini");
    let message = |role: &str, content: String| Json::from(Object::new().with("role", role).with("content", content));
    let request = Object::new().with("model", "gpt-4o-mini").with("temperature", 0.2).with(
        "messages",
        vec![
            message("system", "You triage support tickets. Call one tool at a time, and say why.".to_owned()),
            message(
                "user",
                format!("Ticket {ticket}: the printer on floor {} prints \u{201c}h\u{e9}llo\u{201d} only.", turn % 40),
            ),
        ],
    );
    rows.push(row(EventType::LlmCalled, named().with("request", request)));
    let usage = Object::new().with("prompt_tokens", 61).with("completion_tokens", 17).with("total_tokens", 78);
    let answer = named().with("response", format!("I call {tool} for {ticket}.")).with("usage", usage);
    rows.push(row(EventType::LlmReturned, answer.with("error", Json::Null)));
}

fn call(rows: &mut Vec<Row>, tool: &str, arguments: Object, ticket: &str) {
    let input = Object::new().with("args", Vec::<Json>::new()).with("kwargs", arguments);
    rows.push(row(EventType::ToolCalled, Object::new().with("tool_name", tool).with("input", input)));
    let output =
        Object::new().with("id", ticket).with("status", "open").with("waits_since_days", 3).with("score", 0.75);
    let returned = Object::new().with("tool_name", tool).with("output", output).with("error", Json::Null);
    rows.push(row(EventType::ToolReturned, returned));
}

fn row(event_type: EventType, payload: Object) -> Row {
    Row { event_type, rel_ms: 0, payload, meta: Object::new() }
}
