//! An agent on a real client, as a program: what specs of the gateway's tests have as their `command`.
//!
//! It knows nothing of tests. The client finds its provider through `OPENAI_BASE_URL`, as in production.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use anyhow::{Context as _, bail};
use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessage, ChatCompletionRequestMessage,
    ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessage, ChatCompletionRequestUserMessage,
    ChatCompletionTool, ChatCompletionTools, CreateChatCompletionRequest, CreateChatCompletionRequestArgs,
    FunctionObject,
};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use trajectly_test::tool;

const MODEL: &str = "gpt-4o-mini";

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    // An error means that there is a provider of cryptography already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match std::env::args().nth(1).as_deref() {
        Some("ask") => ask().await,
        Some("stream") => stream().await,
        Some("tools") => tools().await,
        Some("raw") => raw(),
        other => bail!("{other:?} is nothing to do"),
    }
}

/// What the agent asks; the variable stands for an edit to its source.
fn prompt() -> String {
    std::env::var("PROMPT").unwrap_or_else(|_| "Name a colour.\nUse one word.\nNo full stop.".to_owned())
}

fn opening() -> Vec<ChatCompletionRequestMessage> {
    vec![
        ChatCompletionRequestSystemMessage::from("You answer briefly.").into(),
        ChatCompletionRequestUserMessage::from(prompt()).into(),
    ]
}

fn request(messages: &[ChatCompletionRequestMessage]) -> anyhow::Result<CreateChatCompletionRequest> {
    Ok(CreateChatCompletionRequestArgs::default().model(MODEL).messages(messages).build()?)
}

async fn ask() -> anyhow::Result<()> {
    let client = Client::<OpenAIConfig>::new();
    let response = client.chat().create(request(&opening())?).await?;
    let choice = response.choices.into_iter().next().context("no choice")?;
    println!("answer: {}", choice.message.content.unwrap_or_default());
    Ok(())
}

/// Prints every piece of the answer as it arrives, and how the stream ended.
async fn stream() -> anyhow::Result<()> {
    let client = Client::<OpenAIConfig>::new();
    let mut pieces = client.chat().create_stream(request(&opening())?).await?;
    while let Some(piece) = pieces.next().await {
        match piece {
            Ok(piece) => {
                let text = piece.choices.into_iter().next().and_then(|choice| choice.delta.content);
                print!("[{}]", text.unwrap_or_default());
            }
            Err(_) => {
                println!(" broken off");
                return Ok(());
            }
        }
    }
    println!(" complete");
    Ok(())
}

#[tool]
async fn weather(city: String) -> anyhow::Result<String> {
    Ok(format!("sunny in {city}"))
}

#[tool]
async fn clock(city: String) -> anyhow::Result<String> {
    Ok(format!("noon in {city}"))
}

/// Runs the tools that the model asks for, until it asks for none. `ORDER=reversed` hands their results in backwards.
async fn tools() -> anyhow::Result<()> {
    let client = Client::<OpenAIConfig>::new();
    let mut messages = opening();
    for _ in 0..5 {
        let request = CreateChatCompletionRequest {
            tools: Some(["weather", "clock"].map(definition).to_vec()),
            ..request(&messages)?
        };
        let response = client.chat().create(request).await?;
        let message = response.choices.into_iter().next().context("no choice")?.message;
        let Some(calls) = message.tool_calls else {
            println!("answer: {}", message.content.unwrap_or_default());
            return Ok(());
        };
        let mut results = Vec::new();
        for call in &calls {
            let ChatCompletionMessageToolCalls::Function(call) = call else { bail!("an unknown sort of call") };
            let arguments: Value = serde_json::from_str(&call.function.arguments)?;
            let city = arguments["city"].as_str().context("no city")?.to_owned();
            let result = match call.function.name.as_str() {
                "weather" => weather(city).await?,
                _ => clock(city).await?,
            };
            results.push(ChatCompletionRequestToolMessage { content: result.into(), tool_call_id: call.id.clone() });
        }
        if std::env::var("ORDER").is_ok_and(|order| order == "reversed") {
            results.reverse();
        }
        messages.push(ChatCompletionRequestAssistantMessage { tool_calls: Some(calls), ..Default::default() }.into());
        messages.extend(results.into_iter().map(Into::into));
    }
    bail!("the model asks for tools without end")
}

fn definition(name: &str) -> ChatCompletionTools {
    ChatCompletionTools::Function(ChatCompletionTool {
        function: FunctionObject {
            name: name.to_owned(),
            description: None,
            parameters: Some(json!({ "type": "object", "properties": { "city": { "type": "string" } } })),
            strict: None,
        },
    })
}

/// Prints the whole answer to one request, head included.
fn raw() -> anyhow::Result<()> {
    let url = std::env::var("OPENAI_BASE_URL")?;
    let place = url.strip_prefix("http://").context("plain HTTP is meant")?;
    let (host, path) = place.split_once('/').context("a path is meant")?;
    let body = json!({ "model": MODEL, "messages": [{ "role": "user", "content": prompt() }] }).to_string();
    let mut stream = TcpStream::connect(host)?;
    write!(
        stream,
        "POST /{path}/chat/completions HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    println!("{answer}");
    Ok(())
}
