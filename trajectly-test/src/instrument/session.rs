use std::fmt::Display;
use std::future::Future;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::call::{PendingCall, run_async, run_sync};
use super::error::RecordedError;
use super::link::{Link, current};
use super::shape::AsResult;
use crate::protocol;

/// One run of one agent, recording or replaying, seen from inside it.
///
/// An `#[agent_test]` function receives it. It is cheap to clone and may go to other threads and tasks. What it
/// offers is for code that nothing else reaches: model calls over HTTP are seen by the gateway, and tools by
/// [`tool`](macro@crate::tool).
///
/// Outside a session ([`Session::current`] is `None`) there is nothing to record, and instrumented code simply
/// runs.
#[derive(Debug, Clone)]
pub struct Session {
    link: Arc<Link>,
}

impl Session {
    /// The session this process belongs to, or `None` in production.
    pub fn current() -> Option<Self> {
        current().map(|link| Self { link: Arc::clone(link) })
    }

    /// Base URL of the OpenAI-compatible API of this session, for clients that take one in code:
    /// `http://127.0.0.1:<port>/s/<token>/openai/v1`. Clients that read `OPENAI_BASE_URL` need no telling.
    pub fn openai_base_url(&self) -> String {
        format!("{}{}", self.link.url(), protocol::OPENAI_ROUTE)
    }

    /// The time that the agent should go by: the recorded instant where `determinism.clock` of the spec pins it, else now.
    ///
    /// An agent that writes the date into its prompts asks the same in every replay if it gets it from here. With
    /// `record_and_freeze` the clock stands still while recording, too; with `freeze_only` it runs then.
    ///
    /// ```
    /// # use trajectly_test::Session;
    /// let now = Session::current().map_or_else(std::time::SystemTime::now, |session| session.now());
    /// ```
    pub fn now(&self) -> SystemTime {
        self.link.pinned().instant.unwrap_or_else(SystemTime::now)
    }

    /// What the agent's random numbers should start from, in recordings and replays alike: from 1 to 2³¹ - 1. `None` unless
    /// `determinism.random` of the spec asks for it.
    ///
    /// ```
    /// # use trajectly_test::Session;
    /// // In production no seed is the best seed.
    /// let seed = Session::current().and_then(|session| session.random_seed());
    /// ```
    pub fn random_seed(&self) -> Option<u64> {
        self.link.pinned().random_seed
    }

    /// Makes a tool call that is recorded, and replayed instead of made.
    ///
    /// `args` is what the call is known by: an object's keys become named arguments, anything else the only
    /// positional one. `call` runs only when recording.
    ///
    /// # Errors
    ///
    /// What `call` returns; in replay what it returned when it was recorded, or a [`RecordedError`] with a code
    /// if the spec denies the tool or nothing was recorded for these arguments.
    ///
    /// ```no_run
    /// # fn look_up(_: &str) -> Result<u32, Box<dyn std::error::Error + Send + Sync>> { Ok(7400) }
    /// # fn example(session: &trajectly_test::Session) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    /// #[derive(serde::Serialize)]
    /// struct Args<'a> {
    ///     sku: &'a str,
    /// }
    ///
    /// // In the trace: price(sku="EB-220").
    /// let cents = session.tool("price", Args { sku: "EB-220" }, || look_up("EB-220"))?;
    /// # Ok(()) }
    /// ```
    pub fn tool<T, E>(&self, name: &str, args: impl Serialize, call: impl FnOnce() -> Result<T, E>) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: Display + From<RecordedError>,
    {
        let pending = PendingCall::tool(&self.link, name, input_of(args));
        run_sync(AsResult::NEW, Some(pending), call)
    }

    /// As [`tool`](Self::tool), for a call that is awaited.
    ///
    /// # Errors
    ///
    /// As [`tool`](Self::tool).
    pub async fn tool_async<T, E, F>(&self, name: &str, args: impl Serialize, call: impl FnOnce() -> F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: Display + From<RecordedError>,
        F: Future<Output = Result<T, E>>,
    {
        let pending = PendingCall::tool(&self.link, name, input_of(args));
        run_async(AsResult::NEW, Some(pending), async move { call().await }).await
    }

    /// Makes a model call that no gateway can see (a local model, gRPC), recorded and replayed as a whole.
    ///
    /// If the response has an object `usage` with an integer `total_tokens`, those are the tokens it cost.
    ///
    /// # Errors
    ///
    /// As [`tool`](Self::tool).
    pub fn llm<T, E>(
        &self,
        provider: &str,
        model: &str,
        request: impl Serialize,
        call: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: Display + From<RecordedError>,
    {
        let pending = PendingCall::model(&self.link, provider, model, value_of(request));
        run_sync(AsResult::NEW, Some(pending), call)
    }

    /// As [`llm`](Self::llm), for a call that is awaited.
    ///
    /// # Errors
    ///
    /// As [`tool`](Self::tool).
    pub async fn llm_async<T, E, F>(
        &self,
        provider: &str,
        model: &str,
        request: impl Serialize,
        call: impl FnOnce() -> F,
    ) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: Display + From<RecordedError>,
        F: Future<Output = Result<T, E>>,
    {
        let pending = PendingCall::model(&self.link, provider, model, value_of(request));
        run_async(AsResult::NEW, Some(pending), async move { call().await }).await
    }

    /// Marks a step of the agent in the trace, for sequence rules (`step:<name>`) and for readers.
    pub fn step(&self, name: &str) {
        self.step_with(name, json!({}));
    }

    /// As [`step`](Self::step), with details that are kept but not judged.
    pub fn step_with(&self, name: &str, details: impl Serialize) {
        self.link.emit("agent_step", json!({ "name": name, "details": value_of(details) }), json!({}));
    }

    #[cfg(feature = "harness")]
    pub(crate) fn finished(&self, output: &Value, internal_error: Option<&str>) {
        self.link.emit("run_finished", json!({ "output": output, "internal_error": internal_error }), json!({}));
    }
}

fn input_of(args: impl Serialize) -> Value {
    match value_of(args) {
        Value::Object(kwargs) => json!({ "args": [], "kwargs": kwargs }),
        Value::Null => json!({ "args": [], "kwargs": {} }),
        other => json!({ "args": [other], "kwargs": {} }),
    }
}

fn value_of(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_else(|error| json!(format!("<no JSON form: {error}>")))
}
