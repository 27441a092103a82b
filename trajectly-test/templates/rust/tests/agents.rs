//! Replays the agent offline. `TRAJECTLY_UPDATE=1 cargo test --test agents` records it anew, with a real model.

use trajectly_test::agent_test;

#[agent_test(spec = "specs/triage.agent.yaml")]
async fn triage() -> anyhow::Result<String> {
    triage_agent::triage::triage("T-1042").await
}

trajectly_test::main!();
