use trajectly_test::agent_test;

struct Agent;

impl Agent {
    #[agent_test(spec = "specs/triage.agent.yaml")]
    fn run(&self) {}
}

fn main() {
    let _ = Agent;
}
