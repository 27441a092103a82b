use trajectly_test::{Session, agent_test};

#[agent_test(spec = "specs/triage.agent.yaml")]
fn number(_session: Session) -> u32 {
    7
}

#[agent_test(spec = "specs/triage.agent.yaml")]
async fn maybe(_session: &Session) -> Option<String> {
    None
}

pub struct Ticket;

#[agent_test(spec = "specs/triage.agent.yaml")]
async fn opaque() -> Result<Vec<Ticket>, String> {
    Ok(Vec::new())
}

fn main() {}
