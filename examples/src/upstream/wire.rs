//! The shapes that go over the wire: what is read of a request, and a reply as a completion or as its chunks.

use serde::Deserialize;
use serde_json::{Value, json};

/// What the script reads of a request. All else is accepted and ignored.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    pub(super) model: String,
    pub(super) messages: Vec<Message>,
    #[serde(default)]
    pub(super) tools: Vec<Tool>,
    #[serde(default)]
    tool_choice: Value,
    #[serde(default)]
    pub(super) stream: bool,
    #[serde(default)]
    stream_options: Value,
}

/// One message of the conversation.
#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub(super) role: String,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    pub(super) tool_calls: Vec<ToolCall>,
    #[serde(default)]
    pub(super) tool_call_id: String,
}

/// A call that an earlier reply asked for, as the client quotes it.
#[derive(Debug, Deserialize)]
pub(super) struct ToolCall {
    pub(super) id: String,
    pub(super) function: Function,
}

/// The function of a quoted call.
#[derive(Debug, Deserialize)]
pub(super) struct Function {
    pub(super) name: String,
}

/// A tool on offer.
#[derive(Debug, Deserialize)]
pub(super) struct Tool {
    function: Option<Offered>,
}

#[derive(Debug, Deserialize)]
struct Offered {
    name: String,
}

