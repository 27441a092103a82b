//! The attribute macros of Trajectly: `#[agent_test]` and `#[tool]`.
//!
//! Use them through `trajectly-test`, which exports both and holds what their expansions call.
//!
//! Each macro works in two steps. Its `parse` module turns the tokens into a checked description and gathers every
//! mistake on the way; its `expand` module turns that description into code and cannot fail. A mistake is reported on
//! the token that makes it, all mistakes of one attribute together, and the item itself stays in place, so that one
//! wrong option does not cause a second wave of errors about a missing function.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;

mod agent_test;
mod error;
mod function;
mod nearest;
mod options;
mod tool;

/// Turns an agent run into a test that replays offline and is judged against a spec.
///
/// The function is sync or async, takes `Session`, `&Session` or nothing, and returns `()` or `Result<T, E>` with
/// `T: Serialize` and `E: Display`. It becomes a `#[test]` for the default harness and an entry for
/// `trajectly_test::main!()` where the target sets `harness = false`; the same source serves both.
///
/// | option | meaning | default |
/// | --- | --- | --- |
/// | `spec = "specs/triage.agent.yaml"` | the spec, relative to the folder of `Cargo.toml` | required |
/// | `name = "…"` | the test's name under `trajectly_test::main!()` | the function's name |
/// | `timeout = 30`, `"500ms"`, `"2m"` | when to end the run; a bare number counts seconds | the spec's `timeout_s` |
/// | `ignore`, `ignore = "reason"` | as `#[ignore]`, which may also stand beside the attribute | runs |
/// | `expect_fail = "CODE"` | pass exactly when the verdict is FAIL with this code at the witness | must pass |
/// | `crate = path` | where `trajectly_test` is found | `::trajectly_test` |
#[proc_macro_attribute]
pub fn agent_test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    agent_test::agent_test(arguments.into(), item.into()).into()
}

/// Records and replays a function as a tool of the agent that calls it.
///
/// Outside a session the function is called as if the attribute were not there. In a session its name and arguments
/// are recorded, and a replay answers from the fixture instead of running the body. Arguments that are recorded must
/// be `Serialize`; the answer must be `Serialize` and `DeserializeOwned`, or a `Result` of such a type. The function
/// may be free or a method (`self` is never recorded), sync or async.
///
/// | option | meaning | default |
/// | --- | --- | --- |
/// | `name = "…"` | the tool's name in traces, fixtures and contracts | the function's name |
/// | `skip(arg, …)` | arguments that are not recorded: handles, clients, secrets | none |
/// | `crate = path` | where `trajectly_test` is found | `::trajectly_test` |
#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    tool::tool(arguments.into(), item.into()).into()
}
