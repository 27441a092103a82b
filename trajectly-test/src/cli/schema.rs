//! `schema`: what editors check specs with.

use clap::Args;
use trajectly_engine::spec;

use super::outcome::{CliError, Exit};
use super::print;

#[derive(Args)]
pub(super) struct Schema;

impl Schema {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        print::line(spec::schema().to_pretty());
        Ok(Exit::Clean)
    }
}
