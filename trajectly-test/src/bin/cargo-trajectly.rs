//! `cargo trajectly`: the same as `trajectly`, found by cargo.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Cargo passes the subcommand's name as the first argument.
    let mut args: Vec<_> = std::env::args_os().collect();
    if args.get(1).is_some_and(|arg| arg == "trajectly") {
        args.remove(1);
    }
    trajectly_test::cli::main("cargo trajectly", args)
}
