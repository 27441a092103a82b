use trajectly_test::agent_test;

#[agent_test(spce = "specs/triage.agent.yaml", timeout = "soon", name = "", expect_fail = "denied")]
#[should_panic]
unsafe fn agent(_client: String, _retries: u8) {}

fn main() {
    // The function is still there: no second wave of errors about its absence.
    unsafe { agent(String::new(), 3) }
}
