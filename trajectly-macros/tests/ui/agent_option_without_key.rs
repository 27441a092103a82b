use trajectly_test::agent_test;

#[agent_test("specs/triage.agent.yaml")]
fn no_key() {}

#[agent_test(spec("specs/triage.agent.yaml"))]
fn list() {}

#[agent_test(spec = )]
fn no_value() {}

#[agent_test(spec = "specs/triage.agent.yaml" timeout = 3)]
fn no_comma() {}

#[agent_test(spec: "specs/triage.agent.yaml", ignore = "slow" "flaky")]
fn colon() {}

fn main() {}
