//! A tool loop: the model searches a shop, compares, fills the cart and checks out, until it asks for nothing more.
//!
//! The model's turns are streamed. What a tool refuses goes back to the model, which may try another way; what the
//! customer's budget forbids, the agent checks itself.

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
use tools::{add_to_cart, checkout, get_product, price_cart, search_products};

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

/// How an order is paid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckoutPolicy {
    /// Price the cart once more, hold it against the budget, and check out once: a payment that is pending is on its way.
    #[default]
    Verified,
    /// Check out at once, and again if the payment is not confirmed. These are the defects that the regression spec
    /// catches: the price is never looked at again, and a pending order is ordered twice.
    Optimistic,
}

/// Runs an errand and returns what the model tells the customer in the end.
///
/// # Errors
///
/// See [`buy_with`].
pub async fn buy(client: &Client<OpenAIConfig>, errand: &Errand) -> Result<String, AgentError> {
    buy_with(client, errand, CheckoutPolicy::Verified, |_| ()).await
}

/// Runs an errand, paying as `policy` says, and hands the model's words to `on_text` as they arrive.
///
/// # Errors
///
/// [`AgentError::Provider`] if the model cannot be asked, [`AgentError::Answer`] if it refuses or breaks off,
/// [`AgentError::Turns`] if it asks for tools without end. A tool that fails is no error: the model is told.
pub async fn buy_with(
    client: &Client<OpenAIConfig>,
    errand: &Errand,
    policy: CheckoutPolicy,
    mut on_text: impl FnMut(&str),
) -> Result<String, AgentError> {
    let till = Till { budget_cents: errand.budget_cents, policy };
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

/// Carries out what the model asks for, within what the customer allows.
struct Till {
    budget_cents: u64,
    policy: CheckoutPolicy,
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
        match self.policy {
            CheckoutPolicy::Verified => {
                let total = price_cart(&customer_id)?.total_cents;
                if total > self.budget_cents {
                    let message = format!("the cart costs {total} cents and the budget is {} cents", self.budget_cents);
                    return Err(ToolError::Refused(message));
                }
                checkout(customer_id).await
            }
            CheckoutPolicy::Optimistic => {
                let order = checkout(customer_id.clone()).await?;
                match order.payment {
                    Payment::Confirmed => Ok(order),
                    Payment::Pending => checkout(customer_id).await,
                }
            }
        }
    }
}

fn to_value<T: Serialize>(result: T) -> Result<Value, ToolError> {
    Ok(serde_json::to_value(result)?)
}
