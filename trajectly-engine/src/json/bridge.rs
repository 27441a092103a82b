//! To and from Rust values, through serde.

use std::fmt;

use serde::de::{DeserializeOwned, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::number::Repr;
use super::{Json, JsonError, MAX_DEPTH, Number, Object};

/// The JSON form of a Rust value, as serde_json would write it.
///
/// Integers of 128 bits keep their digits. Maps may have keys that serde_json writes as strings, such as integers.
///
/// # Errors
///
/// When the value has no JSON form (a map keyed by lists, say), its own `Serialize` fails, or it nests deeper than 128
/// levels.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<Json, JsonError> {
    let text = serde_json::to_string(value).map_err(|error| JsonError::nowhere(error.to_string()))?;
    Json::parse(&text).map_err(|error| JsonError::nowhere(error.message))
}

/// The Rust value that a JSON value describes, as serde_json would read it.
///
/// # Errors
///
/// When `value` is not what `T` expects; the message is serde's.
pub fn from_json<T: DeserializeOwned>(value: &Json) -> Result<T, JsonError> {
    let read = match to_value(value) {
        // Floats keep their last bit only on this way, large integers only on the other.
        Some(value) => serde_json::from_value(value),
        None => serde_json::from_str(&value.to_compact()),
    };
    read.map_err(|error| JsonError::nowhere(error.to_string()))
}

/// The same value in serde_json's type; `None` if it holds an integer too long for that.
fn to_value(value: &Json) -> Option<serde_json::Value> {
    use serde_json::Value;
    Some(match value {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match *number.repr() {
            Repr::Signed(integer) => integer.into(),
            Repr::Unsigned(integer) => integer.into(),
            Repr::Float(float) => Value::Number(serde_json::Number::from_f64(float)?),
            Repr::Big(_) => return None,
        },
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) => Value::Array(items.iter().map(to_value).collect::<Option<_>>()?),
        Json::Object(members) => {
            let member = |(key, value): (&str, &Json)| Some((key.to_owned(), to_value(value)?));
            Value::Object(members.iter().map(member).collect::<Option<_>>()?)
        }
    })
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Json {
        use serde_json::Value;
        match value {
            Value::Null => Json::Null,
            Value::Bool(flag) => Json::Bool(flag),
            Value::Number(number) => from_digits(&number.to_string()).unwrap_or_default(),
            Value::String(text) => Json::String(text),
            Value::Array(items) => items.into_iter().collect(),
            Value::Object(members) => {
                Json::Object(members.into_iter().map(|(key, value)| (key, value.into())).collect())
            }
        }
    }
}

/// Reads the number that serde_json wrote.
fn from_digits(text: &str) -> Option<Json> {
    Json::parse(text).ok().filter(|value| value.as_number().is_some())
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.repr() {
            Repr::Signed(integer) => serializer.serialize_i64(*integer),
            Repr::Unsigned(integer) => serializer.serialize_u64(*integer),
            Repr::Float(float) if float.is_finite() => serializer.serialize_f64(*float),
            // Only a raw value carries every digit through serde_json.
            _ => RawValue::from_string(self.to_string()).map_err(serde::ser::Error::custom)?.serialize(serializer),
        }
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(flag) => serializer.serialize_bool(*flag),
            Json::Number(number) => number.serialize(serializer),
            Json::String(text) => serializer.serialize_str(text),
            Json::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Json::Object(members) => members.serialize(serializer),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        self.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Json {
    /// Takes any value that JSON can say. A reader that rounds numbers before it hands them over (serde_json does, for
    /// integers beyond 64 bits) has rounded them for good: [`Json::parse`] is the lossless way in.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(AnyValue { depth: 0 })
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object, D::Error> {
        match Json::deserialize(deserializer)? {
            Json::Object(members) => Ok(members),
            other => Err(D::Error::custom(format!("expected an object, found a value of type {}", other.kind()))),
        }
    }
}

/// Builds a [`Json`] from whatever comes, down to [`MAX_DEPTH`] levels.
#[derive(Clone, Copy)]
struct AnyValue {
    depth: usize,
}

impl AnyValue {
    fn inner<E: serde::de::Error>(self) -> Result<AnyValue, E> {
        if self.depth == MAX_DEPTH {
            return Err(E::custom("nested deeper than 128 levels"));
        }
        Ok(AnyValue { depth: self.depth + 1 })
    }
}

impl<'de> serde::de::DeserializeSeed<'de> for AnyValue {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyValue {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_none<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Json, E> {
        Ok(flag.into())
    }

    fn visit_i64<E>(self, integer: i64) -> Result<Json, E> {
        Ok(integer.into())
    }

    fn visit_u64<E>(self, integer: u64) -> Result<Json, E> {
        Ok(integer.into())
    }

    fn visit_i128<E>(self, integer: i128) -> Result<Json, E> {
        Ok(Number::from(integer).into())
    }

    fn visit_u128<E>(self, integer: u128) -> Result<Json, E> {
        Ok(Number::from(integer).into())
    }

    fn visit_f64<E: serde::de::Error>(self, float: f64) -> Result<Json, E> {
        let number = Number::from_f64(float).ok_or_else(|| E::custom("JSON has no number that is not finite"))?;
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let inner = self.inner()?;
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        // A build in which some crate turned on serde_json's `arbitrary_precision` hands every number over as a map
        // with this one key.
        const DIGITS: &str = "$serde_json::private::Number";

        let inner = self.inner()?;
        let mut members = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(inner)?;
            if key == DIGITS
                && let Some(number) = value.as_str().and_then(from_digits)
            {
                return Ok(number);
            }
            members.push((String::into(key), value));
        }
        Ok(Json::Object(Object::from_unsorted(members)))
    }
}