/// What the script says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    Text(String),
    /// Functions to call, with their arguments.
    Calls(Vec<(&'static str, Value)>),
}

/// A request that the API turns down.
#[derive(Debug)]
pub(super) struct Failure {
    status: u16,
    message: String,
}

impl Message {
    /// The text of the message; of a message in parts, that of its text parts together.
    pub(super) fn text(&self) -> String {
        match &self.content {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            _ => String::new(),
        }
    }
}

impl Request {
    /// Reads a request and checks what the API checks before it lets a model see one.
    pub(super) fn parse(body: &[u8]) -> Result<Self, Failure> {
        let request: Self = serde_json::from_slice(body).map_err(|error| Failure::new(400, &error.to_string()))?;
        if request.messages.is_empty() {
            return Err(Failure::new(400, "messages: at least one message is needed"));
        }
        request.check_answers()?;
        Ok(request)
    }

    /// Every call must be answered right after the message that asks for it, and nothing else may be answered.
    fn check_answers(&self) -> Result<(), Failure> {
        let mut open: Vec<&str> = Vec::new();
        for (index, message) in self.messages.iter().enumerate() {
            if message.role == "tool" {
                let id = message.tool_call_id.as_str();
                let Some(asked) = open.iter().position(|open| *open == id) else {
                    let message =
                        format!("messages[{index}]: tool_call_id `{id}` answers no call of the message before");
                    return Err(Failure::new(400, &message));
                };
                open.remove(asked);
                continue;
            }
            if let Some(id) = open.first() {
                return Err(Failure::new(400, &format!("messages[{index}]: the call `{id}` has not been answered")));
            }
            open.extend(message.tool_calls.iter().map(|call| call.id.as_str()));
        }
        match open.first() {
            Some(id) => Err(Failure::new(400, &format!("the call `{id}` has not been answered"))),
            None => Ok(()),
        }
    }

    /// Whether the client offers this function, and does not forbid its use.
    pub(super) fn offers(&self, name: &str) -> bool {
        self.tool_choice != "none"
            && self.forced().is_none_or(|forced| forced == name)
            && self.tools.iter().filter_map(|tool| tool.function.as_ref()).any(|function| function.name == name)
    }

    /// The function that the client insists on.
    pub(super) fn forced(&self) -> Option<&str> {
        self.tool_choice["function"]["name"].as_str()
    }

    /// A number for this request that ids can be made of: equal conversations, equal ids.
    fn fingerprint(&self) -> u64 {
        // FNV-1a; std's hasher may change with the compiler, and recordings must not.
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let parts = self.messages.iter().flat_map(|message| [message.role.clone(), message.text()]);
        parts.flat_map(|part| part.into_bytes().into_iter().chain([0])).fold(0xcbf2_9ce4_8422_2325, step)
    }

    fn usage(&self, reply: &Reply) -> Value {
        // Four bytes a token is near enough for a bill that nobody gets.
        let prompt: usize = self.messages.iter().map(|message| message.text().len() / 4 + 4).sum();
        let prompt = prompt + self.tools.len() * 40;
        let completion = match reply {
            Reply::Text(text) => text.len() / 4 + 1,
            Reply::Calls(calls) => {
                calls.iter().map(|(name, input)| (name.len() + input.to_string().len()) / 4 + 8).sum()
            }
        };
        json!({ "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion })
    }
}

impl Failure {
    pub(super) fn new(status: u16, message: &str) -> Self {
        Self { status, message: message.to_owned() }
    }

    pub(super) fn status_line(&self) -> String {
        let reason = match self.status {
            404 => "Not Found",
            405 => "Method Not Allowed",
            413 => "Content Too Large",
            _ => "Bad Request",
        };
        format!("{} {reason}", self.status)
    }

    pub(super) fn body(&self) -> Value {
        json!({ "error": {
            "message": self.message, "type": "invalid_request_error", "param": null, "code": null,
        } })
    }
}

impl Reply {
    fn finish_reason(&self) -> &'static str {
        match self {
            Reply::Text(_) => "stop",
            Reply::Calls(_) => "tool_calls",
        }
    }
}

/// When every reply was made, in seconds since 1970. A constant, for the sake of recordings.
const CREATED: u64 = 1_735_689_600;

/// The reply as one completion.
pub(super) fn completion(request: &Request, reply: &Reply) -> Value {
    let message = match reply {
        Reply::Text(text) => json!({ "role": "assistant", "content": text, "refusal": null }),
        Reply::Calls(calls) => {
            let calls: Vec<Value> = calls
                .iter()
                .enumerate()
                .map(|(index, (name, input))| call(request, index, name, &input.to_string()))
                .collect();
            json!({ "role": "assistant", "content": null, "refusal": null, "tool_calls": calls })
        }
    };
    json!({
        "id": format!("chatcmpl-{:016x}", request.fingerprint()),
        "object": "chat.completion",
        "created": CREATED,
        "model": request.model,
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": reply.finish_reason() }],
        "usage": request.usage(reply),
    })
}

/// The reply as the data of server-sent events, in the order and the pieces in which the API sends them.
pub(super) fn chunks(request: &Request, reply: &Reply) -> Vec<String> {
    let chunk = |choices: Value| {
        json!({
            "id": format!("chatcmpl-{:016x}", request.fingerprint()),
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": request.model,
            "choices": choices,
        })
    };
    let delta = |delta: Value, finish: Option<&str>| {
        chunk(json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }])).to_string()
    };
    let mut events = vec![delta(json!({ "role": "assistant", "content": null }), None)];
    match reply {
        Reply::Text(text) => {
            events.extend(text.split_inclusive(' ').map(|word| delta(json!({ "content": word }), None)));
        }
        Reply::Calls(calls) => {
            for (index, (name, input)) in calls.iter().enumerate() {
                let mut opening = call(request, index, name, "");
                opening["index"] = json!(index);
                events.push(delta(json!({ "tool_calls": [opening] }), None));
                let input = input.to_string();
                events.extend(input.split_inclusive(['"', ':', ',']).map(|piece| {
                    let piece = json!({ "index": index, "function": { "arguments": piece } });
                    delta(json!({ "tool_calls": [piece] }), None)
                }));
            }
        }
    }
    events.push(delta(json!({}), Some(reply.finish_reason())));
    if request.stream_options["include_usage"] == true {
        let mut last = chunk(json!([]));
        last["usage"] = request.usage(reply);
        events.push(last.to_string());
    }
    events.push("[DONE]".to_owned());
    events
}

fn call(request: &Request, index: usize, name: &str, arguments: &str) -> Value {
    json!({
        "id": format!("call_{:016x}_{index}", request.fingerprint()),
        "type": "function",
        "function": { "name": name, "arguments": arguments },
    })
}
