//! The agents against the scripted server, without Trajectly: real requests over loopback, real files written.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::CreateChatCompletionRequest;
use serde_json::{Value, json};
use trajectly_examples::search_buy::{Errand, WhenPending, buy, buy_with};
use trajectly_examples::support_triage::{Delivery, Priority, triage, triage_with};
use trajectly_examples::{AgentError, ToolError, chat, store, upstream};

fn client() -> Client<OpenAIConfig> {
    let base_url = upstream::start().expect("a port on loopback");
    chat::client(OpenAIConfig::new().with_api_base(base_url).with_api_key("scripted"))
}

fn errand(customer_id: &str, wish: &str, budget_cents: u64) -> Errand {
    Errand { customer_id: customer_id.into(), wish: wish.into(), budget_cents }
}

fn stored(path: &str) -> Option<Value> {
    let text = std::fs::read(store::state_dir().join(path)).ok()?;
    Some(serde_json::from_slice(&text).expect("a record is JSON"))
}

#[tokio::test]
async fn a_ticket_gets_the_priority_its_text_calls_for() {
    let client = client();
    for (ticket_id, priority) in [("T-1042", Priority::High), ("T-1043", Priority::Normal), ("T-1044", Priority::Low)] {
        let triage = triage(&client, ticket_id).await.expect(ticket_id);
        assert_eq!((triage.ticket_id.as_str(), triage.priority), (ticket_id, priority));
        let record = stored(&format!("triage/{ticket_id}.json"));
        assert_eq!(record, Some(serde_json::to_value(&triage).expect("a triage is JSON")));
    }
}

#[tokio::test]
async fn a_ticket_that_does_not_exist_is_never_shown_to_the_model() {
    let refused = chat::client(OpenAIConfig::new().with_api_base("http://127.0.0.1:9/v1"));
    let error = triage(&refused, "T-1").await.expect_err("there is no such ticket");
    assert!(matches!(error, AgentError::Tool(ToolError::Unknown { kind: "ticket", .. })), "{error}");
}

#[tokio::test]
async fn the_export_takes_the_address_out_of_the_house() {
    triage_with(&client(), "T-1042", Delivery::Export).await.expect("nothing stops it but a spec");
    let export = stored("export/T-1042.json").expect("the export is written");
    assert_eq!(export["contact"], "ada@example.com");
}

#[tokio::test]
async fn the_best_product_in_stock_is_bought_once() {
    let answer = buy(&client(), &errand("C-1", "wireless earbuds, the best rated", 8_000)).await.expect("an answer");
    assert_eq!(answer, "Ordered: C-1-1, for 74.00 in all.");
    let order = stored("orders/C-1-1.json").expect("the order is written");
    assert_eq!(order["lines"], json!([{ "sku": "EB-220", "quantity": 1, "price_cents": 7400 }]));
}

#[tokio::test]
async fn the_text_is_handed_on_as_it_arrives() {
    let mut pieces = Vec::new();
    let errand = errand("C-2", "a lamp", 5_000);
    let answer =
        buy_with(&client(), &errand, WhenPending::Ask, |piece| pieces.push(piece.to_owned())).await.expect("an answer");
    assert_eq!(pieces.concat(), answer);
    assert!(pieces.len() > 1, "{pieces:?}");
}

#[tokio::test]
async fn a_pending_payment_taken_for_lost_is_paid_twice() {
    let errand = errand("C-3", "wireless earbuds", 8_000);
    let answer = buy_with(&client(), &errand, WhenPending::Retry, |_| ()).await.expect("an answer");
    assert_eq!(answer, "Ordered: C-3-2, for 74.00 in all.");
    assert!(stored("orders/C-3-1.json").is_some());
}

#[tokio::test]
async fn what_cannot_be_had_is_said() {
    let client = client();
    let cases = [
        ("C-4", "a piano", 8_000, "There is nothing like it within the budget."),
        ("C-5", "wireless earbuds", 1_000, "There is nothing like it within the budget."),
        ("no number", "a lamp", 8_000, "Which customer is it for?"),
    ];
    for (customer_id, wish, budget_cents, answer) in cases {
        assert_eq!(buy(&client, &errand(customer_id, wish, budget_cents)).await.expect("an answer"), answer);
    }
}

