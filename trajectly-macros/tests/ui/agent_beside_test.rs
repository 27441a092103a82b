use trajectly_test::{Session, agent_test};

#[agent_test(spec = "specs/triage.agent.yaml")]
#[test]
fn plain(_session: Session) {}

#[agent_test(spec = "specs/triage.agent.yaml")]
#[tokio::test(flavor = "multi_thread")]
async fn runtime(_session: Session) {}

#[agent_test(spec = "specs/triage.agent.yaml")]
#[agent_test(spec = "specs/triage.agent.yaml")]
async fn twice(_session: Session) {}

fn main() {}
