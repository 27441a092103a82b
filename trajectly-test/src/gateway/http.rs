//! HTTP/1.1 on a blocking socket: requests in, responses out, nothing more than a loopback server needs.
//!
//! Limits are generous for a model client and small enough that a broken one cannot fill the memory. Whatever is
//! wrong with a request becomes a [`Fault`] with the status that says so; an I/O error means that the client is gone.

use std::fmt::Display;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// Most bytes of a request line and its headers together.
const MAX_HEAD: u64 = 64 * 1024;
/// Most header lines of a request.
const MAX_HEADERS: usize = 128;
/// Most bytes of a request body, after the chunked encoding is taken off.
pub(super) const MAX_BODY: u64 = 64 * 1024 * 1024;
/// How long a client may pause inside a request, or leave a response unread.
const STALL: Duration = Duration::from_secs(60);
/// What is read, at most and for how long at a time, of a request that was answered before it was read to its end.
const LINGER_BYTES: u64 = MAX_BODY;
const LINGER_PAUSE: Duration = Duration::from_millis(500);

/// Why the next request could not be read.
pub(super) enum Fault {
    /// The connection is closed, broken, or was never used: there is nobody to answer.
    Gone,
    /// The request is not one we serve; answer with this status and message, then close.
    Bad(u16, String),
}

impl Fault {
    fn bad(status: u16, message: impl Into<String>) -> Self {
        Fault::Bad(status, message.into())
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                Fault::bad(408, format!("the request did not arrive within {} s", STALL.as_secs()))
            }
            _ => Fault::Gone,
        }
    }
}

/// Header lines in the order received: names in lower case, values as bytes.
///
/// There is no `Debug`: these hold keys and must not reach a log.
#[derive(Default)]
pub(super) struct Headers(Vec<(String, Vec<u8>)>);

impl Headers {
    /// The first value under a lower-case `name`, where it is text.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let value = self.all(name).next()?;
        std::str::from_utf8(value).ok()
    }

    fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.iter().filter(move |(n, _)| *n == name).map(|(_, value)| value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(n, v)| (n.as_str(), v.as_slice()))
    }

    pub(super) fn push(&mut self, name: &str, value: &[u8]) {
        self.0.push((name.to_ascii_lowercase(), value.to_vec()));
    }

    /// Whether a comma-separated header holds `token`, in any case.
    fn lists(&self, name: &str, token: &str) -> bool {
        self.all(name).any(|value| {
            value.split(|b| *b == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
        })
    }
}

/// Whether a header is about one connection and so never travels through us to the other side.
pub(super) fn is_hop_by_hop(name: &str) -> bool {
    name.starts_with("proxy-")
        || matches!(
            name,
            "connection"
                | "keep-alive"
                | "te"
                | "trailer"
                | "transfer-encoding"
                | "upgrade"
                | "content-length"
                | "expect"
                | "host"
        )
}

/// One request, read to the end of its body.
pub(super) struct Request {
    pub(super) method: String,
    /// As on the request line: `/path?query`, or for proxy use `http://host/…` or `host:port`.
    pub(super) target: String,
    pub(super) headers: Headers,
    pub(super) body: Vec<u8>,
    /// HTTP/1.0 clients get no chunked encoding.
    http_1_0: bool,
    close: bool,
}

