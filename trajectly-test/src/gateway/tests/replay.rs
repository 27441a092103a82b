//! Chat completions answered without an upstream: from fixtures, or not at all.

use super::support::{House, Recorder, json};
use crate::gateway::LlmDecision;

const ASK: &str = r#"{"model":"m","messages":[]}"#;
const ANSWER: &str = r#"{"id":"chatcmpl-1","choices":[{"index":0,"message":{"role":"assistant","content":"hi"}}]}"#;

#[test]
fn a_fixture_is_replayed_without_an_upstream() {
    let recorder = Recorder::replaying(&format!(r#"{{"response":{ANSWER},"usage":{{}},"error":null}}"#));
    let house = House::with(&recorder);
    let mut client = house.client();
    for _ in 0..3 {
        client.post(&house.path("/openai/v1/chat/completions"), &[], ASK);
        let reply = client.reply();
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
        assert_eq!(reply.json(), json(ANSWER));
    }
    assert_eq!(recorder.heard().len(), 3);
}

#[test]
fn a_failure_to_reach_the_upstream_replays_as_one() {
    let recorder = Recorder::replaying(r#"{"response":null,"error":"the upstream did not answer: no route"}"#);
    let message = House::with(&recorder).chat(ASK).error(502, "upstream_failed");
    assert_eq!(message, "the upstream did not answer: no route");
}

#[test]
fn a_miss_is_a_400_nobody_retries() {
    let recorder = Recorder::new(|_| LlmDecision::Refuse {
        code: "FIXTURE_MISSING",
        message: "nothing recorded fits;\n\"quoted\"".into(),
    });
    for body in [ASK, r#"{"model":"m","stream":true}"#] {
        let message = House::with(&recorder).chat(body).error(400, "FIXTURE_MISSING");
        assert_eq!(message, "nothing recorded fits;\n\"quoted\"");
    }
}

#[test]
fn a_fixture_that_never_was_a_stream_can_be_replayed_as_one() {
    let house = House::with(&Recorder::replaying(
        r#"{"response":{"choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],
            "usage":{"total_tokens":3}}}"#,
    ));
    for (ask, count) in [(r#"{"stream":true,"stream_options":{"include_usage":true}}"#, 4), (r#"{"stream":true}"#, 3)] {
        let reply = house.chat(ask);
        assert_eq!(reply.header("content-type"), Some("text/event-stream"));
        assert_eq!(reply.chunks.len(), count);
        assert_eq!(reply.chunks.last().map(String::as_str), Some("data: [DONE]\n\n"));
    }
}

#[test]
#[cfg(not(feature = "record"))]
fn a_build_that_only_replays_says_so_when_asked_to_record() {
    use super::support::Heard;
    use crate::gateway::CallId;

    let recorder = Recorder::forwarding("https://api.openai.com/v1".into(), None);
    let message = House::with(&recorder).chat(ASK).error(501, "record_not_built");
    assert!(message.contains("feature `record`"), "{message}");
    assert!(matches!(&recorder.heard()[..], [Heard::Called(_), Heard::Failed(CallId(7), m)] if *m == message));
}
