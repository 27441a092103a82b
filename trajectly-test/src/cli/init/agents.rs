//! `TRAJECTLY_UPDATE=1 cargo test --test agents` records the agents, `cargo test` replays them.

use trajectly_test::{agent_test, tool};

/// Stands in for an agent, so that there is something to record and to replay at once. Call your own here; a model
/// client finds its server at `OPENAI_BASE_URL`, or asks a `Session` that the function takes.
#[agent_test(spec = "specs/sample.agent.yaml")]
fn sample() -> Result<String, String> {
    let ticket = fetch_ticket("T-1042");
    let priority = if ticket.contains("fails") { "high" } else { "normal" };
    store_priority("T-1042", priority);
    Ok(priority.to_owned())
}

#[tool]
fn fetch_ticket(id: &str) -> String {
    format!("{id}: since 07:40 every card payment fails.")
}

#[tool]
fn store_priority(_id: &str, _priority: &str) {}

trajectly_test::main!(specs = "specs/**/*.agent.yaml");
