//! The example worker as processes of its own: killed, stopped, asked to end.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use punctual_client::{NewTask, RawJson, State};

use crate::process::Server;
use crate::scene::{in_state, queue, server, until};

const HOLD: Duration = Duration::from_secs(2);

/// An example worker. Ends with the test.
struct Worker(Child);

impl Worker {
    fn start(server: &Server, name: &str, queue: &str) -> Self {
        let binary = std::path::Path::new(env!("CARGO_BIN_EXE_punctual"));
        let example = binary.parent().unwrap().join("examples").join("worker");
        assert!(example.exists(), "build it first: cargo build --example worker");
        let mut command = Command::new(example);
        command.args([name, queue]).env("PUNCTUAL_URL", &server.url).stdin(Stdio::null());
        Self(command.spawn().unwrap())
    }

    fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn text(words: usize, pace_ms: u64) -> serde_json::Value {
    serde_json::json!({"text": vec!["word"; words].join(" "), "pace_ms": pace_ms})
}

#[tokio::test]
async fn a_worker_that_is_killed_is_replaced_by_another() {
    for mode in ["pull", "dispatch"] {
        let (server, client) = server();
        queue(&client, "texts", mode, HOLD).await;
        let first = Worker::start(&server, "first", "texts");
        client.push("texts", &NewTask::new(&text(40, 100)).id("a")).await.unwrap();
        let is_under_way = |task: &punctual_client::Task| task.checkpoint.is_some();
        until(&client, "texts", "a", "under way", is_under_way).await;
        drop(first);
        let _second = Worker::start(&server, "second", "texts");
        let done = in_state(&client, "texts", "a", State::Done).await;
        assert_eq!(done.result, Some(RawJson::of(&40)), "{mode}");
        assert_eq!(done.worker.as_deref(), Some("second"), "{mode}");
        assert_eq!(done.attempt, 2, "{mode}");
    }
}

#[tokio::test]
async fn a_worker_that_was_stopped_past_its_hold_does_not_count() {
    for mode in ["pull", "dispatch"] {
        let (server, client) = server();
        queue(&client, "texts", mode, HOLD).await;
        let first = Worker::start(&server, "first", "texts");
        client.push("texts", &NewTask::new(&text(20, 100)).id("a")).await.unwrap();
        in_state(&client, "texts", "a", State::Running).await;
        first.signal("STOP");
        let _second = Worker::start(&server, "second", "texts");
        let is_taken_over = |task: &punctual_client::Task| {
            task.state == State::Running && task.worker.as_deref() == Some("second")
        };
        until(&client, "texts", "a", "taken over", is_taken_over).await;
        first.signal("CONT");
        let done = in_state(&client, "texts", "a", State::Done).await;
        assert_eq!(done.worker.as_deref(), Some("second"), "one result counts ({mode})");
        assert_eq!(done.result, Some(RawJson::of(&20)), "{mode}");
    }
}

#[tokio::test]
async fn a_worker_that_is_asked_to_end_finishes_first() {
    for mode in ["pull", "dispatch"] {
        let (server, client) = server();
        queue(&client, "texts", mode, HOLD).await;
        let mut worker = Worker::start(&server, "w", "texts");
        client.push("texts", &NewTask::new(&text(10, 100)).id("a")).await.unwrap();
        in_state(&client, "texts", "a", State::Running).await;
        worker.signal("TERM");
        let status = tokio::task::spawn_blocking(move || worker.0.wait().unwrap()).await.unwrap();
        assert!(status.success(), "{mode}");
        let done = client.task("texts", "a").await.unwrap();
        assert_eq!((done.state, done.attempt), (State::Done, 1), "{mode}");
    }
}
