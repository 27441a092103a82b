//! Finds what a misspelt word was meant to be.

/// The candidate closest to `word`, if it is close enough to be a slip of the hand.
///
/// One edit is allowed for every three characters of `word`, and at least one. Of equally close candidates the first wins.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many characters to insert, drop, replace or swap with their neighbour to turn `a` into `b`.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn counts_edits() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("spec", "spec", 0),
            ("spce", "spec", 1),
            ("timeot", "timeout", 1),
            ("kitten", "sitting", 3),
            ("größe", "grösse", 2),
        ] {
            assert_eq!(distance(a, b), expected, "{a} -> {b}");
            assert_eq!(distance(b, a), expected, "{b} -> {a}");
        }
    }

    #[test]
    fn suggests_only_what_is_close() {
        let known = ["spec", "name", "timeout", "ignore", "expect_fail", "crate"];
        for (word, expected) in [
            ("spce", Some("spec")),
            ("time_out", Some("timeout")),
            ("expectfail", Some("expect_fail")),
            ("retries", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }
}
