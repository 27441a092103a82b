//! What can go wrong in an agent, and in a tool it calls.

use std::path::PathBuf;

use async_openai::error::OpenAIError;
use trajectly_test::RecordedError;

/// Why an agent gave up.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The provider could not be reached, refused the request, or sent something that is no chat completion.
    #[error("the model could not be asked: {0}")]
    Provider(#[from] OpenAIError),

    /// A step of a fixed pipeline failed. In a tool loop the model is told instead, and may recover.
    #[error(transparent)]
    Tool(#[from] ToolError),

    /// The model answered, but not with what the agent asked for.
    #[error("the model's answer is of no use: {0}")]
    Answer(String),

    /// The model still asked for tools after this many turns.
    #[error("the model did not come to an end within {0} turns")]
    Turns(usize),
}

/// Why a tool refused or failed. Its text is what a model is told, so it names the thing and not the internals.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// Nothing is stored under this name.
    #[error("there is no {kind} `{id}`")]
    Unknown {
        /// What was looked for, as one would say it: `ticket`, `product`, `tool`.
        kind: &'static str,
        /// The name under which it was looked for.
        id: String,
    },

    /// The call was understood and turned down; the text says why.
    #[error("{0}")]
    Refused(String),

    /// The arguments do not fit the tool.
    #[error("the arguments do not fit: {0}")]
    Arguments(#[from] serde_json::Error),

    /// A file behind the tool cannot be read or written.
    #[error("the store does not answer: {source}")]
    Storage {
        /// The file, for the log: a model is not told.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },

    /// The recorded answer for this call is an error, or the session refuses the call.
    #[error(transparent)]
    Recorded(#[from] RecordedError),
}
