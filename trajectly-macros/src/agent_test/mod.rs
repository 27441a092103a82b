//! `#[agent_test]`: one agent run as one test.

mod attributes;
mod expand;
mod parse;
mod signature;
mod spec;
mod timeout;

#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::quote;

use crate::error::Errors;
use crate::function::Function;

const NAME: &str = "agent_test";

/// The test, or every mistake found and the function without the test around it.
pub(crate) fn agent_test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let function = Function::read(item.clone(), NAME, &mut errors);
    let test = parse::parse(arguments, function.as_ref(), &mut errors);
    match (test, function) {
        (Some(test), _) if errors.is_empty() => expand::expand(&test),
        (_, Some(function)) => {
            let errors = errors.to_compile_errors();
            let function = attributes::without_test_attributes(function);
            quote! {
                #errors
                #[allow(dead_code, reason = "the test that would call it does not compile")]
                #function
            }
        }
        (_, None) => {
            let errors = errors.to_compile_errors();
            quote!(#errors #item)
        }
    }
}
