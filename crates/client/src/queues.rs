//! Requests about queues: read, change settings, pause, reset, delete.

use http::Method;
use punctual_core::queue::{Mode, Order, Rate};
use punctual_core::{RawJson, RetryPolicy, Span};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::changes::Changes;
use crate::error::Error;
use crate::tasks::Page;
use crate::transport::{Call, Client, path, query};

/// A queue as it reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Queue {
    /// Its name.
    pub name: String,
    /// The way its tasks are executed.
    pub mode: Mode,
    /// Whether the queue is paused.
    pub paused: bool,
    /// The age of the oldest ready task.
    pub oldest_ready_age: Option<Span>,
    /// The number of its tasks by state.
    pub counts: Counts,
    /// Its other settings, by their names.
    #[serde(flatten)]
    pub settings: Map<String, Value>,
}

/// How many tasks a queue holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Counts {
    /// Live: all that have not ended.
    pub total: u64,
    /// Live, and nobody has them.
    pub untaken: u64,
    /// Somebody has them.
    pub taken: u64,
    /// Not due yet, or waiting for their retry.
    pub waiting: u64,
    /// Due.
    pub ready: u64,
    /// Handed out, not confirmed.
    pub assigned: u64,
    /// Held by a worker.
    pub running: u64,
    /// Held, asked to pause.
    pub pausing: u64,
    /// Held, asked to stop.
    pub cancelling: u64,
    /// Paused.
    pub paused: u64,
    /// Done and kept.
    pub done: u64,
    /// Failed and kept.
    pub failed: u64,
    /// Cancelled and kept.
    pub cancelled: u64,
    /// Bundles.
    pub bundles: u64,
}

/// How many workers a queue has, and how many it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Scale {
    /// Tasks that are ready and wait for a worker.
    pub backlog: u64,
    /// Workers of the queue.
    pub workers: u64,
    /// Workers that the queue needs.
    pub desired_workers: u64,
}

/// Settings to change. Settings that are not named keep their value.
///
/// ```
/// use punctual_client::{QueueChanges, Span};
///
/// let changes = QueueChanges::new().hold(Span::from_secs(60)).max_attempts(3).without("max");
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(transparent)]
pub struct QueueChanges(Changes);

impl QueueChanges {
    /// No change yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Any setting, by its name in the interface; `null` resets it.
    #[must_use]
    pub fn set(self, field: &str, value: RawJson) -> Self {
        Self(self.0.set(field, value))
    }

    /// A setting back to its default.
    #[must_use]
    pub fn without(self, field: &str) -> Self {
        self.set(field, RawJson::null())
    }

    /// Sets the way its tasks are executed.
    #[must_use]
    pub fn mode(self, mode: Mode) -> Self {
        self.set("mode", RawJson::of(&mode))
    }

    /// A label to tell queues apart.
    #[must_use]
    pub fn tag(self, tag: &str) -> Self {
        self.set("tag", RawJson::of(tag))
    }

    /// Most live tasks.
    #[must_use]
    pub fn max(self, max: u64) -> Self {
        self.set("max", RawJson::of(&max))
    }

    /// How long a taken task is held before it counts as lost.
    #[must_use]
    pub fn hold(self, hold: Span) -> Self {
        self.set("hold", RawJson::of(&hold))
    }

    /// How long a worker has to confirm.
    #[must_use]
    pub fn confirm_within(self, span: Span) -> Self {
        self.set("confirm_within", RawJson::of(&span))
    }

    /// Takes before a task is failed; −1 for no limit.
    #[must_use]
    pub fn max_attempts(self, max_attempts: i32) -> Self {
        self.set("max_attempts", RawJson::of(&max_attempts))
    }

    /// The longest a task may be held in one attempt, however often its holder extends.
    #[must_use]
    pub fn max_runtime(self, max_runtime: Span) -> Self {
        self.set("max_runtime", RawJson::of(&max_runtime))
    }

    /// The waits between attempts.
    #[must_use]
    pub fn retry(self, retry: &RetryPolicy) -> Self {
        self.set("retry", RawJson::of(retry))
    }

