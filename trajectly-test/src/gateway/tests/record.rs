//! Chat completions answered in one body by a live upstream.

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use trajectly_engine::json::Json;

use super::support::{Heard, House, Recorder, json, object};
use super::upstream::{Step, Upstream};
use crate::gateway::types::Answered;
use crate::gateway::{CallId, LlmDecision, Requested};

const ASK: &str = r#"{"model":"gpt-4o-mini","messages":[
    {"role":"user","content":"weather?"},
    {"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"w","arguments":"{}"}}]},
    {"role":"tool","tool_call_id":"call_1","content":"sunny"},
    {"role":"tool","tool_call_id":"call_2","content":[{"type":"text","text":"cold"}]},
    {"role":"tool","content":"nobody's"}]}"#;

const ANSWER: &str = r#"{"id":"chatcmpl-1","object":"chat.completion","model":"gpt-4o-mini-2024",
    "choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[
        {"id":"call_3","type":"function","function":{"name":"book","arguments":"{\"city\": \"Oslo\", \"n\": 2}"}},
        {"id":"call_4","type":"function","function":{"name":"odd","arguments":"{not json"}},
        {"id":"call_5","type":"function","function":{"name":"none","arguments":""}},
        {"id":"call_6","type":"custom","custom":{"name":"sh","input":"42"}}]}}],
    "usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":1}}}"#;

