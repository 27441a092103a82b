//! Any bytes are a trace that survives being written, and can be judged, or an error with a line.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use trajectly_engine::abstraction::Predicates;
use trajectly_engine::spec::Spec;
use trajectly_engine::trace::{Trace, parse_rows};
use trajectly_engine::verdict::judge;

static SPEC: LazyLock<Spec> = LazyLock::new(|| {
    let text = "
schema_version: '0.4'
name: fuzz
refinement: { mode: strict, parallel: unordered, allow_extra_llm_steps: false }
contracts:
  tools: { allow: [a], deny: [b], max_calls_total: 1, max_calls_per_tool: { a: 0 } }
  sequence: { require: [a, b], forbid: [c], require_before: [{ before: a, after: b }], eventually: [a], never: ['tool:b'], at_most_once: [a] }
  side_effects: { deny_write_tools: true }
  network: { default: deny, allowlist: ['*.example.com'] }
  data_leak: { deny_pii_outbound: true, secret_patterns: ['sk_[a-z]+'] }
  args: { a: { required_keys: [x], fields: { x: { type: number, min: 0, max: 9 }, y: { enum: [p], regex: '^p' } } } }
budget_thresholds: { max_latency_ms: 1, max_tool_calls: 1, max_tokens: 1 }
";
    Spec::parse(text, "fuzz.agent.yaml").expect("the spec is sound")
});

fuzz_target!(|bytes: &[u8]| {
    match Trace::read(bytes, "fuzz.jsonl") {
        Ok(trace) => {
            let text = trace.to_jsonl();
            assert_eq!(Trace::parse(&text, "again.jsonl").expect("what was written can be read"), trace);
            let verdict = judge(&SPEC, Some(&trace), &trace);
            assert!(verdict.violations.iter().all(|violation| violation.event_index < trace.events.len().max(1)));
            Predicates::of(&trace, &SPEC.abstraction);
        }
        Err(error) => assert!(error.line > 0 && !error.to_string().is_empty()),
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        for was_killed in [false, true] {
            let _ = parse_rows(text, "fuzz.jsonl", was_killed);
        }
    }
});