/// A client's connection, between requests or inside one.
pub(super) struct Connection {
    reader: BufReader<TcpStream>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(STALL))?;
        Ok(Self { reader: BufReader::with_capacity(16 * 1024, stream) })
    }

    /// Waits, for as long as it takes, for the next request and reads it whole.
    pub(super) fn next_request(&mut self) -> Result<Request, Fault> {
        self.reader.get_ref().set_read_timeout(None)?;
        if self.reader.fill_buf()?.is_empty() {
            return Err(Fault::Gone);
        }
        self.reader.get_ref().set_read_timeout(Some(STALL))?;

        let head = self.read_head()?;
        let mut request = parse_head(&head)?;
        let length = body_length(&request.headers)?;
        if request.headers.lists("expect", "100-continue") && length != BodyLength::Known(0) {
            self.reader.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        request.body = match length {
            BodyLength::Known(length) => self.read_exactly(length)?,
            BodyLength::Chunked => self.read_chunked()?,
        };
        Ok(request)
    }

    /// Everything up to and with the empty line.
    fn read_head(&mut self) -> Result<Vec<u8>, Fault> {
        let mut head = Vec::new();
        loop {
            let start = head.len();
            let room = MAX_HEAD - start as u64;
            let read = (&mut self.reader).take(room).read_until(b'\n', &mut head)?;
            if !head.ends_with(b"\n") {
                return Err(if read as u64 == room {
                    Fault::bad(431, format!("the request's head exceeds {MAX_HEAD} bytes"))
                } else {
                    Fault::Gone
                });
            }
            if matches!(&head[start..], b"\r\n" | b"\n") {
                if start > 0 {
                    return Ok(head);
                }
                head.clear(); // an empty line before a request is allowed, and means nothing
            }
        }
    }

    fn read_exactly(&mut self, length: u64) -> Result<Vec<u8>, Fault> {
        let mut body = Vec::new();
        (&mut self.reader).take(length).read_to_end(&mut body)?;
        if (body.len() as u64) < length {
            return Err(Fault::Gone);
        }
        Ok(body)
    }

    fn read_chunked(&mut self) -> Result<Vec<u8>, Fault> {
        let broken = || Fault::bad(400, "the request's chunked encoding is broken");
        let mut body = Vec::new();
        loop {
            let line = self.read_line()?;
            let digits = line.split(';').next().unwrap_or_default().trim();
            if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(broken());
            }
            let size = u64::from_str_radix(digits, 16).map_err(|_| broken())?;
            if size == 0 {
                break;
            }
            if size > MAX_BODY - body.len() as u64 {
                return Err(too_large());
            }
            body.append(&mut self.read_exactly(size)?);
            if !self.read_line()?.is_empty() {
                return Err(broken());
            }
        }
        let mut trailers = 0;
        loop {
            let line = self.read_line()?;
            if line.is_empty() {
                return Ok(body);
            }
            trailers += line.len() as u64;
            if trailers > MAX_HEAD {
                return Err(Fault::bad(431, "the request's trailers are too long"));
            }
        }
    }

    /// One line of the chunked encoding, without its end.
    fn read_line(&mut self) -> Result<String, Fault> {
        const MAX_LINE: u64 = 4096;
        let mut line = Vec::new();
        (&mut self.reader).take(MAX_LINE).read_until(b'\n', &mut line)?;
        match line.strip_suffix(b"\n") {
            Some(text) => Ok(String::from_utf8_lossy(text.trim_ascii_end()).into_owned()),
            None if line.len() as u64 == MAX_LINE => Err(Fault::bad(400, "a line of the chunked encoding is too long")),
            None => Err(Fault::Gone),
        }
    }

    /// The way to answer `request`; a response must be sent before the next request is read.
    pub(super) fn responder(&mut self, request: &Request) -> Responder<'_> {
        Responder {
            stream: self.reader.get_mut(),
            head_only: request.method == "HEAD",
            chunked: !request.http_1_0,
            keep: !request.close,
        }
    }

    /// The way to answer what could not be read; the connection closes afterwards.
    pub(super) fn last_responder(&mut self) -> Responder<'_> {
        Responder { stream: self.reader.get_mut(), head_only: false, chunked: true, keep: false }
    }

    /// Closes so that a client still sending reads our answer first: a socket closed over unread input resets.
    pub(super) fn close_after_answer(mut self) {
        let stream = self.reader.get_ref();
        if stream.shutdown(Shutdown::Write).is_ok() && stream.set_read_timeout(Some(LINGER_PAUSE)).is_ok() {
            // Whatever comes now is dropped, so how it ends does not matter.
            let _ = io::copy(&mut (&mut self.reader).take(LINGER_BYTES), &mut io::sink());
        }
    }
}

fn parse_head(head: &[u8]) -> Result<Request, Fault> {
    let mut lines = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut lines);
    match parsed.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => {
            return Err(Fault::bad(400, "the request's head is incomplete"));
        }
        Err(httparse::Error::TooManyHeaders) => {
            return Err(Fault::bad(431, format!("more than {MAX_HEADERS} headers")));
        }
        Err(error) => return Err(Fault::bad(400, format!("not an HTTP/1.1 request: {error}"))),
    }
    let mut headers = Headers::default();
    for line in parsed.headers.iter() {
        headers.push(line.name, line.value);
    }
    let http_1_0 = parsed.version == Some(0);
    Ok(Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        target: parsed.path.unwrap_or_default().to_owned(),
        close: headers.lists("connection", "close") || http_1_0 && !headers.lists("connection", "keep-alive"),
        headers,
        body: Vec::new(),
        http_1_0,
    })
}

#[derive(PartialEq)]
enum BodyLength {
    Known(u64),
    Chunked,
}

/// How the body is delimited; whatever two readers could understand differently is refused.
fn body_length(headers: &Headers) -> Result<BodyLength, Fault> {
    let mut lengths = headers.all("content-length");
    let mut encodings = headers.all("transfer-encoding");
    match (lengths.next(), encodings.next()) {
        (None, None) => Ok(BodyLength::Known(0)),
        (None, Some(encoding)) => {
            if encodings.next().is_none() && encoding.eq_ignore_ascii_case(b"chunked") {
                Ok(BodyLength::Chunked)
            } else {
                Err(Fault::bad(501, "only the transfer encoding `chunked` is understood"))
            }
        }
        (Some(length), None) => {
            let bad = || Fault::bad(400, "Content-Length is not one number");
            let text = std::str::from_utf8(length).map_err(|_| bad())?;
            if lengths.any(|other| other != length) || text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
                return Err(bad());
            }
            match text.parse::<u64>() {
                Ok(length) if length <= MAX_BODY => Ok(BodyLength::Known(length)),
                _ => Err(too_large()),
            }
        }
        (Some(_), Some(_)) => Err(Fault::bad(400, "both Content-Length and Transfer-Encoding are given")),
    }
}

