//! Which live model a recording asks.

use std::sync::{Arc, OnceLock};

use trajectly_engine::spec::Spec;

use crate::harness::Upstream as Start;
use crate::tape::{Route, Upstream};

const OPENAI: &str = "https://api.openai.com/v1";

const KEY: &str = "OPENAI_API_KEY";

/// Where the model calls of a recording go.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// To the base URL that the spec or the environment names.
    Named(String),
    /// To the suite's own stand-in, for want of a key.
    StandIn,
    /// To the provider itself.
    Provider,
}

impl Place {
    /// In this order: the spec's `providers`, the environment's base URL, the stand-in if there is no key, the provider.
    fn choose(in_spec: Option<&String>, has_stand_in: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        let elsewhere = || variable("OPENAI_BASE_URL").or_else(|| variable("OPENAI_API_BASE"));
        match in_spec.cloned().or_else(elsewhere) {
            Some(base_url) => Self::Named(base_url),
            None if has_stand_in && variable(KEY).is_none() => Self::StandIn,
            None => Self::Provider,
        }
    }
}

pub(super) fn route(spec: &Spec, stand_in: Option<Start>) -> Route {
    let named = spec.providers.clone();
    Arc::new(move |provider| {
        let key = variable(KEY);
        match (Place::choose(named.get(provider), stand_in.is_some(), variable), stand_in) {
            (Place::Named(base_url), _) => Ok(Upstream { base_url, key }),
            (Place::StandIn, Some(start)) => started(start).map(|base_url| Upstream { base_url, key: None }),
            _ => Ok(Upstream { base_url: OPENAI.to_owned(), key }),
        }
    })
}

/// Whether a recording's model calls go to the provider without a key of ours.
pub(super) fn is_keyless(spec: &Spec, stand_in: Option<Start>) -> bool {
    let place = Place::choose(spec.providers.get("openai"), stand_in.is_some(), variable);
    place == Place::Provider && variable(KEY).is_none()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_on_the_model_decides() {
        let (spec, url) = ("http://spec".to_owned(), ("OPENAI_BASE_URL", "http://url"));
        let (base, key) = (("OPENAI_API_BASE", "http://base"), (KEY, "sk"));
        let named = |url: &str| Place::Named(url.to_owned());
        for (in_spec, has_stand_in, variables, expected) in [
            (Some(&spec), true, &[url, base, key][..], named("http://spec")),
            (None, true, &[url, base, key], named("http://url")),
            (None, true, &[base], named("http://base")),
            (None, true, &[], Place::StandIn),
            (None, true, &[key], Place::Provider),
            (None, false, &[], Place::Provider),
        ] {
            let get = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, v)| (*v).to_owned());
            assert_eq!(Place::choose(in_spec, has_stand_in, get), expected, "{variables:?}");
        }
    }
}
