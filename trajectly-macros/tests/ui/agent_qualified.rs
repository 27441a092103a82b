use trajectly_test::agent_test;

#[agent_test(spec = "specs/triage.agent.yaml")]
const fn constant() {}

#[agent_test(spec = "specs/triage.agent.yaml")]
unsafe fn dangerous() {}

#[agent_test(spec = "specs/triage.agent.yaml")]
extern "C" fn foreign() {}

fn main() {}
