//! The program `trajectly`, built with these tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    trajectly_test::cli::main(std::env::args_os())
}
