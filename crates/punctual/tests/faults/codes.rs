//! Every row of the table of errors, caused on the real server: status, code and what comes with them.

use std::io::Write;
use std::net::TcpStream;
use std::process::Stdio;

use punctual_testing::eventually;
use serde_json::Value;

use crate::process::{Server, punctual};
use crate::raw::{self, Answer};

const READER: &str = "reader-0123456789";
const TASKS: &str = "/v1/queues/q/tasks";

/// The table, with what comes besides the problem.
const TABLE: [(u16, &str, &str); 12] = [
    (400, "bad_json", ""),
    (401, "unauthorized", "www-authenticate: bearer"),
    (403, "forbidden", ""),
    (404, "not_found", ""),
    (405, "method_not_allowed", "allow: "),
    (409, "duplicate", ""),
    (409, "stale_token", ""),
    (409, "wrong_state", ""),
    (413, "too_large", ""),
    (422, "invalid", ""),
    (429, "queue_full", ""),
    (503, "unavailable", "retry-after: "),
];

fn call(server: &Server, request: &str, headers: &str, body: &str) -> Answer {
    let (method, path) = request.split_once(' ').unwrap();
    let mut stream = raw::connect(server.address());
    let length = format!("Content-Length: {}\r\n{headers}", body.len());
    stream.write_all(raw::head(method, path, &length).as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    Answer::read(stream)
}

/// Bodies that have come but for their end: 235 MiB, of 256 of which 16 are kept for settling tasks.
fn unfinished_bodies(server: &Server) -> Vec<TcpStream> {
    const BODY: usize = 47 << 20;
    let bodies = (0..5).map(|_| {
        let mut stream = raw::connect(server.address());
        let head = raw::head("POST", TASKS, &format!("Content-Length: {}\r\n", BODY + 1));
        stream.write_all(head.as_bytes()).unwrap();
        let block = [b' '; 1 << 20];
        (0..47).for_each(|_| stream.write_all(&block).unwrap());
        stream
    });
    bodies.collect()
}

/// A row of the table, caused.
fn cause(code: &str, open: &Server, closed: &Server) -> Answer {
    let reader = format!("Authorization: Bearer {READER}\r\n");
    match code {
        "bad_json" => call(open, &format!("POST {TASKS}"), "", "{"),
        "unauthorized" => call(closed, "GET /v1/queues", "", ""),
        "forbidden" => call(closed, &format!("POST {TASKS}"), &reader, "{}"),
        "not_found" => call(open, "GET /v1/queues/none", "", ""),
        "method_not_allowed" => call(open, "PATCH /v1/queues", "", ""),
        "duplicate" => {
            call(open, &format!("POST {TASKS}"), "", r#"{"id":"twice"}"#);
            call(open, &format!("POST {TASKS}"), "", r#"{"id":"twice"}"#)
        }
        "stale_token" => {
            call(open, "POST /v1/queues/q/take", "", "{}");
            call(open, &format!("POST {TASKS}/twice/commit"), "", r#"{"token":"old"}"#)
        }
        "wrong_state" => call(open, &format!("POST {TASKS}/twice/resume"), "", ""),
        "too_large" => {
            let payload = "x".repeat(1 << 20);
            call(open, &format!("POST {TASKS}"), "", &format!(r#"{{"payload":"{payload}"}}"#))
        }
        "invalid" => call(open, &format!("POST {TASKS}"), "", r#"{"priority":101}"#),
        "queue_full" => {
            call(open, "PUT /v1/queues/full", "", r#"{"max":1}"#);
            call(open, "POST /v1/queues/full/tasks", "", "");
            call(open, "POST /v1/queues/full/tasks", "", "")
        }
        "unavailable" => {
            let _held = unfinished_bodies(open);
            let body = format!(r#"{{"payload":"{}"}}"#, "x".repeat(900_000));
            let push = format!(r#"{{"tasks":[{}]}}"#, [body.as_str(); 6].join(","));
            eventually("no more bytes are worked on", || {
                let answer = call(open, &format!("POST {TASKS}"), "", &push);
                (answer.status == 503).then_some(answer)
            })
        }
        _ => panic!("{code} is no row of the table"),
    }
}

#[test]
fn every_row_of_the_table_can_be_reached() {
    let dir = tempfile::tempdir().unwrap();
    let open = Server::start(dir.path());
    let tokens = format!(r#"[{{"token":"{READER}","rights":["read"]}}]"#);
    let mut command = punctual();
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:", "--tokens", &tokens]);
    command.stderr(Stdio::null());
    let closed = Server::of(command);
    for (status, code, header) in TABLE {
        let answer = cause(code, &open, &closed);
        let said = (answer.status, answer.code());
        assert_eq!(said, (status, Some(code.to_owned())), "{}", answer.body);
        let is_problem = answer.head.contains("content-type: application/problem+json");
        assert!(is_problem && answer.head.contains(header), "{code}: {}", answer.head);
        let problem: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(problem["type"], format!("urn:punctual:{code}"));
        assert_eq!(problem["status"], status);
        assert!(problem["title"].is_string() && problem["detail"].is_string(), "{problem}");
        let effect = if code == "unavailable" { "none".into() } else { Value::Null };
        assert_eq!(problem["effect"], effect, "{code}");
    }
    // A foreign name or page is forbidden as well.
    let foreign = [
        ("GET /v1/queues", "Host: evil.example\r\n"),
        ("POST /v1/queues/q/tasks", "Origin: http://evil.example\r\n"),
    ];
    for (request, header) in foreign {
        assert_eq!(call(&open, request, header, "").status, 403, "{header}");
    }
    closed.stop();
    open.stop();
}
