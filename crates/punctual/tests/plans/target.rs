//! A target of deliveries that shows whole requests and answers by hand.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use crate::process::PATIENCE;

pub(crate) struct Target {
    pub(crate) url: String,
    requests: Receiver<Request>,
}

/// A request that waits for its answer.
pub(crate) struct Request {
    head: String,
    pub(crate) body: Value,
    stream: TcpStream,
}

impl Target {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if sender.send(Request::read(stream.unwrap())).is_err() {
                    return;
                }
            }
        });
        Self { url, requests }
    }

    pub(crate) fn next(&self) -> Request {
        self.requests.recv_timeout(PATIENCE).expect("a request comes")
    }
}

impl Request {
    fn read(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let (mut head, mut line) = (String::new(), String::new());
        while reader.read_line(&mut line).is_ok() && !line.trim().is_empty() {
            head.push_str(&line);
            line.clear();
        }
        let length = value(&head, "content-length").map_or(0, |text| text.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let body = serde_json::from_slice(&body).unwrap_or_default();
        Self { head, body, stream: reader.into_inner() }
    }

    /// The value of a header.
    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> &str {
        value(&self.head, name).unwrap_or_else(|| panic!("no {name} in {}", self.head))
    }

    pub(crate) fn answer(mut self) {
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        self.stream.write_all(head.as_bytes()).unwrap();
    }
}

fn value<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = head.lines().filter_map(|line| line.split_once(": "));
    fields.find_map(|(key, value)| key.eq_ignore_ascii_case(name).then(|| value.trim()))
}
