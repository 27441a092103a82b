//! One chat completion: recorded from the upstream, replayed from a fixture, or refused.

use std::io::{self, Read};

use trajectly_engine::json::{Json, Object};

use super::assemble::assemble;
use super::http::{Headers, MAX_BODY, Request, Responder, Response, is_hop_by_hop};
use super::layout;
use super::openai::{self, Streaming, problem};
use super::route::no_session;
use super::session::Session;
use super::stream::{DONE, End, Event, Parser};
use super::types::{CallId, LlmDecision, LlmReturn};
use super::upstream::{self, Failure};

/// Answers the request whose body is `body`. `Ok(true)`: the connection can serve another one.
pub(super) fn chat(
    session: &Session,
    body: Json,
    request: &Request,
    query: Option<&str>,
    responder: Responder<'_>,
) -> io::Result<bool> {
    let streaming = Streaming::of(&body);
    match session.llm_called(openai::call(body)) {
        Some(LlmDecision::Forward { id, upstream, key }) => {
            let call = upstream::Call {
                url: join(&upstream, query),
                headers: onward(&request.headers, key.as_deref()),
                body: &request.body,
            };
            forward(session, id, &upstream, call, streaming, responder)
        }
        Some(LlmDecision::Replay { output }) => replay(&output, streaming, responder),
        Some(LlmDecision::Refuse { code, message }) => responder.send(&problem(400, code, &message)),
        None => responder.send(&no_session()),
    }
}

/// The endpoint under a base URL, which may have a query of its own.
fn join(base: &str, query: Option<&str>) -> String {
    let (base, own) = base.split_once('?').map_or((base, None), |(base, own)| (base, Some(own)));
    let mut url = format!("{}{}", base.trim_end_matches('/'), openai::ENDPOINT);
    for (mark, query) in ['?', '&'].into_iter().zip(own.into_iter().chain(query)) {
        url.push(mark);
        url.push_str(query);
    }
    url
}

/// The request's headers as the upstream gets them.
fn onward(received: &Headers, key: Option<&str>) -> Headers {
    let mut headers = Headers::default();
    for (name, value) in received.iter() {
        let ours = name == "accept-encoding" || key.is_some() && name == "authorization";
        if !ours && !is_hop_by_hop(name) {
            headers.push(name, value);
        }
    }
    if let Some(key) = key {
        headers.push("authorization", format!("Bearer {key}").as_bytes());
    }
    // What is to be recorded must come plain.
    headers.push("accept-encoding", b"identity");
    headers
}

/// The response's headers as the client gets them.
fn homeward(received: &Headers) -> Headers {
    let mut headers = Headers::default();
    for (name, value) in received.iter() {
        // These speak of the upstream's own origin.
        let foreign = matches!(name, "set-cookie" | "alt-svc" | "strict-transport-security" | "content-encoding");
        if !foreign && !is_hop_by_hop(name) {
            headers.push(name, value);
        }
    }
    headers
}

fn forward(
    session: &Session,
    id: CallId,
    base: &str,
    call: upstream::Call<'_>,
    streaming: Streaming,
    responder: Responder<'_>,
) -> io::Result<bool> {
    let failed = |message: String| {
        session.upstream_failed(id, message.clone());
        problem(502, "upstream_failed", &message)
    };
    let answer = match upstream::send(call) {
        Ok(answer) => answer,
        Err(Failure::NotBuilt) => {
            let message = "recording asks a live provider, which needs the cargo feature `record` of trajectly-test; \
                           switch it on to record, or replay what is recorded";
            session.upstream_failed(id, message.into());
            return responder.send(&problem(501, "record_not_built", message));
        }
        Err(Failure::Unreachable(why)) => {
            let message = format!("the upstream {} did not answer: {why}", shown(base));
            return responder.send(&failed(message));
        }
    };

    let fine = (200..300).contains(&answer.status);
    if fine && is_event_stream(&answer.headers) {
        return Ok(tee(session, id, answer, responder));
    }

    let mut body = Vec::new();
    let read = answer.body.take(MAX_BODY + 1).read_to_end(&mut body);
    let trouble = match read {
        Err(error) => Some(error.to_string()),
        Ok(_) if body.len() as u64 > MAX_BODY => Some(format!("more than {MAX_BODY} bytes")),
        Ok(_) => None,
    };
    if let Some(why) = trouble {
        let message = format!("the upstream {} broke off its answer: {why}", shown(base));
        return responder.send(&failed(message));
    }
    let stream = (fine && streaming.wanted).then(layout::plain);
    session.llm_returned(id, LlmReturn { stream, ..openai::read_response(answer.status, &openai::body(&body)) });
    responder.send(&Response { status: answer.status, reason: None, headers: homeward(&answer.headers), body })
}

