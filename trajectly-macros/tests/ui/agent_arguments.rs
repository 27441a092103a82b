use trajectly_test::{Session, agent_test};

#[agent_test(spec = "specs/triage.agent.yaml")]
fn two(_session: Session, _retries: u8, _name: &str) {}

#[agent_test(spec = "specs/triage.agent.yaml")]
fn exclusive(_session: &mut Session) {}

#[agent_test(spec = "specs/triage.agent.yaml")]
fn other(_client: std::sync::Arc<Vec<u8>>) {}

#[agent_test(spec = "specs/triage.agent.yaml")]
fn wrapped(_session: Option<Session>) {}

fn main() {}
