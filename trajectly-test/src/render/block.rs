//! The form of rustc's diagnostics: a title, places with their source lines, marks, notes.

use trajectly_engine::spec::Location;

use super::paint::{Paint, Role};
use super::text::{WIDTH, clean, fit, width_of};

/// Columns that are shown of a source line in front of what is marked, where the line is too long.
const LEAD: usize = 40;
/// Columns that line numbers and bars may take of a line.
pub(super) const MARGIN: usize = 8;
/// Columns of a line of a message or a note, which the terminal wraps.
const LINE: usize = 10 * WIDTH;
/// Lines of a message or a note.
const MOST_LINES: usize = 12;

/// One diagnostic, put together from the top down.
pub(super) struct Block {
    title: String,
    parts: Vec<Part>,
    paint: Paint,
}

enum Part {
    Arrow {
        arrow: &'static str,
        place: String,
    },
    /// A line of a file, with its number.
    Source {
        number: usize,
        text: String,
    },
    /// A line without a number. Already painted.
    Bar(String),
    Note {
        word: &'static str,
        text: String,
    },
}

impl Block {
    pub(super) fn new(code: &str, message: &str, paint: Paint) -> Self {
        Self::titled(&format!("error[{}]", clean(code)), message, paint)
    }

    pub(super) fn warning(message: &str, paint: Paint) -> Self {
        Self::titled("warning", message, paint)
    }

    fn titled(word: &str, message: &str, paint: Paint) -> Self {
        let mut lines = text_lines(message).into_iter();
        let first = lines.next().unwrap_or_default();
        let mut title = paint.text(Role::Fault, word) + &paint.text(Role::Title, format!(": {first}"));
        // What a CI takes for a command begins a line.
        for line in lines {
            title.push_str("\n     | ");
            title.push_str(&line);
        }
        Self { title, parts: Vec::new(), paint }
    }

    /// The place that the diagnostic is about: `-->`.
    pub(super) fn arrow(&mut self, place: &str) {
        self.parts.push(Part::Arrow { arrow: "-->", place: clean(place) });
    }

    /// A place in a file that bears witness: `:::`.
    pub(super) fn aside(&mut self, place: &str) {
        self.parts.push(Part::Arrow { arrow: ":::", place: clean(place) });
    }

    /// A line of a file. Must be clean.
    pub(super) fn source(&mut self, number: usize, text: String) {
        self.parts.push(Part::Source { number, text });
    }

    /// Marks `width` columns of the line above, after `indent` columns.
    pub(super) fn marks(&mut self, indent: usize, width: usize, label: &str) {
        let room = (WIDTH - MARGIN).saturating_sub(indent + width_of(label) + 1);
        let marks = format!("{} {label}", "^".repeat(width.min(room).max(1)));
        self.parts.push(Part::Bar(format!("{:indent$}{}", "", self.paint.text(Role::Fault, marks.trim_end()))));
    }

    /// A line below the last place. Must be clean, or painted.
    pub(super) fn bar(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Bar(text.into()));
    }

    /// A place in a spec, with its line underlined.
    pub(super) fn location(&mut self, location: &Location, label: &str) {
        self.arrow(&format!("{}:{}:{}", location.file, location.line, location.column));
        self.bar("");
        let marked = Marked::of(location);
        self.source(location.line, marked.line);
        self.marks(marked.indent, marked.width, label);
    }

    pub(super) fn help(&mut self, text: &str) {
        self.note("help", text);
    }

    /// `= word: text`
    pub(super) fn note(&mut self, word: &'static str, text: &str) {
        let mut lines = text_lines(text).into_iter();
        let mut out = lines.next().unwrap_or_default();
        for line in lines {
            out.push('\n');
            out.push_str(&line);
        }
        self.parts.push(Part::Note { word, text: out });
    }

    /// The text; ends with a newline.
    pub(super) fn finish(self) -> String {
        let Self { title, parts, paint } = self;
        let numbers = parts.iter().map(|part| match part {
            Part::Source { number, .. } => number.to_string().len(),
            _ => 1,
        });
        let gutter = numbers.max().unwrap_or(1) + 1;
        let frame = |text: &str| paint.text(Role::Frame, text);
        let mut out = title + "\n";
        for part in parts {
            let line = match part {
                Part::Arrow { arrow, place } => format!("{:gutter$}{} {place}", "", frame(arrow)),
                Part::Source { number, text } => format!("{} {text}", frame(&format!("{number:>gutter$} |"))),
                Part::Bar(text) if text.is_empty() => frame(&format!("{:gutter$} |", "")),
                Part::Bar(text) => format!("{} {text}", frame(&format!("{:gutter$} |", ""))),
                Part::Note { word, text } => {
                    let indent = gutter + word.len() + 3;
                    let text = text.replace('\n', &format!("\n{:indent$}| ", ""));
                    format!("{:gutter$} {} {}: {text}", "", frame("="), paint.text(Role::Word, word))
                }
            };
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// A source line, cut around what is marked, and where in it the marks go.
struct Marked {
    line: String,
    indent: usize,
    width: usize,
}

impl Marked {
    fn of(location: &Location) -> Self {
        // A line of YAML may hold tabs, if not at its start. One blank each keeps the marks in place.
        let chars: Vec<char> = location.text.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
        let text = |range: std::ops::Range<usize>| clean(&chars[range].iter().collect::<String>());
        let start = location.column.saturating_sub(1).min(chars.len());
        let end = (start + location.width.max(1)).min(chars.len());
        let room = WIDTH - MARGIN;
        let mut lead = text(0..start);
        if width_of(&text(0..chars.len())) > room && width_of(&lead) > LEAD {
            lead = format!("…{}", text(start.saturating_sub(LEAD)..start));
        }
        let indent = width_of(&lead);
        let left = room.saturating_sub(indent);
        let width = width_of(&text(start..end)).clamp(1, left.max(1));
        Self { line: lead + &fit(&text(start..chars.len()), left), indent, width }
    }
}

/// The lines of a message, clean; a long one is cut.
fn text_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<&str> = text.trim_end().split('\n').collect();
    let left_out = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    let mut out: Vec<String> = lines.into_iter().map(|line| fit(line.trim_end(), LINE)).collect();
    if left_out > 0 {
        out.push(format!("… {left_out} more lines"));
    }
    out
}
