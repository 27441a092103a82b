//! A server that speaks OpenAI's chat completions over loopback HTTP and answers from a script, so that the agents can be
//! recorded without a key and tried without a bill.
//!
//! The script reads the conversation as a model would: the last user message, the tools on offer, the results so far. The
//! same request always gets the same bytes. Requests are checked the way the real API checks them; an agent that forgets
//! to answer a call learns it here.

mod http;
mod model;
mod wire;

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::thread;

/// Starts the server on a free port and returns its base URL, such as `http://127.0.0.1:40123/v1`. It runs until the
/// process ends.
///
/// # Errors
///
/// When no port can be had, or no thread.
pub fn start() -> io::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let base_url = format!("http://{}/v1", listener.local_addr()?);
    thread::Builder::new().name("scripted-openai".into()).spawn(move || accept(&listener))?;
    Ok(base_url)
}

/// Serves until the process ends. A connection that breaks concerns its client alone.
fn accept(listener: &TcpListener) {
    for stream in listener.incoming().flatten() {
        // Without a thread the connection is dropped, which its client sees.
        let _ = thread::Builder::new().name("scripted-openai-connection".into()).spawn(move || http::serve(&stream));
    }
}
