//! The abstraction α: what a trace comes to when only the shape of the run counts.

mod asked;
mod predicates;

pub(crate) use asked::responses;
pub use predicates::{Predicates, Price};

use crate::trace::{Event, EventType, Trace};

/// What an event stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A tool is called.
    Call,
    /// A tool returns.
    Result,
    /// A model is asked.
    LlmRequest,
    /// A model answers.
    LlmResponse,
    /// The agent says what step it takes.
    Message,
    /// The run ends.
    Observation,
}

/// One event, abstracted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The position of the event in its trace, from 0.
    pub index: usize,
    /// What the event stands for.
    pub kind: TokenKind,
    /// The tool, the model as `provider:model`, the step, or `run_finished`. `unknown` where the event names none, for a step
    /// `step`.
    pub name: String,
}

/// The abstraction of one trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Abstraction {
    /// One token for each event in order; `run_started` and calls of ignored tools have none.
    pub tokens: Vec<Token>,
}

impl Abstraction {
    /// Abstracts a trace, leaving out the calls (not the results) of the tools named in `ignore`.
    pub fn of(trace: &Trace, ignore: &[String]) -> Abstraction {
        let tokens = trace.events.iter().enumerate().filter_map(|(index, event)| {
            let (kind, name) = token(event)?;
            let ignored = kind == TokenKind::Call && ignore.contains(&name);
            (!ignored).then_some(Token { index, kind, name })
        });
        Abstraction { tokens: tokens.collect() }
    }

    /// The skeleton: event index and tool name of each call, in order.
    pub fn skeleton(&self) -> Vec<(usize, &str)> {
        self.of_kind(TokenKind::Call).map(|token| (token.index, token.name.as_str())).collect()
    }

    /// The tokens of one kind, in order.
    pub fn of_kind(&self, kind: TokenKind) -> impl Iterator<Item = &Token> {
        self.tokens.iter().filter(move |token| token.kind == kind)
    }
}

fn token(event: &Event) -> Option<(TokenKind, String)> {
    let tool = || event.tool_name().unwrap_or("unknown").to_owned();
    let model = || event.model_name().unwrap_or_else(|| "unknown:unknown".to_owned());
    Some(match event.event_type {
        EventType::RunStarted => return None,
        EventType::ToolCalled => (TokenKind::Call, tool()),
        EventType::ToolReturned => (TokenKind::Result, tool()),
        EventType::LlmCalled => (TokenKind::LlmRequest, model()),
        EventType::LlmReturned => (TokenKind::LlmResponse, model()),
        EventType::AgentStep => (TokenKind::Message, event.payload.str("name").unwrap_or("step").to_owned()),
        EventType::RunFinished => (TokenKind::Observation, "run_finished".to_owned()),
    })
}
