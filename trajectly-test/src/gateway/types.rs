//! What crosses the line between the gateway, which speaks HTTP, and the tape, which remembers.

use trajectly_engine::json::{Json, Object};

/// Names one model call within its session; the tape deals the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CallId(pub(crate) u64);

/// A model request as it came in, before anybody decided what to do with it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LlmCall {
    /// The provider's name as traces spell it: `openai`.
    pub(crate) provider: &'static str,
    /// The model that the request names; empty where it names none.
    pub(crate) model: String,
    /// The request's body, whole. Never its headers.
    pub(crate) request: Json,
    /// The tool results that the request quotes, in its own order. A conversation quotes them again in every turn.
    pub(crate) answered: Vec<Answered>,
}

/// A tool's result as a request quotes it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answered {
    /// The id under which a model asked for the call.
    pub(crate) id: String,
    /// The result, as it stands in the message: a string, or a list of content parts.
    pub(crate) content: Json,
}

/// A tool call that a model asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Requested {
    /// The id that the provider minted for the call.
    pub(crate) id: String,
    pub(crate) name: String,
    /// The arguments as a value; the provider's own string where that is no JSON.
    pub(crate) arguments: Json,
}

/// What a live upstream answered, put together to one body if it came as a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LlmReturn {
    /// The body, in the shape of a response that was not streamed; a string where it is no JSON.
    pub(crate) response: Json,
    /// The body's `usage`, with `total_tokens` added where it can be; empty where there is none.
    pub(crate) usage: Object,
    /// Why the model stopped, in the provider's word, of the first choice.
    pub(crate) stop_reason: Option<String>,
    /// A status other than 2xx, an error in the body, or a stream that broke off.
    pub(crate) error: Option<String>,
    /// The HTTP status.
    pub(crate) status: u16,
    pub(crate) requested: Vec<Requested>,
    /// How to cut `response` into the events that came; see [`super::layout`]. `None`: the answer was one body.
    pub(crate) stream: Option<Json>,
}

/// What to do with a model request.
#[derive(Debug, Clone)]
pub(crate) enum LlmDecision {
    /// Recording: ask the upstream, and report back under `id`.
    Forward {
        id: CallId,
        /// The base URL that the provider's paths go under: `https://api.openai.com/v1`.
        upstream: String,
        /// The bearer key for the upstream; `None` passes on the one the client sent.
        key: Option<String>,
    },
    /// Replaying: answer with what was recorded. The tape has noted the return already.
    Replay {
        /// A fixture's output: `response`, and where they apply `error`, `status`, `stream`.
        output: Object,
    },
    /// Replaying, and nothing that was recorded fits. The tape has noted the return already.
    Refuse {
        /// A stable code, such as `FIXTURE_MISSING`.
        code: &'static str,
        message: String,
    },
}
