//! The abstraction α: what a trace comes to when only the shape of the run counts.

mod asked;
mod predicates;

pub(crate) use asked::responses;
pub use predicates::{Predicates, Price};

use std::borrow::Cow;

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
pub struct Token<'t> {
    /// The position of the event in its trace, from 0.
    pub index: usize,
    /// What the event stands for.
    pub kind: TokenKind,
    /// The tool, the model as `provider:model`, the step, or `run_finished`. `unknown` where the event names none, for a step
    /// `step`.
    pub name: Cow<'t, str>,
}

/// The abstraction of one trace. It is a view: tokens are made as they are asked for.
#[derive(Debug, Clone, Copy)]
pub struct Abstraction<'t> {
    pub(crate) trace: &'t Trace,
    ignore: &'t [String],
}

impl<'t> Abstraction<'t> {
    /// Abstracts a trace, leaving out the calls (not the results) of the tools named in `ignore`.
    pub fn of(trace: &'t Trace, ignore: &'t [String]) -> Abstraction<'t> {
        Abstraction { trace, ignore }
    }

    /// One token for each event in order; `run_started` and calls of ignored tools have none.
    pub fn tokens(self) -> impl Iterator<Item = Token<'t>> {
        self.chosen(|_| true)
    }

    /// The tokens of one kind, in order.
    pub fn of_kind(self, kind: TokenKind) -> impl Iterator<Item = Token<'t>> {
        self.chosen(move |other| other == kind)
    }

    /// The skeleton: event index and tool name of each call, in order.
    pub fn skeleton(self) -> impl Iterator<Item = (usize, &'t str)> {
        let Abstraction { trace, ignore } = self;
        let calls = trace.events.iter().enumerate().filter(|(_, event)| event.event_type == EventType::ToolCalled);
        calls
            .map(|(index, event)| (index, tool(event)))
            .filter(|(_, tool)| !ignore.iter().any(|ignored| ignored == tool))
    }

    fn chosen(self, wanted: impl Fn(TokenKind) -> bool) -> impl Iterator<Item = Token<'t>> {
        let Abstraction { trace, ignore } = self;
        trace.events.iter().enumerate().filter_map(move |(index, event)| {
            let kind = kind(event.event_type).filter(|kind| wanted(*kind))?;
            let name = name(kind, event);
            let ignored = kind == TokenKind::Call && ignore.iter().any(|ignored| *ignored == name);
            (!ignored).then_some(Token { index, kind, name })
        })
    }
}

fn kind(event_type: EventType) -> Option<TokenKind> {
    Some(match event_type {
        EventType::RunStarted => return None,
        EventType::ToolCalled => TokenKind::Call,
        EventType::ToolReturned => TokenKind::Result,
        EventType::LlmCalled => TokenKind::LlmRequest,
        EventType::LlmReturned => TokenKind::LlmResponse,
        EventType::AgentStep => TokenKind::Message,
        EventType::RunFinished => TokenKind::Observation,
    })
}

fn name(kind: TokenKind, event: &Event) -> Cow<'_, str> {
    match kind {
        TokenKind::Call | TokenKind::Result => tool(event).into(),
        TokenKind::LlmRequest | TokenKind::LlmResponse => event.model_name().unwrap_or_default().into(),
        TokenKind::Message => event.payload.str("name").unwrap_or("step").into(),
        TokenKind::Observation => "run_finished".into(),
    }
}

fn tool(event: &Event) -> &str {
    event.tool_name().unwrap_or("unknown")
}
