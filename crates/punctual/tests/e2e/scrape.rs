//! Metrics as a scraper reads them, and as the documentation lists them.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

use crate::process::Server;

const PAGE: &str = include_str!("../../../../docs/observability.md");

/// What `/metrics` says.
pub(crate) fn scrape(server: &Server) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.0\r\nhost: localhost\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 200 ") && head.contains("text/plain; version=0.0.4"), "{head}");
    body.to_owned()
}

/// The names and kinds of metrics that were served.
pub(crate) fn served(text: &str) -> BTreeMap<String, String> {
    let described = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let pair = |line: &str| {
        let (name, kind) = line.split_once(' ').unwrap();
        (name.to_owned(), kind.to_owned())
    };
    described.map(pair).collect()
}

/// The names and kinds of metrics that are documented, but for those of another store.
pub(crate) fn documented(not: &str) -> BTreeMap<String, String> {
    let (_, rest) = PAGE.split_once("| metric | kind |").unwrap();
    let rows = rest.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let (name, kind, meaning) = (cells[0].trim_matches('`'), cells[1], *cells.last().unwrap());
        let kind = kind.split(',').next().unwrap();
        (!meaning.starts_with(not)).then(|| (name.to_owned(), kind.to_owned()))
    };
    rows.filter_map(row).collect()
}
