//! `completions`: what a shell needs to complete commands.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::Cli;
use super::outcome::{CliError, Exit};
use super::print;

#[derive(Args)]
pub(super) struct Completions {
    /// The shell that is to complete
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "trajectly", &mut script);
        print::line(String::from_utf8_lossy(&script).trim_end());
        Ok(Exit::Clean)
    }
}
