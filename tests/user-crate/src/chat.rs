use std::fmt;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

/// The model did not answer, or not with a text.
#[derive(Debug)]
pub struct ChatError(String);

impl fmt::Display for ChatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ChatError {}

/// Asks a model one question. `base_url` is that of an OpenAI-compatible API on plain HTTP.
pub fn chat(base_url: &str, prompt: &str) -> Result<String, ChatError> {
    let request = json!({
        "model": "gpt-4o-mini",
        "messages": [{ "role": "system", "content": "Be brief." }, { "role": "user", "content": prompt }],
    });
    let (status, body) = post(base_url, &request).map_err(|error| ChatError(format!("no answer: {error}")))?;
    let body: Value = serde_json::from_str(&body).map_err(|_| ChatError(format!("HTTP {status}: {body}")))?;
    match body["choices"][0]["message"]["content"].as_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(ChatError(format!("HTTP {status}: {}", body["error"]["message"]))),
    }
}

fn post(base_url: &str, body: &Value) -> std::io::Result<(String, String)> {
    let place = base_url.strip_prefix("http://").unwrap_or(base_url);
    let (host, path) = place.split_once('/').unwrap_or((place, ""));
    let body = body.to_string();
    let mut stream = TcpStream::connect(host)?;
    write!(
        stream,
        "POST /{path}/chat/completions HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
         authorization: Bearer sent-by-the-client\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap_or_default();
    Ok((status.to_owned(), body.to_owned()))
}
