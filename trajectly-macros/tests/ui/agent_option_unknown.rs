use trajectly_test::agent_test;

#[agent_test(spec = "specs/triage.agent.yaml", retries = 3)]
fn far_from_all() {}

#[agent_test(spec = "specs/triage.agent.yaml", time_out = 3)]
fn near_one() {}

fn main() {}