fn is_event_stream(headers: &Headers) -> bool {
    headers
        .get("content-type")
        .and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
}

/// Passes a stream on as it arrives and records it, to its end also when the client has gone. `true`: the connection
/// can serve another request.
///
/// The exchange hears of the answer before the client can see its end, so that whatever the client does next comes
/// after it.
fn tee(session: &Session, id: CallId, answer: upstream::Answer, responder: Responder<'_>) -> bool {
    let mut client = responder.stream(answer.status, &homeward(&answer.headers));
    let mut upstream = answer.body.take(MAX_BODY + 1);
    let mut parser = Some(Parser::default());
    let report = |parser: Option<Parser>, trouble: Option<String>| {
        if let Some(parser) = parser {
            session.llm_returned(id, streamed(answer.status, parser, trouble));
        }
    };
    let mut piece = vec![0; 16 * 1024];
    loop {
        let trouble = match upstream.read(&mut piece) {
            Ok(0) if upstream.limit() == 0 => Some(format!("more than {MAX_BODY} bytes")),
            Ok(0) => None,
            Ok(length) => {
                let bytes = &piece[..length];
                if let Some(unfinished) = &mut parser {
                    unfinished.feed(bytes);
                    if unfinished.is_done() {
                        report(parser.take(), None);
                    }
                }
                client.push(bytes);
                client.flush();
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Some(error.to_string()),
        };
        let broken = trouble.is_some();
        report(parser.take(), trouble);
        if broken {
            client.cut();
            return false;
        }
        return client.finish();
    }
}

/// What a stream amounts to; `trouble` is why it broke off.
fn streamed(status: u16, parser: Parser, trouble: Option<String>) -> LlmReturn {
    let (events, end) = parser.finish(if trouble.is_some() { End::Cut } else { End::Eof });
    let response = assemble(&events);
    let stream = layout::of(&events, &response, end);
    let mut answer = openai::read_response(status, &response);
    if let Some(why) = trouble.filter(|_| end == End::Cut) {
        answer.error = Some(format!("the stream broke off: {why}"));
    } else if end == End::Eof && answer.stop_reason.is_none() && answer.error.is_none() {
        answer.error = Some("the stream ended in mid-answer, without a finish reason".into());
    }
    LlmReturn { stream: Some(stream), ..answer }
}

/// A base URL without what may be secret in one.
fn shown(base: &str) -> String {
    let plain = base.split(['?', '#']).next().unwrap_or_default();
    match plain.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find('/').unwrap_or(rest.len());
            let start = rest[..end].rfind('@').map_or(0, |at| at + 1);
            format!("{scheme}://{}", &rest[start..])
        }
        None => plain.to_owned(),
    }
}

/// Answers from a fixture's output.
fn replay(output: &Object, streaming: Streaming, responder: Responder<'_>) -> io::Result<bool> {
    let response = output.get("response").unwrap_or(&Json::Null);
    let status = output.get("status").and_then(Json::as_u64).and_then(|status| u16::try_from(status).ok());
    let status = status.unwrap_or(200);
    let layout = output.get("stream").filter(|layout| !layout.is_null());

    let plain = !(200..300).contains(&status) || layout.is_some_and(layout::is_plain);
    if streaming.wanted && !plain && matches!(response, Json::Object(_)) {
        let stream = layout::replay(response, layout, streaming.usage);
        let head = Response::new(status, "text/event-stream", "");
        let mut client = responder.stream(status, &head.headers);
        for event in &stream.events {
            client.push(event.wire().as_bytes());
        }
        if stream.end == End::Done {
            client.push(Event::unnamed(DONE).wire().as_bytes());
        }
        if stream.end == End::Cut {
            client.cut();
            return Ok(false);
        }
        return Ok(client.finish());
    }
    responder.send(&match response {
        // The upstream gave no answer when this was recorded, and the client was told as much.
        Json::Null => problem(502, "upstream_failed", output.str("error").unwrap_or("the upstream did not answer")),
        Json::String(page) => Response::new(status, "text/plain; charset=utf-8", page.as_str()),
        body => Response::new(status, "application/json", body.to_compact()),
    })
}
