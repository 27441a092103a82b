//! YAML text to values that know their place. The one file that knows the YAML library.

use serde_yaml::Value as Yaml;

use super::locate::{Fault, Outline, Part};
use super::node::{Entry, Extent, Node, Place, Value};
use crate::json::Number;

/// The largest text taken for a spec, in bytes.
const LARGEST_TEXT: usize = 1 << 18;

/// Reads one YAML document; an empty text is [`Value::Null`].
///
/// `source` is the number that the places of the result carry. All faults of the text are returned together.
pub(super) fn read(text: &str, source: usize) -> Result<Node, Vec<Fault>> {
    let start = Place { source, ..Place::default() };
    let fault = |message: String, help| Fault { place: start, message, help: Some(help) };
    if text.len() > LARGEST_TEXT {
        let message = format!("the spec is {} bytes long; at most {LARGEST_TEXT} are read", text.len());
        return Err(vec![fault(message, "leave out what the run does not need")]);
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(fault) = control_character(text, source) {
        return Err(vec![fault]);
    }
    let outline = Outline::of(text, source)?;
    let mut value: Yaml = serde_yaml::from_str(text).map_err(|error| vec![refused(&error, source)])?;
    value
        .apply_merge()
        .map_err(|error| vec![fault(format!("a `<<` cannot be merged: {error}"), "write the keys out")])?;

    let mut reader = Reader { outline: &outline, faults: Vec::new(), start };
    let node = reader.node(value, outline.root(), None);
    if reader.faults.is_empty() { Ok(node) } else { Err(reader.faults) }
}

/// The first character that no YAML text may hold, and of which the parsers say less.
fn control_character(text: &str, source: usize) -> Option<Fault> {
    let refused = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    let (line, text) = text.lines().enumerate().find(|(_, line)| line.contains(refused))?;
    let column = text.chars().position(refused)? + 1;
    Some(Fault {
        place: Place { source, line: line + 1, column, extent: Extent::Columns(1) },
        message: "this is not YAML: a control character".to_owned(),
        help: Some("remove it, or write it as an escape such as `\\x1b` in double quotes"),
    })
}

/// What the value parser has against a text whose shape is sound.
fn refused(error: &serde_yaml::Error, source: usize) -> Fault {
    let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
    let place = Place { source, line, column, extent: Extent::Word };
    let said = error.to_string();
    if said.contains("as u128") || said.contains("as i128") {
        let help = Some("quote it if it is a name, not a quantity");
        return Fault {
            place,
            message: "this number is too large: whole numbers have at most 64 bits".to_owned(),
            help,
        };
    }
    Fault { place, message: format!("this is not YAML: {said}"), help: Some("put the value in quotes") }
}

struct Reader<'o> {
    outline: &'o Outline,
    faults: Vec<Fault>,
    start: Place,
}

impl Reader<'_> {
    /// `part` is what the outline knows of the value; `holder` where the key is that holds it.
    fn node(&mut self, yaml: Yaml, part: Option<Part>, holder: Option<Place>) -> Node {
        let place = part.and_then(|part| self.outline.place_of(part));
        let at = place.or(holder).unwrap_or(self.start);
        let value = match yaml {
            Yaml::Null => Value::Null,
            Yaml::Bool(value) => Value::Bool(value),
            Yaml::Number(number) => self.number(&number, at),
            Yaml::String(text) => Value::String(text),
            Yaml::Sequence(items) => {
                let item = |(index, item)| {
                    let part = part.and_then(|part| self.outline.item(part, index));
                    self.node(item, part, holder)
                };
                Value::List(items.into_iter().enumerate().map(item).collect())
            }
            Yaml::Mapping(fields) => {
                let entries = fields.into_iter().filter_map(|(key, value)| self.entry(key, value, part, at)).collect();
                Value::Map(entries)
            }
            Yaml::Tagged(tagged) => {
                self.fault(at, format!("the tag {} means nothing in a spec", tagged.tag), Some("remove the tag"));
                Value::Null
            }
        };
        Node { value, place }
    }

    fn entry(&mut self, key: Yaml, value: Yaml, part: Option<Part>, map: Place) -> Option<Entry> {
        let Yaml::String(key) = key else {
            let (written, place) = self.odd_key(&key, part).unwrap_or(("this key".to_owned(), map));
            self.fault(place, format!("{written} is no string, and keys are strings"), Some("put it in quotes"));
            return None;
        };
        let (key_place, part) = part.and_then(|part| self.outline.field(part, &key)).unzip();
        let node = self.node(value, part, key_place);
        Some(Entry { key, key_place, node })
    }

    /// A key that is a number or a flag, as it is most likely written, and where.
    fn odd_key(&self, key: &Yaml, part: Option<Part>) -> Option<(String, Place)> {
        let written = match key {
            Yaml::Bool(value) => value.to_string(),
            Yaml::Number(number) => number.to_string(),
            Yaml::Null => "null".to_owned(),
            _ => return None,
        };
        let (place, _) = self.outline.field(part?, &written)?;
        Some((format!("`{written}`"), place))
    }

    fn number(&mut self, number: &serde_yaml::Number, at: Place) -> Value {
        let held = number.as_u64().map(Number::from).or_else(|| number.as_i64().map(Number::from));
        match held.or_else(|| Number::from_f64(number.as_f64()?)) {
            Some(number) => Value::Number(number),
            None => {
                self.fault(at, format!("{number} is no number that a spec can hold"), Some("write it in digits"));
                Value::Null
            }
        }
    }

    fn fault(&mut self, place: Place, message: String, help: Option<&'static str>) {
        self.faults.push(Fault { place, message, help });
    }
}
