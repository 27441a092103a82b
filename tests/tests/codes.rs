//! `docs/codes.md` has every code, as the table of codes has it.

use std::fmt::Write;

use trajectly_engine::code::{Class, Code};
use trajectly_tests::assert_generated;

const INTRODUCTION: &str = "\
# Codes

What can go wrong has a name, and names do not change. Failures, reports and `expect` use them. This page is made from the
table in `trajectly-engine/src/code/table.rs`.

Where several rules break at one event, those of refinement come first, then contracts, then tooling.
";

#[test]
fn every_code_is_on_its_page() {
    let mut page = INTRODUCTION.to_owned();
    for (class, title, what) in [
        (Class::Refinement, "Refinement", "The run is held against the tool calls and model calls of its baseline."),
        (
            Class::Contract,
            "Contracts, budgets and fixtures",
            "The run is held against its spec, and against what was recorded.",
        ),
        (Class::Tooling, "Tooling", "The run went wrong by itself, or could not be judged."),
    ] {
        write!(page, "\n## {title}\n\n{what} Class: `{class}`.\n").expect("a text takes text");
        for code in Code::ALL.iter().filter(|code| code.class() == class) {
            let about = code.explain();
            let event = about.event.unwrap_or("none: it is outside of the trace");
            write!(
                page,
                "\n### {code}\n\n{}\n\n- Event: {event}.\n- Example: {}.\n- Remedy: {}.\n",
                about.when, about.example, about.remedy
            )
            .expect("a text takes text");
        }
    }
    assert_generated("docs/codes.md", &page);
}

#[test]
fn what_is_said_of_a_code_is_said_in_one_form() {
    for code in Code::ALL {
        let about = code.explain();
        assert!(about.when.ends_with('.') && !about.when.starts_with(' '), "{code}: {:?}", about.when);
        for text in [about.event.unwrap_or("x"), about.example, about.remedy] {
            let ends_well = !text.ends_with(['.', ' ']) && !text.is_empty();
            assert!(ends_well && text.matches('`').count() % 2 == 0, "{code}: {text:?}");
        }
    }
}
