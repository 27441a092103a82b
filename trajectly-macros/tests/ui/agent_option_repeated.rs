use trajectly_test::agent_test;

#[agent_test(spec = "specs/triage.agent.yaml", timeout = 3, spec = "specs/triage.agent.yaml", timeout = 3)]
fn twice() {}

fn main() {}
