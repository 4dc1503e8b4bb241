//! HTTP to the letter: requests that no client would send, and answers as they come.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::process::PATIENCE;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// Reads one from a connection that ends after it.
    pub(crate) fn read(mut stream: impl Read) -> Self {
        let mut bytes = Vec::new();
        // A connection that breaks after the answer has answered.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no answer: {text:?}"));
        Self { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    /// The code of a problem.
    pub(crate) fn code(&self) -> Option<String> {
        let problem: serde_json::Value = serde_json::from_str(&self.body).ok()?;
        Some(problem["code"].as_str()?.to_owned())
    }
}

/// A connection to a server at `127.0.0.1:port`.
pub(crate) fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// The head of a request on a connection that ends after it.
pub(crate) fn head(method: &str, path: &str, more: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{more}\r\n")
}

/// Sends a request with a body and reads the answer.
pub(crate) fn send(address: &str, method: &str, path: &str, body: &[u8]) -> Answer {
    let mut stream = connect(address);
    let head = head(method, path, &format!("Content-Length: {}\r\n", body.len()));
    stream.write_all(head.as_bytes()).unwrap();
    // The server may refuse the rest of a body before it has it.
    let _ = stream.write_all(body);
    Answer::read(stream)
}

/// The status that `/readyz` answers.
pub(crate) fn readiness(address: &str) -> u16 {
    send(address, "GET", "/readyz", b"").status
}
