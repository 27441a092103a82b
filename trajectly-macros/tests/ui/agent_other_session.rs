use trajectly_test::agent_test;

pub struct Session;

#[agent_test(spec = "specs/triage.agent.yaml")]
fn owned(_session: Session) {}

#[agent_test(spec = "specs/triage.agent.yaml")]
async fn borrowed(_session: &Session) {}

fn main() {}
