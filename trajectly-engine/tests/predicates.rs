//! What a trace says as a whole.

mod common;

use common::{event, json, run, spec, text, vectors};
use trajectly_engine::abstraction::Predicates;
use trajectly_engine::json::{Json, JsonPath, Object};
use trajectly_engine::trace::{Event, Trace};

fn call(tool: &str, input: impl Into<Json>) -> Event {
    event("tool_called", Object::new().with("tool_name", tool).with("input", input))
}

/// The predicates of these events as reports write them, by these keys of `abstraction`.
fn predicates(keys: &str, events: Vec<Event>) -> Json {
    let spec = spec(&format!("abstraction: {{{keys}}}"));
    Json::from(Predicates::of(&Trace { events }, &spec.abstraction).to_json())
}

#[test]
fn calls_are_counted_by_name() {
    let found = Predicates::of(&run("search llm create_refund search Refund_check end"), &spec("").abstraction);
    let expected = r#"{
        "tool_calls_total": 4, "tool_calls_by_name": {"Refund_check": 1, "create_refund": 1, "search": 2},
        "refund_count": 2, "domains": [], "pii": {"email": false, "phone": false}, "price": [], "max_numeric_value": null
    }"#;
    assert_eq!(Json::from(found.to_json()), json(expected));
}

#[test]
fn domains_and_personal_data_agree_with_the_vectors() {
    for case in vectors("functions/pii-domains.jsonl") {
        let found = predicates("", vec![call("send", text(&case, "text"))]);
        // Where the Python tool gives up, it is enough not to.
        if let Some(domains) = case.at("/extract_domains/ok") {
            assert_eq!(found.get("domains"), Some(domains), "{case}");
        }
        // Python counts these as part of a word, the patterns here do not.
        if !text(&case, "text").contains(['²', '½']) {
            assert_eq!(
                (found.at("/pii/email"), found.at("/pii/phone")),
                (case.get("email"), case.get("phone")),
                "{case}"
            );
        }
    }
}

#[test]
fn values_deep_inside_agree_with_the_vectors() {
    for case in vectors("functions/pii-nested.jsonl").into_iter().skip(1) {
        let value = case.get("value").cloned().unwrap_or_else(|| panic!("{case}"));
        let found = predicates("", vec![call("send", value)]);
        let numbers = case.get("numbers").and_then(Json::as_array).expect("a list");
        let numbers = numbers.iter().filter_map(|number| number.as_number()?.as_f64());
        let greatest = found.get("max_numeric_value").and_then(Json::as_number).and_then(|number| number.as_f64());
        assert_eq!(greatest, numbers.reduce(f64::max), "{case}");
        if !case.to_string().contains(['²', '½']) {
            assert_eq!(
                (found.at("/pii/email"), found.at("/pii/phone")),
                (case.get("email"), case.get("phone")),
                "{case}"
            );
        }
    }
}

#[test]
fn only_what_the_agent_sent_and_received_counts() {
    let end = |members: Object| event("run_finished", members.with("returncode", 9).with("duration_ms", 5000));
    let started = event("run_started", Object::new().with("spec_path", "https://start.test").with("port", 80));
    let tails = Object::new().with("stderr_tail", "https://tail.test a@b.co");
    let quiet = vec![started, call("a", Object::new().with("timestamp", 99).with("flag", true)), end(tails)];
    let found = predicates("", quiet);
    assert_eq!(found.get("max_numeric_value"), Some(&Json::Null));
    assert_eq!(found.get("domains"), Some(&json("[]")));
    assert_eq!(found.at("/pii/email"), Some(&Json::from(false)));

    let answered =
        predicates("", vec![end(Object::new().with("output", json(r#"["see http://A.test/x", -7, 1e2, 99.5]"#)))]);
    assert_eq!(answered.get("max_numeric_value"), Some(&json("1e2")));
    assert_eq!(answered.get("domains"), Some(&json(r#"["a.test"]"#)));
}

#[test]
fn prices_are_the_numbers_at_the_paths_of_the_spec() {
    let keys = r#"price: {paths: ["$.output.items[*].price", '$.input.kwargs["unit price"]', "$.output.total"]}"#;
    let output =
        json(r#"{"items": [{"price": 3}, {"name": "x"}, {"price": "4.50"}, {"price": "free"}], "total": 7.5}"#);
    let events = vec![
        call("buy", json(r#"{"kwargs": {"unit price": 2}}"#)),
        event("tool_returned", Object::new().with("tool_name", "buy").with("output", output)),
    ];
    let expected = r#"[
        {"event_index": 0, "path": "$.input.kwargs[\"unit price\"]", "value": 2},
        {"event_index": 1, "path": "$.output.items[0].price", "value": 3},
        {"event_index": 1, "path": "$.output.items[2].price", "value": "4.50"},
        {"event_index": 1, "path": "$.output.total", "value": 7.5}
    ]"#;
    assert_eq!(predicates(keys, events.clone()).get("price"), Some(&json(expected)));
    assert_eq!(predicates("", events).get("price"), Some(&json("[]")));
}

#[test]
fn a_path_reads_back_to_itself() {
    for text in ["$.a", "$.a.b-c_d[0][*].é", r#"$["a b"][*]"#, r#"$["]\"\\"]"#, "$[*]"] {
        assert_eq!(text.parse().map(|path: JsonPath| path.to_string()), Ok(text.to_owned()));
    }
    for text in ["", "$", "a", ".a", "$.", "$a", "$..a", "$[", "$[-1]", "$[+1]", "$[a]", "$.a b", r#"$["a]"#, "$[*"] {
        assert!(text.parse::<JsonPath>().is_err(), "{text}");
    }
}
