use trajectly_test::{Session, agent_test};

#[agent_test(spec = "specs/triage.agent.yaml")]
fn typed<T>() {}

#[agent_test(spec = "specs/triage.agent.yaml")]
fn borrowed<'a>(_session: &'a Session) {}

fn main() {}
