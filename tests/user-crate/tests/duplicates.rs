//! Two tests of one name.

use trajectly_test::agent_test;

#[agent_test(spec = "specs/greet.agent.yaml", name = "same")]
fn one() {}

#[agent_test(spec = "specs/greet.agent.yaml", name = "same")]
fn two() {}

trajectly_test::main!();
