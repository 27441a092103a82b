//! A model triages a ticket with two tools: it reads the ticket, and files it under a priority.

use std::env;

use anyhow::{Context as _, bail};
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, Tool, ToolCall, ToolResponse};
use genai::resolver::Endpoint;
use genai::{Client, ServiceTarget};
use serde::{Deserialize, Serialize};
use serde_json::json;
use trajectly_test::tool;

const MODEL: &str = "gpt-4o-mini";
const MAX_TURNS: usize = 6;
const INSTRUCTIONS: &str = "You triage support tickets. Fetch the ticket, store its priority, then \
    say in one sentence what you did. high: customers cannot work or lose money now. normal: it \
    can wait a day. low: a question.";

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    Low,
    Normal,
    High,
}

/// Triages a ticket, and returns what the model says of it.
pub async fn triage(ticket_id: &str) -> anyhow::Result<String> {
    let client = client()?;
    let options = ChatOptions::default().with_temperature(0.0);
    let question = ChatMessage::user(format!("Triage ticket {ticket_id}."));
    let mut request = ChatRequest::new(vec![question])
        .with_system(INSTRUCTIONS)
        .with_tools(tools());
    for _ in 0..MAX_TURNS {
        let response = client
            .exec_chat(MODEL, request.clone(), Some(&options))
            .await?;
        let calls: Vec<ToolCall> = response.tool_calls().into_iter().cloned().collect();
        if calls.is_empty() {
            return response.into_first_text().context("the model said nothing");
        }
        request = request.append_message(calls.clone());
        for call in calls {
            let id = call.call_id.clone();
            // A model that is told what went wrong may do better.
            let result = run(call)
                .await
                .unwrap_or_else(|error| format!("error: {error}"));
            request = request.append_message(ToolResponse::new(id, result));
        }
    }
    bail!("the model did not come to an end within {MAX_TURNS} turns")
}

/// Reads `OPENAI_API_KEY`, and `OPENAI_BASE_URL`, which a test sets and genai does not know.
fn client() -> anyhow::Result<Client> {
    // An error says that the process has a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let at_base_url = |mut target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
        if let Ok(url) = env::var("OPENAI_BASE_URL") {
            target.endpoint = Endpoint::from_owned(format!("{}/", url.trim_end_matches('/')));
        }
        Ok(target)
    };
    Ok(Client::builder()
        .with_service_target_resolver_fn(at_base_url)
        .build()?)
}

/// A call as the model asks for it.
#[derive(Deserialize)]
#[serde(tag = "name", content = "arguments", rename_all = "snake_case")]
enum Call {
    FetchTicket {
        ticket_id: String,
    },
    StoreTriage {
        ticket_id: String,
        priority: Priority,
    },
}

async fn run(call: ToolCall) -> anyhow::Result<String> {
    match serde_json::from_value(json!({ "name": call.fn_name, "arguments": call.fn_arguments }))? {
        Call::FetchTicket { ticket_id } => fetch_ticket(ticket_id).await,
        Call::StoreTriage {
            ticket_id,
            priority,
        } => store_triage(ticket_id, priority).await,
    }
}

fn tools() -> [Tool; 2] {
    let ticket_id = json!({ "type": "string", "description": "Such as T-1042" });
    let priority =
        json!({ "type": "string", "enum": [Priority::Low, Priority::Normal, Priority::High] });
    [
        Tool::new("fetch_ticket")
            .with_description("Reads a ticket")
            .with_schema(json!({
                "type": "object",
                "properties": { "ticket_id": ticket_id },
                "required": ["ticket_id"],
            })),
        Tool::new("store_triage")
            .with_description("Files a ticket under its priority")
            .with_schema(json!({
                "type": "object",
                "properties": { "ticket_id": ticket_id, "priority": priority },
                "required": ["ticket_id", "priority"],
            })),
    ]
}

/// Recorded once, replayed from then on: in a test neither tool really runs.
#[tool]
async fn fetch_ticket(ticket_id: String) -> anyhow::Result<String> {
    match ticket_id.as_str() {
        "T-1042" => Ok("Since 07:40 every card payment fails. Please fix this today.".into()),
        _ => bail!("there is no ticket {ticket_id}"),
    }
}

#[tool]
async fn store_triage(ticket_id: String, priority: Priority) -> anyhow::Result<String> {
    Ok(format!("{ticket_id} is filed as {priority:?}"))
}
