//! A model triages a ticket with two tools: it reads the ticket, and files it under a priority.

use rig::prelude::*;
use rig::providers::openai::OpenAI;
use rig::rig_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trajectly_test::{RecordedError, tool};

const MODEL: &str = "gpt-4o-mini";
const MAX_TURNS: usize = 6;
const INSTRUCTIONS: &str = "You triage support tickets. Fetch the ticket, store its priority, then \
    say in one sentence what you did. high: customers cannot work or lose money now. normal: it \
    can wait a day. low: a question.";

#[derive(Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    Low,
    Normal,
    High,
}

#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    #[error("there is no ticket {0}")]
    NoTicket(String),
    /// What a replay returns where the recorded call failed.
    #[error(transparent)]
    Recorded(#[from] RecordedError),
}

/// Triages a ticket, and returns what the model says of it.
pub async fn triage(ticket_id: &str) -> anyhow::Result<String> {
    let agent = AgentBuilder::new(client()?.chat(MODEL))
        .preamble(INSTRUCTIONS)
        .temperature(0.0)
        .tool(FetchTicket)
        .tool(StoreTriage)
        .build();
    let response = agent
        .prompt(format!("Triage ticket {ticket_id}."))
        .max_turns(MAX_TURNS)
        .await?;
    Ok(response.output().to_owned())
}

/// Reads `OPENAI_API_KEY`, and `OPENAI_BASE_URL`, which a test sets.
fn client() -> anyhow::Result<OpenAI> {
    // An error says that the process has a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Ok(OpenAI::from_env()?)
}

/// Reads a ticket
// `#[tool]` comes second: rig's tool then calls what Trajectly replays.
#[rig_tool(params(ticket_id = "Such as T-1042"))]
#[tool]
async fn fetch_ticket(ticket_id: String) -> Result<String, ToolError> {
    match ticket_id.as_str() {
        "T-1042" => Ok("Since 07:40 every card payment fails. Please fix this today.".into()),
        _ => Err(ToolError::NoTicket(ticket_id)),
    }
}

/// Files a ticket under its priority
#[rig_tool(params(ticket_id = "Such as T-1042"))]
#[tool]
async fn store_triage(ticket_id: String, priority: Priority) -> Result<String, ToolError> {
    Ok(format!("{ticket_id} is filed as {priority:?}"))
}
