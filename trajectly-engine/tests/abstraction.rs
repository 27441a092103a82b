//! What a trace comes to when only the shape of the run counts.

mod common;

use common::{event, run};
use trajectly_engine::abstraction::{Abstraction, TokenKind};
use trajectly_engine::json::Object;

#[test]
fn every_event_but_the_start_becomes_a_token() {
    let mut trace = run("search llm step:plan end");
    trace.events.insert(0, event("run_started", Object::new()));
    trace.events.push(event("agent_step", Object::new()));
    trace.events.push(event("llm_called", Object::new().with("model", "m")));
    let tokens = Abstraction::of(&trace, &[]).tokens;
    let tokens: Vec<_> = tokens.iter().map(|token| (token.index, token.kind, token.name.as_str())).collect();
    assert_eq!(
        tokens,
        [
            (1, TokenKind::Call, "search"),
            (2, TokenKind::Result, "search"),
            (3, TokenKind::LlmRequest, "openai:gpt"),
            (4, TokenKind::LlmResponse, "openai:gpt"),
            (5, TokenKind::Message, "plan"),
            (6, TokenKind::Observation, "run_finished"),
            (7, TokenKind::Message, "step"),
            (8, TokenKind::LlmRequest, "unknown:m"),
        ]
    );
}

#[test]
fn ignored_tools_leave_the_skeleton_but_not_the_results() {
    let abstraction = Abstraction::of(&run("a log b"), &["log".to_owned()]);
    assert_eq!(abstraction.skeleton(), [(0, "a"), (4, "b")]);
    assert_eq!(abstraction.of_kind(TokenKind::Result).count(), 3);
}
