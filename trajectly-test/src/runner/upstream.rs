//! Which live model a recording asks.

use std::sync::{Arc, OnceLock};

use trajectly_engine::spec::Spec;

use crate::harness::Upstream as Start;
use crate::tape::{Route, Upstream};

const OPENAI: &str = "https://api.openai.com/v1";

/// In this order: the spec's `providers`, the environment's base URL and key, the suite's own stand-in, the provider.
pub(super) fn route(spec: &Spec, stand_in: Option<Start>) -> Route {
    let named = spec.providers.clone();
    Arc::new(move |provider| {
        let key = variable("OPENAI_API_KEY");
        if let Some(base_url) = named.get(provider) {
            return Ok(Upstream { base_url: base_url.clone(), key });
        }
        let elsewhere = variable("OPENAI_BASE_URL").or_else(|| variable("OPENAI_API_BASE"));
        match (elsewhere, &key, stand_in) {
            (Some(base_url), ..) => Ok(Upstream { base_url, key }),
            (None, None, Some(start)) => started(start).map(|base_url| Upstream { base_url, key: None }),
            (None, ..) => Ok(Upstream { base_url: OPENAI.to_owned(), key }),
        }
    })
}

/// The stand-in, started once a process.
fn started(start: Start) -> Result<String, String> {
    static STARTED: OnceLock<Result<String, String>> = OnceLock::new();
    STARTED
        .get_or_init(|| start().map_err(|error| format!("the stand-in for the live model did not start: {error}")))
        .clone()
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}
