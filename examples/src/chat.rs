//! What both agents need of the chat API: a client, a tool definition, one turn of a conversation.

use std::collections::BTreeMap;
use std::sync::Once;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionMessageToolCall, ChatCompletionMessageToolCallChunk, ChatCompletionMessageToolCalls,
    ChatCompletionRequestAssistantMessage, ChatCompletionRequestMessage, ChatCompletionStreamOptions,
    ChatCompletionTool, ChatCompletionTools, CreateChatCompletionRequest, FunctionObject,
};
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::AgentError;

/// The model that both agents ask.
pub const MODEL: &str = "gpt-4o-mini";

/// A client for the OpenAI API, or for what `config` names as its base URL.
///
/// async-openai is built here without a TLS back end of its own choosing, so that nothing needs a C toolchain beyond ring's;
/// the first client installs ring for the process, unless the program has installed another provider before.
pub fn client(config: OpenAIConfig) -> Client<OpenAIConfig> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // An error means that a provider is in place already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    Client::with_config(config)
}

/// A function the model may call. `properties` maps each parameter to its JSON Schema; the model must give all of them
/// and nothing else.
pub fn function(name: &str, description: &str, properties: Value) -> ChatCompletionTools {
    let required: Vec<&String> = properties.as_object().map(|all| all.keys().collect()).unwrap_or_default();
    let parameters = json!({
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": false,
    });
    ChatCompletionTools::Function(ChatCompletionTool {
        function: FunctionObject {
            name: name.to_owned(),
            description: Some(description.to_owned()),
            parameters: Some(parameters),
            strict: Some(true),
        },
    })
}

/// What the model said in one turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    /// The text, if the model wrote any.
    pub text: Option<String>,
    /// The function calls it asks for, in the order in which it asked.
    pub calls: Vec<ChatCompletionMessageToolCall>,
}

impl Turn {
    /// This turn as it goes back into the conversation, so that the results of its calls may follow it.
    pub fn to_message(&self) -> ChatCompletionRequestMessage {
        let calls = self.calls.iter().cloned().map(ChatCompletionMessageToolCalls::Function);
        ChatCompletionRequestAssistantMessage {
            content: self.text.clone().map(Into::into),
            tool_calls: (!self.calls.is_empty()).then(|| calls.collect()),
            ..Default::default()
        }
        .into()
    }
}

/// Asks for one turn and waits for all of it.
///
/// # Errors
///
/// [`AgentError::Provider`] if there is no usable response, [`AgentError::Answer`] if the model refused or the response
/// holds no choice.
pub async fn turn(client: &Client<OpenAIConfig>, request: CreateChatCompletionRequest) -> Result<Turn, AgentError> {
    let response = client.chat().create(request).await?;
    let choice = response.choices.into_iter().next().ok_or_else(|| AgentError::Answer("it holds no choice".into()))?;
    if let Some(refusal) = choice.message.refusal {
        return Err(AgentError::Answer(refusal));
    }
    let calls = choice.message.tool_calls.unwrap_or_default().into_iter().filter_map(|call| match call {
        ChatCompletionMessageToolCalls::Function(call) => Some(call),
        ChatCompletionMessageToolCalls::Custom(_) => None,
    });
    Ok(Turn { text: choice.message.content, calls: calls.collect() })
}

/// Asks for one turn as a stream, and hands each piece of text to `on_text` as it arrives.
///
/// # Errors
///
/// As [`turn`], and [`AgentError::Answer`] for a stream that stops before the model has finished.
pub async fn turn_streamed(
    client: &Client<OpenAIConfig>,
    mut request: CreateChatCompletionRequest,
    mut on_text: impl FnMut(&str),
) -> Result<Turn, AgentError> {
    request.stream_options = Some(ChatCompletionStreamOptions { include_usage: Some(true), include_obfuscation: None });
    let mut stream = client.chat().create_stream(request).await?;
    let mut text = String::new();
    let mut refusal = String::new();
    let mut calls = CallAssembly::default();
    let mut finished = false;
    while let Some(chunk) = stream.next().await {
        for choice in chunk?.choices {
            if let Some(piece) = choice.delta.content {
                on_text(&piece);
                text.push_str(&piece);
            }
            refusal.push_str(choice.delta.refusal.as_deref().unwrap_or_default());
            for piece in choice.delta.tool_calls.unwrap_or_default() {
                calls.add(piece);
            }
            finished |= choice.finish_reason.is_some();
        }
    }
    if !finished {
        return Err(AgentError::Answer("the stream ended before the model had finished".into()));
    }
    if !refusal.is_empty() {
        return Err(AgentError::Answer(refusal));
    }
    Ok(Turn { text: (!text.is_empty()).then_some(text), calls: calls.finish() })
}

/// Puts the function calls of a stream together: the first piece of a call brings its id and name, the others more of its
/// arguments, and pieces of several calls may alternate.
#[derive(Default)]
struct CallAssembly {
    /// By the index that the provider gives each call, which is the order it asks for them in.
    calls: BTreeMap<u32, ChatCompletionMessageToolCall>,
}

impl CallAssembly {
    fn add(&mut self, piece: ChatCompletionMessageToolCallChunk) {
        let call = self.calls.entry(piece.index).or_default();
        if let Some(id) = piece.id {
            call.id = id;
        }
        if let Some(function) = piece.function {
            if let Some(name) = function.name {
                call.function.name = name;
            }
            call.function.arguments.push_str(function.arguments.as_deref().unwrap_or_default());
        }
    }

    fn finish(self) -> Vec<ChatCompletionMessageToolCall> {
        self.calls.into_values().collect()
    }
}
