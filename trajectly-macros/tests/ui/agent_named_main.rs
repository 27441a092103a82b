mod agents {
    use trajectly_test::agent_test;

    #[agent_test(spec = "specs/triage.agent.yaml")]
    fn main() {}
}

fn main() {}
