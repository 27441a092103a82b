use trajectly_test::agent_test;

#[agent_test(spec = "specs/refund.agent.yaml")]
fn nothing_near() {}

#[agent_test(spec = "specs/traige.agent.yaml")]
fn misspelt() {}

#[agent_test(spec = "triage.yaml")]
fn elsewhere() {}

#[agent_test(spec = "specs")]
fn folder() {}

#[agent_test(spec = "/specs/triage.agent.yaml")]
fn absolute() {}

fn main() {}
