//! From a checked agent test to code.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{FnArg, LitStr};

use super::attributes::{Attributes, Ignore};
use super::parse::AgentTest;
use super::signature::Takes;
use crate::function::{ends, has};

/// The test as three items: a `#[test]` for the default harness, a static that holds the user's function and what is
/// known of it, and that static's registration for our own harness.
///
/// `harness = false` compiles with `cfg(test)` but drops every `#[test]`; the registration stays. Under the default
/// harness the `#[test]` calls straight into the static.
pub(super) fn expand(test: &AgentTest) -> TokenStream {
    let krate = &test.krate;
    let cfgs = &test.attributes.cfgs;
    let ident = &test.function.signature.ident;
    let entry = format_ident!("__trajectly_{}", ident.unraw(), span = Span::mixed_site());
    let shim = shim(test, &entry);
    let function = function(test);
    let run = run(test);
    let fields = fields(test);
    quote! {
        #shim

        #(#cfgs)*
        #[doc(hidden)]
        #[allow(dead_code, non_upper_case_globals, reason = "named after the test, and used only where tests are built")]
        static #entry: #krate::__private::AgentTest = {
            #function
            #run
            #krate::__private::AgentTest { #fields }
        };

        #(#cfgs)*
        #[cfg(test)]
        #krate::__private::inventory::submit! {
            #krate::__private::Registration(&#entry)
        }
    }
}

/// What the default harness runs, and what an editor offers to run: it keeps the user's name and place.
fn shim(test: &AgentTest, entry: &Ident) -> TokenStream {
    let krate = &test.krate;
    let Attributes { cfgs, docs, ignores, others: _ } = &test.attributes;
    let ignores = ignores.iter().map(|Ignore { when, reason }| {
        let ignore = match reason {
            None => quote!(ignore),
            Some(reason) => quote!(ignore = #reason),
        };
        match when {
            None => quote!(#[#ignore]),
            Some(predicate) => quote!(#[cfg_attr(#predicate, #ignore)]),
        }
    });
    let visibility = &test.function.visibility;
    let token = &test.function.signature.fn_token;
    let ident = &test.function.signature.ident;
    quote! {
        #(#cfgs)*
        #(#docs)*
        #[::core::prelude::v1::test]
        #(#ignores)*
        #[allow(non_snake_case, reason = "the lint speaks once, on the function that holds the body")]
        #visibility #token #ident() {
            #krate::__private::libtest(&#entry)
        }
    }
}

/// The user's function, with its body untouched.
fn function(test: &AgentTest) -> TokenStream {
    let Attributes { docs, others, .. } = &test.attributes;
    let signature = &test.function.signature;
    let body = &test.function.body;
    quote!(#(#docs)* #(#others)* #signature #body)
}

/// The bridge from a session to the user's function.
///
/// The return type stands where `finish` names its parameter, so that a type which cannot be an agent's answer is
/// underlined in the user's own signature.
fn run(test: &AgentTest) -> TokenStream {
    let krate = &test.krate;
    let ident = &test.function.signature.ident;
    let parameter = quote_spanned!(Span::mixed_site()=> session);
    let argument = argument(test);
    let mut call = quote!(#ident(#argument));
    if test.function.signature.asyncness.is_some() {
        call = quote!(#krate::__private::block_on(#call));
    }
    let output = match test.function.output() {
        None => Some(quote!(::<()>)),
        // `impl Trait` has no name to give; `finish` sees the type of the call then.
        Some(output)
            if has(output.to_token_stream(), |tree| matches!(tree, TokenTree::Ident(ident) if ident == "impl")) =>
        {
            None
        }
        Some(output) => Some(quote!(::<#output>)),
    };
    quote! {
        #[allow(unused_variables, reason = "a function may do without its session")]
        fn __run(#parameter: #krate::Session) -> #krate::__private::Outcome {
            #krate::__private::finish #output (#call)
        }
    }
}

/// The session as the function takes it, placed at the argument's type: another type called `Session` is underlined.
fn argument(test: &AgentTest) -> Option<TokenStream> {
    let FnArg::Typed(argument) = test.function.signature.inputs.first()? else {
        return None;
    };
    let (first, last) = ends(&argument.ty);
    let session = quote_spanned!(last.resolved_at(Span::mixed_site())=> session);
    let borrow = match test.takes {
        Takes::Nothing => return None,
        Takes::Session => None,
        Takes::SessionRef => Some(quote_spanned!(first.resolved_at(Span::mixed_site())=> &)),
    };
    Some(quote!(#borrow #session))
}

fn fields(test: &AgentTest) -> TokenStream {
    let krate = &test.krate;
    let name = test.function.signature.ident.to_string();
    let spec = &test.spec;
    let title = option(test.title.as_ref().map(LitStr::to_token_stream));
    let timeout = option(test.timeout_ms.map(|timeout| quote!(#timeout)));
    let expect_fail = option(test.expect_fail.as_ref().map(LitStr::to_token_stream));
    let (ignored, ignore_reason) = ignored(&test.attributes);
    quote! {
        name: #name,
        title: #title,
        module_path: ::core::module_path!(),
        file: ::core::file!(),
        line: ::core::line!(),
        manifest_dir: ::core::env!("CARGO_MANIFEST_DIR"),
        package: ::core::env!("CARGO_PKG_NAME"),
        crate_name: ::core::env!("CARGO_CRATE_NAME"),
        spec: #spec,
        timeout_ms: #timeout,
        ignored: #ignored,
        ignore_reason: #ignore_reason,
        expect_fail: #expect_fail,
        run: __run,
        // insta keeps a snapshot beside the source that asserts it, so the assertion must be compiled here.
        snapshot: |name, value| #krate::__private::insta::assert_snapshot!(name, value),
    }
}

/// Whether the test is ignored, and why: the first `#[ignore]` whose predicate holds speaks.
fn ignored(attributes: &Attributes) -> (TokenStream, TokenStream) {
    let mut ignored = quote!(false);
    let mut reason = quote!(::core::option::Option::None);
    for ignore in attributes.ignores.iter().rev() {
        let this = option(ignore.reason.as_ref().map(LitStr::to_token_stream));
        match &ignore.when {
            None => {
                ignored = quote!(true);
                reason = this;
            }
            Some(predicate) => {
                ignored = quote!(::core::cfg!(#predicate) || #ignored);
                reason = quote!(if ::core::cfg!(#predicate) { #this } else { #reason });
            }
        }
    }
    (ignored, reason)
}

fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        None => quote!(::core::option::Option::None),
        Some(value) => quote!(::core::option::Option::Some(#value)),
    }
}
