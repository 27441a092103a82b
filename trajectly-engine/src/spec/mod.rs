//! Specs: the `.agent.yaml` files that say how to run one agent and what it must obey.
//!
//! [`Spec::load`] reads one into types and refuses, all at once and each in its place, whatever it does not understand: unknown
//! keys, values of another type, patterns that cannot run in linear time.

mod compose;
mod contracts;
mod draft;
mod error;
mod file;
mod keys;
mod load;
mod locate;
mod migrate;
mod model;
mod node;
mod notes;
mod obligations;
mod path;
mod pattern;
mod read;
mod schema;
mod sections;
mod yaml;

pub(crate) use contracts::ArgSource;
pub use contracts::{
    AllowedHost, ArgRules, Before, Contracts, DataLeak, FieldRule, FieldType, Network, NetworkDefault, Outbound,
    Sequence, SideEffects, Tools,
};
pub use error::{Location, Problem, SpecError};
pub use migrate::{Migrated, Note, migrate};
pub use model::{
    AbstractionConfig, Budgets, ClockMode, CrossCheck, DEFAULT_TIMEOUT, Determinism, Drift, Expect, ExpectedStatus,
    FailOn, Filesystem, Limits, ModeProfile, Parallel, RandomMode, Refinement, RefinementMode, Replay, ReplayMode,
    SchemaVersion, SnapshotLevel, Spec, Subprocess, SubprocessMode, Transport,
};
pub(crate) use path::SpecPath;
pub use schema::schema;