    /// The order among ready tasks of one priority.
    #[must_use]
    pub fn order(self, order: Order) -> Self {
        self.set("order", RawJson::of(&order))
    }

    /// Most tasks held at once.
    #[must_use]
    pub fn concurrency(self, concurrency: u32) -> Self {
        self.set("concurrency", RawJson::of(&concurrency))
    }

    /// Most tasks handed out in a time.
    #[must_use]
    pub fn rate(self, rate: Rate) -> Self {
        self.set("rate", RawJson::of(&rate))
    }

    /// How long tasks that are done, failed and cancelled stay readable.
    #[must_use]
    pub fn keep(self, done: Span, failed: Span, cancelled: Span) -> Self {
        let keep = serde_json::json!({"done": done, "failed": failed, "cancelled": cancelled});
        self.set("keep", RawJson::of(&keep))
    }
}

fn queue_path(name: &str) -> String {
    path("/v1/queues", &[name])
}

impl Client {
    /// Reads a page of all queues, or of those with a tag or a mode.
    pub async fn queues(
        &self,
        tag: Option<&str>,
        mode: Option<Mode>,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<Queue>, Error> {
        let query = query(&[
            ("tag", tag.map(str::to_owned)),
            ("mode", mode.map(|mode| mode.name().to_owned())),
            ("limit", Some(limit.to_string())),
            ("cursor", cursor.map(str::to_owned)),
        ]);
        self.send(Call::get(format!("/v1/queues{query}"))).await
    }

    /// Reads a queue.
    pub async fn queue(&self, name: &str) -> Result<Queue, Error> {
        self.send(Call::get(queue_path(name))).await
    }

    /// Creates a queue, or changes its settings.
    ///
    /// ```no_run
    /// # async fn example(client: punctual_client::Client) -> Result<(), punctual_client::Error> {
    /// use punctual_client::{QueueChanges, Span};
    ///
    /// let queue = client.put_queue("mail", &QueueChanges::new().hold(Span::from_secs(60))).await?;
    /// assert_eq!(queue.name, "mail");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn put_queue(&self, name: &str, changes: &QueueChanges) -> Result<Queue, Error> {
        self.send(Call::new(Method::PUT, queue_path(name)).body(changes)).await
    }

    /// Reads how many workers a queue has, and how many it needs by its arrival and service rates.
    pub async fn scale(&self, name: &str) -> Result<Scale, Error> {
        self.send(Call::get(queue_path(name) + "/scale")).await
    }

    /// Stops handing out the tasks of a queue. Pushes go on.
    pub async fn pause_queue(&self, name: &str) -> Result<Queue, Error> {
        self.send(Call::post(queue_path(name) + "/pause")).await
    }

    /// Hands out the tasks of a queue again.
    pub async fn resume_queue(&self, name: &str) -> Result<Queue, Error> {
        self.send(Call::post(queue_path(name) + "/resume")).await
    }

    /// Drops all tasks of a queue and keeps its settings.
    pub async fn reset_queue(&self, name: &str) -> Result<Queue, Error> {
        self.send(Call::post(queue_path(name) + "/reset")).await
    }

    /// Deletes a queue with all its tasks.
    pub async fn delete_queue(&self, name: &str) -> Result<(), Error> {
        self.send_unread(Call::new(Method::DELETE, queue_path(name))).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_reads_and_writes_all_its_settings() {
        let json = r#"{"name":"q","mode":"pull","paused":false,"oldest_ready_age":1.5,
            "counts":{"total":2,"ready":2,"untaken":2},"hold":30,"tag":null,"retry":{"first":5}}"#;
        let queue: Queue = serde_json::from_str(json).unwrap();
        assert_eq!((queue.counts.ready, queue.counts.done), (2, 0));
        assert_eq!(queue.oldest_ready_age, Some(Span::from_millis(1_500)));
        let written = serde_json::to_value(&queue).unwrap();
        assert_eq!(written["retry"]["first"], 5);
        assert_eq!(written["hold"], 30);
    }
}
