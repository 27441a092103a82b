//! From a request's target to whoever answers it.

use std::io;

use trajectly_engine::json::Json;

use super::http::{Request, Responder, Response};
use super::openai::{self, problem};
use super::{Shared, relay};
use crate::protocol::CALL_ROUTE;

/// What an agent is told that would go elsewhere. If it ends up in its stderr, the contract on the network sees it there.
const BLOCKED: &str = "Trajectly replay mode blocks network access";

/// Where a request wants to go.
enum Target<'a> {
    /// Somewhere else, with us as the proxy.
    Elsewhere {
        host: &'a str,
    },
    /// A path under a session.
    Session {
        token: &'a str,
        path: String,
        query: Option<&'a str>,
    },
    Nowhere,
}

impl<'a> Target<'a> {
    fn of(request: &'a Request, port: u16) -> Self {
        let target = request.target.as_str();
        if request.method == "CONNECT" {
            return Target::Elsewhere { host: host_of(target) };
        }
        let local = match target.split_once("://") {
            None => target,
            Some((_, rest)) => {
                let (authority, local) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
                // A client that has us as its proxy may send us even what is for us.
                let ours =
                    matches!(host_of(authority), "127.0.0.1" | "localhost") && authority.ends_with(&format!(":{port}"));
                if !ours {
                    return Target::Elsewhere { host: host_of(authority) };
                }
                local
            }
        };
        let (path, query) = match local.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (local, None),
        };
        // A base URL that ends in a slash makes clients write two.
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        match (parts.next(), parts.next()) {
            (Some("s"), Some(token)) => {
                Target::Session { token, path: parts.fold(String::new(), |path, part| path + "/" + part), query }
            }
            _ => Target::Nowhere,
        }
    }
}

/// The host of `user@host:port`.
fn host_of(authority: &str) -> &str {
    let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
    match place.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => place,
    }
}

/// Answers `request`. `Ok(true)`: the connection can serve another one.
pub(super) fn serve(shared: &Shared, connection: u64, request: &Request, responder: Responder<'_>) -> io::Result<bool> {
    let (token, path, query) = match Target::of(request, shared.port) {
        Target::Session { token, path, query } => (token, path, query),
        Target::Elsewhere { host } => {
            let session = proxy_token(request).and_then(|token| shared.session(&token, connection));
            if let Some(session) = session {
                session.with(|exchange| exchange.refused(host));
            }
            let message = format!("{BLOCKED}: no way to {host}, unless `contracts.network.allowlist` names it");
            let answer = problem(403, "host_refused", &message).because(BLOCKED);
            return responder.send_last(&answer).map(|()| false);
        }
        Target::Nowhere => {
            let message = format!("nothing is at {}; {ROUTES}", without_query(&request.target));
            return responder.send(&problem(404, "unknown_route", &message));
        }
    };
    let Some(session) = shared.session(token, connection) else {
        return responder.send(&no_session());
    };

    let provider = format!("/{}", openai::PROVIDER);
    let endpoint = path.strip_prefix(&provider).map(|rest| rest.strip_prefix("/v1").unwrap_or(rest));
    if endpoint == Some(openai::ENDPOINT) {
        if request.method != "POST" {
            return responder.send(&not_post(&path));
        }
        return match parse(request) {
            Ok(body) => relay::chat(&session, body, request, query, responder),
            Err(answer) => responder.send(&answer),
        };
    }
    if path == CALL_ROUTE {
        if request.method != "POST" {
            return responder.send(&not_post(&path));
        }
        let answer = match parse(request) {
            Ok(body) => match session.with(|exchange| exchange.tool(&body)) {
                Some(reply) => Response::new(200, "application/json", reply.to_compact()),
                None => no_session(),
            },
            Err(answer) => answer,
        };
        return responder.send(&answer);
    }
    let message = match endpoint {
        Some(_) => format!("{} {path} is not recorded; {ROUTES}", request.method),
        None => format!("nothing is at {path}; {ROUTES}"),
    };
    responder.send(&problem(404, "unknown_route", &message))
}

const ROUTES: &str = "the gateway serves POST /s/<token>/openai/v1/chat/completions (also without /v1) and POST /s/<token>/trajectly/tool";

pub(super) fn no_session() -> Response {
    problem(
        404,
        "unknown_session",
        "no session is open under this address: its test has ended, or the address is from another run",
    )
}

fn not_post(path: &str) -> Response {
    problem(405, "bad_request", &format!("{path} takes POST")).with("allow", "POST")
}

/// The request's body as a JSON object.
fn parse(request: &Request) -> Result<Json, Response> {
    let encoding = request.headers.get("content-encoding").unwrap_or("identity");
    if encoding != "identity" {
        let message = format!("a body in the encoding {encoding} cannot be recorded; send it plain");
        return Err(problem(415, "bad_request", &message));
    }
    match Json::parse_slice(&request.body) {
        Ok(body @ Json::Object(_)) => Ok(body),
        Ok(other) => Err(problem(400, "bad_request", &format!("the body is {}, not a JSON object", other.kind()))),
        Err(error) => Err(problem(400, "bad_request", &format!("the body is not JSON: {error}"))),
    }
}

/// The token that a client took from the proxy address of [`super::SessionUrl::proxy`].
fn proxy_token(request: &Request) -> Option<String> {
    let (scheme, credentials) = request.headers.get("proxy-authorization")?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = String::from_utf8(base64(credentials.trim())?).ok()?;
    pair.split_once(':').map(|(_, token)| token.to_owned())
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0u32, 0);
    for digit in text.trim_end_matches('=').bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    Some(bytes)
}

/// A query may hold a key.
fn without_query(target: &str) -> &str {
    target.split('?').next().unwrap_or_default()
}
