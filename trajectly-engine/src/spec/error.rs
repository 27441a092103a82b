//! What is wrong with a spec, said all at once and in place.

use std::fmt;

use super::notes::Findings;

/// A place in a spec file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file as the caller named it; never made absolute.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column of the first marked character, from 1, in characters.
    pub column: usize,
    /// How many characters are marked, at least 1; all of them stand on this line.
    pub width: usize,
    /// The whole source line, without its line ending.
    pub text: String,
}

/// One thing wrong with a spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it stands; absent for what is missing from the file as a whole, and for specs that were not read from a text.
    pub location: Option<Location>,
    /// The path of the value, such as `contracts.tools.deny[0]`; empty for the spec itself.
    pub path: String,
    /// What is wrong, as one sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// A spec that cannot be used: everything that is wrong with it, in the order of the file.
///
/// Displays as rustc would: a title, the place with its source line underlined, and a help line for each problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecError {
    /// The file as the caller named it; empty for a spec that did not come from one.
    pub file: String,
    /// At least one problem, sorted by place; those without a place come last.
    pub problems: Vec<Problem>,
    /// How many further problems there are; the list stops at a hundred.
    pub omitted: usize,
}

/// Longer source lines are cut around what is marked.
const WIDEST_EXCERPT: usize = 140;

impl SpecError {
    pub(super) fn new(file: &str, findings: Findings) -> SpecError {
        SpecError { file: file.to_owned(), problems: findings.problems, omitted: findings.omitted }
    }

    pub(super) fn of_file(file: &str, message: String, help: Option<String>) -> SpecError {
        let problem = Problem { location: None, path: String::new(), message, help };
        SpecError { file: file.to_owned(), problems: vec![problem], omitted: 0 }
    }
}

impl std::error::Error for SpecError {}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            problem.write(f, &self.file)?;
        }
        if self.omitted > 0 {
            write!(f, "\n\n… and {} more", self.omitted)?;
        }
        Ok(())
    }
}

/// Puts problems in the order of their places. Those of `file` itself come before those of files that it builds on, and those
/// without a place come last. What was found twice stays once.
pub(super) fn sort(file: &str, problems: &mut Vec<Problem>) {
    problems.sort_by_cached_key(|problem| match &problem.location {
        Some(at) => (0, at.file != file, at.file.clone(), at.line, at.column),
        None => (1, false, String::new(), 0, 0),
    });
    problems.dedup();
}

impl Problem {
    fn write(&self, f: &mut fmt::Formatter<'_>, file: &str) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        let gutter = match &self.location {
            Some(location) => location.write(f)?,
            None => {
                let place: Vec<&str> = [file, self.path.as_str()].into_iter().filter(|s| !s.is_empty()).collect();
                if !place.is_empty() {
                    write!(f, "\n --> {}", place.join(": "))?;
                }
                1
            }
        };
        match &self.help {
            Some(help) => write!(f, "\n{:gutter$} = help: {help}", ""),
            None => Ok(()),
        }
    }
}

impl Location {
    /// Writes arrow, source line and underline; returns the width of the line number.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> Result<usize, fmt::Error> {
        let number = self.line.to_string();
        let gutter = number.len();
        let (excerpt, before) = self.excerpt();
        // Tabs stay tabs, so that the marks stand under what they mark whatever the terminal makes of them.
        let indent: String = excerpt.chars().take(before).map(|c| if c == '\t' { c } else { ' ' }).collect();
        let width = self.width.clamp(1, excerpt.chars().count().saturating_sub(before).max(1));
        write!(f, "\n{:gutter$}--> {}:{}:{}", "", self.file, self.line, self.column)?;
        write!(f, "\n{:gutter$} |\n{number} | {excerpt}\n{:gutter$} | {indent}{}", "", "", "^".repeat(width))?;
        Ok(gutter)
    }

    /// The source line, or for a long one the part around the marks, and how many characters of it precede them.
    fn excerpt(&self) -> (String, usize) {
        let before = self.column.saturating_sub(1);
        let length = self.text.chars().count();
        if length <= WIDEST_EXCERPT {
            return (self.text.clone(), before);
        }
        let start = before.saturating_sub(WIDEST_EXCERPT / 3);
        let mut excerpt: String = self.text.chars().skip(start).take(WIDEST_EXCERPT).collect();
        let mut before = before - start;
        if start > 0 {
            excerpt.insert(0, '…');
            before += 1;
        }
        if start + WIDEST_EXCERPT < length {
            excerpt.push('…');
        }
        (excerpt, before)
    }
}
