//! Generic tools: types, lifetimes, constants, `impl Trait` arguments, `where` clauses.
#![forbid(unsafe_code)]

use serde::Serialize;
use serde::de::DeserializeOwned;
use trajectly_test::tool;

#[tool]
fn with_parameters<'a, A, B, const N: usize>(first: &'a A, rest: [B; N]) -> (usize, Vec<B>)
where
    A: Serialize + AsRef<str> + ?Sized,
    B: Serialize + DeserializeOwned + Clone,
    &'a A: Serialize,
    [B; N]: Serialize,
{
    (first.as_ref().len(), rest.to_vec())
}

#[tool]
fn with_impl_arguments(title: impl Serialize + Into<String>, tags: &(impl AsRef<[u8]> + Serialize)) -> (String, usize) {
    (title.into(), tags.as_ref().len())
}

#[tool(skip(make))]
fn with_callback<R: Serialize + DeserializeOwned>(make: impl FnOnce() -> R) -> R {
    make()
}

#[test]
fn parameters_are_the_functions_own() {
    assert_eq!(with_parameters("abc", [1, 2]), (3, vec![1, 2]));
    assert_eq!(with_impl_arguments("a", &vec![1, 2]), ("a".to_owned(), 2));
    assert_eq!(with_callback(|| 7), 7);
}
