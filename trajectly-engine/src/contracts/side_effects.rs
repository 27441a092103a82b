//! `contracts.side_effects`: tools whose names say that they write.

use super::Input;
use crate::code::Code;
use crate::spec::SpecPath;
use crate::verdict::Violation;

/// The words that mean writing.
const WRITING: [&str; 10] =
    ["write", "delete", "remove", "rm", "update", "patch", "save", "create", "insert", "upsert"];

pub(super) fn check(input: &Input<'_>, violations: &mut Vec<Violation>) {
    if !input.spec.contracts.side_effects.deny_write_tools {
        return;
    }
    let rule = SpecPath::root().key("contracts").key("side_effects").key("deny_write_tools");
    for call in &input.calls {
        if let Some(word) = writing_word(call.tool) {
            let message = format!("`{}` is a tool that writes, by the word \"{word}\" in its name", call.tool);
            violations.push(
                Violation::new(Code::ContractSideEffectWriteToolDenied, call.index, message)
                    .observed(call.tool)
                    .hint("drop the call, or set `deny_write_tools: false` if writing is now intended")
                    .rule(&rule),
            );
        }
    }
}

/// The word in a tool's name that means writing. Words end where letters and digits do, and where a capital follows a small letter:
/// `deleteUser` and `db_write` write, `confirm_order` and `format` do not.
pub(super) fn writing_word(tool: &str) -> Option<&'static str> {
    words(tool).find_map(|word| WRITING.into_iter().find(|writing| word.eq_ignore_ascii_case(writing)))
}

fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_alphanumeric()).flat_map(|part| {
        let mut start = 0;
        let mut before: Option<char> = None;
        let mut words = Vec::new();
        for (at, character) in part.char_indices() {
            let next = part[at + character.len_utf8()..].chars().next();
            let capital = character.is_uppercase();
            // A capital begins a word after a small letter or a digit, and at the end of a run of capitals: `HTTPDelete`.
            let begins = before.is_some_and(|before| !before.is_uppercase() || next.is_some_and(char::is_lowercase));
            if capital && begins {
                words.push(&part[start..at]);
                start = at;
            }
            before = Some(character);
        }
        words.push(&part[start..]);
        words
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_judged_by_their_words() {
        for (tool, expected) in [
            ("db_write", Some("write")),
            ("deleteUser", Some("delete")),
            ("HTTPDelete", Some("delete")),
            ("S3Save", Some("save")),
            ("fs.rm", Some("rm")),
            ("RM", Some("rm")),
            ("user-upsert", Some("upsert")),
            ("confirm_order", None),
            ("format_text", None),
            ("dispatch", None),
            ("created_at", None),
            ("rewrite", None),
            ("", None),
        ] {
            assert_eq!(writing_word(tool), expected, "{tool}");
        }
    }
}
