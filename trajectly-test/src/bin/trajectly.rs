//! `trajectly`: records, replays and judges agents from the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    trajectly_test::cli::main(std::env::args_os())
}
