//! One who listens to the events of a server.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::process::{PATIENCE, Server};

/// One who listens.
pub(crate) struct Ear(BufReader<TcpStream>);

impl Ear {
    pub(crate) fn open(server: &Server, headers: &str) -> Self {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // A client of HTTP/1.0 gets its answer in one piece, however long.
        write!(stream, "GET /v1/events?type=task.* HTTP/1.0\r\nhost: localhost\r\n{headers}\r\n")
            .unwrap();
        let mut ear = Self(BufReader::new(stream));
        while ear.line().is_some_and(|line| line != ": open") {}
        ear
    }

    /// The next line; none: the stream has ended.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).unwrap();
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// The next event: its id, name and data; none: the stream has ended.
    pub(crate) fn next(&mut self) -> Option<(String, String, Value)> {
        let (mut id, mut kind) = (String::new(), String::new());
        loop {
            let line = self.line()?;
            match line.split_once(": ") {
                Some(("id", text)) => id = text.to_owned(),
                Some(("event", text)) => kind = text.to_owned(),
                Some(("data", text)) => {
                    return Some((id, kind, serde_json::from_str(text).unwrap()));
                }
                _ => {}
            }
        }
    }
}
