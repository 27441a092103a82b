//! From the tokens of an agent test to its checked description.

use std::path::PathBuf;

use proc_macro2::{Span, TokenStream};
use syn::parse::Parse;
use syn::{Lit, LitStr, Path, parse_quote};

use super::NAME;
use super::attributes::{Attributes, Ignore};
use super::signature::{self, Takes};
use super::{spec, timeout};
use crate::error::Errors;
use crate::function::Function;
use crate::options::{self, Given, Known, Value};

const OPTIONS: &[Known] = &[
    Known { key: "spec", example: "spec = \"specs/triage.agent.yaml\"" },
    Known { key: "name", example: "name = \"triage of a refund\"" },
    Known { key: "timeout", example: "timeout = \"30s\"" },
    Known { key: "ignore", example: "ignore = \"the reason\"" },
    Known { key: "expect_fail", example: "expect_fail = \"CONTRACT_TOOL_DENIED\"" },
    Known { key: "crate", example: "crate = path::to::trajectly_test" },
];

/// One agent test, checked.
pub(super) struct AgentTest {
    pub(super) function: Function,
    pub(super) takes: Takes,
    pub(super) attributes: Attributes,
    pub(super) spec: LitStr,
    pub(super) title: Option<LitStr>,
    pub(super) timeout_ms: Option<u64>,
    pub(super) expect_fail: Option<LitStr>,
    pub(super) krate: Path,
}

/// Reads the options and checks the function. Every mistake goes to `errors`; with none, there is a test.
pub(super) fn parse(arguments: TokenStream, function: Option<&Function>, errors: &mut Errors) -> Option<AgentTest> {
    let mut found = Found::default();
    let given = options::read(arguments, NAME, OPTIONS, errors);
    for option in &given {
        found.read(option, errors);
    }
    if !given.iter().any(|option| option.known.key == "spec") {
        errors.at(Span::call_site(), format!("#[{NAME}] needs a spec: `{}`", OPTIONS[0].example));
    }
    let function = function?;
    let takes = signature::check(&function.signature, errors);
    let mut attributes = Attributes::sort(&function.attributes, errors);
    if let Some((key, ignore)) = found.ignore {
        if attributes.always_ignored() {
            errors.at(key, "this test is ignored twice");
        }
        attributes.ignores.push(ignore);
    }
    Some(AgentTest {
        function: function.clone(),
        takes,
        attributes,
        spec: found.spec?,
        title: found.title,
        timeout_ms: found.timeout_ms,
        expect_fail: found.expect_fail,
        krate: found.krate.unwrap_or_else(|| parse_quote!(::trajectly_test)),
    })
}

/// The options whose value was right.
#[derive(Default)]
struct Found {
    spec: Option<LitStr>,
    title: Option<LitStr>,
    timeout_ms: Option<u64>,
    ignore: Option<(Span, Ignore)>,
    expect_fail: Option<LitStr>,
    krate: Option<Path>,
}

impl Found {
    fn read(&mut self, option: &Given, errors: &mut Errors) {
        match option.known.key {
            "spec" => self.spec = spec_file(option, errors),
            "name" => self.title = title(option, errors),
            "timeout" => self.timeout_ms = timeout_ms(option, errors),
            "ignore" => {
                let reason = match option.value {
                    Value::None => Some(None),
                    _ => option.text(errors).map(Some),
                };
                self.ignore = reason.map(|reason| (option.key, Ignore { when: None, reason }));
            }
            "expect_fail" => self.expect_fail = code(option, errors),
            _ => self.krate = option.path(errors),
        }
    }
}

fn title(option: &Given, errors: &mut Errors) -> Option<LitStr> {
    let literal = option.text(errors)?;
    if literal.value().contains(char::is_control) {
        errors.on(&literal, "`name` must be one line: tests are listed one a line");
        return None;
    }
    Some(literal)
}

fn spec_file(option: &Given, errors: &mut Errors) -> Option<LitStr> {
    let literal = option.text(errors)?;
    // Only cargo sets the variable; a build without it finds a missing file when the test runs.
    if let Some(root) = std::env::var_os("CARGO_MANIFEST_DIR")
        && let Some(message) = spec::missing(&literal.value(), &PathBuf::from(root))
    {
        errors.on(&literal, message);
    }
    Some(literal)
}

fn timeout_ms(option: &Given, errors: &mut Errors) -> Option<u64> {
    let literal = option.assigned(<Lit as Parse>::parse, errors)?;
    match timeout::milliseconds(&literal) {
        Ok(milliseconds) => Some(milliseconds),
        Err(message) => {
            errors.on(&literal, message);
            None
        }
    }
}

fn code(option: &Given, errors: &mut Errors) -> Option<LitStr> {
    let literal = option.text(errors)?;
    let value = literal.value();
    let shaped = value.starts_with(|c: char| c.is_ascii_uppercase())
        && value
            .split('_')
            .all(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit()));
    if !shaped {
        errors.on(&literal, format!("`{value}` is no violation code; codes look like `CONTRACT_TOOL_DENIED`"));
        return None;
    }
    Some(literal)
}
