//! The real binary and real workers, which die and stall as processes do: what they had is done by
//! others, once, and nothing they say too late counts.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod faults;
mod nodes;
#[path = "../e2e/process.rs"]
#[expect(dead_code, reason = "other suites use the rest")]
mod process;
#[path = "../faults/raw.rs"]
#[expect(dead_code, reason = "other suites use the rest")]
mod raw;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{PATIENCE, Server};

/// Asks a server for something that succeeds.
#[track_caller]
fn ask(server: &Server, method: &str, path: &str, body: &Value) -> Value {
    let answer = raw::send(server.address(), method, path, body.to_string().as_bytes());
    assert!(answer.status < 300, "{method} {path} {body}: {answer:?}");
    serde_json::from_str(&answer.body).unwrap_or(Value::Null)
}

/// The code of what a server refuses.
#[track_caller]
fn refused(server: &Server, path: &str, body: &Value) -> String {
    let answer = raw::send(server.address(), "POST", path, body.to_string().as_bytes());
    answer.code().unwrap_or_else(|| panic!("{path} {body}: {answer:?}"))
}

/// A dispatch queue `q` whose ends are kept.
fn make_queue(server: &Server, mode: &str, hold: &str) {
    let keep = json!({"done": "1h", "failed": "1h"});
    let settings = json!({"mode": mode, "hold": hold, "confirm_within": hold, "keep": keep});
    ask(server, "PUT", "/v1/queues/q", &settings);
}

fn join(server: &Server, worker: &str, capacity: usize) {
    let body = json!({"queues": ["q"], "capacity": capacity});
    ask(server, "PUT", &format!("/v1/workers/{worker}"), &body);
}

/// Polls until a worker is given a task.
fn given(server: &Server, worker: &str) -> Value {
    let since = Instant::now();
    loop {
        let polled =
            ask(server, "POST", &format!("/v1/workers/{worker}/poll"), &json!({"wait": 10}));
        if let Some(task) = polled["assignments"].as_array().and_then(|tasks| tasks.first()) {
            return task.clone();
        }
        assert!(since.elapsed() < PATIENCE, "{worker} is given nothing");
    }
}

/// Says something about a task of the queue `q`.
#[track_caller]
fn say(server: &Server, task: &Value, verb: &str, fields: &Value) -> Value {
    let path = format!("/v1/queues/q/tasks/{}/{verb}", task["id"].as_str().unwrap());
    let mut body = fields.clone();
    body["token"] = task["token"].clone();
    ask(server, "POST", &path, &body)
}

/// Waits until a task of the queue `q` is in a state.
fn until(server: &Server, id: &str, state: &str) -> Value {
    let since = Instant::now();
    loop {
        let task = ask(server, "GET", &format!("/v1/queues/q/tasks/{id}"), &json!({}));
        if task["state"] == state {
            return task;
        }
        assert!(since.elapsed() < PATIENCE, "it never is {state}: {task}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
