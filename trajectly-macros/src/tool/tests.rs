//! The macro from its tokens to its tokens.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

use super::tool;

/// The string literals that the expansion hands to the runtime: the tool's name, then each recorded argument's.
fn names(tokens: TokenStream) -> Vec<String> {
    let mut names = Vec::new();
    let mut before = [String::new(), String::new()];
    for tree in tokens {
        match &tree {
            TokenTree::Group(group) => {
                let follows_call = before[1] == "enter" || before[1] == "put";
                if let (true, Some(TokenTree::Literal(name))) = (follows_call, group.stream().into_iter().next()) {
                    names.push(name.to_string().trim_matches('"').to_owned());
                }
                names.extend(self::names(group.stream()));
            }
            other => before = [std::mem::take(&mut before[1]), other.to_string()],
        }
    }
    names
}

#[test]
fn records_each_named_argument_that_is_not_skipped() {
    for (arguments, function, expected) in [
        (
            quote!(),
            quote!(
                fn f() {}
            ),
            &["f"][..],
        ),
        (
            quote!(),
            quote!(
                fn r#move(r#type: u8, mut b: &str) {}
            ),
            &["move", "type", "b"],
        ),
        (
            quote!(name = "fetch ticket"),
            quote!(
                fn f(a: u8) {}
            ),
            &["fetch ticket", "a"],
        ),
        (
            quote!(skip(b, r#type)),
            quote!(
                fn f(a: u8, b: u8, r#type: u8, c: u8) {}
            ),
            &["f", "a", "c"],
        ),
        (
            quote!(),
            quote!(
                async fn f(&self, _a: impl Serialize) -> u8 {}
            ),
            &["f", "_a"],
        ),
        (
            quote!(),
            quote!(
                fn f(self: Arc<Self>, a: T) {}
            ),
            &["f", "a"],
        ),
        (
            quote!(),
            quote!(
                fn f(&self, a: T) -> BoxFuture<'_, u8> {}
            ),
            &["f", "a"],
        ),
    ] {
        assert_eq!(names(tool(arguments, function.clone())), expected, "{function}");
    }
}

#[test]
fn the_body_appears_once_and_its_inner_attributes_lead() {
    for head in [quote!(fn f() -> u8), quote!(async fn f() -> u8), quote!(fn f() -> BoxFuture<'static, u8>)] {
        let expanded = tool(quote!(), quote!(#[doc = "d"] pub #head { #![allow(unused)] body_of_f })).to_string();
        let start = quote!(#[doc = "d"] pub #head { #![allow(unused)] }).to_string();
        assert_eq!(expanded.matches("body_of_f").count(), 1, "{expanded}");
        assert!(expanded.starts_with(start.trim_end_matches([' ', '}'])), "{expanded}");
    }
}

#[test]
fn an_argument_is_recorded_under_its_own_cfg() {
    let expanded = tool(
        quote!(),
        quote!(
            fn f(#[cfg(unix)] a: u8) {}
        ),
    )
    .to_string();
    assert!(expanded.contains(&quote!(#[cfg(unix)] arguments.put("a", &a);).to_string()), "{expanded}");
}

#[test]
fn all_mistakes_are_told_and_the_function_stays() {
    let item = quote! {
        const extern "C" fn f((a, b): (u8, u8), _: u8, c: u8) -> &str { body }
    };
    let expanded = tool(quote!(nam = "f", skip(cc, self, c, c), skip(c), crate), item.clone()).to_string();
    // Three of the options, three of the skipped names, three of the signature's head and return, two of its arguments.
    assert_eq!(expanded.matches("compile_error").count(), 11, "{expanded}");
    assert!(expanded.ends_with(&item.to_string()), "{expanded}");
}
