//! Texts compared, and cut.

use super::assert_text;
use crate::render::Paint;
use crate::render::diff::prompt_diff;
use crate::render::text;

#[test]
fn differences_between_texts() {
    let lines = |range: std::ops::RangeInclusive<u32>| range.map(|n| format!("line {n}\n")).collect::<String>();
    let long = |word: &str| format!("{} {word} {}", "before".repeat(20), "after".repeat(30));
    for (recorded, actual, expected) in [
        ("same\n", "same\n", ""),
        (
            "a",
            "a\n",
            r#"
  a
+
"#,
        ),
        (
            "keep\nblank \nkeep",
            "keep\nblank\nkeep",
            r#"
  keep
- blank·
+ blank
  keep
"#,
        ),
        (
            "tab\tx\r\n",
            "tab x\n",
            r#"
- tab\tx\r
+ tab x
"#,
        ),
        (
            &long("fifty"),
            &long("sixty"),
            r#"
- …eforebeforebeforebeforebefore fifty afterafterafterafterafterafterafterafterafterafterafte…
+ …eforebeforebeforebeforebefore sixty afterafterafterafterafterafterafterafterafterafterafte…
"#,
        ),
        (
            &lines(1..=20),
            &lines(1..=20).replace("line 3\n", "").replace("line 15\n", "line XV\n"),
            r#"
  line 1
  line 2
- line 3
  line 4
  line 5
  ⋮
  line 13
  line 14
- line 15
+ line XV
  line 16
  line 17
"#,
        ),
    ] {
        assert_text(&prompt_diff(recorded, actual, Paint::plain()), expected);
    }
}

#[test]
fn of_many_lines_the_first_are_shown() {
    let lines: String = (1..=50).map(|n| format!("line {n}\n")).collect();
    let diff = prompt_diff("", &lines, Paint::plain());
    assert_eq!(diff.lines().next(), Some("+ line 1"));
    assert_eq!(diff.lines().skip(39).collect::<Vec<_>>(), ["+ line 40", "  … 10 lines left out"]);
}

#[test]
fn large_texts_are_compared_from_the_first_difference_on() {
    let text =
        |tag: char| -> String { (0..5_000).map(|n| format!("{}{n}\n", if n < 100 { ' ' } else { tag })).collect() };
    let diff = prompt_diff(&text('a'), &text('b'), Paint::plain());
    assert_eq!(diff.lines().nth(2), Some("- a100"));
    assert_eq!(diff.lines().last(), Some("  … 2901 lines not compared"));
}

#[test]
fn texts_are_cut_by_what_they_fill() {
    for (text, width, expected) in [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("漢字", 4, "漢字"),
        ("漢字漢", 5, "漢字…"),
        ("漢字漢", 4, "漢…"),
        ("e\u{301}e\u{301}e", 3, "e\u{301}e\u{301}e"),
        ("a\u{1b}", 6, "a…"),
        ("a\u{1b}", 7, "a\\u{1b}"),
        ("abc", 0, ""),
    ] {
        assert_eq!(text::fit(text, width), expected, "{text:?} in {width}");
    }
}
