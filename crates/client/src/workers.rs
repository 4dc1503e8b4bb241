//! Workers that register: the server gives them tasks of dispatch and vote queues.

use std::time::Duration;

use http::Method;
use punctual_core::worker::WorkerState;
use punctual_core::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::task::{Taken, Task};
use crate::tasks::{Page, task_path};
use crate::transport::{Call, Client, path, query};

const WORKERS: &str = "/v1/workers";

/// The registration of a worker.
///
/// ```
/// use punctual_client::Join;
///
/// let join = Join::new(["render"]).capabilities(["gpu"]).capacity(4);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Join {
    queues: Vec<String>,
    capabilities: Vec<String>,
    capacity: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
}

impl Join {
    /// A worker that serves these queues, one task at a time.
    pub fn new<Q: Into<String>>(queues: impl IntoIterator<Item = Q>) -> Self {
        let queues = queues.into_iter().map(Into::into).collect();
        Self { queues, capabilities: Vec::new(), capacity: 1, session: None }
    }

    /// Sets the capabilities.
    #[must_use]
    pub fn capabilities<C: Into<String>>(
        mut self,
        capabilities: impl IntoIterator<Item = C>,
    ) -> Self {
        self.capabilities = capabilities.into_iter().map(Into::into).collect();
        self
    }

    /// Most tasks it holds at once.
    #[must_use]
    pub fn capacity(mut self, capacity: u32) -> Self {
        self.capacity = capacity;
        self
    }

    /// Sets the session of this process. A new session under the same name gives back the tasks of the old one.
    #[must_use]
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }
}

/// A worker as it reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// The queues it serves.
    pub queues: Vec<String>,
    /// The capabilities.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// Most tasks it holds at once.
    pub capacity: u32,
    /// The state.
    pub state: WorkerState,
    /// How many tasks it holds.
    pub load: u32,
    /// When it joined.
    pub joined_at: Timestamp,
    /// The last heartbeat.
    pub last_heartbeat: Timestamp,
}

/// The answer to a poll.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Polled {
    /// Assigned tasks that it has not confirmed.
    pub assignments: Vec<Taken>,
    /// Held tasks that should be cancelled.
    #[serde(default)]
    pub cancel: Vec<Asked>,
    /// Held tasks that should pause.
    #[serde(default)]
    pub pause: Vec<Asked>,
}

/// A task that should be cancelled or paused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Asked {
    /// Its queue.
    pub queue: String,
    /// Its id.
    pub id: String,
}

#[derive(Serialize)]
struct Poll<'a> {
    wait: Span,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
}

fn worker_path(name: &str) -> String {
    path(WORKERS, &[name])
}

impl Client {
    /// Registers a worker, or changes its registration.
    pub async fn join(&self, worker: &str, join: &Join) -> Result<Worker, Error> {
        self.send(Call::new(Method::PUT, worker_path(worker)).body(join)).await
    }

    /// Asks for news of the worker, and is also its heartbeat. Waits for the first news, up to 60 seconds.
    ///
    /// ```no_run
    /// # async fn example(client: punctual_client::Client) -> Result<(), punctual_client::Error> {
    /// use punctual_client::{Commit, Join, Span};
    ///
    /// client.join("w1", &Join::new(["render"]).capabilities(["gpu"])).await?;
    /// for given in client.poll("w1", None, Span::from_secs(30)).await?.assignments {
    ///     client.confirm(given.held()).await?;
    ///     client.commit(given.held(), &Commit::default()).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn poll(
        &self,
        worker: &str,
        session: Option<&str>,
        wait: Span,
    ) -> Result<Polled, Error> {
        let patience = Duration::from_millis(wait.as_millis().unsigned_abs());
        let call = Call::post(worker_path(worker) + "/poll").body(&Poll { wait, session });
        self.send(call.wait(patience)).await
    }

    /// Drains a worker: it finishes its tasks and gets no new ones.
    pub async fn drain_worker(&self, worker: &str) -> Result<Worker, Error> {
        self.send(Call::post(worker_path(worker) + "/drain")).await
    }

    /// Removes a worker: its tasks are ready for others at once.
    pub async fn leave(&self, worker: &str) -> Result<(), Error> {
        self.send_unread(Call::new(Method::DELETE, worker_path(worker))).await.map(drop)
    }

    /// Reads a worker.
    pub async fn worker(&self, worker: &str) -> Result<Worker, Error> {
        self.send(Call::get(worker_path(worker))).await
    }

    /// Reads a page of workers: of all, or of those that serve a queue.
    pub async fn workers(
        &self,
        queue: Option<&str>,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<Worker>, Error> {
        let query = query(&[
            ("queue", queue.map(str::to_owned)),
            ("limit", Some(limit.to_string())),
            ("cursor", cursor.map(str::to_owned)),
        ]);
        self.send(Call::get(format!("{WORKERS}{query}"))).await
    }

    /// Assigns a ready task of a dispatch queue to a worker.
    pub async fn assign(&self, queue: &str, id: &str, worker: &str) -> Result<Task, Error> {
        let call = Call::post(task_path(queue, id) + "/assign");
        self.send(call.body(&serde_json::json!({ "worker": worker }))).await
    }
}
