//! A function whose body is left alone.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, ReturnType, Signature, Token, Type, Visibility};

use crate::error::Errors;

/// A function as the user wrote it. The body stays a group of tokens: the macros only move it, so parsing it would cost
/// every build time and would turn a mistake inside it into a mistake of the attribute.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    pub(crate) body: Group,
}

impl Function {
    /// Reads the item under the attribute `macro_name`; says what is wrong if it is no function with a body.
    pub(crate) fn read(item: TokenStream, macro_name: &str, errors: &mut Errors) -> Option<Function> {
        let holds_fn = item.clone().into_iter().any(|tree| matches!(&tree, TokenTree::Ident(ident) if ident == "fn"));
        if !holds_fn {
            errors.on(&item, format!("#[{macro_name}] goes on a function"));
            return None;
        }
        match syn::parse2(item) {
            Ok(function) => Some(function),
            Err(error) => {
                errors.push(error);
                None
            }
        }
    }

    /// The return type, if one is written.
    pub(crate) fn output(&self) -> Option<&Type> {
        match &self.signature.output {
            ReturnType::Default => None,
            ReturnType::Type(_, output) => Some(ungrouped(output)),
        }
    }
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature: Signature = input.parse()?;
        if input.peek(Token![;]) {
            return Err(syn::Error::new_spanned(&signature, "the function needs a body here"));
        }
        let body: Group = input.parse()?;
        if body.delimiter() != Delimiter::Brace {
            return Err(syn::Error::new(body.span(), "expected the function's body"));
        }
        Ok(Function { attributes, visibility, signature, body })
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append_all(&self.attributes);
        self.visibility.to_tokens(tokens);
        self.signature.to_tokens(tokens);
        self.body.to_tokens(tokens);
    }
}

/// The type inside parentheses and inside the invisible groups that `macro_rules!` puts around a `$t:ty`.
pub(crate) fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        other => other,
    }
}

/// The places of a type's first and last token. Code whose first and last token stand there is underlined as the type
/// is; stable Rust has no way to join the two into one span.
pub(crate) fn ends(ty: &Type) -> (Span, Span) {
    let mut places = ty.to_token_stream().into_iter().map(|tree| tree.span());
    let first = places.next().unwrap_or_else(Span::call_site);
    let last = places.last().unwrap_or(first);
    (first, last)
}

/// Whether a token that `wanted` tells stands in `tokens`, however deep.
pub(crate) fn has(tokens: TokenStream, wanted: impl Fn(&TokenTree) -> bool + Copy) -> bool {
    tokens.into_iter().any(|tree| match &tree {
        TokenTree::Group(group) => has(group.stream(), wanted),
        other => wanted(other),
    })
}
