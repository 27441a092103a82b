//! Failures outside the verdict, in the form of those within.

use trajectly_engine::code::Code;
use trajectly_engine::spec::SpecError;

use super::block::Block;
use super::closing::{Commands, output, paragraphs, rows};
use super::diff::prompt_diff;
use super::paint::{Paint, Role};
use super::text::{clean, count, fit};

/// Columns of a line of a body. Wide, because a line may be a path or a command.
const BODY: usize = 300;

/// Problems of a spec that are told; the rest are counted.
const PROBLEMS: usize = 10;

/// What keeps a test from being judged, or from passing though it was judged well.
pub(crate) struct Trouble<'a> {
    /// The spec, or the test.
    pub(crate) name: &'a str,
    pub(crate) code: Code,
    /// What is wrong, as a fragment of a sentence.
    pub(crate) message: &'a str,
    /// `file`, `file:line` or `file:line:column`.
    pub(crate) place: Option<&'a str>,
    /// Lines that say more. One may hold several lines.
    pub(crate) body: &'a [String],
    /// What to do about it, one suggestion each.
    pub(crate) help: &'a [String],
    /// What the agent printed; empty if nothing.
    pub(crate) output: &'a str,
    pub(crate) commands: &'a Commands,
}

/// The text of a failure outside the verdict. No newline at the end.
pub(crate) fn trouble(trouble: &Trouble<'_>, paint: Paint) -> String {
    let mut block = Block::new(trouble.code.as_str(), trouble.message, paint);
    if let Some(place) = trouble.place {
        block.arrow(place);
    }
    let body: Vec<String> =
        trouble.body.iter().flat_map(|part| part.trim_end().split('\n')).map(|line| fit(line, BODY)).collect();
    framed(&mut block, body);
    trouble.help.iter().for_each(|help| block.help(help));
    paragraphs(&[
        title(if trouble.code.is_regression() { "FAIL" } else { "ERROR" }, trouble.name, "", paint),
        block.finish(),
        output(trouble.output, paint),
        rows(&[("reproduce", trouble.commands.that_came_to(trouble.code))], paint),
    ])
}

/// A message of the tooling's own, with a `= help:` of its own, under the name of the test that it stopped.
pub(crate) fn failure_title(name: &str, place: &str, message: &str, paint: Paint) -> String {
    let message = message.lines().map(clean).collect::<Vec<_>>().join("\n");
    format!("{}\n\n{message}\n  --> {}", title("ERROR", name, "", paint), clean(place))
}

/// The text of a spec that cannot be used: its problems, each in its place. No newline at the end.
pub(crate) fn spec_error(name: &str, error: &SpecError, commands: &Commands, paint: Paint) -> String {
    let found = count(error.problems.len() + error.omitted, "problem");
    let mut parts = vec![title("ERROR", name, &format!("{found} in its spec"), paint)];
    for problem in error.problems.iter().take(PROBLEMS) {
        let mut block = Block::new(Code::SpecInvalid.as_str(), &problem.message, paint);
        match &problem.location {
            Some(location) => block.location(location, ""),
            None => {
                let place = [error.file.as_str(), problem.path.as_str()].map(str::to_owned);
                let place: Vec<String> = place.into_iter().filter(|part| !part.is_empty()).collect();
                if !place.is_empty() {
                    block.arrow(&place.join(": "));
                }
            }
        }
        problem.help.iter().for_each(|help| block.help(help));
        parts.push(block.finish());
    }
    let untold = error.problems.len().saturating_sub(PROBLEMS) + error.omitted;
    if untold > 0 {
        parts.push(format!("   … and {untold} more"));
    }
    parts.push(rows(&[("reproduce", &commands.reproduce)], paint));
    paragraphs(&parts)
}

/// The text of a run that broke no rule and differs from its reviewed snapshot. No newline at the end.
///
/// `old` and `new` are the texts of the snapshots; `pending_file` is where the new one waits to be reviewed.
pub(crate) fn drift(
    name: &str,
    snapshot_file: &str,
    pending_file: Option<&str>,
    old: &str,
    new: &str,
    commands: &Commands,
    paint: Paint,
) -> String {
    let message = match old.trim().is_empty() {
        true => "there is no accepted snapshot of this run yet",
        false => "no rule is broken, but the run differs from its accepted snapshot",
    };
    let mut block = Block::new(Code::SnapshotDrift.as_str(), message, paint);
    block.arrow(snapshot_file);
    let diff = prompt_diff(old.trim_end(), new.trim_end(), paint);
    framed(&mut block, diff.lines().map(str::to_owned).collect());
    match (pending_file, &commands.accept) {
        (Some(_), _) => block.help("look at it with `cargo insta review`, and accept it there if it is intended"),
        (None, Some(_)) => block.help("if it is intended, accept it with the command below"),
        (None, None) => {}
    }
    let mut last = Vec::new();
    last.extend(pending_file.map(|file| ("pending", file)));
    last.push(("reproduce", commands.reproduce.as_str()));
    last.extend(commands.accept.as_deref().map(|accept| ("accept instead", accept)));
    paragraphs(&[title("FAIL", name, "the run has drifted", paint), block.finish(), rows(&last, paint)])
}

/// What is said of a test that is as it should be, in one line.
#[cfg(feature = "cli")]
pub(crate) fn passed(word: &str, name: &str, paint: Paint) -> String {
    format!("{} {}", paint.text(Role::New, word), clean(name))
}

/// The first line of a failure.
pub(super) fn title(word: &str, name: &str, what: &str, paint: Paint) -> String {
    let separator = if what.is_empty() { "" } else { ": " };
    let rest = format!(" {}{separator}{what}", clean(name));
    paint.text(Role::Fault, word) + &paint.text(Role::Title, rest)
}

/// Lines under the place of a diagnostic, with air above and below.
fn framed(block: &mut Block, lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    block.bar("");
    lines.into_iter().for_each(|line| block.bar(line));
    block.bar("");
}
