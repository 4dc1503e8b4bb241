//! Requests as a user of the interface sends them.

use serde_json::{Value, json};

use crate::process::Server;
use crate::raw;

/// What answers requests.
pub(crate) trait Api {
    /// Its `127.0.0.1:port`.
    fn at(&self) -> &str;

    /// Sends a request.
    fn send(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let answer = raw::send(self.at(), method, path, body.to_string().as_bytes());
        (answer.status, serde_json::from_str(&answer.body).unwrap_or_default())
    }

    /// Sends a request that must succeed.
    #[track_caller]
    fn must(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.send(method, path, body);
        assert!((200..300).contains(&status), "{method} {path} {body}: {status} {answer}");
        answer
    }

    #[track_caller]
    fn get(&self, path: &str) -> Value {
        self.must("GET", path, &json!({}))
    }

    #[track_caller]
    fn post(&self, path: &str, body: Value) -> Value {
        self.must("POST", path, &body)
    }

    #[track_caller]
    fn put(&self, path: &str, body: Value) -> Value {
        self.must("PUT", path, &body)
    }

    /// Lets time pass.
    #[track_caller]
    fn advance(&self, span: &str) {
        self.post("/v1/dev/clock", json!({"advance": span}));
    }

    /// Makes it another time.
    #[track_caller]
    fn set_clock(&self, time: &str) {
        self.post("/v1/dev/clock", json!({"set": time}));
    }

    #[track_caller]
    fn plan(&self, id: &str) -> Value {
        self.get(&format!("/v1/plans/{id}"))
    }

    /// The tasks of a queue that have not ended.
    #[track_caller]
    fn live(&self, queue: &str) -> Vec<Value> {
        let states = "waiting,ready,assigned,running,paused,pausing,cancelling";
        let path = format!("/v1/queues/{queue}/tasks?limit=1000&state={states}");
        self.get(&path)["items"].as_array().unwrap().clone()
    }

    /// Takes the one task that a queue has, and commits it.
    #[track_caller]
    fn work(&self, queue: &str) -> Value {
        let path = format!("/v1/queues/{queue}");
        let taken = self.post(&format!("{path}/take"), json!({"worker": "w", "n": 10}));
        let tasks = taken["tasks"].as_array().unwrap();
        assert_eq!(tasks.len(), 1, "one task of {queue}: {taken}");
        let id = tasks[0]["id"].as_str().unwrap();
        self.post(&format!("{path}/tasks/{id}/commit"), json!({"token": tasks[0]["token"]}));
        tasks[0].clone()
    }
}

impl Api for Server {
    fn at(&self) -> &str {
        self.address()
    }
}

/// A server by its address.
impl Api for String {
    fn at(&self) -> &str {
        self
    }
}
