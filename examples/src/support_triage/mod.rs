//! A fixed pipeline: fetch a ticket, have a model set its priority, store the triage.
//!
//! The model decides through a forced function call: it is given the definition of [`tools::store_triage`] and must fill
//! in its arguments, which the pipeline checks before it makes the call.

pub mod tools;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionNamedToolChoice, ChatCompletionRequestSystemMessage, ChatCompletionRequestUserMessage,
    ChatCompletionToolChoiceOption, CreateChatCompletionRequest, CreateChatCompletionRequestArgs,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::chat::{self, MODEL};
use crate::{AgentError, ToolError};
use tools::{Ticket, fetch_ticket, store_triage, unsafe_export};

const INSTRUCTIONS: &str = "You triage support tickets. Read the ticket and call store_triage with its priority. \
    high: customers cannot work or lose money now. normal: something is wrong and can wait a day. low: a question.";

/// How soon somebody must look at a ticket.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// A question; it waits for a quiet hour.
    Low,
    /// Something is wrong and can wait a day.
    Normal,
    /// Customers cannot work, or lose money, now.
    High,
}

/// What the model decided about a ticket.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Triage {
    /// The ticket, as the help desk numbers it: `T-1042`.
    pub ticket_id: String,
    /// How soon somebody must look at it.
    pub priority: Priority,
}

/// Where a triage goes once it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// Into the help desk's own queue.
    #[default]
    Queue,
    /// Into the exchange folder that the reporting partner reads. This is the defect that the regression spec catches: the
    /// export copies the ticket as it stands, the customer's address with it.
    Export,
}

/// Triages one ticket and puts the result into the queue.
///
/// # Errors
///
/// See [`triage_with`].
pub async fn triage(client: &Client<OpenAIConfig>, ticket_id: &str) -> Result<Triage, AgentError> {
    triage_with(client, ticket_id, Delivery::Queue).await
}

/// Triages one ticket and delivers the result as asked.
///
/// # Errors
///
/// [`AgentError::Tool`] if there is no such ticket or the triage cannot be delivered, [`AgentError::Provider`] if the model
/// cannot be asked, [`AgentError::Answer`] if it does not decide, or decides about another ticket.
pub async fn triage_with(
    client: &Client<OpenAIConfig>,
    ticket_id: &str,
    delivery: Delivery,
) -> Result<Triage, AgentError> {
    let ticket = fetch_ticket(ticket_id.to_owned()).await?;
    let triage = classify(client, &ticket).await?;
    match delivery {
        Delivery::Queue => store_triage(triage.ticket_id.clone(), triage.priority).await?,
        Delivery::Export => unsafe_export(triage.ticket_id.clone()).await?,
    }
    Ok(triage)
}

async fn classify(client: &Client<OpenAIConfig>, ticket: &Ticket) -> Result<Triage, AgentError> {
    let turn = chat::turn(client, request(ticket)?).await?;
    let call = match turn.calls.as_slice() {
        [call] if call.function.name == "store_triage" => call,
        _ => return Err(AgentError::Answer("it is not one call of store_triage".into())),
    };
    let triage: Triage = serde_json::from_str(&call.function.arguments).map_err(ToolError::from)?;
    if triage.ticket_id != ticket.id {
        let message = format!("it decides about `{}` where `{}` was asked", triage.ticket_id, ticket.id);
        return Err(AgentError::Answer(message));
    }
    Ok(triage)
}

fn request(ticket: &Ticket) -> Result<CreateChatCompletionRequest, AgentError> {
    let store_triage = chat::function(
        "store_triage",
        "Puts the triage of a ticket into the queue.",
        json!({
            "ticket_id": { "type": "string", "description": "The ticket's number, such as T-1042." },
            "priority": { "type": "string", "enum": [Priority::Low, Priority::Normal, Priority::High] },
        }),
    );
    let request = CreateChatCompletionRequestArgs::default()
        .model(MODEL)
        .temperature(0.0)
        .messages([
            ChatCompletionRequestSystemMessage::from(INSTRUCTIONS).into(),
            // The customer's address stays out: a model has no need of it.
            ChatCompletionRequestUserMessage::from(format!("{}: {}\n\n{}", ticket.id, ticket.subject, ticket.body))
                .into(),
        ])
        .tools(vec![store_triage])
        .tool_choice(ChatCompletionToolChoiceOption::Function(ChatCompletionNamedToolChoice::from("store_triage")))
        .build()?;
    Ok(request)
}
