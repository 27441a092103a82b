//! Support for the end-to-end tests: a user's crate, built once, whose test binaries run in projects of their own, and a
//! scripted model provider for them to ask.

mod build;
mod built_crate;
mod documentation;
mod files;
mod folder;
mod generated;
mod http;
mod lifeline;
mod malformed;
mod project;
mod provider;
mod python;
mod run;
mod schema;
mod sessions;
mod template;

pub use build::{Binary, agent_program, fat_lto_binary, repository};
pub use built_crate::BuiltCrate;
pub use documentation::{Block, Page, Pasted, shell};
pub use files::{Store, masked};
pub use folder::Folder;
pub use generated::{assert_generated, is_updating};
pub use lifeline::Lifeline;
pub use malformed::{Case, Table};
pub use project::Project;
pub use provider::{Answer, Provider, Request};
pub use run::{Output, Run};
pub use schema::{Schema, of_specs as schema_of_specs};
pub use sessions::Sessions;
pub use template::Started;
