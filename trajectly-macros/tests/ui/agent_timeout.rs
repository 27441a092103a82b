use trajectly_test::agent_test;

#[agent_test(spec = "specs/triage.agent.yaml", timeout = 0)]
fn never() {}

#[agent_test(spec = "specs/triage.agent.yaml", timeout = "30")]
fn no_unit() {}

#[agent_test(spec = "specs/triage.agent.yaml", timeout = 30u64)]
fn suffix() {}

#[agent_test(spec = "specs/triage.agent.yaml", timeout = "9000h")]
fn long() {}

fn main() {}
