//! What must never be committed: keys and tokens in a recording, found before anything is written.

use std::fmt;
use std::sync::OnceLock;

use regex::RegexSet;
use trajectly_engine::fixture::{Fixture, Fixtures};
use trajectly_engine::json::Json;
use trajectly_engine::trace::Trace;

/// Forms that their issuers document, so that a match is a secret and not a guess.
const FORMS: [(&str, &str); 10] = [
    ("an OpenAI or Anthropic key", r"\bsk-(?:ant-|proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}"),
    ("a GitHub token", r"\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{36,}|\bgithub_pat_[A-Za-z0-9_]{22,}"),
    ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("a Stripe key", r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("a private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    ("a JSON Web Token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("a bearer token", r"(?i)\bauthorization:\s*bearer\s+[A-Za-z0-9._~+/-]{16,}"),
];

/// A secret in a recording: what and where, never the thing itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Secret {
    what: &'static str,
    place: String,
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} stands at {}; add a pattern for it to the spec's `redact`", self.what, self.place)
    }
}

/// Looks through everything that a recording would commit.
pub(crate) fn find(trace: &Trace, fixtures: &Fixtures) -> Vec<Secret> {
    let mut found = Vec::new();
    for (index, event) in trace.events.iter().enumerate() {
        for (part, object) in [("payload", &event.payload), ("meta", &event.meta)] {
            for (key, value) in object.iter() {
                search(value, &mut format!("event {index}, $.{part}.{key}"), &mut found);
            }
        }
    }
    for (index, fixture) in fixtures.entries.iter().enumerate() {
        search_fixture(fixture, &format!("fixture {index}, $"), &mut found);
    }
    found
}

fn search_fixture(fixture: &Fixture, place: &str, found: &mut Vec<Secret>) {
    search(&fixture.input, &mut format!("{place}.input_payload"), found);
    for (key, value) in fixture.output.iter() {
        search(value, &mut format!("{place}.output_payload.{key}"), found);
    }
    for (index, inside) in fixture.inside.iter().enumerate() {
        search_fixture(inside, &format!("{place}.inside[{index}]"), found);
    }
}

fn search(value: &Json, path: &mut String, found: &mut Vec<Secret>) {
    let length = path.len();
    match value {
        Json::String(text) => {
            let matches = forms().matches(text);
            found.extend(matches.into_iter().map(|form| Secret { what: FORMS[form].0, place: path.clone() }));
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push_str(&format!("[{index}]"));
                search(item, path, found);
                path.truncate(length);
            }
        }
        Json::Object(object) => {
            for (key, item) in object.iter() {
                path.push('.');
                path.push_str(key);
                search(item, path, found);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

fn forms() -> &'static RegexSet {
    static SET: OnceLock<RegexSet> = OnceLock::new();
    SET.get_or_init(|| match RegexSet::new(FORMS.iter().map(|(_, form)| form)) {
        Ok(set) => set,
        Err(error) => unreachable!("the forms are constants that compile: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use trajectly_engine::json::Object;

    use super::*;

    fn secrets_in(text: &str) -> Vec<Secret> {
        let mut found = Vec::new();
        let value = Json::from(Object::new().with("a", vec![Json::from(text)]));
        search(&value, &mut "$".to_owned(), &mut found);
        found
    }

    #[test]
    fn every_form_is_found_and_placed() {
        for (text, what) in [
            (concat!("use sk-", "abcdefghijklmnopqrstuvwx now"), "an OpenAI or Anthropic key"),
            (concat!("sk-ant-", "api03-abcdefghijklmnopqrst"), "an OpenAI or Anthropic key"),
            (concat!("gh", "p_abcdefghijklmnopqrstuvwxyz0123456789"), "a GitHub token"),
            (concat!("AKIA", "ABCDEFGHIJKLMNOP"), "an AWS access key"),
            (concat!("-----BEGIN RSA ", "PRIVATE KEY-----"), "a private key"),
            (concat!("Authorization: ", "Bearer abcdefghijklmnop"), "a bearer token"),
        ] {
            assert_eq!(secrets_in(text), [Secret { what, place: "$.a[0]".to_owned() }], "{text}");
        }
    }

    #[test]
    fn ordinary_text_is_no_secret() {
        for text in ["sk-short", "ask-me-anything-about-your-order-please", "task_live_1234", "AKIA", "eyJ.eyJ.x"] {
            assert_eq!(secrets_in(text), [], "{text}");
        }
    }
}
