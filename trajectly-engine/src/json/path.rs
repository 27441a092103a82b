//! Paths into JSON values, as a spec writes them: `$.output.items[*].price`.

use std::fmt;
use std::str::FromStr;

use super::{Json, Object, push_string};

/// The way from an object to some of the values inside it.
///
/// It begins with `$`, the object itself. `.name` is a member, `["name"]` a member of any name, `[0]` an item of an array, and
/// `[*]` every item, or every member.
///
/// ```
/// use trajectly_engine::json::{Json, JsonPath};
///
/// let path: JsonPath = "$.items[*].price".parse().unwrap();
/// let value = Json::parse(r#"{"items": [{"price": 3}, {"name": "x"}, {"price": 4}]}"#).unwrap();
/// let found = path.find(value.as_object().unwrap());
/// let found: Vec<_> = found.into_iter().map(|(place, value)| format!("{place} = {value}")).collect();
/// assert_eq!(found, ["$.items[0].price = 3", "$.items[2].price = 4"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath(Vec<Step>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Member(String),
    Item(usize),
    All,
}

impl JsonPath {
    /// The values that the path leads to, in the order in which the object holds them, each with its own path: one without `[*]`.
    pub fn find<'v>(&self, object: &'v Object) -> Vec<(String, &'v Json)> {
        let mut found = Vec::new();
        if let Some((step, rest)) = self.0.split_first() {
            in_members(object, step, rest, "$", &mut found);
        }
        found
    }
}

fn in_value<'v>(value: &'v Json, steps: &[Step], place: String, found: &mut Vec<(String, &'v Json)>) {
    let Some((step, rest)) = steps.split_first() else { return found.push((place, value)) };
    match (value, step) {
        (Json::Object(members), step) => in_members(members, step, rest, &place, found),
        (Json::Array(items), Step::Item(index)) => {
            if let Some(item) = items.get(*index) {
                in_value(item, rest, format!("{place}[{index}]"), found);
            }
        }
        (Json::Array(items), Step::All) => {
            for (index, item) in items.iter().enumerate() {
                in_value(item, rest, format!("{place}[{index}]"), found);
            }
        }
        _ => {}
    }
}

fn in_members<'v>(members: &'v Object, step: &Step, rest: &[Step], place: &str, found: &mut Vec<(String, &'v Json)>) {
    let mut member = |name: &str, value: &'v Json| {
        let mut place = place.to_owned();
        push_member(name, &mut place);
        in_value(value, rest, place, found);
    };
    match step {
        Step::Member(name) => {
            if let Some(value) = members.get(name) {
                member(name, value);
            }
        }
        Step::All => members.iter().for_each(|(name, value)| member(name, value)),
        Step::Item(_) => {}
    }
}

fn push_member(name: &str, out: &mut String) {
    if is_plain(name) {
        out.push('.');
        out.push_str(name);
    } else {
        out.push('[');
        push_string(name, out);
        out.push(']');
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::from("$");
        for step in &self.0 {
            match step {
                Step::Member(name) => push_member(name, &mut text),
                Step::Item(index) => text.push_str(&format!("[{index}]")),
                Step::All => text.push_str("[*]"),
            }
        }
        f.write_str(&text)
    }
}

/// A text that is no [`JsonPath`], or the path of an object to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoJsonPath;

impl fmt::Display for NoJsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a path is written like $.items[0].price or $.items[*][\"unit price\"]")
    }
}

impl std::error::Error for NoJsonPath {}

impl FromStr for JsonPath {
    type Err = NoJsonPath;

    fn from_str(text: &str) -> Result<JsonPath, NoJsonPath> {
        let steps = text.strip_prefix('$').and_then(steps);
        steps.filter(|steps| !steps.is_empty()).map(JsonPath).ok_or(NoJsonPath)
    }
}

fn steps(mut rest: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = match rest.strip_prefix('[') {
            Some(inner) => bracketed(inner)?,
            None => {
                let name = rest.strip_prefix('.')?;
                let (name, after) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
                (is_plain(name).then(|| Step::Member(name.to_owned()))?, after)
            }
        };
        steps.push(step);
        rest = after;
    }
    Some(steps)
}

/// Reads what follows an opening bracket: the step, and the text after the closing one.
fn bracketed(inner: &str) -> Option<(Step, &str)> {
    if let Some(after) = inner.strip_prefix("*]") {
        return Some((Step::All, after));
    }
    if inner.starts_with('"') {
        let mut strings = serde_json::Deserializer::from_str(inner).into_iter::<String>();
        let name = strings.next()?.ok()?;
        return Some((Step::Member(name), inner[strings.byte_offset()..].strip_prefix(']')?));
    }
    let (index, after) = inner.split_once(']')?;
    let digits = index.bytes().all(|byte| byte.is_ascii_digit());
    Some((Step::Item(index.parse().ok().filter(|_| digits)?), after))
}
