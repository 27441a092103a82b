//! Any text is a spec, or it has problems that can be shown.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trajectly_engine::json::Json;
use trajectly_engine::spec::Spec;

fuzz_target!(|text: &str| {
    match Spec::parse(text, "fuzz.agent.yaml") {
        Ok(spec) => {
            spec.slug();
            for path in ["name", "contracts.tools.deny[0]", "contracts.sequence.require_before[0].before", "env"] {
                spec.locate(path);
            }
        }
        Err(error) => {
            assert!(!error.problems.is_empty());
            assert!(!error.to_string().is_empty());
        }
    }
    if let Ok(value) = Json::parse(text) {
        let _ = Spec::from_json(&value);
    }
});
