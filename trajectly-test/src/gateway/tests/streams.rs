//! Streams through the gateway: teed while they flow, recorded whole, replayed as they came.

use std::sync::mpsc;

use trajectly_engine::json::Json;

use super::support::{Client, Heard, House, Recorder, Reply, json, object};
use super::upstream::{Step, Upstream};
use crate::gateway::{CallId, LlmDecision, LlmReturn};

const ASK: &str = r#"{"model":"m","stream":true,"stream_options":{"include_usage":true}}"#;
const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nx-request-id: r\r\ntransfer-encoding: chunked\r\n\r\n";

fn chunk(bytes: &str) -> String {
    format!("{:x}\r\n{bytes}\r\n", bytes.len())
}

fn event(delta: &str, finish: &str) -> String {
    format!(
        "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
    )
}

fn usual() -> Vec<String> {
    vec![
        event(r#"{"role":"assistant","content":""}"#, "null"),
        event(r#"{"content":"Hé"}"#, "null"),
        event(r#"{"content":"llo"}"#, "null"),
        event("{}", "\"stop\""),
        "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\n".into(),
        "data: [DONE]\n\n".into(),
    ]
}

/// An upstream's script: a head, each event as a chunk, an orderly end.
fn script(events: &[String]) -> Vec<Step> {
    let mut script = vec![Step::Send(HEAD.to_owned())];
    script.extend(events.iter().map(|event| Step::Send(chunk(event))));
    script.push(Step::Send("0\r\n\r\n".into()));
    script
}

/// Records what `script` answers; gives what the client got and what the exchange heard.
fn record(script: Vec<Step>) -> (Reply, LlmReturn) {
    let upstream = Upstream::start(vec![script]);
    let recorder = Recorder::forwarding(upstream.base.clone(), None);
    let reply = House::with(&recorder).chat(ASK);
    (reply, recorder.returned())
}

/// The fixture's output that a tape makes of an answer.
fn replaying(answer: &LlmReturn) -> House {
    let output = object("{}")
        .with("response", answer.response.clone())
        .with("error", answer.error.clone())
        .with("status", u64::from(answer.status))
        .with("stream", answer.stream.clone());
    House::with(&Recorder::new(move |_| LlmDecision::Replay { output: output.clone() }))
}

/// The data of every event, as values where they are JSON.
fn data(text: &str) -> Vec<Json> {
    let data = text.split_terminator("\n\n").map(|event| event.strip_prefix("data: ").unwrap());
    data.map(|data| Json::parse(data).unwrap_or_else(|_| data.into())).collect()
}

#[test]
fn a_stream_is_recorded_whole_and_replayed_as_it_came() {
    let (live, answer) = record(script(&usual()));
    assert_eq!((live.status, live.complete), (200, true));
    assert_eq!(live.text(), usual().concat());
    assert_eq!(live.header("content-type"), Some("text/event-stream; charset=utf-8"));
    assert_eq!(live.header("x-request-id"), Some("r"));

    assert_eq!(answer.response.at("/choices/0/message/content"), Some(&"Héllo".into()));
    assert_eq!(answer.response.get("object"), Some(&"chat.completion".into()));
    assert_eq!((answer.stop_reason.as_deref(), answer.error.as_deref()), (Some("stop"), None));
    assert_eq!(answer.usage.get("total_tokens"), Some(&3.into()));

    let house = replaying(&answer);
    let mut client = house.client();
    for _ in 0..2 {
        client.post(&house.path("/openai/v1/chat/completions"), &[], ASK);
        let replayed = client.reply();
        assert_eq!((replayed.status, replayed.complete), (200, true));
        assert_eq!(replayed.header("content-type"), Some("text/event-stream"));
        assert_eq!(data(replayed.text()), data(live.text()));
        assert_eq!(replayed.chunks.len(), usual().len(), "an event a chunk");
    }

    // Clients of HTTP/1.0 know no chunks; the end of the connection is the end of the body.
    let mut client = house.client();
    let path = house.path("/openai/v1/chat/completions");
    client.send(format!("POST {path} HTTP/1.0\r\ncontent-length: {}\r\n\r\n{ASK}", ASK.len()));
    let replayed = client.reply();
    assert_eq!(replayed.header("transfer-encoding"), None);
    assert_eq!(data(replayed.text()), data(live.text()));

    // And who does not ask for a stream gets a body.
    assert_eq!(house.chat(r#"{"model":"m"}"#).json(), answer.response);
}

#[test]
fn chunks_reach_the_client_while_the_upstream_is_still_at_it() {
    let (open, gate) = mpsc::channel();
    let events = usual();
    let mut script = vec![Step::Send(HEAD.to_owned())];
    let mut gate = Some(gate);
    for (n, event) in events.iter().enumerate() {
        // An event in two pieces is two chunks.
        let (a, b) = event.split_at(event.len() / 3);
        script.push(Step::Send(chunk(a)));
        script.push(Step::Send(chunk(b)));
        if n == 1 {
            script.extend(gate.take().map(Step::Await));
        }
    }
    script.push(Step::Send("0\r\n\r\n".into()));
    let upstream = Upstream::start(vec![script]);
    let recorder = Recorder::forwarding(upstream.base.clone(), None);
    let house = House::with(&recorder);
    let mut client = house.client();
    client.post(&house.path("/openai/v1/chat/completions"), &[], ASK);
    assert_eq!(client.head().status, 200);

    let mut text = String::new();
    while text.len() < events[0].len() + events[1].len() {
        text += &client.chunk().unwrap();
    }
    assert_eq!(recorder.heard().len(), 1, "not answered yet");
    open.send(()).unwrap();
    // The answer is recorded before the client can see that it is complete.
    while !text.ends_with("[DONE]\n\n") {
        text += &client.chunk().unwrap();
    }
    assert!(matches!(recorder.heard()[..], [_, Heard::Returned(..)]));
    assert_eq!(text, events.concat());
}

#[test]
fn a_client_that_hangs_up_does_not_spoil_the_recording() {
    let (open, gate) = mpsc::channel();
    let events = usual();
    let mut script = vec![Step::Send(HEAD.to_owned()), Step::Send(chunk(&events[0])), Step::Await(gate)];
    script.extend(events[1..].iter().map(|event| Step::Send(chunk(event))));
    script.push(Step::Send("0\r\n\r\n".into()));
    let upstream = Upstream::start(vec![script]);
    let recorder = Recorder::forwarding(upstream.base.clone(), None);
    let house = House::with(&recorder);
    let mut client = house.client();
    client.post(&house.path("/openai/v1/chat/completions"), &[], ASK);
    client.head();
    client.chunk().unwrap();
    drop(client);
    // The session ends as soon as the agent does, and still waits for the answer.
    let closing = std::thread::spawn(move || house.url.close());
    open.send(()).unwrap();
    closing.join().unwrap();
    match recorder.heard().as_slice() {
        [Heard::Called(_), Heard::Returned(_, answer)] => {
            assert_eq!(answer.response.at("/choices/0/message/content"), Some(&"Héllo".into()));
            assert_eq!(answer.error, None);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stream_that_breaks_off_does_so_for_the_client_and_in_replay() {
    let mut broken = script(&usual()[..2]);
    broken.pop();
    broken.push(Step::Send("20\r\ndata: {\"half".into()));
    let (live, answer) = record(broken);
    assert!(!live.complete);
    assert!(live.text().starts_with(&usual()[..2].concat()));
    let error = answer.error.clone().unwrap();
    assert!(error.starts_with("the stream broke off: "), "{error}");
    assert_eq!(answer.response.at("/choices/0/message/content"), Some(&"Hé".into()));
    assert_eq!(answer.stop_reason, None);

    let replayed = replaying(&answer).chat(ASK);
    assert!(!replayed.complete);
    assert_eq!(data(replayed.text()), data(&usual()[..2].concat()));
}

#[test]
fn a_stream_that_ends_too_early_is_an_error_though_the_client_may_not_see_one() {
    let (live, answer) = record(script(&usual()[..3]));
    assert!(live.complete);
    assert!(answer.error.unwrap().contains("without a finish reason"));

    let failed = "data: {\"error\":{\"message\":\"overloaded\"}}\n\n".to_owned();
    let (_, answer) = record(script(&[usual()[0].clone(), failed]));
    assert_eq!(answer.error.as_deref(), Some("overloaded"));

    // Not every provider marks the end.
    let (_, answer) = record(script(&usual()[..5]));
    assert_eq!(answer.error, None);
    assert_eq!(answer.stream.as_ref().unwrap().get("end"), Some(&"eof".into()));
    let replayed = replaying(&answer).chat(ASK);
    assert_eq!(data(replayed.text()), data(&usual()[..5].concat()));
}

#[test]
fn streams_come_without_chunked_encoding_too() {
    let body = usual().concat();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream\r\n";
    for script in [
        vec![Step::Send(format!("{head}content-length: {}\r\n\r\n{body}", body.len()))],
        vec![Step::Send(format!("{head}connection: close\r\n\r\n{body}"))],
    ] {
        let (live, answer) = record(script);
        assert_eq!((live.text(), live.complete), (body.as_str(), true));
        assert_eq!(answer.error, None);
    }
}

#[test]
fn who_asks_for_a_stream_and_gets_a_body_gets_one_in_replay() {
    let body = r#"{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}"#;
    for status in [200, 429] {
        let answer_with = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let (live, answer) = record(vec![Step::Send(answer_with)]);
        assert_eq!((live.status, live.text()), (status, body));
        let replayed = replaying(&answer).chat(ASK);
        assert_eq!((replayed.status, replayed.json()), (status, json(body)));
        assert_eq!(replayed.header("content-type"), Some("application/json"));
    }
}

#[test]
fn streams_of_one_session_flow_side_by_side() {
    let (open, gate) = mpsc::channel();
    let mut first = script(&usual());
    first.insert(2, Step::Await(gate));
    let upstreams = [Upstream::start(vec![first]), Upstream::start(vec![script(&usual())])];
    let bases = upstreams.each_ref().map(|upstream| upstream.base.clone());
    let recorder = Recorder::new(move |call| {
        let n = u64::from(call.model == "second");
        LlmDecision::Forward { id: CallId(n), upstream: bases[usize::try_from(n).unwrap()].clone(), key: None }
    });
    let house = House::with(&recorder);
    let mut waiting: Client = house.client();
    waiting.post(&house.path("/openai/v1/chat/completions"), &[], ASK);
    waiting.head();
    waiting.chunk().unwrap();
    let reply = house.chat(r#"{"model":"second","stream":true}"#);
    assert_eq!(reply.text(), usual().concat());
    open.send(()).unwrap();
    assert!(waiting.rest().ends_with("[DONE]\n\n"));
    assert_eq!(recorder.wait_for(4).len(), 4);
}
