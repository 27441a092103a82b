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
    let tokens = Abstraction::of(&trace, &[]).tokens();
    let tokens: Vec<_> = tokens.map(|token| (token.index, token.kind, token.name)).collect();
    assert_eq!(
        tokens,
        [
            (1, TokenKind::Call, "search".into()),
            (2, TokenKind::Result, "search".into()),
            (3, TokenKind::LlmRequest, "openai:gpt".into()),
            (4, TokenKind::LlmResponse, "openai:gpt".into()),
            (5, TokenKind::Message, "plan".into()),
            (6, TokenKind::Observation, "run_finished".into()),
            (7, TokenKind::Message, "step".into()),
            (8, TokenKind::LlmRequest, "unknown:m".into()),
        ]
    );
}

#[test]
fn ignored_tools_leave_the_skeleton_but_not_the_results() {
    let trace = run("a log b");
    let ignored = ["log".to_owned()];
    let abstraction = Abstraction::of(&trace, &ignored);
    assert_eq!(abstraction.skeleton().collect::<Vec<_>>(), [(0, "a"), (4, "b")]);
    assert_eq!(abstraction.of_kind(TokenKind::Result).count(), 3);
}
