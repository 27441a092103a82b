//! The shape of a YAML text and where each part of it stands.
//!
//! Built from parse events alone, without a value being made, so that a hostile text (aliases that multiply, endless nesting) is
//! turned away before anything is spent on it.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::node::{Extent, Place};

/// How deep lists and mappings may stand in one another, aliases followed.
const DEEPEST: usize = 64;

/// How much a text may come to, in bytes, when every alias is replaced by what it stands for.
const LARGEST: usize = 2 << 20;

/// What a value weighs against [`LARGEST`] beside its own text.
const WEIGHT: usize = 8;

/// A part of the text, by its index in an [`Outline`].
pub(super) type Part = usize;

/// What is where.
pub(super) struct Outline {
    source: usize,
    parts: Vec<(Shape, Place)>,
    root: Option<Part>,
}

enum Shape {
    Scalar,
    List(Vec<Part>),
    /// By key, for the keys that are scalars: where the key stands, and its value.
    Map(HashMap<String, (Place, Part)>),
    Alias(Part),
}

/// What keeps a text from being read, and where.
pub(super) struct Fault {
    pub(super) place: Place,
    pub(super) message: String,
    pub(super) help: Option<&'static str>,
}

impl Outline {
    /// Reads the shape of `text`, which is source number `source`.
    pub(super) fn of(text: &str, source: usize) -> Result<Outline, Vec<Fault>> {
        let outline = Outline { source, parts: Vec::new(), root: None };
        let mut builder =
            Builder { outline, open: Vec::new(), anchors: HashMap::new(), faults: Vec::new(), documents: 0 };
        for event in Parser::new_from_str(text) {
            let go_on = match event {
                Ok((event, span)) => builder.event(event, span),
                Err(error) => {
                    let place = builder.outline.place(Span::empty(*error.marker()), None);
                    builder.refused(place, error.info())
                }
            };
            if !go_on {
                break;
            }
        }
        if builder.faults.is_empty() { Ok(builder.outline) } else { Err(builder.faults) }
    }

    pub(super) fn root(&self) -> Option<Part> {
        self.root
    }

    fn place(&self, span: Span, style: Option<ScalarStyle>) -> Place {
        let (start, end) = (span.start, span.end);
        let extent = match style {
            // The parser's own end of a quoted scalar takes in the blanks and the comment that follow.
            Some(ScalarStyle::SingleQuoted) => Extent::Quoted('\''),
            Some(ScalarStyle::DoubleQuoted) => Extent::Quoted('"'),
            _ if end.line() == start.line() => Extent::Columns(end.col().saturating_sub(start.col())),
            _ => Extent::Line,
        };
        Place { source: self.source, line: start.line(), column: start.col() + 1, extent }
    }

    pub(super) fn place_of(&self, part: Part) -> Option<Place> {
        self.parts.get(part).map(|(_, place)| *place)
    }

    /// The key `key` of a mapping and its value; found through `<<` where the mapping does not have it itself.
    pub(super) fn field(&self, part: Part, key: &str) -> Option<(Place, Part)> {
        let Some(Shape::Map(fields)) = self.shape(part) else { return None };
        fields.get(key).copied().or_else(|| {
            let (_, merged) = *fields.get("<<")?;
            match self.shape(merged)? {
                Shape::List(items) => items.iter().find_map(|item| self.field(*item, key)),
                _ => self.field(merged, key),
            }
        })
    }

    /// The element `index` of a list.
    pub(super) fn item(&self, part: Part, index: usize) -> Option<Part> {
        match self.shape(part)? {
            Shape::List(items) => items.get(index).copied(),
            _ => None,
        }
    }

    /// Whether a part may stand under `<<`.
    fn is_mergeable(&self, part: Part) -> bool {
        let is_map = |part: &Part| matches!(self.shape(*part), Some(Shape::Map(_)));
        match self.shape(part) {
            Some(Shape::List(items)) => items.iter().all(is_map),
            _ => is_map(&part),
        }
    }

    fn shape(&self, part: Part) -> Option<&Shape> {
        match &self.parts.get(part)?.0 {
            Shape::Alias(target) => self.parts.get(*target).map(|(shape, _)| shape),
            shape => Some(shape),
        }
    }
}

/// What is still open while the events come in.
struct Builder {
    outline: Outline,
    open: Vec<Open>,
    /// What each anchor came to, by the parser's number for it.
    anchors: HashMap<usize, Weighed>,
    faults: Vec<Fault>,
    documents: usize,
}

struct Open {
    part: Part,
    anchor: usize,
    /// In a mapping, the key whose value comes next.
    key: Option<Key>,
    size: usize,
    height: usize,
}

enum Key {
    Scalar(String, Place),
    /// A list, a mapping or an alias: nothing that a spec has, so nothing to look up.
    Other,
}

#[derive(Clone, Copy)]
struct Weighed {
    part: Part,
    size: usize,
    height: usize,
}

