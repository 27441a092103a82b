//! One instrumented call: announced, answered by the harness, made or not made, and its outcome recorded.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::error::RecordedError;
use super::link::{Answer, Link, Question, current};
use super::shape::{Outcome, Shape};
use crate::protocol;

thread_local! {
    /// Id of the call whose body runs on this thread now, so that a nested call knows its parent.
    static RUNNING: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// What an argument of a tool must be to be recorded: `Serialize`.
#[diagnostic::on_unimplemented(
    message = "an argument of type `{Self}` cannot be recorded",
    label = "this needs `serde::Serialize`",
    note = "an argument that no replay depends on, such as a client, may be left out: `#[tool(skip(…))]`"
)]
pub trait Recordable: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + ?Sized> Recordable for T {}

/// The named arguments of a tool call, as `#[tool]` collects them.
#[derive(Debug, Default)]
pub struct Args(Map<String, Value>);

impl Args {
    /// Adds an argument. A value that has no JSON form is recorded as a text that says so.
    pub fn put<T: Recordable + ?Sized>(&mut self, name: &str, value: &T) {
        let value = serde_json::to_value(value).unwrap_or_else(|error| json!(format!("<no JSON form: {error}>")));
        self.0.insert(name.to_owned(), value);
    }
}

#[derive(Debug, Clone)]
enum Subject {
    Tool { name: String },
    Model { provider: String, model: String },
}

/// An announced call that has not returned yet. Dropping it records that it never did.
#[derive(Debug)]
#[must_use = "a call that is dropped is recorded as cancelled"]
pub struct PendingCall {
    link: Arc<Link>,
    id: Arc<str>,
    subject: Subject,
    plan: Answer,
    open: bool,
}

/// Announces a tool call. `None` outside a session.
pub fn enter(name: &str, args: impl FnOnce(&mut Args)) -> Option<PendingCall> {
    let link = current()?;
    let mut collected = Args::default();
    args(&mut collected);
    Some(PendingCall::tool(link, name, json!({ "args": [], "kwargs": collected.0 })))
}

impl PendingCall {
    /// Announces a call of the tool `name`; `input` is `{"args": […], "kwargs": {…}}`.
    pub(crate) fn tool(link: &Arc<Link>, name: &str, input: Value) -> Self {
        Self::announce(link, Subject::Tool { name: name.to_owned() }, input)
    }

    /// Announces a model call that does not go over the gateway.
    pub(crate) fn model(link: &Arc<Link>, provider: &str, model: &str, request: Value) -> Self {
        Self::announce(link, Subject::Model { provider: provider.to_owned(), model: model.to_owned() }, request)
    }

    fn announce(link: &Arc<Link>, subject: Subject, input: Value) -> Self {
        let raw = serde_json::value::to_raw_value(&input).unwrap_or_else(|_| RawValue::NULL.to_owned());
        let (kind, prefix, name) = match &subject {
            Subject::Tool { name } => ("tool", 't', name.clone()),
            Subject::Model { provider, model } => ("llm", 'm', format!("{provider}:{model}")),
        };
        let id: Arc<str> = link.next_call_id(prefix).into();
        let mut meta = Map::new();
        meta.insert("call_id".to_owned(), json!(&*id));
        if let Some(parent) = RUNNING.with_borrow(Option::clone) {
            meta.insert("parent".to_owned(), json!(&*parent));
        }
        match &subject {
            Subject::Tool { name } => {
                link.emit("tool_called", json!({ "tool_name": name, "input": input }), meta);
            }
            Subject::Model { provider, model } => {
                link.emit("llm_called", json!({ "provider": provider, "model": model, "request": input }), meta);
            }
        }
        let plan = link.ask(&Question { kind, call_id: &id, name: &name, input: &raw }).unwrap_or_else(|error| {
            Answer::Refuse {
                code: protocol::SESSION_LOST.to_owned(),
                message: format!("the harness did not say what to do with `{name}`: {error}"),
                details: None,
            }
        });
        Self { link: Arc::clone(link), id, subject, plan, open: true }
    }

    /// Makes the call, or stands in for it.
    fn finish<R>(mut self, shape: &impl Shape<R>, body: impl FnOnce() -> R) -> R {
        match self.stand_in(shape) {
            Some(result) => result,
            None => {
                let result = {
                    let _inside = Inside::enter(&self.id);
                    body()
                };
                self.returned(shape, &result);
                result
            }
        }
    }

