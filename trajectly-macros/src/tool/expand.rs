//! From a checked tool to code.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Attribute, LitStr};

use super::parse::{Argument, Tool};

/// The function with its body moved into a closure that the runtime calls, or does not call when it replays.
///
/// The body appears once, so that a tool costs one copy of its code, and its `return` and `?` mean what they meant.
pub(super) fn expand(tool: &Tool) -> TokenStream {
    let krate = &tool.krate;
    let attributes = &tool.function.attributes;
    let visibility = &tool.function.visibility;
    let signature = &tool.function.signature;
    let (inner_attributes, body) = split_body(tool.function.body.stream());
    let output = tool
        .function
        .output()
        .map_or_else(|| quote!(()), |output| output.to_token_stream());
    let enter = enter(tool);
    let run = if signature.asyncness.is_some() {
        // The branch that never runs tells the block its type, as the signature of the function told the body.
        quote_spanned! {Span::mixed_site()=>
            #krate::__private::run_async(shape, call, async move {
                #[allow(
                    unreachable_code,
                    clippy::diverging_sub_expression,
                    clippy::empty_loop,
                    clippy::let_unit_value,
                    clippy::needless_return,
                    reason = "only its type matters"
                )]
                if false {
                    let output: #output = loop {};
                    return output;
                }
                { #body }
            })
            .await
        }
    } else {
        quote_spanned! {Span::mixed_site()=>
            #krate::__private::run_sync(shape, call, move || -> #output { #body })
        }
    };
    quote_spanned! {Span::mixed_site()=>
        #(#attributes)*
        #visibility #signature {
            #(#inner_attributes)*
            #enter
            let shape = {
                use #krate::__private::{ViaResult as _, ViaValue as _};
                (&#krate::__private::Tag::<#output>::new()).shape()
            };
            #run
        }
    }
}

/// Opens the call: its name, and a closure that writes the arguments down if a session wants them.
fn enter(tool: &Tool) -> TokenStream {
    let krate = &tool.krate;
    let name = &tool.name;
    let puts = tool.recorded.iter().map(put);
    let arguments = if tool.recorded.is_empty() {
        quote!(_)
    } else {
        quote_spanned!(Span::mixed_site()=> arguments)
    };
    quote_spanned! {Span::mixed_site()=>
        #[allow(clippy::used_underscore_binding, reason = "an argument the body ignores is recorded all the same")]
        let call = #krate::__private::enter(#name, |#arguments| { #(#puts)* });
    }
}

/// Writes one argument down. The borrow has the place of the argument's type, which a type that cannot be recorded
/// is then underlined in.
fn put(argument: &Argument) -> TokenStream {
    let Argument { ident, ty, cfgs } = argument;
    let name = LitStr::new(&ident.unraw().to_string(), ident.span());
    let mut place = ty.to_token_stream().into_iter().map(|tree| tree.span());
    let first = place.next().unwrap_or_else(|| ident.span());
    let last = place.last().unwrap_or(first);
    let mut value = ident.clone();
    value.set_span(last.resolved_at(ident.span()));
    let borrow = quote_spanned!(first.resolved_at(ident.span())=> &);
    quote_spanned! {Span::mixed_site()=>
        #(#cfgs)*
        arguments.put(#name, #borrow #value);
    }
}

/// The body's leading `#![…]`, which may only stand in the function's own block, and the rest.
fn split_body(body: TokenStream) -> (Vec<Attribute>, TokenStream) {
    struct Body(Vec<Attribute>, TokenStream);
    impl Parse for Body {
        fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
            Ok(Body(input.call(Attribute::parse_inner)?, input.parse()?))
        }
    }
    let starts_with_attribute = matches!(body.clone().into_iter().next(), Some(TokenTree::Punct(punct)) if punct.as_char() == '#');
    match starts_with_attribute
        .then(|| Body::parse.parse2(body.clone()))
        .and_then(Result::ok)
    {
        Some(Body(attributes, rest)) => (attributes, rest),
        None => (Vec::new(), body),
    }
}
