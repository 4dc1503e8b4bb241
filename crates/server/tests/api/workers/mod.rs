//! Workers that register: what they are given, and what becomes of it.

mod dispatch;
mod holdings;
mod input;
mod lives;
mod races;
mod votes;

use serde_json::Value;

use super::{TestServer, json};

impl TestServer {
    /// A server with a queue `q` of a mode.
    async fn of_mode(mode: &str) -> Self {
        let server = Self::start().await;
        let settings = json!({"mode": mode, "keep": {"done": "1h"}});
        server.put("/v1/queues/q", settings).await.is(201);
        server
    }

    /// Lets a worker join that serves the queue `q`, with these fields besides.
    async fn join(&self, worker: &str, mut fields: Value) -> Value {
        if fields.get("queues").is_none() {
            fields["queues"] = json!(["q"]);
        }
        self.put(&format!("/v1/workers/{worker}"), fields).await.is(200)
    }

    /// What a worker is told.
    async fn poll(&self, worker: &str, body: Value) -> Value {
        self.post(&format!("/v1/workers/{worker}/poll"), body).await.is(200)
    }

    /// Waits until a worker is given as many tasks, and gives them.
    async fn given(&self, worker: &str, count: usize) -> Vec<Value> {
        let deadline = tokio::time::Instant::now() + super::PATIENCE;
        loop {
            let polled = self.poll(worker, json!({"wait": 1})).await;
            let tasks = polled["assignments"].as_array().unwrap();
            if tasks.len() >= count {
                return tasks.clone();
            }
            assert!(tokio::time::Instant::now() < deadline, "{worker} has {tasks:?}");
        }
    }

    /// A worker confirms a task of the queue `q`, and is done with it.
    async fn work(&self, task: &Value, result: Value) -> Value {
        let id = task["id"].as_str().unwrap();
        self.verb(id, "confirm", json!({"token": task["token"]})).await.is(200);
        self.verb(id, "commit", json!({"token": task["token"], "result": result})).await.is(200)
    }
}
