//! What a tool returns, and whether a replay can return it too.

use proc_macro2::TokenTree;
use quote::ToTokens as _;
use syn::{GenericArgument, PathArguments, PathSegment, Type, TypeParamBound};

use crate::error::Errors;
use crate::function::{Function, has, ungrouped};

/// How the function comes to its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// It returns it.
    Sync,
    /// It is an `async fn`.
    Async,
    /// It returns `Pin<Box<dyn Future<Output = …>>>`, as every `async fn` does that went through `#[async_trait]`.
    Boxed,
}

/// The kind of the function and the type of its answer; no type stands for `()`.
pub(super) fn of(function: &Function) -> (Kind, Option<Type>) {
    let output = function.output();
    if function.signature.asyncness.is_some() {
        return (Kind::Async, output.cloned());
    }
    match output.and_then(boxed_output) {
        Some(awaited) => (Kind::Boxed, Some(awaited.clone())),
        None => (Kind::Sync, output.cloned()),
    }
}

/// Reports an answer that no replay could build: it must own its data and have a type with a name.
pub(super) fn check(answer: &Type, errors: &mut Errors) {
    if matches!(answer, Type::Never(_)) {
        errors.on(answer, "a tool must return, or there is no answer to record");
    } else if has(answer.to_token_stream(), |tree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == '&')) {
        errors.on(
            answer,
            "a tool cannot return a reference: a replayed answer owns its data; return `String`, `Vec<_>` or the like",
        );
    } else if has(answer.to_token_stream(), |tree| matches!(tree, TokenTree::Ident(ident) if ident == "impl")) {
        errors.on(
            answer,
            "a tool cannot return `impl Trait`: a replayed answer needs a type with a name; \
             for a future, write `async fn`",
        );
    }
}

/// The awaited type of `Pin<Box<dyn Future<Output = T> + …>>` and of the aliases that the futures crate gives it.
fn boxed_output(ty: &Type) -> Option<&Type> {
    let last = last_segment(ty)?;
    if last.ident == "BoxFuture" || last.ident == "LocalBoxFuture" {
        return type_argument(last);
    }
    let boxed = type_argument(last).filter(|_| last.ident == "Pin")?;
    let last = last_segment(boxed)?;
    let future = type_argument(last).filter(|_| last.ident == "Box")?;
    let Type::TraitObject(future) = ungrouped(future) else {
        return None;
    };
    future.bounds.iter().find_map(|bound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().and_then(awaited),
        _ => None,
    })
}

fn awaited(future: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &future.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(output) if future.ident == "Future" && output.ident == "Output" => Some(&output.ty),
        _ => None,
    })
}

fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ungrouped(ty) {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

/// The one type among the segment's arguments.
fn type_argument(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use quote::ToTokens as _;

    use super::{Kind, check, of};
    use crate::error::Errors;

    #[test]
    fn tells_how_the_answer_comes() {
        for (source, expected) in [
            ("fn f() {}", (Kind::Sync, "")),
            ("fn f() -> u8 {}", (Kind::Sync, "u8")),
            ("async fn f() {}", (Kind::Async, "")),
            ("async fn f() -> R {}", (Kind::Async, "R")),
            ("fn f() -> Pin<Box<u8>> {}", (Kind::Sync, "Pin < Box < u8 > >")),
            (
                "fn f<'a>() -> ::core::pin::Pin<Box<dyn ::core::future::Future<Output = u8> + Send + 'a>> {}",
                (Kind::Boxed, "u8"),
            ),
            ("fn f() -> Pin<Box<dyn Send + Future<Output = ()>>> {}", (Kind::Boxed, "()")),
            ("fn f() -> futures::future::BoxFuture<'static, u8> {}", (Kind::Boxed, "u8")),
            ("fn f() -> LocalBoxFuture<'_, u8> {}", (Kind::Boxed, "u8")),
        ] {
            let function = syn::parse_str(source).expect(source);
            let (kind, answer) = of(&function);
            assert_eq!((kind, answer.to_token_stream().to_string().as_str()), expected, "{source}");
        }
    }

    #[test]
    fn refuses_what_no_replay_could_build() {
        for (source, allowed) in [
            ("()", true),
            ("Result<Vec<Option<u8>>, Box<dyn Error>>", true),
            ("Cow<'a, str>", true),
            ("!", false),
            ("&str", false),
            ("Option<&'static str>", false),
            ("(u8, &u8)", false),
            ("impl Future<Output = u8>", false),
            ("Result<impl Display, E>", false),
            ("Result<(impl Display, u8), E>", false),
        ] {
            let mut errors = Errors::default();
            check(&syn::parse_str(source).expect(source), &mut errors);
            assert_eq!(errors.is_empty(), allowed, "{source}");
        }
    }
}
