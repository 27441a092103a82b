//! What the server does with clients, before any model is called.

use std::net::{Ipv4Addr, TcpStream};

use trajectly_engine::json::Json;

use super::support::{Client, Heard, House, Recorder, json};
use crate::gateway::Gateway;
use crate::gateway::http::MAX_BODY;

#[test]
fn a_tool_hook_gets_its_answer_and_keeps_its_connection() {
    let recorder = Recorder::idle();
    let house = House::with(&recorder);
    let mut client = house.client();
    for n in 1..=3 {
        client.post(&house.path("/trajectly/tool"), &[], &format!("{{\"n\": {n}}}"));
        let reply = client.reply();
        assert_eq!(reply.status, 200);
        assert_eq!(reply.json(), json(&format!("{{\"heard\": {{\"n\": {n}}}}}")));
    }
    assert_eq!(recorder.heard().len(), 3);
    assert_eq!(house.url.tool(), format!("{}/trajectly/tool", house.url.base()));
    assert_eq!(house.url.openai(), format!("{}/openai/v1", house.url.base()));
}

#[test]
fn bodies_come_by_length_in_chunks_and_after_a_100_continue() {
    let recorder = Recorder::idle();
    let house = House::with(&recorder);
    let path = house.path("/trajectly/tool");
    let mut client = house.client();

    client.send(format!(
        "POST {path} HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n5;x=y\r\n{{\"n\":\r\n2\r\n1}}\r\n0\r\nt: v\r\n\r\n"
    ));
    assert_eq!(client.reply().json(), json(r#"{"heard": {"n": 1}}"#));

    client.send(format!("POST {path} HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 7\r\n\r\n"));
    assert_eq!(client.head().status, 100);
    client.send(r#"{"n":2}"#);
    assert_eq!(client.reply().json(), json(r#"{"heard": {"n": 2}}"#));

    // An empty line before a request is tolerated.
    client.send("\r\n");
    client.post(&path, &[], r#"{"n":3}"#);
    assert_eq!(client.reply().json(), json(r#"{"heard": {"n": 3}}"#));
}

#[test]
fn connections_end_when_the_client_says_so() {
    let house = House::with(&Recorder::idle());
    let path = house.path("/trajectly/tool");
    for (version, header, ends) in [
        ("1.1", "x: y", false),
        ("1.1", "connection: close", true),
        ("1.0", "x: y", true),
        ("1.0", "connection: keep-alive", false),
    ] {
        let mut client = house.client();
        let request = format!("POST {path} HTTP/{version}\r\n{header}\r\ncontent-length: 2\r\n\r\n{{}}");
        client.send(&request);
        let reply = client.reply();
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("connection"), ends.then_some("close"), "{header}");
        if ends {
            assert!(client.is_closed());
        } else {
            client.send(&request);
            assert_eq!(client.reply().status, 200);
        }
    }
}

#[test]
fn what_is_no_request_is_refused_and_the_connection_closed() {
    let house = House::with(&Recorder::idle());
    let path = house.path("/trajectly/tool");
    let too_long = MAX_BODY + 1;
    for (bytes, status, says) in [
        ("no http at all\r\n\r\n".to_owned(), 400, "not an HTTP/1.1 request"),
        (format!("POST {path} HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(70_000)), 431, "65536"),
        (format!("POST {path} HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(200)), 431, "128 headers"),
        (format!("POST {path} HTTP/1.1\r\ncontent-length: {too_long}\r\n\r\n"), 413, "67108864"),
        (
            format!("POST {path} HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: {too_long}\r\n\r\n"),
            413,
            "67108864",
        ),
        (format!("POST {path} HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n{too_long:x}\r\n"), 413, "67108864"),
        (format!("POST {path} HTTP/1.1\r\ncontent-length: +2\r\n\r\n"), 400, "Content-Length"),
        (format!("POST {path} HTTP/1.1\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n"), 400, "Content-Length"),
        (format!("POST {path} HTTP/1.1\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n"), 400, "both"),
        (format!("POST {path} HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n"), 501, "chunked"),
        (
            format!("POST {path} HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n"),
            400,
            "chunked encoding is broken",
        ),
    ] {
        let mut client = house.client();
        client.send(bytes);
        let reply = client.reply();
        let message = reply.error(status, "bad_request");
        assert!(message.contains(says), "{message}");
        assert_eq!(reply.header("connection"), Some("close"));
        assert!(client.is_closed());
    }
}

#[test]
fn a_body_too_large_is_refused_while_the_client_still_sends() {
    let house = House::with(&Recorder::idle());
    let mut client = house.client();
    let path = house.path("/trajectly/tool");
    client.send(format!("POST {path} HTTP/1.1\r\ncontent-length: {}\r\n\r\n", MAX_BODY + 1));
    for _ in 0..64 {
        client.send(vec![b' '; 64 * 1024]);
    }
    client.reply().error(413, "bad_request");
}

#[test]
fn wrong_addresses_are_answered_with_the_right_ones() {
    let house = House::with(&Recorder::idle());
    let tool = house.path("/trajectly/tool");
    let chat = house.path("/openai/v1/chat/completions");
    for (line, status, code, says) in [
        ("GET /".to_owned(), 404, "unknown_route", "POST /s/<token>/openai/v1/chat/completions"),
        ("GET /favicon.ico?key=secret".into(), 404, "unknown_route", "/favicon.ico;"),
        ("POST /s/0123/openai/v1/chat/completions".into(), 404, "unknown_session", "no session"),
        (
            format!("GET {}", house.path("/openai/v1/models")),
            404,
            "unknown_route",
            "GET /openai/v1/models is not recorded",
        ),
        (format!("POST {}", house.path("/openai/v1/embeddings")), 404, "unknown_route", "chat/completions"),
        (format!("POST {}", house.path("/anthropic/v1/messages")), 404, "unknown_route", "nothing is at /anthropic"),
        (format!("GET {chat}"), 405, "bad_request", "takes POST"),
        (format!("GET {tool}"), 405, "bad_request", "takes POST"),
    ] {
        let mut client = house.client();
        client.send(format!("{line} HTTP/1.1\r\ncontent-length: 2\r\n\r\n{{}}"));
        let message = client.reply().error(status, code);
        assert!(message.contains(says), "{line}: {message}");
        assert!(!message.contains("secret"), "{message}");
    }
}

#[test]
fn head_gets_no_body() {
    let house = House::with(&Recorder::idle());
    let mut client = house.client();
    client.send("HEAD / HTTP/1.1\r\n\r\n");
    let reply = client.head();
    assert_eq!(reply.status, 404);
    assert_ne!(reply.header("content-length"), Some("0"));
    // The next response starts right after that head.
    client.post(&house.path("/trajectly/tool"), &[], "{}");
    assert_eq!(client.reply().status, 200);
}

#[test]
fn bodies_that_are_no_json_object_are_refused_in_the_provider_s_shape() {
    let house = House::with(&Recorder::idle());
    for (body, header, status, says) in [
        (r#"{"model": "#, "x: y", 400, "not JSON"),
        ("", "x: y", 400, "not JSON"),
        ("[1]", "x: y", 400, "not a JSON object"),
        ("{}", "content-encoding: gzip", 415, "gzip"),
    ] {
        for route in ["/openai/v1/chat/completions", "/trajectly/tool"] {
            let mut client = house.client();
            client.post(&house.path(route), &[header], body);
            let message = client.reply().error(status, "bad_request");
            assert!(message.contains(says), "{message}");
        }
    }
}

#[test]
fn as_a_proxy_it_refuses_every_host_and_tells_the_session() {
    let recorder = Recorder::idle();
    let house = House::with(&recorder);
    let proxy = house.url.proxy();
    let credentials = proxy.strip_prefix("http://").unwrap().split('@').next().unwrap();
    let basic = format!("proxy-authorization: Basic {}", base64(credentials));

    for (line, host) in [
        ("CONNECT api.example.com:443", "api.example.com"),
        ("GET http://api.example.com/v1?key=secret", "api.example.com"),
        ("GET http://user:secret@api.example.com:8080", "api.example.com"),
        ("CONNECT [::1]:443", "[::1]"),
    ] {
        let mut client = house.client();
        client.send(format!("{line} HTTP/1.1\r\n{basic}\r\n\r\n"));
        let message = client.reply().error(403, "host_refused");
        assert!(message.contains(&format!("no way to {host},")), "{message}");
        assert!(!message.contains("secret"), "{message}");
        assert!(client.is_closed());
        assert_eq!(recorder.heard().last(), Some(&Heard::Refused(host.to_owned())));
    }

    // Clients show no more than this line of an answer to CONNECT.
    let mut client = house.client();
    client.send(format!("CONNECT api.example.com:443 HTTP/1.1\r\n{basic}\r\n\r\n"));
    assert_eq!(client.line(), "HTTP/1.1 403 Trajectly replay mode blocks network access");

    // Nobody can be told of a request that does not say whose it is; it is refused all the same.
    let before = recorder.heard().len();
    for header in ["x: y", "proxy-authorization: Basic !!", "proxy-authorization: Bearer dDp0"] {
        let mut client = house.client();
        client.send(format!("CONNECT api.example.com:443 HTTP/1.1\r\n{header}\r\n\r\n"));
        client.reply().error(403, "host_refused");
    }
    assert_eq!(recorder.heard().len(), before);
}

#[test]
fn a_client_that_proxies_even_loopback_still_reaches_its_session() {
    let house = House::with(&Recorder::idle());
    let mut client = house.client();
    client.post(&format!("{}/trajectly/tool", house.url.base()), &[], r#"{"n": 1}"#);
    assert_eq!(client.reply().json(), json(r#"{"heard": {"n": 1}}"#));
}

#[test]
fn sessions_share_a_port_and_nothing_else() {
    let gateway = Gateway::start().unwrap();
    let recorders = [Recorder::idle(), Recorder::idle()];
    let urls = recorders.each_ref().map(|recorder| gateway.open(recorder.clone()));
    assert_ne!(urls[0].base(), urls[1].base());
    for (n, url) in urls.iter().enumerate() {
        let mut client = Client::connect(gateway.port());
        client.post(&url.tool(), &[], &format!("{n}"));
        client.reply().error(400, "bad_request");
        client.post(&url.tool(), &[], &format!("{{\"n\":{n}}}"));
        assert_eq!(client.reply().status, 200);
    }
    for (n, recorder) in recorders.iter().enumerate() {
        assert_eq!(recorder.heard(), [Heard::Tool(json(&format!("{{\"n\":{n}}}")))]);
    }
}

#[test]
fn slow_and_broken_clients_block_nobody() {
    let recorder = Recorder::idle();
    let house = House::with(&recorder);
    let path = house.path("/trajectly/tool");
    let mut stalled: Vec<Client> = (0..20).map(|_| house.client()).collect();
    for (n, client) in stalled.iter_mut().enumerate() {
        let request = format!("POST {path} HTTP/1.1\r\ncontent-length: 9\r\n\r\n{{");
        client.send(&request.as_bytes()[..request.len() * n / 20]);
    }
    drop(stalled.split_off(10));
    let mut client = house.client();
    client.post(&path, &[], "{}");
    assert_eq!(client.reply().status, 200);
    assert_eq!(recorder.heard().len(), 1);
}

#[test]
fn a_closed_session_is_gone_and_its_connections_with_it() {
    let recorder = Recorder::idle();
    let House { gateway, url } = House::with(&recorder);
    let other = gateway.open(Recorder::idle());
    let path = url.tool();
    let mut idle = Client::connect(gateway.port());
    idle.post(&path, &[], "{}");
    assert_eq!(idle.reply().status, 200);
    let mut bystander = Client::connect(gateway.port());
    bystander.post(&other.tool(), &[], "{}");
    assert_eq!(bystander.reply().status, 200);

    url.close();
    assert!(idle.is_closed());
    let mut late = Client::connect(gateway.port());
    late.post(&path, &[], "{}");
    late.reply().error(404, "unknown_session");
    bystander.post(&other.tool(), &[], "{}");
    assert_eq!(bystander.reply().status, 200);
    assert_eq!(recorder.heard().len(), 1);
}

#[test]
fn a_gateway_takes_its_connections_down_with_it() {
    let House { gateway, url } = House::with(&Recorder::idle());
    let port = gateway.port();
    let mut client = Client::connect(port);
    client.post(&url.tool(), &[], "{}");
    assert_eq!(client.reply().status, 200);
    drop(gateway);
    assert!(client.is_closed());
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
    drop(url);
}

/// The other direction than the gateway's own.
fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in text.as_bytes().chunks(3) {
        let bits = (0..3).fold(0u32, |bits, n| bits << 8 | u32::from(three.get(n).copied().unwrap_or(0)));
        for n in 0..4 {
            out.push(if n <= three.len() { char::from(DIGITS[(bits >> (18 - 6 * n) & 63) as usize]) } else { '=' });
        }
    }
    out
}

#[test]
fn json_survives_the_hook_untouched() {
    let recorder = Recorder::idle();
    let house = House::with(&recorder);
    let body = r#"{"big":123456789012345678901234567890,"text":"é\u0000","deep":[[[null]]]}"#;
    let mut client = house.client();
    client.post(&house.path("/trajectly/tool"), &[], body);
    assert_eq!(client.reply().json().get("heard"), Some(&json(body)));
    assert_eq!(recorder.heard(), [Heard::Tool(Json::parse(body).unwrap())]);
}
