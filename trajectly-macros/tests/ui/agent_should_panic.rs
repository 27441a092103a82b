use trajectly_test::agent_test;

#[agent_test(spec = "specs/triage.agent.yaml")]
#[should_panic]
fn plain() {}

#[agent_test(spec = "specs/triage.agent.yaml")]
#[should_panic(expected = "no ticket")]
fn with_text() {}

#[agent_test(spec = "specs/triage.agent.yaml")]
#[cfg_attr(unix, should_panic)]
fn sometimes() {}

fn main() {}
