//! Sorts the attributes beside `#[agent_test]` by where they belong.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, Path, Token, parse_quote};

use crate::error::Errors;
use crate::function::Function;

/// The attributes of the user's function, each where it has its effect.
#[derive(Default)]
pub(super) struct Attributes {
    /// `#[cfg]`: on every item of the expansion, so that all of them come and go together.
    pub(super) cfgs: Vec<Attribute>,
    /// Documentation: on the `#[test]` function, which keeps the user's name, and on the function itself.
    pub(super) docs: Vec<Attribute>,
    /// `#[ignore]`: on the `#[test]` function, and known to our own harness.
    pub(super) ignores: Vec<Ignore>,
    /// All else (lints, `#[tracing::instrument]`, …): on the function that holds the user's body.
    pub(super) others: Vec<Attribute>,
}

/// One `#[ignore]`.
pub(super) struct Ignore {
    /// The predicate, for one that came in `#[cfg_attr(predicate, ignore)]`.
    pub(super) when: Option<TokenStream>,
    pub(super) reason: Option<LitStr>,
}

impl Attributes {
    pub(super) fn sort(attributes: &[Attribute], errors: &mut Errors) -> Attributes {
        let mut sorted = Attributes::default();
        for attribute in attributes {
            sorted.place(attribute, &[], errors);
        }
        sorted
    }

    /// Puts `attribute`, which holds under all of `predicates`, where it belongs.
    fn place(&mut self, attribute: &Attribute, predicates: &[TokenStream], errors: &mut Errors) {
        let path = attribute.path();
        if path.is_ident("cfg_attr") {
            if let Some((predicate, inner)) = split_cfg_attr(attribute) {
                let mut predicates = predicates.to_vec();
                predicates.push(predicate);
                for attribute in &inner {
                    self.place(attribute, &predicates, errors);
                }
                return;
            }
        } else if let Some(message) = misplaced(path) {
            errors.on(&attribute.meta, message);
            return;
        } else if path.is_ident("ignore") {
            match reason(&attribute.meta) {
                Ok(_) if predicates.is_empty() && self.always_ignored() => {
                    errors.on(&attribute.meta, "this test is ignored twice");
                }
                Ok(reason) => self.ignores.push(Ignore { when: all(predicates), reason }),
                Err(message) => errors.on(&attribute.meta, message),
            }
            return;
        }
        let attribute = match all(predicates) {
            None => attribute.clone(),
            Some(predicate) => {
                let meta = &attribute.meta;
                parse_quote!(#[cfg_attr(#predicate, #meta)])
            }
        };
        if path.is_ident("cfg") {
            self.cfgs.push(attribute);
        } else if path.is_ident("doc") {
            self.docs.push(attribute);
        } else {
            self.others.push(attribute);
        }
    }

    /// Whether an `#[ignore]` without a predicate was met.
    pub(super) fn always_ignored(&self) -> bool {
        self.ignores.iter().any(|ignore| ignore.when.is_none())
    }
}

/// Why an attribute cannot stand beside `#[agent_test]`, if it cannot.
fn misplaced(path: &Path) -> Option<String> {
    let written: String = path.to_token_stream().to_string().split(' ').collect();
    match path.segments.last()?.ident.to_string().as_str() {
        "should_panic" => Some(
            "an agent test cannot be #[should_panic]: a panic ends the run as AGENT_RUN_FAILED; \
             to expect that, write `expect_fail = \"AGENT_RUN_FAILED\"`"
                .to_owned(),
        ),
        "test" | "bench" => {
            Some(format!("drop #[{written}]: #[agent_test] makes the test itself, for sync and async functions"))
        }
        "agent_test" => Some("a function is one agent test; #[agent_test] is given twice".to_owned()),
        _ => None,
    }
}

fn reason(meta: &Meta) -> Result<Option<LitStr>, &'static str> {
    match meta {
        Meta::Path(_) => Ok(None),
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(reason), .. }) => Ok(Some(reason.clone())),
            _ => Err("expected `#[ignore]` or `#[ignore = \"reason\"]`"),
        },
        Meta::List(_) => Err("expected `#[ignore]` or `#[ignore = \"reason\"]`"),
    }
}

/// The predicate of a `cfg_attr` and the attributes under it; nothing if it is malformed, which rustc will say.
fn split_cfg_attr(attribute: &Attribute) -> Option<(TokenStream, Vec<Attribute>)> {
    let parts = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?;
    let mut parts = parts.into_iter();
    let predicate = parts.next()?.into_token_stream();
    let inner = parts.map(|meta| parse_quote!(#[#meta])).collect();
    Some((predicate, inner))
}

fn all(predicates: &[TokenStream]) -> Option<TokenStream> {
    match predicates {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(quote!(all(#(#many),*))),
    }
}

/// The function with nothing left on it that only a test may carry: what stays in place when the test cannot be made.
pub(super) fn without_test_attributes(mut function: Function) -> Function {
    function.attributes.retain(|attribute| {
        let path = attribute.path();
        !path.is_ident("ignore") && misplaced(path).is_none()
    });
    function
}
