//! As much HTTP/1.1 as a client of the API needs: one request after another on a connection, bodies with a length, plain
//! and event-stream responses.

use std::io::{self, BufWriter, Read, Write};
use std::net::TcpStream;

use super::wire::{Failure, Request};
use super::{model, wire};

const MAX_HEAD: usize = 64 << 10;
const MAX_BODY: usize = 16 << 20;

/// Serves one connection until its client closes it or sends what cannot be understood.
pub(super) fn serve(stream: &TcpStream) {
    // A client that has gone away needs no answer, and nobody else is concerned.
    let _ = serve_all(stream);
}

fn serve_all(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    while let Some(head) = read_head(stream, &mut buffer)? {
        let body = match head.body_length {
            Some(length) if length <= MAX_BODY => read_body(stream, &mut buffer, length)?,
            _ => {
                // The end of this body cannot be found, so the connection is of no further use.
                return respond(stream, &Failure::new(413, "the body needs a Content-Length of at most 16 MiB"));
            }
        };
        answer(stream, &head, &body)?;
    }
    Ok(())
}

struct Head {
    method: String,
    path: String,
    /// `None` for a body that comes without a length, or with one that is no number.
    body_length: Option<usize>,
}

/// Reads up to the blank line. `None` when the client closes the connection between two requests.
fn read_head(mut stream: &TcpStream, buffer: &mut Vec<u8>) -> io::Result<Option<Head>> {
    let mut chunk = [0; 4096];
    loop {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut headers);
        if let httparse::Status::Complete(length) = request.parse(buffer).map_err(io::Error::other)? {
            let head = Head {
                method: request.method.unwrap_or_default().to_owned(),
                path: request.path.unwrap_or_default().to_owned(),
                body_length: body_length(request.headers),
            };
            buffer.drain(..length);
            return Ok(Some(head));
        }
        if buffer.len() > MAX_HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        match stream.read(&mut chunk)? {
            0 => return Ok(None),
            read => buffer.extend_from_slice(&chunk[..read]),
        }
    }
}

fn body_length(headers: &[httparse::Header<'_>]) -> Option<usize> {
    let header = |name: &str| headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
    if header("transfer-encoding").is_some() {
        return None;
    }
    match header("content-length") {
        Some(length) => str::from_utf8(length.value).ok()?.trim().parse().ok(),
        None => Some(0),
    }
}

fn read_body(stream: &TcpStream, buffer: &mut Vec<u8>, length: usize) -> io::Result<Vec<u8>> {
    if buffer.len() < length {
        let missing = (length - buffer.len()) as u64;
        stream.take(missing).read_to_end(buffer)?;
    }
    if buffer.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let rest = buffer.split_off(length);
    Ok(std::mem::replace(buffer, rest))
}

fn answer(stream: &TcpStream, head: &Head, body: &[u8]) -> io::Result<()> {
    let path = head.path.split('?').next().unwrap_or_default();
    if path != "/v1/chat/completions" {
        return respond(stream, &Failure::new(404, &format!("there is nothing at {path}")));
    }
    if head.method != "POST" {
        return respond(stream, &Failure::new(405, &format!("{path} takes POST, not {}", head.method)));
    }
    match Request::parse(body) {
        Err(failure) => respond(stream, &failure),
        Ok(request) if request.stream => stream_events(stream, &wire::chunks(&request, &model::reply(&request))),
        Ok(request) => send(stream, "200 OK", &wire::completion(&request, &model::reply(&request)).to_string()),
    }
}

fn respond(stream: &TcpStream, failure: &Failure) -> io::Result<()> {
    send(stream, &failure.status_line(), &failure.body().to_string())
}

fn send(stream: &TcpStream, status: &str, body: &str) -> io::Result<()> {
    let mut out = BufWriter::new(stream);
    write!(out, "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len())?;
    out.write_all(body.as_bytes())?;
    out.flush()
}

/// Sends each event as a chunk of its own, so that a client sees the answer grow.
fn stream_events(stream: &TcpStream, events: &[String]) -> io::Result<()> {
    let mut out = BufWriter::new(stream);
    write!(out, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")?;
    for event in events {
        let frame = format!("data: {event}\n\n");
        write!(out, "{:x}\r\n{frame}\r\n", frame.len())?;
        out.flush()?;
    }
    write!(out, "0\r\n\r\n")?;
    out.flush()
}