fn too_large() -> Fault {
    Fault::bad(413, format!("the request's body exceeds {MAX_BODY} bytes"))
}

/// A whole response: its status, the headers beyond the framing ones, its body.
pub(super) struct Response {
    pub(super) status: u16,
    /// What stands behind the status, if not the usual words.
    pub(super) reason: Option<&'static str>,
    pub(super) headers: Headers,
    pub(super) body: Vec<u8>,
}

impl Response {
    pub(super) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let mut headers = Headers::default();
        headers.push("content-type", content_type.as_bytes());
        Self { status, reason: None, headers, body: body.into() }
    }

    /// Puts a text behind the status: all that a client of a proxy says of an answer to CONNECT.
    pub(super) fn because(self, reason: &'static str) -> Self {
        Self { reason: Some(reason), ..self }
    }

    pub(super) fn with(mut self, name: &str, value: impl Display) -> Self {
        self.headers.push(name, value.to_string().as_bytes());
        self
    }
}

/// Answers one request: exactly one of its methods is called, once.
pub(super) struct Responder<'a> {
    stream: &'a mut TcpStream,
    head_only: bool,
    chunked: bool,
    keep: bool,
}

impl<'a> Responder<'a> {
    /// Sends a whole response. `true`: the connection can serve another request.
    pub(super) fn send(self, response: &Response) -> io::Result<bool> {
        let reason = response.reason.unwrap_or(usual_reason(response.status));
        let mut bytes = self.head(response.status, reason, &response.headers);
        bytes.extend_from_slice(format!("content-length: {}\r\n\r\n", response.body.len()).as_bytes());
        if !self.head_only {
            bytes.extend_from_slice(&response.body);
        }
        self.stream.write_all(&bytes)?;
        Ok(self.keep)
    }

    /// Sends a response after which the connection closes, whatever the client asked for.
    pub(super) fn send_last(mut self, response: &Response) -> io::Result<()> {
        self.keep = false;
        self.send(response).map(drop)
    }

    /// Sends the head of a response whose body follows piece by piece.
    pub(super) fn stream(mut self, status: u16, headers: &Headers) -> StreamedBody<'a> {
        self.keep &= self.chunked;
        let mut bytes = self.head(status, usual_reason(status), headers);
        let framing: &[u8] = if self.chunked { b"transfer-encoding: chunked\r\n\r\n" } else { b"\r\n" };
        bytes.extend_from_slice(framing);
        let connected = self.stream.write_all(&bytes).is_ok();
        StreamedBody { stream: self.stream, chunked: self.chunked, keep: self.keep, connected, queue: Vec::new() }
    }

    fn head(&self, status: u16, reason: &str, headers: &Headers) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {status} {reason}\r\n").into_bytes();
        for (name, value) in headers.iter() {
            for part in [name.as_bytes(), b": ", value, b"\r\n"] {
                head.extend_from_slice(part);
            }
        }
        if !self.keep {
            head.extend_from_slice(b"connection: close\r\n");
        }
        head
    }
}

/// A body on its way to the client. A client that has gone is no error: what it would have received is dropped.
pub(super) struct StreamedBody<'a> {
    stream: &'a mut TcpStream,
    chunked: bool,
    keep: bool,
    connected: bool,
    /// What is to be sent with the next flush.
    queue: Vec<u8>,
}

impl StreamedBody<'_> {
    /// Adds `bytes`, as a chunk of its own.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return; // an empty chunk would end the body
        }
        if self.chunked {
            self.queue.extend_from_slice(format!("{:x}\r\n", bytes.len()).as_bytes());
            self.queue.extend_from_slice(bytes);
            self.queue.extend_from_slice(b"\r\n");
        } else {
            self.queue.extend_from_slice(bytes);
        }
    }

    /// Sends what was added.
    pub(super) fn flush(&mut self) {
        self.connected = self.connected && self.stream.write_all(&self.queue).is_ok();
        self.queue.clear();
    }

    /// Sends what was added and ends the body well. `true`: the connection can serve another request.
    pub(super) fn finish(mut self) -> bool {
        if self.chunked {
            self.queue.extend_from_slice(b"0\r\n\r\n");
        }
        self.flush();
        self.connected && self.keep
    }

    /// Sends what was added and breaks the body off, as the upstream did: the client sees that more was to come.
    pub(super) fn cut(mut self) {
        self.flush();
        // The connection may be gone already, which is what is wanted.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

fn usual_reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        _ => "",
    }
}
