use trajectly_test::agent_test;

const SPEC: &str = "specs/triage.agent.yaml";

#[agent_test(spec = SPEC, name = 7, timeout = fast, ignore = true, expect_fail = TOOL_DENIED, crate = "trajectly")]
fn wrong() {}

fn main() {
    let _ = SPEC;
}
