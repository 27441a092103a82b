use trajectly_test::agent_test;

#[agent_test(spec = "specs/triage.agent.yaml", expect_fail = "tool denied")]
fn words() {}

#[agent_test(spec = "specs/triage.agent.yaml", expect_fail = "CONTRACT__TOOL")]
fn gap() {}

fn main() {}
