//! A model triages a ticket with two tools: it reads the ticket, and files it under a priority.

use anyhow::{Context as _, bail};
use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessage,
    ChatCompletionRequestMessage, ChatCompletionRequestSystemMessage,
    ChatCompletionRequestToolMessage, ChatCompletionRequestUserMessage, ChatCompletionTool,
    ChatCompletionTools, CreateChatCompletionRequestArgs, FunctionCall, FunctionObject,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
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
    let client = client();
    let mut messages: Vec<ChatCompletionRequestMessage> = vec![
        ChatCompletionRequestSystemMessage::from(INSTRUCTIONS).into(),
        ChatCompletionRequestUserMessage::from(format!("Triage ticket {ticket_id}.")).into(),
    ];
    for _ in 0..MAX_TURNS {
        let request = CreateChatCompletionRequestArgs::default()
            .model(MODEL)
            .temperature(0.0)
            .messages(messages.clone())
            .tools(tools())
            .build()?;
        let response = client.chat().create(request).await?;
        let answer = response
            .choices
            .into_iter()
            .next()
            .context("the model gave no answer")?
            .message;
        let Some(calls) = answer.tool_calls.filter(|calls| !calls.is_empty()) else {
            return answer.content.context("the model said nothing");
        };
        messages.push(
            ChatCompletionRequestAssistantMessage {
                content: answer.content.map(Into::into),
                tool_calls: Some(calls.clone()),
                ..Default::default()
            }
            .into(),
        );
        for call in calls {
            let ChatCompletionMessageToolCalls::Function(call) = call else {
                bail!("the model made up a tool")
            };
            // A model that is told what went wrong may do better.
            let result = run(call.function)
                .await
                .unwrap_or_else(|error| format!("error: {error}"));
            let message = ChatCompletionRequestToolMessage {
                content: result.into(),
                tool_call_id: call.id,
            };
            messages.push(message.into());
        }
    }
    bail!("the model did not come to an end within {MAX_TURNS} turns")
}

/// Reads `OPENAI_API_KEY`, and `OPENAI_BASE_URL`, which a test sets.
fn client() -> Client<OpenAIConfig> {
    // An error says that the process has a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::new()
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

async fn run(call: FunctionCall) -> anyhow::Result<String> {
    let arguments: Value = serde_json::from_str(&call.arguments)?;
    match serde_json::from_value(json!({ "name": call.name, "arguments": arguments }))? {
        Call::FetchTicket { ticket_id } => fetch_ticket(ticket_id).await,
        Call::StoreTriage {
            ticket_id,
            priority,
        } => store_triage(ticket_id, priority).await,
    }
}

fn tools() -> Vec<ChatCompletionTools> {
    let ticket_id = json!({ "type": "string", "description": "Such as T-1042" });
    let priority =
        json!({ "type": "string", "enum": [Priority::Low, Priority::Normal, Priority::High] });
    let tool = |name: &str, description: &str, properties: Value, required: &[&str]| {
        let function = FunctionObject {
            name: name.into(),
            description: Some(description.into()),
            parameters: Some(
                json!({ "type": "object", "properties": properties, "required": required }),
            ),
            strict: None,
        };
        ChatCompletionTools::Function(ChatCompletionTool { function })
    };
    vec![
        tool(
            "fetch_ticket",
            "Reads a ticket",
            json!({ "ticket_id": ticket_id }),
            &["ticket_id"],
        ),
        tool(
            "store_triage",
            "Files a ticket under its priority",
            json!({ "ticket_id": ticket_id, "priority": priority }),
            &["ticket_id", "priority"],
        ),
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
