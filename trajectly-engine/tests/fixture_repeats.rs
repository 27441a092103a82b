//! Fixture files in which repeated history is stored once.

mod common;

use common::json;
use trajectly_engine::canonical::{Strip, hash};
use trajectly_engine::fixture::{CallKind, Fixture, Fixtures};
use trajectly_engine::json::Json;

fn entry(kind: CallKind, input: &str) -> Fixture {
    let input = json(input);
    let input_hash = hash(&input, Strip::Keep);
    let (output, inside, extra) = Default::default();
    Fixture { kind, name: "openai:m".to_owned(), input, input_hash, output, error: None, inside, extra }
}

fn model(input: &str) -> Fixture {
    entry(CallKind::Llm, input)
}

fn message(n: usize) -> String {
    format!(r#"{{"role":"user","content":"message {n} of a conversation"}}"#)
}

fn messages(numbers: &[usize]) -> String {
    let messages: Vec<_> = numbers.iter().map(|n| message(*n)).collect();
    format!("[{}]", messages.join(","))
}

/// The file's form of the inputs, each as compact text; what is read back is what was written.
#[track_caller]
fn stored(entries: Vec<Fixture>) -> Vec<String> {
    let fixtures = Fixtures { entries };
    let file = fixtures.to_pretty();
    assert_eq!(Fixtures::parse(&file, "f.json").as_ref(), Ok(&fixtures), "{file}");
    let file = json(&file);
    let entries = file.get("entries").and_then(Json::as_array).expect("a list");
    entries.iter().map(|entry| entry.get("input_payload").expect("an input").to_compact()).collect()
}

fn repeats(entry: usize, items: usize) -> String {
    format!(r#"{{"$repeats":{{"entry":{entry},"items":{items}}}}}"#)
}

#[test]
fn the_beginning_that_an_earlier_request_has_is_stored_once() {
    let with = |list: &str| format!(r#"{{"messages":{list}}}"#);
    let compact = |n: usize| json(&message(n)).to_compact();
    let stored = stored(vec![
        model(&with(&messages(&[1, 2]))),
        model(&with(&messages(&[1, 2, 3]))),
        model(&with(&messages(&[1, 2, 3, 4]))),
        model(&with(&messages(&[1, 9]))),
        model(&with(&messages(&[1, 2, 3]))),
        model(&with(&messages(&[2, 1]))),
    ]);
    assert_eq!(stored[0], with(&json(&messages(&[1, 2])).to_compact()));
    assert_eq!(stored[1], with(&format!("[{},{}]", repeats(0, 2), compact(3))));
    assert_eq!(stored[2], with(&format!("[{},{}]", repeats(1, 3), compact(4))));
    assert_eq!(stored[3], with(&format!("[{},{}]", repeats(0, 1), compact(9))));
    assert_eq!(stored[4], with(&format!("[{}]", repeats(1, 3))), "all of it");
    assert_eq!(stored[5], with(&json(&messages(&[2, 1])).to_compact()));
}

#[test]
fn only_lists_of_model_requests_that_are_worth_it_are_stored_so() {
    let tools = format!(r#"{{"stop":["END"],"tools":[{0}],"deep":{{"list":[{0}]}}}}"#, message(1));
    let whole = json(&tools).to_compact();
    let once = whole.replacen(&json(&format!("[{}]", message(1))).to_compact(), "LIST", 1);
    let folded = once.replace(&json(&format!("[{}]", message(1))).to_compact(), &format!("[{}]", repeats(0, 1)));
    let unfolded = json(&format!("[{}]", message(1))).to_compact();
    let expected = folded.replace("LIST", &unfolded);
    assert_eq!(stored(vec![model(&tools), model(&tools)]), [whole.clone(), expected]);
    let tool = || entry(CallKind::Tool, &tools);
    assert_eq!(stored(vec![tool(), tool(), model(&tools)]), [whole.clone(), whole.clone(), whole]);
    assert_eq!(stored(vec![model("[1,2]"), model("[1,2]"), model("7")]), ["[1,2]", "[1,2]", "7"]);
}

#[test]
fn data_that_looks_like_a_reference_stays_data() {
    let data =
        |key: &str| format!(r#"{{"input":[{{"{key}":{{"entry":0,"items":1,"note":"some words of a user"}}}}]}}"#);
    let plain = [data("$repeats"), data("$$repeats"), data("$$repeats"), data("repeats"), data("$")];
    let stored = stored(plain.iter().map(|input| model(input)).collect());
    let compact = |text: String| json(&text).to_compact();
    assert_eq!(stored[0], compact(data("$$repeats")));
    assert_eq!(stored[1], compact(data("$$$repeats")));
    assert_eq!(stored[2], format!(r#"{{"input":[{}]}}"#, repeats(1, 1)));
    assert_eq!(stored[3..], [compact(data("repeats")), compact(data("$"))]);
}

#[test]
fn a_hash_that_is_missing_is_that_of_the_whole_input() {
    let list = messages(&[1, 2]);
    let file = format!(
        r#"{{"entries":[{{"kind":"llm","name":"m","input_payload":{{"messages":{list}}}}},
        {{"kind":"llm","name":"m","input_payload":{{"messages":[{}]}}}}]}}"#,
        repeats(0, 2)
    );
    let fixtures = Fixtures::parse(&file, "f.json").unwrap();
    assert_eq!(fixtures.entries[0], fixtures.entries[1]);
}

#[test]
fn a_reference_to_nothing_is_refused_with_its_place() {
    let first = format!(r#"{{"kind":"llm","name":"m","input_payload":{{"messages":{}}}}}"#, messages(&[1, 2]));
    for (reference, says) in [
        (repeats(1, 1), "this repeats entries[1], which does not come before it"),
        (repeats(7, 1), "this repeats entries[7], which does not come before it"),
        (repeats(0, 3), "this repeats 3 elements of `messages` of entries[0], which has 2"),
        (repeats(0, 0), "`$repeats` needs `entry`, a whole number from 0, and `items`, one from 1"),
        (r#"{"$repeats":3}"#.to_owned(), "`$repeats` needs `entry`"),
        (r#"{"$repeats":{"entry":-1,"items":1}}"#.to_owned(), "`$repeats` needs `entry`"),
    ] {
        let file = format!(
            r#"{{"entries":[{first},{{"kind":"llm","name":"m","input_payload":{{"messages":[{reference}]}}}}]}}"#
        );
        let error = Fixtures::parse(&file, "f.json").unwrap_err();
        assert!(error.message.starts_with(says), "{error}");
        assert_eq!(error.path.as_deref(), Some("$.entries[1].input_payload.messages[0]"));
        assert!(error.help.is_some());
    }
    let tool = r#"{"kind":"tool","name":"t","input_payload":{"messages":[1]}}"#;
    let file = format!(
        r#"{{"entries":[{tool},{{"kind":"llm","name":"m","input_payload":{{"messages":[{}]}}}}]}}"#,
        repeats(0, 1)
    );
    let error = Fixtures::parse(&file, "f.json").unwrap_err();
    assert!(error.message.contains("entries[0], which is no model request"), "{error}");
}

#[test]
fn a_file_that_repeats_beyond_measure_is_refused() {
    let text = "x".repeat(1 << 20);
    let first = format!(r#"{{"kind":"llm","name":"m","input_payload":{{"messages":["{text}"]}}}}"#);
    let again = format!(r#"{{"kind":"llm","name":"m","input_payload":{{"messages":[{}]}}}}"#, repeats(0, 1));
    let file = format!(r#"{{"entries":[{first}{}]}}"#, format!(",{again}").repeat(300));
    let error = Fixtures::parse(&file, "f.json").unwrap_err();
    assert!(error.message.contains("more than 256 MiB"), "{error}");
}

#[test]
fn a_long_conversation_grows_with_its_length_alone() {
    let file = |turns: usize| {
        let numbers: Vec<usize> = (0..turns).collect();
        let request = |end: usize| model(&format!(r#"{{"messages":{}}}"#, messages(&numbers[..end])));
        Fixtures { entries: (1..=turns).map(request).collect() }.to_pretty().len()
    };
    assert!(file(200) < 2 * file(100) + 1000, "{} and {}", file(200), file(100));
}
