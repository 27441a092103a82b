use trajectly_test::agent_test;

#[agent_test]
fn bare() {}

#[agent_test(timeout = 3)]
fn with_options() {}

fn main() {}
