//! The macro from its tokens to its tokens.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{Expr, Item, ItemFn, ItemStatic};

use super::agent_test;

/// A file that exists in every checkout, to stand for a spec.
fn spec() -> TokenStream {
    quote!(spec = "Cargo.toml")
}

/// The `#[test]` function and the static of an expansion without mistakes.
fn expanded(arguments: TokenStream, item: TokenStream) -> (ItemFn, ItemStatic) {
    let expanded = agent_test(arguments, item);
    let file: syn::File = syn::parse2(expanded.clone()).expect("items");
    match <[Item; 3]>::try_from(file.items) {
        Ok([Item::Fn(shim), Item::Static(entry), Item::Macro(_)]) => (shim, entry),
        _ => panic!("not the three items: {expanded}"),
    }
}

fn field(entry: &ItemStatic, name: &str) -> String {
    let Expr::Block(block) = &*entry.expr else { panic!("no block") };
    let Some(syn::Stmt::Expr(Expr::Struct(value), None)) = block.block.stmts.last() else { panic!("no value") };
    let field = value.fields.iter().find(|field| field.member.to_token_stream().to_string() == name);
    field.expect(name).expr.to_token_stream().to_string()
}

fn functions(entry: &ItemStatic) -> Vec<&ItemFn> {
    let Expr::Block(block) = &*entry.expr else { panic!("no block") };
    block
        .block
        .stmts
        .iter()
        .filter_map(|statement| match statement {
            syn::Stmt::Item(Item::Fn(function)) => Some(function),
            _ => None,
        })
        .collect()
}

fn attributes(attributes: &[syn::Attribute]) -> Vec<String> {
    attributes
        .iter()
        .filter(|attribute| !attribute.path().is_ident("allow"))
        .map(|attribute| attribute.meta.to_token_stream().to_string())
        .collect()
}

fn texts(tokens: &[TokenStream]) -> Vec<String> {
    tokens.iter().map(TokenStream::to_string).collect()
}

#[test]
fn each_attribute_stands_where_it_has_its_effect() {
    let (shim, entry) = expanded(
        spec(),
        quote! {
            /// Says what it tests.
            #[cfg(unix)]
            #[cfg_attr(windows, ignore = "no pipes", tracing::instrument)]
            #[must_use]
            #[ignore]
            pub(crate) async fn triage() {}
        },
    );
    assert_eq!(
        attributes(&shim.attrs),
        texts(&[
            quote!(cfg(unix)),
            quote!(doc = r" Says what it tests."),
            quote!(::core::prelude::v1::test),
            quote!(cfg_attr(windows, ignore = "no pipes")),
            quote!(ignore),
        ])
    );
    assert_eq!(shim.vis.to_token_stream().to_string(), "pub (crate)");
    assert_eq!(attributes(&entry.attrs), texts(&[quote!(cfg(unix)), quote!(doc(hidden))]));
    assert_eq!(
        attributes(&functions(&entry)[0].attrs),
        texts(&[
            quote!(doc = r" Says what it tests."),
            quote!(cfg_attr(windows, tracing::instrument)),
            quote!(must_use)
        ])
    );
}

