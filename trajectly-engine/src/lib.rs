//! The pure, deterministic core of Trajectly: whether what an agent did is what it may do.
//!
//! A *trace* is what one run did, event by event. A *spec* says what every run must obey. [`verdict::judge`] takes a spec,
//! the accepted trace (the *baseline*) and a new one (the *candidate*), and says what is broken, and at which event first:
//!
//! ```
//! use trajectly_engine::json::Object;
//! use trajectly_engine::spec::Spec;
//! use trajectly_engine::trace::{EventType, Row, Trace, number};
//! use trajectly_engine::verdict::judge;
//!
//! /// A run that calls these tools.
//! fn run(tools: &[&str]) -> Trace {
//!     let called = |tool: &&str| Row {
//!         event_type: EventType::ToolCalled,
//!         rel_ms: 0,
//!         payload: Object::new().with("tool_name", *tool),
//!         meta: Object::new(),
//!     };
//!     number(tools.iter().map(called).collect(), "a-run")
//! }
//!
//! let spec = "schema_version: \"0.4\"\ncontracts:\n  tools:\n    deny: [export]";
//! let spec = Spec::parse(spec, "triage.agent.yaml")?;
//! let verdict = judge(&spec, Some(&run(&["fetch", "store"])), &run(&["fetch", "export"]));
//!
//! assert_eq!(verdict.witness(), Some(1));
//! let codes: Vec<_> = verdict.at_witness().iter().map(|violation| violation.code.as_str()).collect();
//! assert_eq!(codes[0], "REFINEMENT_BASELINE_CALL_MISSING");
//! assert!(codes.contains(&"CONTRACT_TOOL_DENIED"));
//!
//! // Every violation knows the rule that it breaks, and the spec knows where that stands.
//! let denied = verdict.violations.iter().find(|violation| violation.code.as_str() == "CONTRACT_TOOL_DENIED").unwrap();
//! let rule = denied.rule.as_deref().unwrap();
//! assert_eq!(rule, "contracts.tools.deny[0]");
//! assert_eq!(spec.locate(rule).unwrap().line, 4);
//! # Ok::<(), trajectly_engine::spec::SpecError>(())
//! ```
//!
//! # In the order of the data
//!
//! [`json`] and [`canonical`] are below everything: values, and the texts and hashes that values are known by. [`trace`]
//! reads events and puts them in order. [`fixture`] holds recorded answers, finds the one for a call, and explains why there
//! is none. [`spec`] reads specs and knows where everything in them stands; [`redact`] is what a spec wants left out.
//! [`abstraction`] reduces a trace to its shape, which refinement compares. [`verdict`] brings together what contracts and
//! refinement find, under the stable names of [`code`]; [`report`] writes it down. [`shrink`] leaves of a failing trace what
//! its failure needs. [`batch`] judges cases in bulk.
//!
//! # What it never does
//!
//! It has no clock, no randomness and no threads, and looks neither at the network nor at the environment. It reads files
//! only to load a spec. The same input gives the same verdict and the same report, to the last byte.

pub mod abstraction;
pub mod batch;
pub mod canonical;
pub mod code;
pub mod fixture;
pub mod json;
pub mod redact;
pub mod report;
pub mod shrink;
pub mod slug;
pub mod spec;
pub mod trace;
pub mod verdict;

mod contracts;
mod host;
mod number;
mod personal;
pub mod refinement;
mod suggest;
