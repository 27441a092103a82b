//! `schema`: what editors check specs with.

use clap::Args;
use trajectly_engine::spec;

use super::outcome::{CliError, Exit};

#[derive(Args)]
pub(super) struct Schema;

impl Schema {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        println!("{}", spec::schema().to_pretty());
        Ok(Exit::Clean)
    }
}