#[tokio::test]
async fn a_streamed_turn_is_put_together_from_its_pieces() {
    let piece = |index: u32, id: Option<&str>, name: Option<&str>, arguments: &str| json!({ "tool_calls": [{ "index": index, "id": id, "function": { "name": name, "arguments": arguments } }] });
    let stop = (json!({}), Some("stop"));
    let cases = [
        (
            "text",
            vec![(json!({ "content": "Hel" }), None), (json!({ "content": "lo" }), None), stop.clone()],
            Ok(("Hello", vec![])),
        ),
        (
            "calls whose pieces alternate",
            vec![
                (piece(1, Some("call_b"), Some("g"), "{\"y\""), None),
                (piece(0, Some("call_a"), Some("f"), "{\"x\""), None),
                (piece(1, None, None, ":2}"), None),
                (piece(0, None, None, ":1}"), None),
                (json!({}), Some("tool_calls")),
            ],
            Ok(("", vec![("call_a", "f", "{\"x\":1}"), ("call_b", "g", "{\"y\":2}")])),
        ),
        ("a broken stream", vec![(json!({ "content": "Hel" }), None)], Err("ended before")),
        ("a refusal", vec![(json!({ "refusal": "I will not." }), None), stop], Err("I will not.")),
    ];
    for (case, deltas, expected) in cases {
        let client = chat::client(OpenAIConfig::new().with_api_base(answer_with(&deltas)).with_api_key("scripted"));
        let turn = chat::turn_streamed(&client, CreateChatCompletionRequest::default(), |_| ()).await;
        match (turn, expected) {
            (Ok(turn), Ok((text, calls))) => {
                assert_eq!(turn.text.unwrap_or_default(), text, "{case}");
                let got: Vec<_> = turn
                    .calls
                    .iter()
                    .map(|call| (call.id.as_str(), call.function.name.as_str(), call.function.arguments.as_str()))
                    .collect();
                assert_eq!(got, calls, "{case}");
            }
            (Err(error), Err(text)) => assert!(error.to_string().contains(text), "{case}: {error}"),
            (turn, _) => panic!("{case}: {turn:?}"),
        }
    }
}

#[test]
fn a_request_the_api_would_refuse_is_refused() {
    let user = json!({ "role": "user", "content": "hello" });
    let asks = json!({ "role": "assistant", "tool_calls": [{
        "id": "call_1", "type": "function", "function": { "name": "f", "arguments": "{}" },
    }] });
    let answers = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "{}" });
    let cases = [
        ("POST", "/v1/chat/completions", json!({ "model": "m", "messages": [user] }), 200),
        ("POST", "/v1/chat/completions", json!({ "model": "m", "messages": [user, asks, answers("call_1")] }), 200),
        ("POST", "/v1/chat/completions", json!({ "model": "m", "messages": [user, asks, user] }), 400),
        ("POST", "/v1/chat/completions", json!({ "model": "m", "messages": [user, asks] }), 400),
        ("POST", "/v1/chat/completions", json!({ "model": "m", "messages": [user, answers("call_1")] }), 400),
        ("POST", "/v1/chat/completions", json!({ "model": "m", "messages": [] }), 400),
        ("POST", "/v1/chat/completions", json!({ "messages": [user] }), 400),
        ("GET", "/v1/chat/completions", Value::Null, 405),
        ("POST", "/v1/embeddings", json!({}), 404),
    ];
    let base_url = upstream::start().expect("a port on loopback");
    let mut connection =
        TcpStream::connect(base_url.trim_start_matches("http://").trim_end_matches("/v1")).expect("up");
    for (method, path, body, status) in cases {
        let (got, body) = exchange(&mut connection, method, path, &body.to_string());
        assert_eq!(got, status, "{method} {path}: {body}");
        assert_eq!(body["error"]["message"].is_string(), status != 200, "{body}");
    }
}

#[test]
fn equal_requests_get_equal_answers() {
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "hello" }] }).to_string();
    let base_url = upstream::start().expect("a port on loopback");
    let mut connection =
        TcpStream::connect(base_url.trim_start_matches("http://").trim_end_matches("/v1")).expect("up");
    let first = exchange(&mut connection, "POST", "/v1/chat/completions", &body);
    let second = exchange(&mut connection, "POST", "/v1/chat/completions", &body);
    assert_eq!(first, second);
}

/// Sends one request on a connection that stays open, and reads its JSON response.
fn exchange(connection: &mut TcpStream, method: &str, path: &str, body: &str) -> (u16, Value) {
    let request = format!("{method} {path} HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    connection.write_all(request.as_bytes()).expect("sent");
    let (head, body) = read_message(connection);
    let status = head[9..12].parse().expect("a status");
    (status, serde_json::from_slice(&body).expect("JSON"))
}

/// Reads the head and the body of one request or response.
fn read_message(connection: &mut TcpStream) -> (String, Vec<u8>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        connection.read_exact(&mut byte).expect("a head");
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).expect("text").to_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()).expect("a length");
    let mut body = vec![0; length.parse().expect("a number")];
    connection.read_exact(&mut body).expect("a body");
    (head, body)
}

/// A server that answers one request with a stream of these deltas and finish reasons, and its base URL.
fn answer_with(deltas: &[(Value, Option<&str>)]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
    let base_url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let events: String = deltas
        .iter()
        .map(|(delta, finish_reason)| {
            let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish_reason });
            let chunk = json!({
                "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice],
            });
            format!("data: {chunk}\n\n")
        })
        .collect();
    thread::spawn(move || {
        let (mut connection, _) = listener.accept().expect("a client");
        read_message(&mut connection);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        connection.write_all(format!("{head}{events}data: [DONE]\n\n").as_bytes()).expect("sent");
    });
    base_url
}
