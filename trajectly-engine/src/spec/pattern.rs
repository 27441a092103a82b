//! Regular expressions of a spec: compiled once, and explained when they cannot be.

use regex::Regex;

/// Compiles a pattern, or says what about it is not supported and what to write instead.
pub(super) fn compile(pattern: &str) -> Result<Regex, (String, Option<String>)> {
    Regex::new(pattern).map_err(|error| match unsupported(pattern) {
        Some((construct, name, way_round)) => (
            format!("`{construct}` is {name}, which patterns here cannot have: they run in linear time on any input"),
            Some(way_round.to_owned()),
        ),
        None => explained(&error),
    })
}

/// Constructs of backtracking engines: how each begins, its name, and a way round it. The longest spelling comes first.
const UNSUPPORTED: [(&str, &str, &str); 9] = [
    ("(?<=", "look-behind", "match what comes before as part of the pattern"),
    ("(?<!", "negative look-behind", "list what may come before, such as `(?:^|[^a-z])`, as part of the pattern"),
    ("(?=", "look-ahead", "match what follows as part of the pattern"),
    ("(?!", "negative look-ahead", "state what may follow, or split the rule in two patterns"),
    ("(?P=", "a back-reference", "write the repeated part out a second time"),
    ("(?>", "an atomic group", "use a plain group `(?:…)`: there is no backtracking to prevent"),
    ("(?(", "a conditional group", "write both alternatives out, separated by `|`"),
    ("(?#", "a comment", "leave the comment out, or put it behind `#` in a `(?x)` pattern"),
    ("\\Z", "an end-of-text anchor of other engines", "write `\\z`"),
];

/// The first construct in `pattern` that only a backtracking engine has: its spelling, its name, a way round it.
fn unsupported(pattern: &str) -> Option<(&str, &'static str, &'static str)> {
    let mut in_class = false;
    let mut rest = pattern;
    while let Some(character) = rest.chars().next() {
        if !in_class && let Some((spelling, name, way)) = UNSUPPORTED.iter().find(|(start, ..)| rest.starts_with(start))
        {
            return Some((&rest[..spelling.len()], name, way));
        }
        let mut step = character.len_utf8();
        match character {
            '\\' => {
                let escaped = rest[1..].chars().next();
                if !in_class && let Some('1'..='9') = escaped {
                    return Some((&rest[..2], "a back-reference", "write the repeated part out a second time"));
                }
                step += escaped.map_or(0, char::len_utf8);
            }
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        rest = &rest[step..];
    }
    None
}

fn explained(error: &regex::Error) -> (String, Option<String>) {
    match error {
        regex::Error::CompiledTooBig(limit) => (
            format!("this pattern compiles to more than {limit} bytes"),
            Some("lower its repetition counts".to_owned()),
        ),
        // The regex crate draws the pattern with a marker below it; its last line is the reason.
        error => {
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default().trim_start_matches("error:").trim();
            let help = "mend it; what there is stands in https://docs.rs/regex/latest/regex/#syntax";
            (format!("this is not a valid pattern: {reason}"), Some(help.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_compiled_is_named() {
        for (pattern, expected) in [
            (r"(?<=\$)\d+", "`(?<=` is look-behind"),
            (r"a(?!b)", "`(?!` is negative look-ahead"),
            (r"[(?!](?=x)", "`(?=` is look-ahead"),
            (r"(a)\1", r"`\1` is a back-reference"),
            (r"(?P<a>x)(?P=a)", "`(?P=` is a back-reference"),
            (r"(?>a+)b", "`(?>` is an atomic group"),
            (r"end\Z", r"`\Z` is an end-of-text anchor"),
            ("a(b", "this is not a valid pattern: unclosed group"),
            ("((a{1000}){1000}){1000}", "this pattern compiles to more than"),
        ] {
            let (message, _) = compile(pattern).expect_err(pattern);
            assert!(message.starts_with(expected), "{pattern}: {message}");
        }
    }
}
