//! Where a value stands inside a spec: `contracts.tools.deny[0]`.

use std::fmt;

/// One step of a [`SpecPath`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// A key of a mapping.
    Key(String),
    /// An element of a list, from 0.
    Index(usize),
}

/// The way from the top of a spec to one of its values.
///
/// Written `contracts.tools.deny[0]`. A key with any character beyond letters, digits, `_` and `-` stands in brackets as a JSON
/// string, so that every path reads back to itself: `contracts.args["ns.tool"].required_keys`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpecPath(Vec<Step>);

impl SpecPath {
    /// The path of the spec itself; displayed as the empty string.
    pub(crate) fn root() -> SpecPath {
        SpecPath(Vec::new())
    }

    /// This path and one key more.
    #[must_use]
    pub(crate) fn key(&self, key: &str) -> SpecPath {
        self.then(Step::Key(key.to_owned()))
    }

    /// This path and one list element more, counted from 0.
    #[must_use]
    pub(crate) fn index(&self, index: usize) -> SpecPath {
        self.then(Step::Index(index))
    }

    fn then(&self, step: Step) -> SpecPath {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        SpecPath(steps)
    }

    /// The steps from the top down.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.0
    }
}

impl fmt::Display for SpecPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if is_plain(key) => {
                    if position > 0 {
                        f.write_str(".")?;
                    }
                    f.write_str(key)?;
                }
                Step::Key(key) => write!(f, "[{}]", serde_json::Value::from(key.as_str()))?,
            }
        }
        Ok(())
    }
}

impl SpecPath {
    /// Reads what [`SpecPath`] displays as; `None` for any other text.
    pub(crate) fn parse(text: &str) -> Option<SpecPath> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let (step, after) = bracketed(inner)?;
                steps.push(step);
                rest = after;
                continue;
            }
            if !steps.is_empty() {
                rest = rest.strip_prefix('.')?;
            }
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            if !is_plain(&rest[..end]) {
                return None;
            }
            steps.push(Step::Key(rest[..end].to_owned()));
            rest = &rest[end..];
        }
        Some(SpecPath(steps))
    }
}

/// Reads what follows an opening bracket: the step, and the text after the closing one.
fn bracketed(inner: &str) -> Option<(Step, &str)> {
    if !inner.starts_with('"') {
        let end = inner.find(']')?;
        return Some((Step::Index(inner[..end].parse().ok()?), &inner[end + 1..]));
    }
    let mut strings = serde_json::Deserializer::from_str(inner).into_iter::<String>();
    let key = strings.next()?.ok()?;
    let after = inner[strings.byte_offset()..].strip_prefix(']')?;
    Some((Step::Key(key), after))
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_back_to_itself() {
        let tools = SpecPath::root().key("contracts").key("tools");
        for (path, text) in [
            (SpecPath::root(), ""),
            (tools.key("deny").index(0), "contracts.tools.deny[0]"),
            (tools.key("ns.tool").key("x"), r#"contracts.tools["ns.tool"].x"#),
            (tools.key("").index(1), r#"contracts.tools[""][1]"#),
            (SpecPath::root().key("a]\"b"), r#"["a]\"b"]"#),
            (tools.key("工具").key("a-b_c"), "contracts.tools.工具.a-b_c"),
        ] {
            assert_eq!(path.to_string(), text);
            assert_eq!(SpecPath::parse(text), Some(path));
        }
    }

    #[test]
    fn a_text_that_is_no_path_is_refused() {
        for text in [".a", "a.", "a..b", "a[", "a[x]", "a[1", r#"a["b]"#, "a b", "a[0]b"] {
            assert_eq!(SpecPath::parse(text), None, "{text}");
        }
    }
}