#[test]
fn a_call_is_recorded_on_its_way_to_the_upstream_and_back() {
    let upstream = Upstream::answering(&[(200, ANSWER)]);
    let recorder = Recorder::forwarding(upstream.base.clone() + "/?own=1", Some("sk-live"));
    let house = House::with(&recorder);
    let mut client = house.client();
    client.post(
        &house.path("/openai/v1/chat/completions?api-version=1&x=%20"),
        &[
            "Authorization: Bearer sk-dummy",
            "Accept-Encoding: gzip",
            "OpenAI-Organization: org",
            "Proxy-Authorization: Basic abcd",
            "Content-Type: application/json",
        ],
        ASK,
    );
    let reply = client.reply();

    // The client gets the upstream's bytes, under its headers.
    assert_eq!((reply.status, reply.text()), (200, ANSWER));
    assert_eq!(reply.header("x-request-id"), Some("req_1"));
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.header("set-cookie"), None);

    // The upstream gets the client's bytes, under the key of the one who records.
    let request = upstream.request();
    let (head, body) = request.split_once("\n\n").unwrap();
    let head = head.to_ascii_lowercase();
    assert_eq!(body, ASK);
    assert!(head.starts_with("post /v1/chat/completions?own=1&api-version=1&x=%20 http/1.1\n"), "{head}");
    for line in [
        "authorization: bearer sk-live",
        "accept-encoding: identity",
        "openai-organization: org",
        "content-type: application/json",
    ] {
        assert_eq!(head.lines().filter(|l| *l == line).count(), 1, "{line}\n{head}");
    }
    for absent in ["sk-dummy", "gzip", "proxy-authorization"] {
        assert!(!head.contains(absent), "{absent}\n{head}");
    }

    // The exchange hears the call, then the answer, each read.
    let Some(Heard::Called(call)) = recorder.heard().into_iter().next() else { panic!("not called") };
    assert_eq!((call.provider, call.model.as_str()), ("openai", "gpt-4o-mini"));
    assert_eq!(call.request, json(ASK));
    assert_eq!(
        call.answered,
        [
            Answered { id: "call_1".into(), content: "sunny".into() },
            Answered { id: "call_2".into(), content: json(r#"[{"type":"text","text":"cold"}]"#) },
        ]
    );
    let answer = recorder.returned();
    assert_eq!(answer.response, json(ANSWER));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.error, None);
    assert_eq!(answer.stream, None);
    assert_eq!(answer.stop_reason.as_deref(), Some("tool_calls"));
    assert_eq!(answer.usage.get("total_tokens"), Some(&13.into()));
    assert_eq!(answer.usage.len(), 4);
    let requested = |id: &str, name: &str, arguments: Json| Requested { id: id.into(), name: name.into(), arguments };
    assert_eq!(
        answer.requested,
        [
            requested("call_3", "book", json(r#"{"city": "Oslo", "n": 2}"#)),
            requested("call_4", "odd", "{not json".into()),
            requested("call_5", "none", json("{}")),
            requested("call_6", "sh", "42".into()),
        ]
    );
}

#[test]
fn without_a_key_of_its_own_the_client_s_is_passed_on() {
    let upstream = Upstream::answering(&[(200, "{}")]);
    let recorder = Recorder::forwarding(upstream.base.clone(), None);
    let house = House::with(&recorder);
    let mut client = house.client();
    client.post(&house.path("//openai/chat/completions"), &["authorization: Bearer sk-mine"], r#"{"model":7}"#);
    assert_eq!(client.reply().status, 200);
    let request = upstream.request().to_ascii_lowercase();
    assert!(request.contains("\nauthorization: bearer sk-mine\n"), "{request}");
    let Heard::Called(call) = &recorder.heard()[0] else { panic!() };
    assert_eq!((call.model.as_str(), call.answered.len()), ("", 0));
    let answer = recorder.returned();
    assert_eq!((answer.response, answer.usage.len(), answer.stop_reason), (json("{}"), 0, None));
}

#[test]
fn an_upstream_s_refusal_is_passed_on_recorded_and_replayed() {
    let quota = r#"{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#;
    for (status, body, error, response) in [
        (429, quota, "HTTP 429: slow down", json(quota)),
        (500, r#"{"error":"broken"}"#, "HTTP 500: broken", json(r#"{"error":"broken"}"#)),
        (503, "<h1>Sorry</h1>", "HTTP 503: <h1>Sorry</h1>", "<h1>Sorry</h1>".into()),
        (418, "{}", "HTTP 418", json("{}")),
        (200, quota, "slow down", json(quota)),
    ] {
        let upstream = Upstream::answering(&[(status, body)]);
        let recorder = Recorder::forwarding(upstream.base.clone(), None);
        let reply = House::with(&recorder).chat(ASK);
        assert_eq!((reply.status, reply.text()), (status, body));
        assert_eq!(reply.header("x-should-retry"), None);
        let answer = recorder.returned();
        assert_eq!((answer.status, answer.error.as_deref()), (status, Some(error)));
        assert_eq!(answer.response, response);

        let output =
            object("{}").with("response", answer.response).with("error", error).with("status", u64::from(status));
        let replayed = Recorder::new(move |_| LlmDecision::Replay { output: output.clone() });
        let reply = House::with(&replayed).chat(ASK);
        assert_eq!(reply.status, status);
        assert_eq!(reply.header("x-should-retry"), None);
        match &response {
            Json::String(page) => assert_eq!(reply.text(), page),
            _ => assert_eq!(reply.json(), response),
        }
    }
}

#[test]
fn an_upstream_that_cannot_answer_is_a_502_nobody_retries() {
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().to_string()
    };
    let scripted = |head: &str| Upstream::start(vec![vec![Step::Send(head.to_owned())]]).base;
    for (upstream, says) in [
        (format!("http://name:secret@{closed}/v1?key=secret"), format!("http://{closed}/v1 did not answer")),
        ("not a url".into(), "no URL".into()),
        ("api.example.com/v1?key=secret".into(), "api.example.com/v1 did not answer: its address is no URL".into()),
        (scripted(""), "did not answer".into()),
        (scripted("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"), "broke off".into()),
        (
            scripted("HTTP/1.1 307 Over There\r\nlocation: http://elsewhere/v2\r\ncontent-length: 0\r\n\r\n"),
            "redirects to http://elsewhere/v2".into(),
        ),
        (scripted("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}"), "encoding gzip".into()),
    ] {
        let recorder = Recorder::forwarding(upstream, None);
        let message = House::with(&recorder).chat(ASK).error(502, "upstream_failed");
        assert!(message.contains(&says), "{message}");
        assert!(!message.contains("secret"), "{message}");
        match recorder.heard().as_slice() {
            [Heard::Called(_), Heard::Failed(CallId(7), reported)] => {
                assert_eq!(*reported, message)
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_key_that_cannot_be_sent_is_not_shown_either() {
    let upstream = Upstream::answering(&[(200, "{}")]);
    let recorder = Recorder::forwarding(upstream.base.clone(), Some("sk-secret\n"));
    let message = House::with(&recorder).chat(ASK).error(502, "upstream_failed");
    assert!(message.contains("authorization"), "{message}");
    assert!(!message.contains("secret"), "{message}");
}

#[test]
fn what_is_not_answered_when_a_session_ends_is_reported_as_failed() {
    // An exchange whose upstream accepts connections and never answers.
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let upstream = format!("http://{}/v1", silent.local_addr().unwrap());
    let recorder =
        Recorder::new(move |_| LlmDecision::Forward { id: CallId(1), upstream: upstream.clone(), key: None });
    let house = House::with(&recorder);
    let mut client = house.client();
    client.post(&house.path("/openai/chat/completions"), &[], r#"{"model":"m"}"#);
    let (asked, _) = silent.accept().unwrap();
    house.url.end(Duration::ZERO);
    match recorder.heard().as_slice() {
        [Heard::Called(call), Heard::Failed(CallId(1), message)] => {
            assert_eq!(call.model, "m");
            assert!(message.contains("session ended"), "{message}");
        }
        other => panic!("{other:?}"),
    }
    assert!(client.is_closed());
    drop(asked);
    assert_eq!(recorder.heard().len(), 2);
}