    /// The result if the harness has one, `None` if the call is to be made.
    fn stand_in<R>(&mut self, shape: &impl Shape<R>) -> Option<R> {
        match std::mem::replace(&mut self.plan, Answer::Run) {
            Answer::Run => None,
            Answer::Return { output, fixture } => match shape.decode(&output) {
                Ok(result) => {
                    self.emit_return(json!(output), json!(null), replayed(fixture));
                    Some(result)
                }
                Err(error) => {
                    let message = format!(
                        "the recorded answer of `{}` does not fit the type it returns now: {error}; record it again",
                        self.name()
                    );
                    Some(self.refuse(shape, "FIXTURE_MISSING".to_owned(), message, None))
                }
            },
            Answer::Raise { error, cause, fixture } => {
                self.emit_error(&error, cause.as_deref(), replayed(fixture));
                Some(shape.fail(RecordedError::recorded(error, cause)))
            }
            Answer::Refuse { code, message, details } => Some(self.refuse(shape, code, message, details)),
        }
    }

    fn refuse<R>(&mut self, shape: &impl Shape<R>, code: String, message: String, details: Option<Box<RawValue>>) -> R {
        let mut extra = Map::new();
        extra.insert("error_code".to_owned(), json!(code));
        if let Some(details) = details {
            extra.insert("error_details".to_owned(), json!(details));
        }
        self.emit_return_with(json!(null), json!(message), extra, Map::new());
        shape.fail(RecordedError::refused(message, code))
    }

    fn returned<R>(&mut self, shape: &impl Shape<R>, result: &R) {
        match shape.encode(result) {
            Outcome::Value(value) => self.emit_return(value, json!(null), Map::new()),
            Outcome::Error { text, cause } => self.emit_error(&text, cause.as_deref(), Map::new()),
        }
    }

    fn emit_error(&mut self, text: &str, cause: Option<&str>, meta: Map<String, Value>) {
        let extra = cause.map(|cause| ("error_cause".to_owned(), json!(cause))).into_iter().collect();
        self.emit_return_with(json!(null), json!(text), extra, meta);
    }

    fn emit_return(&mut self, output: Value, error: Value, meta: Map<String, Value>) {
        self.emit_return_with(output, error, Map::new(), meta);
    }

    fn emit_return_with(
        &mut self,
        output: Value,
        error: Value,
        extra: Map<String, Value>,
        mut meta: Map<String, Value>,
    ) {
        self.open = false;
        meta.insert("call_id".to_owned(), json!(&*self.id));
        let mut payload = Map::new();
        let event = match &self.subject {
            Subject::Tool { name } => {
                payload.insert("tool_name".to_owned(), json!(name));
                payload.insert("output".to_owned(), output);
                "tool_returned"
            }
            Subject::Model { provider, model } => {
                let usage = output.get("usage").filter(|usage| usage.is_object()).cloned();
                payload.insert("provider".to_owned(), json!(provider));
                payload.insert("model".to_owned(), json!(model));
                payload.insert("usage".to_owned(), usage.unwrap_or_else(|| json!({})));
                payload.insert("response".to_owned(), output);
                "llm_returned"
            }
        };
        payload.insert("error".to_owned(), error);
        payload.extend(extra);
        self.link.emit(event, payload, meta);
    }

    fn name(&self) -> &str {
        match &self.subject {
            Subject::Tool { name } => name,
            Subject::Model { model, .. } => model,
        }
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        if self.open {
            let why = if std::thread::panicking() { "it panicked" } else { "it was cancelled before it returned" };
            self.emit_return(json!(null), json!(why), Map::new());
        }
    }
}

fn replayed(fixture: usize) -> Map<String, Value> {
    let mut meta = Map::new();
    meta.insert("replayed".to_owned(), json!(true));
    meta.insert("fixture".to_owned(), json!(fixture));
    meta
}

/// Marks a call as the running one of this thread, for as long as it lives.
struct Inside(Option<Arc<str>>);

impl Inside {
    fn enter(id: &Arc<str>) -> Self {
        Self(RUNNING.replace(Some(Arc::clone(id))))
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        RUNNING.set(self.0.take());
    }
}

/// Runs a synchronous call: recorded, replayed or, outside a session, just made.
pub fn run_sync<R>(shape: impl Shape<R>, call: Option<PendingCall>, body: impl FnOnce() -> R) -> R {
    match call {
        None => body(),
        Some(call) => call.finish(&shape, body),
    }
}

/// Runs an asynchronous call: recorded, replayed or, outside a session, just awaited.
pub async fn run_async<R>(shape: impl Shape<R>, call: Option<PendingCall>, body: impl Future<Output = R>) -> R {
    let Some(mut call) = call else { return body.await };
    match call.stand_in(&shape) {
        Some(result) => result,
        None => {
            let result = Within { id: Arc::clone(&call.id), body: std::pin::pin!(body) }.await;
            call.returned(&shape, &result);
            result
        }
    }
}

/// A future that is its call's running body whenever it is polled, on whatever thread.
struct Within<'a, F> {
    id: Arc<str>,
    body: Pin<&'a mut F>,
}

impl<F: Future> Future for Within<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let _inside = Inside::enter(&self.id);
        self.body.as_mut().poll(cx)
    }
}
