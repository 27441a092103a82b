//! As much HTTP/1.1 as a scripted provider needs: one request a connection.

use std::io::{self, Read as _};
use std::net::TcpStream;

/// A request as it arrived. `None` for a connection on which none came.
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

pub(crate) fn receive(mut stream: &TcpStream) -> io::Result<Option<Received>> {
    let mut buffer = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut headers);
        if let httparse::Status::Complete(head) = request.parse(&buffer).map_err(io::Error::other)? {
            let headers: Vec<(String, String)> = request
                .headers
                .iter()
                .map(|header| (header.name.to_lowercase(), String::from_utf8_lossy(header.value).into_owned()))
                .collect();
            let length = headers.iter().find(|(name, _)| name == "content-length");
            let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
            let method = request.method.unwrap_or_default().to_owned();
            let path = request.path.unwrap_or_default().to_owned();
            let mut body = buffer.split_off(head);
            while body.len() < length {
                match stream.read(&mut chunk)? {
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    n => body.extend_from_slice(&chunk[..n]),
                }
            }
            return Ok(Some(Received { method, path, headers, body }));
        }
        match stream.read(&mut chunk)? {
            0 => return Ok(None),
            n => buffer.extend_from_slice(&chunk[..n]),
        }
    }
}
