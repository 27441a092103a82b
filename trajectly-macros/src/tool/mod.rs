//! `#[tool]`: a function that a session records and replays.

mod expand;
mod output;
mod parse;

#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::quote;

use crate::error::Errors;
use crate::function::Function;

const NAME: &str = "tool";

/// The instrumented function, or every mistake found and the function as it was.
pub(crate) fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let function = Function::read(item.clone(), NAME, &mut errors);
    match parse::parse(arguments, function.as_ref(), &mut errors) {
        Some(tool) if errors.is_empty() => expand::expand(&tool),
        _ => {
            let errors = errors.to_compile_errors();
            quote!(#errors #item)
        }
    }
}
