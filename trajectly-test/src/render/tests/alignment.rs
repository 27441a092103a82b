//! Which steps stand side by side.

use crate::render::align::{Key, Kind, rows};

/// `a` calls a tool, `L` a model, `s:a` is a step, `.` the end.
struct Step(&'static str);

impl Key for Step {
    fn kind(&self) -> Kind {
        match self.0 {
            "L" => Kind::Llm,
            "." => Kind::End,
            step if step.starts_with("s:") => Kind::Step,
            _ => Kind::Call,
        }
    }

    fn name(&self) -> &str {
        self.0
    }
}

#[test]
fn steps_beside_their_counterparts() {
    for (left, right, expected) in [
        ("", "", ""),
        ("L a .", "L a .", "L|L a|a .|."),
        ("a b c", "a c", "a|a b| c|c"),
        ("a c", "a b c", "a|a |b c|c"),
        ("a b", "a x", "a|a b|x"),
        ("a b c d", "a x d", "a|a b|x c| d|d"),
        ("L a L", "a L", "L| a|a L|L"),
        ("L a L b", "L a L L c b", "L|L a|a L|L |L |c b|b"),
        ("s:a L a", "s:b L a", "s:a| |s:b L|L a|a"),
        ("L b", "s:x a L", "|s:x |a L|L b|"),
        ("a b", "b a", "|b a|a b|"),
        ("a a b", "a b b", "a|a a| b|b |b"),
        ("a .", ". a", "|. a|a .|"),
    ] {
        let [left, right] = [left, right].map(|steps| steps.split_whitespace().map(Step).collect::<Vec<_>>());
        let name = |steps: &[Step], n: Option<usize>| n.map_or("", |n| steps[n].0);
        let shown = rows(&left, &right).into_iter().map(|(l, r)| format!("{}|{}", name(&left, l), name(&right, r)));
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expected);
    }
}
