//! From a checked tool to code.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, LitStr, Path};

use super::output::Kind;
use super::parse::{Argument, Tool};
use crate::function::ends;

/// The function with its body moved into a closure that the runtime calls, or does not call when it replays.
///
/// The body appears once, so that a tool costs one copy of its code, and its `return` and `?` mean what they meant.
pub(super) fn expand(tool: &Tool) -> TokenStream {
    let attributes = &tool.function.attributes;
    let visibility = &tool.function.visibility;
    let signature = &tool.function.signature;
    let (inner_attributes, body) = split_body(&tool.function.body);
    let call = call(tool, &body);
    quote! {
        #(#attributes)*
        #visibility #signature {
            #(#inner_attributes)*
            #call
        }
    }
}

/// Opens the call, says what shape its answer has, and makes it.
fn call(tool: &Tool, body: &Group) -> TokenStream {
    let krate = &tool.krate;
    let answer = Answer::of(tool);
    let ty = &answer.ty;
    let enter = enter(tool);
    let run = match tool.kind {
        Kind::Sync => answer.call(krate, "run_sync", &quote_spanned!(Span::mixed_site()=> move || -> #ty #body)),
        Kind::Async => run_async(krate, &answer, &quote!(#body)),
        Kind::Boxed => {
            let boxed = tool.function.output();
            let body = quote_spanned!(Span::mixed_site()=> (move || -> #boxed #body)().await);
            run_async(krate, &answer, &body)
        }
    };
    let call = quote_spanned! {Span::mixed_site()=>
        #enter
        let shape = {
            use #krate::__private::{ViaResult as _, ViaValue as _};
            (&#krate::__private::Tag::<#ty>::new()).shape()
        };
        #run
    };
    match tool.kind {
        Kind::Sync | Kind::Async => call,
        // Opened when first polled, as the call of an `async fn` is.
        Kind::Boxed => quote_spanned!(Span::mixed_site()=> ::std::boxed::Box::pin(async move { #call })),
    }
}

/// The type of the answer, and where it is written.
///
/// The call into the runtime takes this place, so that a type which cannot be recorded and replayed is underlined there.
struct Answer {
    ty: TokenStream,
    first: Span,
    last: Span,
}

impl Answer {
    fn of(tool: &Tool) -> Self {
        let Some(ty) = &tool.answer else {
            return Self { ty: quote!(()), first: Span::mixed_site(), last: Span::mixed_site() };
        };
        let (first, mut last) = ends(ty);
        if tool.kind != Kind::Sync {
            // rustc checks the type at the function, at its argument and at the `.await`, and says the same thing once
            // only if these are one place. The whole type is not: its first and its last token are two.
            last = first;
        }
        Self {
            ty: ty.to_token_stream(),
            first: first.resolved_at(Span::mixed_site()),
            last: last.resolved_at(Span::mixed_site()),
        }
    }

    /// `function(shape, call, body)` in the place of the type.
    fn call(&self, krate: &Path, function: &str, body: &TokenStream) -> TokenStream {
        let function = Ident::new(function, self.first);
        let krate = krate.to_token_stream().into_iter().map(|mut tree| {
            tree.set_span(self.first.resolved_at(tree.span()));
            tree
        });
        let function = quote_spanned!(self.first=> #(#krate)*::__private::#function);
        let identity = quote_spanned!(self.first=> ::core::convert::identity);
        let shape = quote_spanned!(self.last=> (shape));
        let arguments = quote_spanned!(Span::mixed_site()=> #identity #shape, call, #body);
        let arguments = quote_spanned!(self.last=> (#arguments));
        quote!(#function #arguments)
    }
}

/// Awaits the call. The branch that never runs tells the block its type, as the function's signature told the body.
fn run_async(krate: &Path, answer: &Answer, body: &TokenStream) -> TokenStream {
    let ty = &answer.ty;
    let value = Ident::new("value", answer.first);
    let body = quote_spanned! {Span::mixed_site()=>
        async move {
            #[allow(
                unreachable_code,
                clippy::diverging_sub_expression,
                clippy::empty_loop,
                clippy::let_unit_value,
                clippy::needless_return,
                reason = "only its type matters"
            )]
            if false {
                let #value: #ty = loop {};
                return #value;
            }
            #body
        }
    };
    let call = answer.call(krate, "run_async", &body);
    let wait = quote_spanned!(answer.last=> .await);
    quote!(#call #wait)
}

/// Opens the call: its name, and a closure that writes the arguments down if a session wants them.
fn enter(tool: &Tool) -> TokenStream {
    let krate = &tool.krate;
    let name = &tool.name;
    let puts = tool.recorded.iter().map(put);
    let arguments = if tool.recorded.is_empty() { quote!(_) } else { quote_spanned!(Span::mixed_site()=> arguments) };
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
    let (first, last) = ends(ty);
    let mut value = ident.clone();
    value.set_span(last.resolved_at(ident.span()));
    let borrow = quote_spanned!(first.resolved_at(ident.span())=> &);
    quote_spanned! {Span::mixed_site()=>
        #(#cfgs)*
        arguments.put(#name, #borrow #value);
    }
}

/// The body's leading `#![…]`, which may stand in the function's own block only, and the block without them.
///
/// The block keeps its place, at which an answer of the wrong type is reported, but counts as generated: inside another
/// block its braces are no longer the user's to drop.
fn split_body(body: &Group) -> (Vec<Attribute>, Group) {
    let split = |input: ParseStream<'_>| Ok((input.call(Attribute::parse_inner)?, input.parse()?));
    let (attributes, rest) = split.parse2(body.stream()).unwrap_or_else(|_| (Vec::new(), body.stream()));
    let mut block = Group::new(Delimiter::Brace, rest);
    block.set_span(body.span().resolved_at(Span::mixed_site()));
    (attributes, block)
}
