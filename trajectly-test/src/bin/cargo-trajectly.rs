//! `cargo trajectly`: the same as `trajectly`, found by cargo.

use std::process::ExitCode;

fn main() -> ExitCode {
    trajectly_test::cli::main(std::env::args_os())
}
