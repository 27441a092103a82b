//! What readers of a spec find, kept until all of it is read.

use std::cell::{Cell, RefCell};
use std::path::Path;

use super::draft::{Draft, Part};
use super::error::{self, Problem};
use super::locate::Fault;
use super::node::{Place, Sources};
use super::path::SpecPath;

/// What all readers of one spec share: where its texts are, and what was found so far.
pub(super) struct Notes<'s> {
    sources: &'s Sources,
    problems: RefCell<Vec<Problem>>,
    omitted: Cell<usize>,
    warnings: RefCell<Vec<Problem>>,
    /// Where there is no spec to be read: what the readers ask for.
    draft: Option<RefCell<Draft>>,
}

/// What reading came to, beside the values.
pub(super) struct Findings {
    /// What makes the spec unusable.
    pub(super) problems: Vec<Problem>,
    /// How many further problems there are.
    pub(super) omitted: usize,
    /// What is only worth telling.
    pub(super) warnings: Vec<Problem>,
}

/// Nobody reads on after so many. A problem holds the line it stands on, which may be the whole text.
const MOST_PROBLEMS: usize = 100;

impl<'s> Notes<'s> {
    pub(super) fn new(sources: &'s Sources) -> Notes<'s> {
        let (problems, warnings) = (RefCell::default(), RefCell::default());
        Notes { sources, problems, omitted: Cell::default(), warnings, draft: None }
    }

    /// Notes for readers that are given no spec, so that they show what they would read.
    pub(super) fn drafting(sources: &'s Sources) -> Notes<'s> {
        Notes { draft: Some(RefCell::default()), ..Notes::new(sources) }
    }

    pub(super) fn is_drafting(&self) -> bool {
        self.draft.is_some()
    }

    /// Adds to what is known of the value at `path`; nothing where a spec is read.
    pub(super) fn draft(&self, path: &SpecPath, add: impl FnOnce(&mut Part)) {
        if let Some(draft) = &self.draft {
            add(draft.borrow_mut().part(path));
        }
    }

    pub(super) fn into_draft(self) -> Draft {
        self.draft.map(RefCell::into_inner).unwrap_or_default()
    }

    /// The folder that paths in a source are relative to.
    pub(super) fn folder(&self, source: usize) -> &'s Path {
        self.sources.folder(source)
    }

    fn found(&self, place: Option<Place>, path: &SpecPath, message: String, help: Option<&str>) -> Problem {
        let location = place.and_then(|place| self.sources.location(place));
        Problem { location, path: path.to_string(), message, help: help.map(str::to_owned) }
    }

    pub(super) fn note(&self, place: Option<Place>, path: &SpecPath, message: String, help: Option<&str>) {
        if self.is_full() {
            self.omitted.set(self.omitted.get() + 1);
        } else {
            self.problems.borrow_mut().push(self.found(place, path, message, help));
        }
    }

    pub(super) fn warn(&self, place: Option<Place>, path: &SpecPath, message: String, help: Option<&str>) {
        if self.warnings.borrow().len() < MOST_PROBLEMS {
            self.warnings.borrow_mut().push(self.found(place, path, message, help));
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.problems.borrow().len() >= MOST_PROBLEMS
    }

    pub(super) fn faults(&self, faults: Vec<Fault>) {
        for fault in faults {
            self.note(Some(fault.place), &SpecPath::root(), fault.message, fault.help);
        }
    }

    /// All that was found, in the order of the places; `file` is the spec's own.
    pub(super) fn into_findings(self, file: &str) -> Findings {
        let (mut problems, mut warnings) = (self.problems.into_inner(), self.warnings.into_inner());
        error::sort(file, &mut problems);
        error::sort(file, &mut warnings);
        Findings { problems, omitted: self.omitted.get(), warnings }
    }
}
