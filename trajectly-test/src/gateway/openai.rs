//! OpenAI chat completions: what a request asks and quotes, what a response says, and how errors look.

use trajectly_engine::json::{Json, Object};

use super::http::Response;
use super::types::{Answered, LlmCall, LlmReturn, Requested};

/// The provider's name in traces, in specs and in the gateway's paths.
pub(super) const PROVIDER: &str = "openai";
/// The one endpoint that is recorded, under the provider's base URL.
pub(super) const ENDPOINT: &str = "/chat/completions";

/// Whether a request asks for its answer as a stream, and for the usage at the stream's end.
#[derive(Clone, Copy)]
pub(super) struct Streaming {
    pub(super) wanted: bool,
    pub(super) usage: bool,
}

impl Streaming {
    pub(super) fn of(request: &Json) -> Self {
        let flag = |value: Option<&Json>| value.and_then(Json::as_bool) == Some(true);
        Self {
            wanted: flag(request.get("stream")),
            usage: flag(request.get("stream_options").and_then(|options| options.get("include_usage"))),
        }
    }
}

/// Reads a request's body.
pub(super) fn call(request: Json) -> LlmCall {
    let messages = list(request.get("messages"));
    let answered = messages
        .iter()
        .filter(|message| text(message, "role") == Some("tool"))
        .filter_map(|message| {
            Some(Answered {
                id: text(message, "tool_call_id")?.to_owned(),
                content: message.get("content").cloned().unwrap_or(Json::Null),
            })
        })
        .collect();
    LlmCall { provider: PROVIDER, model: text(&request, "model").unwrap_or_default().to_owned(), request, answered }
}

/// Reads a response's body, whether it came as one, was assembled from a stream, or lay in a fixture.
pub(crate) fn read_response(status: u16, response: &Json) -> LlmReturn {
    let error = error_in(response);
    let error = if (200..300).contains(&status) {
        error
    } else {
        Some(match error {
            Some(message) => format!("HTTP {status}: {message}"),
            None => format!("HTTP {status}"),
        })
    };
    let choices = list(response.get("choices"));
    LlmReturn {
        usage: usage(response),
        stop_reason: choices.first().and_then(|choice| text(choice, "finish_reason")).map(str::to_owned),
        error,
        status,
        requested: choices
            .iter()
            .filter_map(|choice| choice.get("message"))
            .flat_map(|message| list(message.get("tool_calls")))
            .filter_map(requested)
            .collect(),
        response: response.clone(),
        stream: None,
    }
}

/// Reads a body that should be JSON and may be anything, a proxy's error page for one.
pub(super) fn body(bytes: &[u8]) -> Json {
    Json::parse_slice(bytes).unwrap_or_else(|_| Json::String(String::from_utf8_lossy(bytes).into_owned()))
}

fn requested(call: &Json) -> Option<Requested> {
    let id = text(call, "id").unwrap_or_default().to_owned();
    let (name, arguments) = match (call.get("function"), call.get("custom")) {
        (Some(function), _) => (text(function, "name")?, arguments(function.get("arguments"))),
        // A custom tool takes free text, which is not to be read as JSON.
        (None, Some(custom)) => (text(custom, "name")?, custom.get("input").cloned().unwrap_or(Json::Null)),
        (None, None) => return None,
    };
    Some(Requested { id, name: name.to_owned(), arguments })
}

/// Arguments are a string of JSON. None at all, or an empty string, is how some providers call without any.
fn arguments(given: Option<&Json>) -> Json {
    match given {
        None | Some(Json::Null) => Object::new().into(),
        Some(Json::String(text)) if text.trim().is_empty() => Object::new().into(),
        Some(Json::String(text)) => Json::parse(text).unwrap_or_else(|_| Json::String(text.clone())),
        Some(value) => value.clone(),
    }
}

fn usage(response: &Json) -> Object {
    let mut usage = response.get("usage").and_then(Json::as_object).cloned().unwrap_or_default();
    let count = |key: &str| usage.get(key).and_then(Json::as_u64);
    if count("total_tokens").is_none()
        && let (Some(prompt), Some(completion)) = (count("prompt_tokens"), count("completion_tokens"))
    {
        usage.insert("total_tokens", prompt.saturating_add(completion));
    }
    usage
}

/// The message of `{"error": {"message"}}`, of `{"error": "…"}`, or the text of a body that is no JSON.
fn error_in(response: &Json) -> Option<String> {
    const MAX: usize = 500;
    let message = match response {
        Json::String(page) => page.trim(),
        _ => match response.get("error")? {
            Json::Null => return None,
            Json::String(message) => message,
            error => text(error, "message").unwrap_or("the provider gave no message"),
        },
    };
    (!message.is_empty()).then(|| message.chars().take(MAX).collect())
}

/// An answer of the gateway's own, in the provider's shape, that no client should retry.
pub(super) fn problem(status: u16, code: &str, message: &str) -> Response {
    let error =
        Object::new().with("message", message).with("type", "trajectly").with("param", Json::Null).with("code", code);
    let body = Json::from(Object::new().with("error", error));
    Response::new(status, "application/json", body.to_compact())
        .with("x-should-retry", false)
        .with("x-trajectly-error", code)
}

pub(super) fn list(value: Option<&Json>) -> &[Json] {
    value.and_then(Json::as_array).unwrap_or_default()
}

pub(super) fn text<'a>(value: &'a Json, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Json::as_str)
}
