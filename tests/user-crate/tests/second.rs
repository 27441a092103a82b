//! A second test binary: a function named as one of the first, and specs without a function.

use e2e_agents::lookup;
use trajectly_test::agent_test;

#[agent_test(spec = "commands/claimed.agent.yaml")]
fn greet() -> anyhow::Result<String> {
    Ok(lookup("grace")?.greeting)
}

trajectly_test::main!(specs = "commands/**/*.agent.yaml");
