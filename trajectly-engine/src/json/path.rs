//! Paths into JSON values, as a spec writes them: `$.output.items[*].price`.

use std::fmt;
use std::str::FromStr;

use super::{Json, Object, push_string};

/// The way from an object to some of the values inside it.
///
/// It begins with `$`, the object itself. `.name` is a member, `["name"]` a member of any name, `[0]` an item of an array, and
/// `[*]` or `.*` every item, or every member.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPathError {
    /// What is wrong, as the fragment of a sentence.
    pub message: &'static str,
    /// The character at which it is wrong, counted from 1.
    pub column: usize,
    /// What to write instead.
    pub help: &'static str,
}

impl fmt::Display for JsonPathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at character {}", self.message, self.column)
    }
}

impl std::error::Error for JsonPathError {}

impl FromStr for JsonPath {
    type Err = JsonPathError;

    fn from_str(text: &str) -> Result<JsonPath, JsonPathError> {
        let wrong = |rest: &str, message, help| {
            let column = text[..text.len() - rest.len()].chars().count() + 1;
            Err(JsonPathError { message, column, help })
        };
        let Some(mut rest) = text.strip_prefix('$') else {
            return wrong(text, "a path begins with `$`", "write for example `$.messages[0].content`");
        };
        if rest.is_empty() {
            return wrong(rest, "this path leads nowhere", "name a part: `$.metadata.trace_id`");
        }
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let step = match rest.strip_prefix('.') {
                Some(after) if after.starts_with('.') => {
                    return wrong(rest, "`..` is not supported", "write each step, `*` for any of them: `$.a[*].b`");
                }
                Some(after) => member(after),
                None => rest.strip_prefix('[').and_then(bracketed),
            };
            let Some((step, after)) = step else {
                return wrong(rest, "this is no step", "write `.name`, `.*`, `[0]`, `[*]` or `[\"any name\"]`");
            };
            steps.push(step);
            rest = after;
        }
        Ok(JsonPath(steps))
    }
}

/// Reads what follows a dot: the step, and the text after it.
fn member(text: &str) -> Option<(Step, &str)> {
    let (name, after) = text.split_at(text.find(['.', '[']).unwrap_or(text.len()));
    let unfit = |c: char| c.is_whitespace() || "*]\"'()?@,".contains(c);
    match name {
        "*" => Some((Step::All, after)),
        name if name.is_empty() || name.contains(unfit) => None,
        name => Some((Step::Member(name.to_owned()), after)),
    }
}

/// Reads what follows an opening bracket: the step, and the text after the closing one.
fn bracketed(inner: &str) -> Option<(Step, &str)> {
    if inner.starts_with('"') {
        let mut strings = serde_json::Deserializer::from_str(inner).into_iter::<String>();
        let name = strings.next()?.ok()?;
        return Some((Step::Member(name), inner[strings.byte_offset()..].strip_prefix(']')?));
    }
    if let Some(quoted) = inner.strip_prefix('\'') {
        let (name, after) = quoted.split_once('\'')?;
        return Some((Step::Member(name.to_owned()), after.strip_prefix(']')?));
    }
    let (inside, after) = inner.split_once(']')?;
    let step = match inside {
        "*" => Step::All,
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => Step::Item(digits.parse().ok()?),
        _ => return None,
    };
    Some((step, after))
}

/// A value without what the paths lead to.
pub(crate) fn without(value: &Json, paths: &[JsonPath]) -> Json {
    prune(value, &paths.iter().map(|path| path.0.as_slice()).collect::<Vec<_>>())
}

fn prune(value: &Json, paths: &[&[Step]]) -> Json {
    match value {
        _ if paths.is_empty() => value.clone(),
        Json::Array(items) => {
            let kept = |(index, item)| child(item, paths, |step| matches!(step, Step::Item(at) if *at == index));
            items.iter().enumerate().filter_map(kept).collect()
        }
        Json::Object(members) => {
            let kept = |(key, member): (&str, &Json)| {
                let leads = |step: &Step| matches!(step, Step::Member(name) if name == key);
                Some((key.to_owned(), child(member, paths, leads)?))
            };
            Json::Object(members.iter().filter_map(kept).collect())
        }
        scalar => scalar.clone(),
    }
}

/// What is left of a part of a value; `None` if a path ends there.
fn child(value: &Json, paths: &[&[Step]], leads: impl Fn(&Step) -> bool) -> Option<Json> {
    let mut deeper = Vec::new();
    for path in paths {
        match path {
            [step, rest @ ..] if *step == Step::All || leads(step) => match rest {
                [] => return None,
                rest => deeper.push(rest),
            },
            _ => {}
        }
    }
    Some(prune(value, &deeper))
}