impl Builder {
    /// Takes one event in; false when there is no use in going on.
    fn event(&mut self, event: Event<'_>, span: Span) -> bool {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    let place = self.outline.place(span, None);
                    return self.fault(
                        place,
                        "a second document starts here, and a spec is one document".to_owned(),
                        Some("give each spec a file of its own"),
                    );
                }
                true
            }
            Event::Scalar(text, style, anchor, _) => {
                let place = self.outline.place(span, Some(style));
                if self.expects_key() {
                    return self.key(text.into_owned(), place);
                }
                let part = self.add(Shape::Scalar, place);
                self.close(anchor, Weighed { part, size: WEIGHT + text.len(), height: 0 }, place)
            }
            Event::Alias(anchor) => {
                let place = self.outline.place(span, None);
                let Some(target) = self.anchors.get(&anchor).copied() else {
                    let help = Some("write the value out instead of the alias");
                    return self.fault(place, "this alias stands inside what it refers to".to_owned(), help);
                };
                let part = self.add(Shape::Alias(target.part), place);
                self.close(0, Weighed { part, ..target }, place)
            }
            Event::SequenceStart(anchor, _) => self.start(Shape::List(Vec::new()), anchor, span),
            Event::MappingStart(anchor, _) => self.start(Shape::Map(HashMap::new()), anchor, span),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => {
                    let place = self.outline.place(span, None);
                    let weighed = Weighed { part: open.part, size: open.size, height: open.height + 1 };
                    self.close(open.anchor, weighed, place)
                }
                None => true,
            },
            _ => true,
        }
    }

    fn add(&mut self, shape: Shape, place: Place) -> Part {
        self.outline.parts.push((shape, place));
        self.outline.parts.len() - 1
    }

    fn fault(&mut self, place: Place, message: String, help: Option<&'static str>) -> bool {
        self.faults.push(Fault { place, message, help });
        false
    }

    /// Notes what the parser has against the text.
    fn refused(&mut self, place: Place, info: &str) -> bool {
        if info.contains("recursion limit") {
            return self.too_deep(place);
        }
        let help = match info {
            tab if tab.contains("tabs") => Some("indent with spaces"),
            colon if colon.contains("mapping values are not allowed") => {
                Some("put a value with a colon in it in quotes")
            }
            quote if quote.contains("quoted scalar, found unexpected end") => Some("close the quote"),
            escape if escape.contains("escape") => Some("write the text in single quotes, where `\\` means itself"),
            bracket if bracket.contains("',' or") => Some("close the bracket, or put a comma between the entries"),
            anchor if anchor.contains("unknown anchor") => Some("put a `*` that begins a text in quotes"),
            character if character.contains("unexpected character") => Some("put the value in quotes"),
            key if key.contains("simple key") => Some("end the key with a colon, on one line"),
            _ => Some("look at the indentation, and at what is left open above"),
        };
        self.fault(place, format!("this is not YAML: {info}"), help)
    }

    fn too_deep(&mut self, place: Place) -> bool {
        self.fault(place, format!("this is nested more than {DEEPEST} levels deep"), Some("write it flatter"))
    }

    fn start(&mut self, shape: Shape, anchor: usize, span: Span) -> bool {
        let place = self.outline.place(span, None);
        if self.open.len() >= DEEPEST {
            return self.too_deep(place);
        }
        let part = self.add(shape, place);
        self.open.push(Open { part, anchor, key: None, size: WEIGHT, height: 0 });
        true
    }

    fn expects_key(&self) -> bool {
        let open = self.open.last();
        open.is_some_and(|open| open.key.is_none() && matches!(self.outline.parts[open.part].0, Shape::Map(_)))
    }

    fn key(&mut self, text: String, place: Place) -> bool {
        let Some(open) = self.open.last_mut() else { return true };
        open.size += WEIGHT + text.len();
        if let Shape::Map(fields) = &self.outline.parts[open.part].0
            && let Some((first, _)) = fields.get(&text)
        {
            let message = format!("the key `{text}` stands here a second time; the first is on line {}", first.line);
            self.faults.push(Fault { place, message, help: Some("merge the two, or remove one") });
        }
        open.key = Some(Key::Scalar(text, place));
        true
    }

    /// Hands a finished part to what holds it.
    fn close(&mut self, anchor: usize, weighed: Weighed, place: Place) -> bool {
        if anchor > 0 {
            self.anchors.insert(anchor, weighed);
        }
        let depth = self.open.len() + weighed.height;
        let Some(open) = self.open.last_mut() else {
            self.outline.root = Some(weighed.part);
            return true;
        };
        open.size = open.size.saturating_add(weighed.size);
        open.height = open.height.max(weighed.height);
        let size = open.size;
        let key = open.key.take();
        let mut merge = None;
        match &mut self.outline.parts[open.part].0 {
            Shape::List(items) => items.push(weighed.part),
            Shape::Map(fields) => match key {
                Some(Key::Scalar(text, place)) => {
                    merge = (text == "<<").then_some(place);
                    fields.insert(text, (place, weighed.part));
                }
                Some(Key::Other) => {}
                None => open.key = Some(Key::Other),
            },
            Shape::Scalar | Shape::Alias(_) => {}
        }
        if let Some(place) = merge
            && !self.outline.is_mergeable(weighed.part)
        {
            let help = Some("a `<<` takes a mapping, or a list of mappings");
            return self.fault(place, "there is nothing here to merge".to_owned(), help);
        }
        if size > LARGEST {
            let help = Some("use fewer of them");
            return self.fault(place, "the aliases up to here expand to more than a spec may hold".to_owned(), help);
        }
        if depth > DEEPEST {
            return self.too_deep(place);
        }
        true
    }
}
