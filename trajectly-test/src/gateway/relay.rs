//! One chat completion: recorded from the upstream, replayed from a fixture, or refused.

use std::io::{self, Read};

use trajectly_engine::json::{Json, Object};

use super::http::{Headers, MAX_BODY, Request, Responder, Response, is_hop_by_hop};
use super::openai::{self, Streaming, problem};
use super::route::no_session;
use super::session::Session;
use super::types::{CallId, LlmDecision};
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
            forward(session, id, &upstream, call, responder)
        }
        Some(LlmDecision::Replay { output }) => replay(&output, streaming, responder),
        Some(LlmDecision::Refuse { code, message }) => responder.send(&problem(400, code, &message)),
        None => responder.send(&no_session()),
    }
}

fn join(base: &str, query: Option<&str>) -> String {
    let base = base.trim_end_matches('/');
    let endpoint = openai::ENDPOINT;
    match query {
        Some(query) => format!("{base}{endpoint}?{query}"),
        None => format!("{base}{endpoint}"),
    }
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
    session.llm_returned(id, openai::returned(answer.status, openai::body(&body)));
    responder.send(&Response { status: answer.status, headers: homeward(&answer.headers), body })
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
fn replay(output: &Object, _streaming: Streaming, responder: Responder<'_>) -> io::Result<bool> {
    let response = output.get("response").unwrap_or(&Json::Null);
    let status = output.get("status").and_then(Json::as_u64).and_then(|status| u16::try_from(status).ok());
    responder.send(&match (response, status) {
        // The upstream gave no answer when this was recorded, and the client was told as much.
        (Json::Null, _) => {
            let message = output.str("error").unwrap_or("the upstream did not answer");
            problem(502, "upstream_failed", message)
        }
        (Json::String(page), status) => {
            Response::new(status.unwrap_or(200), "text/plain; charset=utf-8", page.as_str())
        }
        (body, status) => Response::new(status.unwrap_or(200), "application/json", body.to_compact()),
    })
}
