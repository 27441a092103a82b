//! A replayed call beside the recorded one that is most like it.

use trajectly_engine::fixture::{Difference, Inexact, Usage};
use trajectly_engine::json::{Json, Object};

use super::block::Block;
use super::closing::paragraphs;
use super::diff::prompt_diff;
use super::event::value;
use super::paint::{Paint, Role};
use super::text::{clean, count, fit};

/// Differences that are shown.
const MOST_DIFFERENCES: usize = 6;
/// Columns of a value that is shown in one line; longer texts are compared line by line.
const SHORT: usize = 60;
/// Columns of a value that is shown in one line because there is no other way.
const LONG: usize = 90;

/// Adds what `error_details` of a refused call says.
pub(super) fn explain(details: &Object, block: &mut Block, paint: Paint) {
    let nearest = details.get("nearest");
    let differences =
        nearest.and_then(|nearest| nearest.get("differences")).and_then(Json::as_array).unwrap_or_default();
    if !differences.is_empty() {
        let which = match nearest.and_then(|nearest| nearest.get("index")).and_then(Json::as_u64) {
            Some(index) => format!("the nearest recorded call, entries[{index}] of the fixtures"),
            None => "the nearest recorded call".to_owned(),
        };
        compare(&which, differences, 0, block, paint);
    }
}

/// The calls that were answered by their turn alone, and how they differ from the recorded ones. Empty if there is none;
/// no newline at the end.
pub(crate) fn drifted(usage: &Usage, paint: Paint) -> String {
    let warning = |call: &Inexact| {
        let Inexact { event_index, name, recorded, .. } = call;
        let message =
            format!("event {event_index}, a call of `{name}`, was answered by its turn: what it asks has drifted");
        let mut block = Block::warning(&message, paint);
        let differences: Vec<Json> = recorded.differences.iter().map(Difference::to_json).collect();
        let which = format!("the recorded call, entries[{}] of the fixtures", recorded.index);
        compare(&which, &differences, recorded.more, &mut block, paint);
        block.finish()
    };
    paragraphs(&usage.drifted().map(warning).collect::<Vec<_>>())
}

/// Adds the differences of two calls, of which `more` are not among these.
fn compare(which: &str, differences: &[Json], more: usize, block: &mut Block, paint: Paint) {
    block.bar("");
    block.bar(format!("{} {which}", paint.text(Role::Old, "-")));
    block.bar(format!("{} this call", paint.text(Role::New, "+")));
    differences.iter().take(MOST_DIFFERENCES).for_each(|difference| explain_one(difference, block, paint));
    let left_out = differences.len().saturating_sub(MOST_DIFFERENCES) + more;
    if left_out > 0 {
        block.bar("");
        block.bar(paint.text(Role::Aside, format!("… {} left out", count(left_out, "more difference"))));
    }
    block.bar("");
}

fn explain_one(difference: &Json, block: &mut Block, paint: Paint) {
    let path = difference.get("path").and_then(Json::as_str).unwrap_or("$");
    block.bar("");
    block.bar(paint.text(Role::Title, fit(path, LONG)));
    let (recorded, actual) = (difference.get("recorded"), difference.get("actual"));
    if let (Some(Json::String(recorded)), Some(Json::String(actual))) = (recorded, actual)
        && (is_long(recorded) || is_long(actual))
    {
        prompt_diff(recorded, actual, paint).split('\n').for_each(|line| block.bar(line));
        return;
    }
    for (role, sign, side) in [(Role::Old, "-", recorded), (Role::New, "+", actual)] {
        let text = side.map_or_else(|| "(nothing)".to_owned(), |side| value(side, LONG));
        block.bar(paint.text(role, format!("{sign} {text}")));
    }
}

fn is_long(text: &str) -> bool {
    text.contains('\n') || clean(text).chars().count() > SHORT
}
