use trajectly_test::agent_test;

#[agent_test(spec = "specs/triage.agent.yaml", ignore)]
#[ignore = "slow"]
fn both() {}

#[agent_test(spec = "specs/triage.agent.yaml")]
#[ignore]
#[ignore]
fn beside() {}

#[agent_test(spec = "specs/triage.agent.yaml")]
#[ignore(slow)]
fn list() {}

fn main() {}
