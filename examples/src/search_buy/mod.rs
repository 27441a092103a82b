//! A tool loop: the model searches a shop, compares, fills the cart and checks out, until it asks for nothing more.
//!
//! The model's turns are streamed. What a tool refuses goes back to the model, which may try another way. What must not
//! depend on a model's mood, the agent does itself: it sees each payment through before it reports the order.

mod shop;
pub mod tools;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionMessageToolCall, ChatCompletionRequestMessage, ChatCompletionRequestSystemMessage,
    ChatCompletionRequestToolMessage, ChatCompletionRequestUserMessage, CreateChatCompletionRequest,
    CreateChatCompletionRequestArgs, FunctionCall,
};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::chat::{self, MODEL};
use crate::{AgentError, ToolError};
pub use shop::{Cart, Line, Order, Payment, Product};
use tools::{add_to_cart, checkout, get_product, payment_status, search_products};

const INSTRUCTIONS: &str = "You buy for customers of a web shop. Search, compare the two best hits, put the best rated \
    one that is in stock into the cart and check out, once. Then tell the customer in one sentence what was ordered.";

/// How often the model may be asked before the agent gives up.
pub const MAX_TURNS: usize = 12;

/// What a customer wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errand {
    /// The customer's number: `C-2041`.
    pub customer_id: String,
    /// What is to be bought, in the customer's words.
    pub wish: String,
    /// The most that may be spent, in cents.
    pub budget_cents: u64,
}

/// What the agent does about a payment that is pending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenPending {
    /// Asks the provider what has become of it.
    #[default]
    Ask,
    /// Takes it for lost and checks out again. This is the defect that the regression spec catches: the customer pays
    /// twice, and nobody looks at either payment.
    Retry,
}

/// Runs an errand and returns what the model tells the customer in the end.
///
/// # Errors
///
/// See [`buy_with`].
pub async fn buy(client: &Client<OpenAIConfig>, errand: &Errand) -> Result<String, AgentError> {
    buy_with(client, errand, WhenPending::Ask, |_| ()).await
}

/// Runs an errand, treating pending payments as told, and hands the model's words to `on_text` as they arrive.
///
/// # Errors
///
/// [`AgentError::Provider`] if the model cannot be asked, [`AgentError::Answer`] if it refuses or breaks off,
/// [`AgentError::Turns`] if it asks for tools without end. A tool that fails is no error: the model is told.
pub async fn buy_with(
    client: &Client<OpenAIConfig>,
    errand: &Errand,
    when_pending: WhenPending,
    mut on_text: impl FnMut(&str),
) -> Result<String, AgentError> {
    let till = Till { when_pending };
    let mut messages = opening(errand);
    for _ in 0..MAX_TURNS {
        let turn = chat::turn_streamed(client, request(&messages)?, &mut on_text).await?;
        if turn.calls.is_empty() {
            return turn.text.ok_or_else(|| AgentError::Answer("it is empty".into()));
        }
        messages.push(turn.to_message());
        messages.extend(till.answer(&turn.calls).await);
    }
    Err(AgentError::Turns(MAX_TURNS))
}

fn opening(errand: &Errand) -> Vec<ChatCompletionRequestMessage> {
    let Errand { customer_id, wish, budget_cents } = errand;
    let task = format!("Customer {customer_id} asks for: {wish}. The budget is {budget_cents} cents.");
    vec![
        ChatCompletionRequestSystemMessage::from(INSTRUCTIONS).into(),
        ChatCompletionRequestUserMessage::from(task).into(),
    ]
}

fn request(messages: &[ChatCompletionRequestMessage]) -> Result<CreateChatCompletionRequest, AgentError> {
    let request = CreateChatCompletionRequestArgs::default()
        .model(MODEL)
        .temperature(0.0)
        .messages(messages)
        .tools(tools::offered())
        .parallel_tool_calls(true)
        .build()?;
    Ok(request)
}

/// Carries out what the model asks for.
struct Till {
    when_pending: WhenPending,
}

impl Till {
    /// Answers the calls of one turn, in the order in which they were asked for.
    async fn answer(&self, calls: &[ChatCompletionMessageToolCall]) -> Vec<ChatCompletionRequestMessage> {
        // Reads go out together. A cart must be filled before it is paid, so anything else keeps its order.
        if calls.iter().all(|call| matches!(call.function.name.as_str(), "search_products" | "get_product")) {
            return join_all(calls.iter().map(|call| self.answer_one(call))).await;
        }
        let mut answers = Vec::with_capacity(calls.len());
        for call in calls {
            answers.push(self.answer_one(call).await);
        }
        answers
    }

    async fn answer_one(&self, call: &ChatCompletionMessageToolCall) -> ChatCompletionRequestMessage {
        let result = self.execute(&call.function).await;
        let content = result.unwrap_or_else(|error| json!({ "error": error.to_string() }));
        ChatCompletionRequestToolMessage { content: content.to_string().into(), tool_call_id: call.id.clone() }.into()
    }

    async fn execute(&self, call: &FunctionCall) -> Result<Value, ToolError> {
        #[derive(Deserialize)]
        struct Search {
            query: String,
            max_price_cents: u64,
        }
        #[derive(Deserialize)]
        struct Get {
            sku: String,
        }
        #[derive(Deserialize)]
        struct Add {
            customer_id: String,
            sku: String,
            quantity: u32,
        }
        #[derive(Deserialize)]
        struct Checkout {
            customer_id: String,
        }

        let arguments = call.arguments.as_str();
        match call.name.as_str() {
            "search_products" => {
                let Search { query, max_price_cents } = serde_json::from_str(arguments)?;
                to_value(search_products(query, max_price_cents).await?)
            }
            "get_product" => {
                let Get { sku } = serde_json::from_str(arguments)?;
                to_value(get_product(sku).await?)
            }
            "add_to_cart" => {
                let Add { customer_id, sku, quantity } = serde_json::from_str(arguments)?;
                to_value(add_to_cart(customer_id, sku, quantity).await?)
            }
            "checkout" => {
                let Checkout { customer_id } = serde_json::from_str(arguments)?;
                to_value(self.pay(customer_id).await?)
            }
            name => Err(ToolError::Unknown { kind: "tool", id: name.to_owned() }),
        }
    }

    async fn pay(&self, customer_id: String) -> Result<Order, ToolError> {
        let order = checkout(customer_id.clone()).await?;
        match (order.payment, self.when_pending) {
            (Payment::Confirmed, _) => Ok(order),
            (Payment::Pending, WhenPending::Ask) => Ok(Order { payment: payment_status(&order.order_id)?, ..order }),
            (Payment::Pending, WhenPending::Retry) => checkout(customer_id).await,
        }
    }
}

fn to_value<T: Serialize>(result: T) -> Result<Value, ToolError> {
    Ok(serde_json::to_value(result)?)
}