#[test]
fn an_ignored_test_is_ignored_in_both_harnesses() {
    for (option, beside, on_shim, ignored, reason) in [
        (quote!(), quote!(), vec![], quote!(false), quote!(::core::option::Option::None)),
        (quote!(, ignore), quote!(), vec![quote!(ignore)], quote!(true), quote!(::core::option::Option::None)),
        (
            quote!(, ignore = "slow"),
            quote!(),
            vec![quote!(ignore = "slow")],
            quote!(true),
            quote!(::core::option::Option::Some("slow")),
        ),
        (
            quote!(),
            quote!(#[ignore = "slow"]),
            vec![quote!(ignore = "slow")],
            quote!(true),
            quote!(::core::option::Option::Some("slow")),
        ),
        (
            quote!(),
            quote!(#[cfg_attr(a, cfg_attr(b, ignore = "slow"))]),
            vec![quote!(cfg_attr(all(a, b), ignore = "slow"))],
            quote!(::core::cfg!(all(a, b)) || false),
            quote! {
                if ::core::cfg!(all(a, b)) { ::core::option::Option::Some("slow") } else { ::core::option::Option::None }
            },
        ),
    ] {
        let arguments = spec();
        let (shim, entry) = expanded(quote!(#arguments #option), quote!(#beside fn f() {}));
        let found: Vec<String> =
            attributes(&shim.attrs).into_iter().filter(|attribute| attribute.contains("ignore")).collect();
        assert_eq!(found, texts(&on_shim));
        assert_eq!(field(&entry, "ignored"), ignored.to_string());
        assert_eq!(field(&entry, "ignore_reason"), reason.to_string());
    }
}

#[test]
fn the_session_reaches_the_function_as_it_asks() {
    for (function, bridge) in [
        (
            quote!(
                fn f() {}
            ),
            quote!(finish::<()>(f())),
        ),
        (
            quote!(
                fn f(s: Session) -> R {}
            ),
            quote!(finish::<R>(f(session))),
        ),
        (
            quote!(
                fn f(s: &Session) -> impl Any {}
            ),
            quote!(finish(f(&session))),
        ),
        (
            quote!(
                async fn f(s: a::Session) -> R {}
            ),
            quote!(finish::<R>(::trajectly_test::__private::block_on(f(session)))),
        ),
    ] {
        let (_, entry) = expanded(spec(), function);
        let run = functions(&entry)[1].block.to_token_stream();
        assert_eq!(run.to_string(), quote!({ ::trajectly_test::__private::#bridge }).to_string());
    }
}

#[test]
fn options_become_fields() {
    let (shim, entry) = expanded(
        quote!(spec = "Cargo.toml", name = "a title", timeout = "2m", expect_fail = "NET_2_DENIED", crate = a::b),
        quote!(
            fn r#match() {}
        ),
    );
    assert_eq!(shim.sig.ident, "r#match");
    assert_eq!(entry.ident, "__trajectly_match");
    assert_eq!(entry.ty.to_token_stream().to_string(), quote!(a::b::__private::AgentTest).to_string());
    for (name, value) in [
        ("name", quote!("r#match")),
        ("title", quote!(::core::option::Option::Some("a title"))),
        ("spec", quote!("Cargo.toml")),
        ("timeout_ms", quote!(::core::option::Option::Some(120000u64))),
        ("expect_fail", quote!(::core::option::Option::Some("NET_2_DENIED"))),
        ("run", quote!(__run)),
    ] {
        assert_eq!(field(&entry, name), value.to_string(), "{name}");
    }
}

#[test]
fn all_mistakes_are_told_and_the_function_stays() {
    let expanded = agent_test(
        quote!(spce = "x", timeout = 0, timeout = 1, name = "", expect_fail = "denied", crate = "x", , 7),
        quote! {
            #[should_panic]
            #[tokio::test]
            #[ignore]
            unsafe fn main<T>(a: u8, b: u8) { body }
        },
    );
    let file: syn::File = syn::parse2(expanded).expect("items");
    let (errors, rest): (Vec<_>, Vec<_>) = file.items.into_iter().partition(|item| matches!(item, Item::Macro(_)));
    // Seven of the options, five of the signature, two of the attributes.
    assert_eq!(errors.len(), 14);
    let [Item::Fn(function)] = &rest[..] else { panic!("the function is gone") };
    assert!(attributes(&function.attrs).is_empty());
    assert_eq!(function.sig.ident, "main");
}

#[test]
fn what_is_no_function_stays_as_it_was() {
    let item = quote!(
        struct Agent;
    );
    let expanded = agent_test(spec(), item.clone()).to_string();
    assert!(expanded.contains("#[agent_test] goes on a function"), "{expanded}");
    assert!(expanded.ends_with(&item.to_string()), "{expanded}");
}
