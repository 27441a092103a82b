use trajectly_test::agent_test;

#[agent_test(spec = "specs/triage.agent.yaml")]
struct Agent;

fn main() {
    let _ = Agent;
}
