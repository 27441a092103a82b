//! What the agents of the end-to-end tests are made of: tools, and a client of a chat API.

#![forbid(unsafe_code)]

mod chat;
mod errand;
mod tools;

pub use chat::{ChatError, chat};
pub use errand::errand;
pub use tools::*;

#[cfg(test)]
mod tests {
    use trajectly_test::agent_test;

    #[agent_test(spec = "specs/inside.agent.yaml")]
    fn inside_the_library() -> anyhow::Result<String> {
        Ok(super::lookup("ada")?.greeting)
    }
}
