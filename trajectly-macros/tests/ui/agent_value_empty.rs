use trajectly_test::agent_test;

#[agent_test(spec = "", name = " ", ignore = "", expect_fail = "")]
fn empty() {}

#[agent_test(spec = "specs/triage.agent.yaml", name = "two\nlines")]
fn two_lines() {}

fn main() {}
