//! What the signature of an agent test may be.

use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::{FnArg, Signature, Type};

use crate::error::Errors;
use crate::function::ungrouped;

/// How the function takes its session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Takes {
    Nothing,
    Session,
    SessionRef,
}

/// Reports every part of the signature that an agent test cannot have.
pub(super) fn check(signature: &Signature, errors: &mut Errors) -> Takes {
    if let Some(token) = &signature.constness {
        errors.on(token, "an agent test cannot be `const`");
    }
    if let syn::Safety::Unsafe(token) = &signature.safety {
        errors.on(token, "an agent test cannot be `unsafe`");
    }
    if let Some(abi) = &signature.abi {
        errors.on(abi, "an agent test cannot be `extern`");
    }
    if signature.ident.unraw() == "main" {
        errors.on(&signature.ident, "an agent test cannot be called `main`, which is the test binary's own function");
    }
    if !signature.generics.params.is_empty() {
        errors.on(&signature.generics, "an agent test cannot be generic: no caller chooses its parameters");
    }
    takes(signature, errors)
}

fn takes(signature: &Signature, errors: &mut Errors) -> Takes {
    let mut arguments = signature.inputs.iter();
    let takes = match arguments.next() {
        None => Takes::Nothing,
        Some(FnArg::Receiver(receiver)) => {
            errors.on(receiver, "an agent test is a free function; it cannot take `self`");
            return Takes::Nothing;
        }
        Some(FnArg::Typed(argument)) => match session(&argument.ty) {
            Ok(takes) => takes,
            Err(message) => {
                errors.on(&argument.ty, message);
                Takes::Nothing
            }
        },
    };
    for extra in arguments {
        errors.on(extra, "an agent test takes the session and nothing else");
    }
    if let Some(variadic) = &signature.variadic {
        errors.on(variadic, "an agent test takes the session and nothing else");
    }
    takes
}

fn session(ty: &Type) -> Result<Takes, String> {
    match ungrouped(ty) {
        Type::Reference(reference) if is_session(&reference.elem) => match reference.mutability {
            None => Ok(Takes::SessionRef),
            Some(_) => Err("take `Session` or `&Session`; a session needs no `mut`".to_owned()),
        },
        other if is_session(other) => Ok(Takes::Session),
        other => Err(format!(
            "an agent test takes `Session`, `&Session` or nothing, not `{}`",
            tidy(&other.to_token_stream().to_string())
        )),
    }
}

fn is_session(ty: &Type) -> bool {
    match ungrouped(ty) {
        Type::Path(path) => {
            path.path.segments.last().is_some_and(|last| last.ident == "Session" && last.arguments.is_none())
        }
        _ => false,
    }
}

/// A type's tokens without the blanks that printing them one by one leaves.
fn tidy(tokens: &str) -> String {
    let mut tidy = tokens.to_owned();
    for (spaced, tight) in [(" :: ", "::"), (":: ", "::"), (" < ", "<"), (" >", ">"), ("& ", "&"), (" ,", ",")] {
        tidy = tidy.replace(spaced, tight);
    }
    tidy
}

#[cfg(test)]
mod tests {
    use super::{Takes, check};
    use crate::error::Errors;

    #[test]
    fn knows_a_session_by_the_end_of_its_path() {
        for (source, expected) in [
            ("fn f()", Takes::Nothing),
            ("fn f(s: Session)", Takes::Session),
            ("async fn f(mut s: trajectly_test::Session)", Takes::Session),
            ("fn f(_: &Session)", Takes::SessionRef),
            ("fn f(s: &::a::b::Session) -> u8", Takes::SessionRef),
            ("fn f(s: (&Session))", Takes::SessionRef),
        ] {
            let mut errors = Errors::default();
            let signature = syn::parse_str(source).expect(source);
            assert_eq!(check(&signature, &mut errors), expected, "{source}");
            assert!(errors.is_empty(), "{source}");
        }
    }

    #[test]
    fn refuses_what_nothing_could_call() {
        for source in [
            "const fn f()",
            "unsafe fn f()",
            "extern \"C\" fn f()",
            "fn main()",
            "fn r#main()",
            "fn f<T>()",
            "fn f<'a>(s: &'a Session)",
            "fn f(&self)",
            "fn f(s: &mut Session)",
            "fn f(s: &&Session)",
            "fn f(s: Session<u8>)",
            "fn f(s: Option<Session>)",
            "fn f(s: Session, n: u8)",
        ] {
            let mut errors = Errors::default();
            let signature = syn::parse_str(source).expect(source);
            check(&signature, &mut errors);
            assert!(!errors.is_empty(), "{source}");
        }
    }
}
