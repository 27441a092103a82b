//! The known word nearest to a mistyped one.

/// The candidate that `word` was most likely meant to be, if one is near enough: apart from case, `-` and `_`, at most a third of
/// its letters differ (at least one may).
pub(crate) fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let word = folded(word);
    let allowed = (word.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, &folded(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// At most this many characters of a word are compared: no key is longer, and the cost grows with the square.
const LONGEST: usize = 64;

fn folded(word: &str) -> Vec<char> {
    let letters = word.chars().filter(|c| *c != '_' && *c != '-');
    letters.flat_map(char::to_lowercase).take(LONGEST).collect()
}

/// Insertions, deletions, substitutions and swaps of neighbours between two words.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j - 1] + same).min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_a_strange_one_is_not() {
        let known = ["allow", "deny", "max_calls_total", "max_calls_per_tool"];
        for (word, expected) in [
            ("alow", Some("allow")),
            ("dney", Some("deny")),
            ("maxCallsTotal", Some("max_calls_total")),
            ("max-calls-per-tools", Some("max_calls_per_tool")),
            ("max_call", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }
}
