//! A broken rule, with its place in the spec, its event, and both traces around it.

use trajectly_engine::code::{Class, Code};
use trajectly_engine::json::Json;
use trajectly_engine::report::Reduced;
use trajectly_engine::spec::{Location, RefinementMode, Spec};
use trajectly_engine::trace::{EventType, Trace};
use trajectly_engine::verdict::{Verdict, Violation};

use super::block::Block;
use super::closing::{Commands, output, paragraphs, rows};
use super::columns::columns;
use super::event::{self, Arguments};
use super::fixture;
use super::paint::{Paint, Role};
use super::text::{WIDTH, clean, count, fit, width_of};
use super::trouble::title;

/// Columns of a value in a note.
const VALUE: usize = 80;
/// Codes that are named of what is broken later, and events of each.
const MOST_LATER: usize = 4;

/// A failed verdict, and all that is shown of it.
pub(crate) struct View<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) verdict: &'a Verdict,
    pub(crate) baseline: &'a Trace,
    pub(crate) candidate: &'a Trace,
    /// The baseline's trace, as people see its path.
    pub(crate) baseline_file: &'a str,
    /// The candidate's trace.
    pub(crate) candidate_file: &'a str,
    /// The candidate up to the witness, where it is kept.
    pub(crate) prefix_file: Option<&'a str>,
    /// The least part of the candidate that fails alike, if there is one.
    pub(crate) reduced: Option<&'a Reduced>,
    /// What the agent printed; empty if nothing.
    pub(crate) output: &'a str,
    /// What else a reader should know, a sentence each.
    pub(crate) notes: &'a [String],
    pub(crate) commands: &'a Commands,
    pub(crate) paint: Paint,
}

/// The text of a failed verdict. No newline at the end.
pub(crate) fn failure(view: &View<'_>) -> String {
    let at_witness = view.verdict.at_witness();
    let violations = count(at_witness.len(), "violation");
    let what = match view.verdict.witness() {
        Some(witness) => format!("{violations} at event {witness}, the first that breaks a rule"),
        None => "no rule is broken".to_owned(),
    };
    let mut parts = vec![title("FAIL", &view.spec.name, &what, view.paint)];
    let located = |violation: &Violation| view.spec.locate(violation.rule.as_deref()?);
    let places: Vec<Option<Location>> = at_witness.iter().map(located).collect();
    let is_told = |(violation, place): (&Violation, &Option<Location>)| {
        violation.baseline_index.is_none() && !says_little(violation, place.as_ref())
    };
    let mut shown = Shown { told: at_witness.iter().zip(&places).any(is_told), ..Shown::default() };
    let mut folded = Vec::new();
    for (violation, place) in at_witness.iter().zip(places) {
        if shown.covers(violation, place.as_ref()) {
            folded.push(violation.code.as_str());
        } else {
            parts.push(view.violation(violation, place, &mut shown));
        }
    }
    let later = &view.verdict.violations[at_witness.len()..];
    // What a replay could not answer is often why the rules before it were broken.
    let is_cause = |violation: &&Violation| is_miss(violation.code);
    let cause =
        if at_witness.iter().any(|violation| is_cause(&violation)) { None } else { later.iter().find(is_cause) };
    parts.extend(cause.map(|cause| view.violation(cause, None, &mut shown)));
    let later = later.iter().filter(|violation| !cause.is_some_and(|cause| std::ptr::eq(cause, *violation)));
    parts.push(view.rest(&folded, later));
    parts.push(columns(&view.spec.refinement, view.baseline, view.candidate, view.verdict, view.paint));
    parts.push(output(view.output, view.paint));
    parts.push(view.notes());
    parts.push(view.commands());
    paragraphs(&parts)
}

/// What the violations before this one have shown.
#[derive(Default)]
struct Shown {
    any: bool,
    /// Whether the event at the witness has been shown.
    witness: bool,
    /// Whether a violation that is shown in any case shows that event.
    told: bool,
    places: Vec<Location>,
}

impl Shown {
    /// Whether a violation says only again what others say.
    fn covers(&self, violation: &Violation, place: Option<&Location>) -> bool {
        let same_event = violation.baseline_index.is_none() && (self.witness || self.told);
        let same_rule = place.is_some_and(|place| self.places.contains(place)) && !has_details(violation.code);
        self.any && same_event && (same_rule || says_little(violation, place))
    }
}

/// Whether a violation is known from its event alone: an extra call, by an allowance that the spec does not mention.
fn says_little(violation: &Violation, place: Option<&Location>) -> bool {
    violation.class() == Class::Refinement && place.is_none()
}

/// Whether the violation's own event tells more than its message.
fn has_details(code: Code) -> bool {
    is_miss(code) || code == Code::AgentRunFailed
}

