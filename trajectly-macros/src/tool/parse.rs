//! From the tokens of a tool to its checked description.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Attribute, FnArg, LitStr, Pat, Path, Signature, Token, Type, parse_quote};

use super::NAME;
use super::output::{self, Kind};
use crate::error::Errors;
use crate::function::{Function, has};
use crate::nearest::nearest;
use crate::options::{self, Given, Known, Value};

const OPTIONS: &[Known] = &[
    Known { key: "name", example: "name = \"fetch_ticket\"" },
    Known { key: "skip", example: "skip(argument, …)" },
    Known { key: "crate", example: "crate = path::to::trajectly_test" },
];

/// One tool, checked.
pub(super) struct Tool {
    pub(super) function: Function,
    pub(super) name: LitStr,
    /// The arguments to record, in order.
    pub(super) recorded: Vec<Argument>,
    pub(super) kind: Kind,
    /// The type of the answer, awaited if the function is asynchronous; none stands for `()`.
    pub(super) answer: Option<Type>,
    pub(super) krate: Path,
}

/// An argument with a name. `self` is none: what a tool is called on is not part of the call.
#[derive(Clone)]
pub(super) struct Argument {
    pub(super) ident: Ident,
    pub(super) ty: Type,
    /// Its `#[cfg]`s, under which alone it exists.
    pub(super) cfgs: Vec<Attribute>,
}

/// Reads the options and checks the function. Every mistake goes to `errors`; with none, there is a tool.
pub(super) fn parse(arguments: TokenStream, function: Option<&Function>, errors: &mut Errors) -> Option<Tool> {
    let mut name = None;
    let mut krate = None;
    let mut skipped = Vec::new();
    for option in options::read(arguments, NAME, OPTIONS, errors) {
        match option.known.key {
            "name" => name = option.text(errors),
            "skip" => skipped = skip_list(&option, errors),
            _ => krate = option.path(errors),
        }
    }
    let function = function?;
    check_signature(&function.signature, errors);
    let (kind, answer) = output::of(function);
    if let Some(answer) = &answer {
        output::check(answer, errors);
    }
    let mut recorded = named_arguments(&function.signature, errors);
    check_skipped(&skipped, &recorded, &function.signature, errors);
    recorded.retain(|argument| !skipped.contains(&argument.ident));
    let ident = &function.signature.ident;
    Some(Tool {
        function: function.clone(),
        name: name.unwrap_or_else(|| LitStr::new(&ident.unraw().to_string(), ident.span())),
        recorded,
        kind,
        answer,
        krate: krate.unwrap_or_else(|| parse_quote!(::trajectly_test)),
    })
}

fn skip_list(option: &Given, errors: &mut Errors) -> Vec<Ident> {
    let list: Option<Punctuated<Ident, Token![,]>> = match &option.value {
        Value::List(list) => {
            let names = |input: ParseStream<'_>| Punctuated::parse_terminated_with(input, Ident::parse_any);
            names.parse2(list.stream()).ok()
        }
        Value::None | Value::Assigned(_) | Value::Misread => None,
    };
    match list {
        Some(names) if !names.is_empty() => names.into_iter().collect(),
        _ => option.misshapen(errors).unwrap_or_default(),
    }
}

fn check_signature(signature: &Signature, errors: &mut Errors) {
    if let Some(token) = &signature.constness {
        errors.on(token, "a tool cannot be `const`: a recorded call happens at run time");
    }
    if let Some(abi) = &signature.abi {
        errors.on(abi, "a tool cannot be `extern`");
    }
    if let Some(variadic) = &signature.variadic {
        errors.on(variadic, "a tool cannot be variadic");
    }
}

fn named_arguments(signature: &Signature, errors: &mut Errors) -> Vec<Argument> {
    let mut named = Vec::new();
    for argument in &signature.inputs {
        let FnArg::Typed(argument) = argument else {
            continue;
        };
        match &*argument.pat {
            Pat::Ident(pattern) if pattern.subpat.is_none() => named.push(Argument {
                ident: pattern.ident.clone(),
                ty: (*argument.ty).clone(),
                cfgs: argument.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect(),
            }),
            pattern => errors.on(
                pattern,
                "each argument of a tool needs a plain name, under which it is recorded; \
                 take the pattern apart inside the function",
            ),
        }
    }
    named
}

fn check_skipped(skipped: &[Ident], arguments: &[Argument], signature: &Signature, errors: &mut Errors) {
    for (index, name) in skipped.iter().enumerate() {
        if skipped[..index].contains(name) {
            errors.on(name, format!("`{name}` is skipped twice"));
        } else if name == "self" {
            errors.on(name, "`self` is never recorded, so there is nothing to skip");
        } else if !binds(signature, name) {
            let names: Vec<String> = arguments.iter().map(|argument| argument.ident.to_string()).collect();
            let mut message = format!("the tool has no argument `{name}`");
            if let Some(near) = nearest(&name.to_string(), names.iter().map(String::as_str)) {
                message.push_str(&format!("; did you mean `{near}`?"));
            }
            errors.on(name, message);
        }
    }
}

/// Whether an argument's pattern holds `name`. One that holds it below the top is reported where it stands.
fn binds(signature: &Signature, name: &Ident) -> bool {
    signature.inputs.iter().any(|argument| match argument {
        FnArg::Typed(argument) => {
            has(argument.pat.to_token_stream(), |tree| matches!(tree, TokenTree::Ident(ident) if ident == name))
        }
        FnArg::Receiver(_) => false,
    })
}
