//! How a call's result becomes JSON and comes back: as a plain value, or as a `Result` whose error is recorded too.

use std::fmt::Display;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::error::RecordedError;

/// What a call came to.
#[derive(Debug)]
pub enum Outcome {
    /// It returned this value.
    Value(Value),
    /// It returned an error.
    Error {
        /// Its text, and that of its causes where it tells them.
        text: String,
        /// The end of the text that tells the causes.
        cause: Option<String>,
    },
}

/// The ways in which a result of type `R` is recorded and replayed.
#[diagnostic::on_unimplemented(
    message = "a tool that returns `{R}` cannot be recorded and replayed",
    label = "this needs `Serialize + DeserializeOwned`; an error type needs `Display + From<RecordedError>`",
    note = "`anyhow::Error`, `eyre::Report` and boxed `Send + Sync` errors qualify as error types as they are"
)]
pub trait Shape<R> {
    /// The result as it is recorded.
    fn encode(&self, result: &R) -> Outcome;
    /// The result that a recorded output stands for.
    fn decode(&self, output: &RawValue) -> Result<R, serde_json::Error>;
    /// The result of a call that failed, or was refused.
    fn fail(&self, error: RecordedError) -> R;
}

/// The shape of `Result<T, E>`.
#[derive(Debug)]
pub struct AsResult<T, E>(PhantomData<fn() -> (T, E)>);

impl<T, E> AsResult<T, E> {
    pub(crate) const NEW: Self = Self(PhantomData);
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned, E: Display + From<RecordedError>> Shape<Result<T, E>> for AsResult<T, E> {
    fn encode(&self, result: &Result<T, E>) -> Outcome {
        match result {
            Ok(value) => encode(value),
            Err(error) => {
                let (message, full) = (error.to_string(), format!("{error:#}"));
                // So anyhow and its kin write an error with its causes.
                match full.strip_prefix(&message).and_then(|rest| rest.strip_prefix(": ")) {
                    Some(cause) => Outcome::Error { cause: Some(cause.to_owned()), text: full },
                    None => Outcome::Error { text: message, cause: None },
                }
            }
        }
    }

    fn decode(&self, output: &RawValue) -> Result<Result<T, E>, serde_json::Error> {
        serde_json::from_str(output.get()).map(Ok)
    }

    fn fail(&self, error: RecordedError) -> Result<T, E> {
        Err(E::from(error))
    }
}

/// The shape of a result that cannot be an error. A refused call of this shape panics, having no other way to
/// say so.
#[derive(Debug)]
pub struct AsValue<T>(PhantomData<fn() -> T>);

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Shape<T> for AsValue<T> {
    fn encode(&self, result: &T) -> Outcome {
        encode(result)
    }

    fn decode(&self, output: &RawValue) -> Result<T, serde_json::Error> {
        serde_json::from_str(output.get())
    }

    fn fail(&self, error: RecordedError) -> T {
        panic!("{error}")
    }
}

fn encode<T: Serialize>(value: &T) -> Outcome {
    Outcome::Value(serde_json::to_value(value).unwrap_or_else(|error| json!(format!("<no JSON form: {error}>"))))
}

/// Names a type, so that method resolution can choose its shape: [`ViaResult`] where the type is a `Result`,
/// else [`ViaValue`], which is found one reference further out.
#[derive(Debug)]
pub struct Tag<R>(PhantomData<fn() -> R>);

impl<R> Tag<R> {
    /// The tag of `R`.
    #[allow(clippy::new_without_default, reason = "only generated code makes one")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// Chooses [`AsResult`].
pub trait ViaResult<T, E> {
    /// The shape.
    fn shape(&self) -> AsResult<T, E> {
        AsResult::NEW
    }
}

impl<T, E> ViaResult<T, E> for Tag<Result<T, E>> {}

/// Chooses [`AsValue`].
pub trait ViaValue<T> {
    /// The shape.
    fn shape(&self) -> AsValue<T> {
        AsValue(PhantomData)
    }
}

impl<T> ViaValue<T> for &Tag<T> {}