fn is_miss(code: Code) -> bool {
    matches!(code, Code::FixtureMissing | Code::FixtureExhausted | Code::FixtureMismatch)
}

impl View<'_> {
    fn violation(&self, violation: &Violation, place: Option<Location>, shown: &mut Shown) -> String {
        // What an agent says of its own end has lines. Those of any other message are part of a name or a value.
        let message = match violation.code {
            Code::AgentRunFailed => violation.message.clone(),
            _ => clean(&violation.message),
        };
        let mut block = Block::new(violation.code.as_str(), &message, self.paint);
        if let Some(index) = violation.baseline_index {
            let label = format!("required by refinement.mode: {}", mode(self.spec));
            self.event(self.baseline, self.baseline_file, index, &label, &mut block);
        } else {
            if let Some(place) = &place {
                block.location(place, rule_label(violation.rule.as_deref().unwrap_or_default()));
            }
            if !shown.witness || is_miss(violation.code) {
                self.witness(violation, &mut block);
                shown.witness = true;
            }
        }
        self.values(violation, place.is_some(), &mut block);
        match (violation.baseline_index.and(self.stop()), &violation.hint) {
            (Some(stop), _) => block.help(&format!(
                "the run did not get that far: {} at event {} comes first",
                stop.code, stop.event_index
            )),
            (None, Some(hint)) => block.help(&clean(hint)),
            (None, None) => {}
        }
        shown.any = true;
        shown.places.extend(place);
        block.finish()
    }

    /// What kept the run from going on, where calls of the baseline may be missing for no other reason.
    fn stop(&self) -> Option<&Violation> {
        let violations = &self.verdict.violations;
        let broke_no_contract = self.verdict.at_witness().iter().all(|other| other.class() != Class::Contract);
        let is_end = |other: &&Violation| broke_no_contract && other.code == Code::AgentRunFailed;
        violations.iter().find(|other| is_miss(other.code)).or_else(|| violations.iter().find(is_end))
    }

    /// The event that broke the rule.
    fn witness(&self, violation: &Violation, block: &mut Block) {
        let index = violation.event_index;
        let Some(event) = self.candidate.events.get(index) else { return };
        let label = match (violation.code, event.event_type) {
            (Code::FixtureExhausted, _) => "no recorded answer is left",
            (code, _) if is_miss(code) => "nothing recorded answers this call",
            (Code::AgentRunFailed, _) => "witness",
            (_, EventType::RunFinished) => "the run ends here",
            _ => "witness",
        };
        self.event(self.candidate, self.candidate_file, index, label, block);
        if is_miss(violation.code)
            && let Some(details) = event.payload.get("error_details").and_then(Json::as_object)
        {
            fixture::explain(details, block, self.paint);
        }
    }

    /// A line of a trace, its name marked; for the return of a call, after the line of the call.
    fn event(&self, trace: &Trace, file: &str, index: usize, label: &str, block: &mut Block) {
        block.aside(&format!("{file}:{}", index + 1));
        block.bar("");
        if let Some(Some(call)) = trace.answered_calls().get(index) {
            source(trace, *call, block);
            if call + 1 < index {
                block.bar(self.paint.text(Role::Aside, "⋮"));
            }
        }
        if let Some((indent, width)) = source(trace, index, block) {
            block.marks(indent, width, label);
        }
    }

    /// What was wanted and what was there, where neither message nor place has said so.
    fn values(&self, violation: &Violation, has_place: bool, block: &mut Block) {
        if violation.baseline_index.is_some() || has_details(violation.code) {
            return;
        }
        let told = |value: &Json| match value {
            Json::Null => true,
            Json::Array(items) => items.is_empty(),
            Json::Object(members) => members.is_empty(),
            Json::String(text) => violation.message.contains(text.as_str()),
            scalar => violation.message.contains(&scalar.to_compact()),
        };
        if let Some(expected) = violation.expected.as_ref().filter(|value| !has_place && !told(value)) {
            block.note("expected", &event::value(expected, VALUE));
        }
        // A list of all that happened is what the columns are for.
        let observed = violation.observed.as_ref().filter(|value| value.as_array().is_none() && !told(value));
        if let Some(observed) = observed {
            block.note("observed", &event::value(observed, VALUE));
        }
    }

    /// What is not shown in full: violations that say nothing new, and those at later events.
    fn rest<'v>(&self, folded: &[&str], later: impl Iterator<Item = &'v Violation> + Clone) -> String {
        let mut out = String::new();
        if !folded.is_empty() {
            let event = self.verdict.witness().and_then(|witness| self.candidate.events.get(witness));
            let name = event.map(|event| event::line(event, Arguments::Values).name);
            let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
            out.push_str(&format!("   … and {}{name}\n", folded.join(", ")));
        }
        let mut places: Vec<(Code, Vec<String>)> = Vec::new();
        for Violation { code, event_index, .. } in later.clone() {
            match places.iter_mut().find(|(known, _)| known == code) {
                Some((_, indices)) => indices.push(event_index.to_string()),
                None => places.push((*code, vec![event_index.to_string()])),
            }
        }
        let left_out = places.len().saturating_sub(MOST_LATER);
        for (code, indices) in places.iter_mut().take(MOST_LATER) {
            indices.dedup();
            let events = if indices.len() == 1 { "event" } else { "events" };
            let more = indices.len().saturating_sub(MOST_LATER);
            indices.truncate(MOST_LATER);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            out.push_str(&format!("   … later {code} at {events} {}{more}\n", indices.join(", ")));
            let failed = later.clone().find(|violation| violation.code == *code && *code == Code::AgentRunFailed);
            if let Some(failed) = failed {
                let first = failed.message.lines().next().unwrap_or_default();
                out.push_str(&format!("     {}\n", fit(first, WIDTH - 5)));
            }
        }
        if left_out > 0 {
            out.push_str(&format!("   … later {}\n", count(left_out, "more code")));
        }
        out
    }

    fn notes(&self) -> String {
        let note = |note: &String| {
            let (mark, word) = (self.paint.text(Role::Frame, "="), self.paint.text(Role::Word, "note"));
            format!("   {mark} {word}: {}\n", fit(note, 3 * WIDTH))
        };
        self.notes.iter().map(note).collect()
    }

    /// Only commands that can help: a baseline takes no run that breaks a contract, and a replay cannot answer a call
    /// that was never recorded.
    fn commands(&self) -> String {
        let violations = &self.verdict.violations;
        let mut last = Vec::new();
        let events = self.candidate.events.len();
        let prefix = self.prefix_file.zip(self.verdict.witness()).map(|(file, witness)| match witness + 1 {
            first if first < events => format!("{file} (first {first} of {events} events)"),
            _ => format!("{file} (all {})", count(events, "event")),
        });
        let smallest = self.reduced.and_then(|Reduced { file, stats }| {
            file.as_ref().map(|file| format!("{file} ({} of {events} events)", stats.reduced_len))
        });
        let counterexample = smallest.or(prefix);
        last.extend(counterexample.as_deref().map(|file| ("counterexample", file)));
        last.push(("reproduce", self.commands.reproduce.as_str()));
        if violations.iter().all(|violation| violation.class() == Class::Refinement) {
            last.extend(self.commands.accept.as_deref().map(|accept| ("accept instead", accept)));
        }
        if violations.iter().any(|violation| is_miss(violation.code)) {
            last.extend(self.commands.record.as_deref().map(|record| ("record again", record)));
        }
        rows(&last, self.paint)
    }
}

