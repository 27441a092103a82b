//! The families that look at values: `args`, `side_effects` and the budgets.

mod common;

use common::{event, json, run, spec, told};
use trajectly_engine::code::Code;
use trajectly_engine::json::{Json, Object};
use trajectly_engine::trace::Trace;
use trajectly_engine::verdict::judge;

/// What is broken when `tool` is called with these keyword arguments, without the event's number.
fn broken(rule: &str, kwargs: &str) -> Vec<String> {
    let input = Object::new().with("kwargs", json(kwargs));
    let call = event("tool_called", Object::new().with("tool_name", "t").with("input", input));
    let verdict = judge(&spec(&format!("contracts: {{args: {{t: {rule}}}}}")), None, &Trace { events: vec![call] });
    told(&verdict).iter().map(|line| line.trim_start_matches("0 ").to_owned()).collect()
}

#[test]
fn arguments_are_held_to_their_rules() {
    for (rule, value, expected) in [
        ("type: string", r#""x""#, None),
        ("type: string", "5", Some(("TYPE", "type", "must be a string, and is 5"))),
        ("type: number", "5", None),
        ("type: number", r#"" 5.5 ""#, None),
        ("type: number", "true", Some(("TYPE", "type", "must be a number, and is true"))),
        ("type: number", r#""1_000""#, Some(("TYPE", "type", "must be a number, and is \"1_000\""))),
        ("type: number", r#""inf""#, Some(("TYPE", "type", "must be a number, and is \"inf\""))),
        ("type: number", "null", Some(("TYPE", "type", "must be a number, and is null"))),
        ("type: integer", "5.0", None),
        ("type: integer", "5.5", Some(("TYPE", "type", "must be a whole number, and is 5.5"))),
        ("type: boolean", "false", None),
        ("type: boolean", "0", Some(("TYPE", "type", "must be a boolean, and is 0"))),
        ("type: array", "[1]", None),
        ("type: array", "{}", Some(("TYPE", "type", "must be an array, and is {}"))),
        ("type: object", "{}", None),
        ("type: object", "[]", Some(("TYPE", "type", "must be an object, and is []"))),
        ("max: 10", "10", None),
        ("max: 10", "10.5", Some(("MAX", "max", "is 10.5, above its `max` of 10"))),
        (
            "max: 9007199254740992",
            "9007199254740993",
            Some(("MAX", "max", "is 9007199254740993, above its `max` of 9007199254740992")),
        ),
        ("min: -0.5", r#""-1""#, Some(("MIN", "min", "is \"-1\", below its `min` of -0.5"))),
        ("max: 10", r#""ten""#, Some(("TYPE", "max", "must be a number, and is \"ten\""))),
        ("type: string, max: 10", r#""12""#, None),
        ("type: number, regex: a", r#""5""#, None),
        ("enum: [a, 1, null]", "1.0", None),
        ("enum: [a, 1, null]", "null", None),
        ("enum: [a, 1, null]", "true", Some(("ENUM", "enum", "is true, none of the values in `enum`"))),
        ("enum: [{k: [1]}]", r#"{"k": [1.0]}"#, None),
        ("enum: []", r#""a""#, Some(("ENUM", "enum", "is \"a\", none of the values in `enum`"))),
        ("regex: '^WR-[0-9]+$'", r#""WR-12""#, None),
        ("regex: '[0-9]'", r#""a1b""#, None),
        ("regex: '^WR-[0-9]+$'", r#""XWR-1""#, Some(("REGEX", "regex", "is \"XWR-1\", and does not match `regex`"))),
        ("regex: a", "5", Some(("TYPE", "regex", "must be a string, and is 5"))),
        ("type: number, regex: a", "5", None),
        ("", "[[]]", None),
    ] {
        let expected: Vec<String> = expected
            .map(|(code, key, said)| {
                format!("CONTRACT_ARGS_{code}_VIOLATION contracts.args.t.fields.f.{key}: argument `f` of `t` {said}")
            })
            .into_iter()
            .collect();
        assert_eq!(
            broken(&format!("{{fields: {{f: {{{rule}}}}}}}"), &format!(r#"{{"f": {value}}}"#)),
            expected,
            "{rule}: {value}"
        );
    }
}

#[test]
fn an_argument_that_is_absent_is_held_only_to_required_keys() {
    assert_eq!(broken("{fields: {f: {type: number}}}", r#"{"g": 1}"#), [] as [&str; 0]);
    assert_eq!(broken("{required_keys: [f]}", r#"{"f": null}"#), [] as [&str; 0]);
    assert_eq!(
        broken("{required_keys: [g, f]}", r#"{"g": 1}"#),
        ["CONTRACT_ARGS_REQUIRED_KEY_MISSING contracts.args.t.required_keys[1]: `t` is called without `f`"]
    );
}

#[test]
fn a_long_value_is_cut_short_in_the_message() {
    let said = broken("{fields: {f: {type: number}}}", &format!(r#"{{"f": "{}"}}"#, "é".repeat(500)));
    assert!(said[0].ends_with("é…"), "{said:?}");
    assert!(said[0].chars().count() < 200, "{said:?}");
}

#[test]
fn each_offending_call_is_told_and_positional_arguments_have_names() {
    let call = |input: &str| event("tool_called", Object::new().with("tool_name", "ns.t").with("input", json(input)));
    let events = vec![
        call(r#"{"args": [5, "x"], "kwargs": {"arg_0": "x"}}"#),
        call(r#"{"args": ["x"], "kwargs": {}}"#),
        call(r#"{"args": [1, 2, 3]}"#),
        call(r#""no mapping""#),
    ];
    let spec = spec(concat!(
        "contracts:\n",
        "  tools: {schema: {ns.t: {required_keys: [arg_9], fields: {arg_0: {type: number}}}}}\n",
        "  args: {ns.t: {required_keys: [arg_1]}}\n",
    ));
    let verdict = judge(&spec, None, &Trace { events });
    assert_eq!(
        told(&verdict),
        [
            "1 CONTRACT_ARGS_REQUIRED_KEY_MISSING contracts.args[\"ns.t\"].required_keys[0]: `ns.t` is called without `arg_1`",
            "1 CONTRACT_ARGS_TYPE_VIOLATION contracts.tools.schema[\"ns.t\"].fields.arg_0.type: argument `arg_0` of `ns.t` must be a number, and is \"x\"",
            "3 CONTRACT_ARGS_REQUIRED_KEY_MISSING contracts.args[\"ns.t\"].required_keys[0]: `ns.t` is called without `arg_1`",
        ]
    );
    for violation in &verdict.violations {
        assert!(violation.rule.as_deref().and_then(|rule| spec.locate(rule)).is_some(), "{violation:?}");
    }
}

#[test]
fn tools_that_write_are_known_by_the_words_of_their_names() {
    let deny = spec("contracts: {side_effects: {deny_write_tools: true}}");
    let allow = spec("contracts: {side_effects: {deny_write_tools: false}}");
    let candidate = run("db_write confirm_order deleteUser end");
    assert_eq!(
        told(&judge(&deny, None, &candidate)),
        [
            "0 CONTRACT_SIDE_EFFECT_WRITE_TOOL_DENIED contracts.side_effects.deny_write_tools: `db_write` is a tool that writes, by the word \"write\" in its name",
            "4 CONTRACT_SIDE_EFFECT_WRITE_TOOL_DENIED contracts.side_effects.deny_write_tools: `deleteUser` is a tool that writes, by the word \"delete\" in its name",
        ]
    );
    assert_eq!(told(&judge(&allow, None, &candidate)), [] as [&str; 0]);
    assert_eq!(deny.contracts.forbid_tool("db_write"), Some(Code::ContractSideEffectWriteToolDenied));
    assert_eq!(allow.contracts.forbid_tool("db_write"), None);
}

#[test]
fn budgets_are_broken_by_the_event_that_goes_over() {
    let answered = |tokens: &str| {
        let usage = Object::new().with("total_tokens", json(tokens));
        event("llm_returned", Object::new().with("usage", usage))
    };
    let end = |took: &str| event("run_finished", Object::new().with("returncode", 0).with("duration_ms", json(took)));
    for (budget, events, expected) in [
        ("max_tool_calls: 2", run("a b end").events, None),
        (
            "max_tool_calls: 1",
            run("a llm b c end").events,
            Some(
                "4 BUDGET_MAX_TOOL_CALLS_EXCEEDED budget_thresholds.max_tool_calls: 3 tool calls, and the budget is 1",
            ),
        ),
        ("max_tokens: 10", vec![answered("4"), answered("6")], None),
        (
            "max_tokens: 10",
            vec![answered("4"), answered("7"), answered("1")],
            Some("1 BUDGET_MAX_TOKENS_EXCEEDED budget_thresholds.max_tokens: 12 tokens, and the budget is 10"),
        ),
        ("max_tokens: 0", vec![answered("\"9\""), answered("1.5"), answered("true")], None),
        ("max_latency_ms: 50", vec![end("50.9")], None),
        ("max_latency_ms: 50", vec![end("99"), end("50")], None),
        ("max_latency_ms: 50", run("a").events, None),
        (
            "max_latency_ms: 50",
            vec![end("51")],
            Some(
                "0 BUDGET_MAX_LATENCY_EXCEEDED budget_thresholds.max_latency_ms: the run took 51 ms, and the budget is 50",
            ),
        ),
    ] {
        let verdict = judge(&spec(&format!("budget_thresholds: {{{budget}}}")), None, &Trace { events });
        assert_eq!(told(&verdict), expected.into_iter().collect::<Vec<_>>(), "{budget}");
    }
}

#[test]
fn the_protocol_hands_the_contracts_over() {
    let spec = spec(concat!(
        "contracts:\n",
        "  tools: {deny: [x], max_calls_per_tool: {a: 2}}\n",
        "  sequence: {require_before: [{before: a, after: b}]}\n",
        "  data_leak: {secret_patterns: ['sk_\\w+'], outbound_kinds: [TOOL_CALL]}\n",
    ));
    let expected = json(
        r#"{
            "data_leak": {"deny_pii_outbound": false, "outbound_kinds": ["TOOL_CALL"], "secret_patterns": ["sk_\\w+"]},
            "network": {"allow_domains": [], "allowlist": [], "default": "deny"},
            "sequence": {"at_most_once": [], "eventually": [], "forbid": [], "never": [], "require": [], "require_before": [["a", "b"]]},
            "side_effects": {"deny_write_tools": false},
            "tools": {"allow": [], "deny": ["x"], "max_calls_per_tool": {"a": 2}, "max_calls_total": null},
            "version": "v1"
        }"#,
    );
    assert_eq!(Json::from(spec.contracts.to_json()), expected);
}