/// Adds the line of an event; returns where its name stands in it, and how wide the name is.
fn source(trace: &Trace, index: usize, block: &mut Block) -> Option<(usize, usize)> {
    let event = trace.events.get(index)?;
    let line = event::line(event, Arguments::Named);
    let lead = format!("event {index}  {} ", line.verb);
    let place = (width_of(&lead), width_of(&line.name));
    let text = format!("{lead}{}{}", line.name, line.detail);
    block.source(index + 1, fit(&text, WIDTH - 8));
    Some(place)
}

fn mode(spec: &Spec) -> &'static str {
    match spec.refinement.mode {
        RefinementMode::None => "none",
        RefinementMode::Skeleton => "skeleton",
        RefinementMode::Strict => "strict",
    }
}

/// What stands under the marks in a spec.
fn rule_label(rule: &str) -> &'static str {
    const LABELS: [(&str, &str); 14] = [
        ("contracts.tools.deny", "denied here"),
        ("contracts.tools.allow", "only these are allowed"),
        ("contracts.tools.max_calls", "the limit"),
        ("contracts.sequence.require_before", "this order is required"),
        ("contracts.sequence.require", "required here"),
        ("contracts.sequence.eventually", "required here"),
        ("contracts.sequence.forbid", "forbidden here"),
        ("contracts.sequence.never", "forbidden here"),
        ("contracts.sequence.at_most_once", "once at most"),
        ("contracts.side_effects", "denied here"),
        ("contracts.network", "only these may be reached"),
        ("contracts.data_leak", "denied here"),
        ("budget_thresholds", "the limit"),
        ("refinement.allow", "what may be extra"),
    ];
    LABELS.iter().find(|(path, _)| rule.starts_with(path)).map_or("required here", |(_, label)| label)
}
