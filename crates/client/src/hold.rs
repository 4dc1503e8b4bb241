//! The requests of a worker: take tasks, report on them, settle them.

use std::time::Duration;

use punctual_core::{RawJson, Span, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::task::{After, Taken, Task};
use crate::tasks::{Batch, ItemResult, Results, task_path};
use crate::transport::{Call, Client, path};

/// A held task: its names and the token that its holder needs to report on it and to settle it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held<'a> {
    /// Its queue.
    pub queue: &'a str,
    /// Its id.
    pub id: &'a str,
    /// The token from the answer to the take.
    pub token: &'a str,
}

impl Taken {
    /// Returns the names and the token of the task.
    pub fn held(&self) -> Held<'_> {
        Held { queue: &self.task.queue, id: &self.task.id, token: &self.token }
    }
}

/// A request for tasks: the worker and how many tasks it wants.
///
/// ```
/// use punctual_client::{Span, Take};
///
/// let take = Take::new().worker("w1").n(10).wait(Span::from_secs(30));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Take {
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirm: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commit: Vec<Item<Commit>>,
}

impl Take {
    /// One task, if there is one now.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name of the worker.
    #[must_use]
    pub fn worker(mut self, worker: impl Into<String>) -> Self {
        self.worker = Some(worker.into());
        self
    }

    /// How many tasks at most, up to 1,000.
    #[must_use]
    pub fn n(mut self, n: usize) -> Self {
        self.n = Some(n);
        self
    }

    /// How long to hold them, instead of the task's or queue's time.
    #[must_use]
    pub fn hold(mut self, hold: Span) -> Self {
        self.hold = Some(hold);
        self
    }

    /// How long to wait for the first task, up to 60 seconds.
    #[must_use]
    pub fn wait(mut self, wait: Span) -> Self {
        self.wait = Some(wait);
        self
    }

    /// Hand them out as `assigned`: they run once [confirmed](Client::confirm).
    #[must_use]
    pub fn confirm(mut self) -> Self {
        self.confirm = Some(true);
        self
    }

    /// Commits these tasks first, in the same request, whatever the outcome of the take.
    #[must_use]
    pub fn commit(mut self, commits: Vec<Item<Commit>>) -> Self {
        self.commit = commits;
        self
    }
}

/// The answer to a take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TakeAnswer {
    /// The tasks, now held.
    pub tasks: Vec<Taken>,
    /// The results of [`Take::commit`], in the same order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub committed: Vec<ItemResult>,
}

/// A held task of a batch, with its report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Item<T> {
    id: String,
    token: String,
    #[serde(flatten)]
    what: T,
}

impl Held<'_> {
    /// This task as an item of a batch.
    pub fn with<T>(self, what: T) -> Item<T> {
        Item { id: self.id.to_owned(), token: self.token.to_owned(), what }
    }
}

/// It is done.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Commit {
    /// The result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<RawJson>,
}

/// Its holder is alive and needs longer.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Extend {
    /// The new length of the hold, from now; as long as before if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<Span>,
    /// How far it is, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<f64>,
    /// A message about the progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Saved state for the next holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<RawJson>,
}

/// It failed.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Fail {
    /// The error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The wait until the next attempt, instead of the policy's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_in: Option<Span>,
    /// Whether a retry is useless.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub permanent: bool,
}

/// It is given back; the take does not count.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Release {
    /// The wait until it is ready again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// Saved state for the next holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<RawJson>,
}

/// Its holder stopped on request.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Stopped {
    /// Saved state for the next holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<RawJson>,
    /// The result so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<RawJson>,
    /// The error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The answer to an extend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Extended {
    /// When the hold now ends.
    pub hold_until: Timestamp,
    /// Whether it is asked to stop for good: answer with [`Client::cancelled`].
    pub cancel: bool,
    /// Whether it is asked to pause: answer with [`Client::paused`].
    pub pause: bool,
}

#[derive(Serialize)]
struct Settle<'a, T> {
    token: &'a str,
    #[serde(flatten)]
    what: &'a T,
}

fn settle(held: Held<'_>, verb: &str, what: &impl Serialize) -> Call {
    let path = format!("{}/{verb}", task_path(held.queue, held.id));
    Call::post(path).body(&Settle { token: held.token, what })
}

impl Client {
    /// Takes ready tasks, and waits for the first one if asked to.
    ///
    /// ```no_run
    /// # async fn example(client: punctual_client::Client) -> Result<(), punctual_client::Error> {
    /// use punctual_client::{Commit, RawJson, Span, Take};
    ///
    /// let take = Take::new().worker("w1").wait(Span::from_secs(30));
    /// for taken in client.take("mail", &take).await?.tasks {
    ///     let result = Some(RawJson::of("sent"));
    ///     client.commit(taken.held(), &Commit { result }).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn take(&self, queue: &str, take: &Take) -> Result<TakeAnswer, Error> {
        let wait_ms = take.wait.map_or(0, Span::as_millis).unsigned_abs();
        let path = path("/v1/queues", &[queue, "take"]);
        self.send(Call::post(path).body(take).wait(Duration::from_millis(wait_ms))).await
    }

    /// Confirms a task that was handed out as `assigned`; its hold begins.
    pub async fn confirm(&self, held: Held<'_>) -> Result<Task, Error> {
        self.send(settle(held, "confirm", &())).await
    }

    /// Extends the hold, and returns whether the task should stop.
    pub async fn extend(&self, held: Held<'_>, extend: &Extend) -> Result<Extended, Error> {
        self.send(settle(held, "extend", extend)).await
    }

    /// Commits a task: it is done. Safe to repeat.
    pub async fn commit(&self, held: Held<'_>, commit: &Commit) -> Result<After, Error> {
        self.settle(settle(held, "commit", commit)).await
    }

    /// Reports a failure: the task waits for its retry, or is finally failed.
    ///
    /// ```no_run
    /// # async fn example(client: punctual_client::Client, taken: punctual_client::Taken)
    /// # -> Result<(), punctual_client::Error> {
    /// use punctual_client::{Fail, State};
    ///
    /// let error = Some("the mailbox is full".to_owned());
    /// let after = client.fail(taken.held(), &Fail { error, ..Fail::default() }).await?;
    /// assert_eq!(after.state(), Some(State::Waiting));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn fail(&self, held: Held<'_>, fail: &Fail) -> Result<After, Error> {
        self.settle(settle(held, "fail", fail)).await
    }

    /// Gives a task back; the take does not count.
    pub async fn release(&self, held: Held<'_>, release: &Release) -> Result<After, Error> {
        self.settle(settle(held, "release", release)).await
    }

    /// Acknowledges that a task was asked to stop for good, and has.
    pub async fn cancelled(&self, held: Held<'_>, stopped: &Stopped) -> Result<After, Error> {
        self.settle(settle(held, "cancelled", stopped)).await
    }

    /// Acknowledges that a task was asked to pause, and has.
    pub async fn paused(&self, held: Held<'_>, stopped: &Stopped) -> Result<After, Error> {
        self.settle(settle(held, "paused", stopped)).await
    }

    /// Commits many tasks of one queue; each answers for itself, in their order.
    pub async fn commit_batch(
        &self,
        queue: &str,
        items: &[Item<Commit>],
    ) -> Result<Vec<ItemResult>, Error> {
        self.settle_batch(queue, "commit", items).await
    }

    /// Extends many tasks of one queue; each answers for itself, in their order.
    pub async fn extend_batch(
        &self,
        queue: &str,
        items: &[Item<Extend>],
    ) -> Result<Vec<ItemResult>, Error> {
        self.settle_batch(queue, "extend", items).await
    }

    /// Fails many tasks of one queue; each answers for itself, in their order.
    pub async fn fail_batch(
        &self,
        queue: &str,
        items: &[Item<Fail>],
    ) -> Result<Vec<ItemResult>, Error> {
        self.settle_batch(queue, "fail", items).await
    }

    /// Releases many tasks of one queue; each answers for itself, in their order.
    pub async fn release_batch(
        &self,
        queue: &str,
        items: &[Item<Release>],
    ) -> Result<Vec<ItemResult>, Error> {
        self.settle_batch(queue, "release", items).await
    }

    async fn settle(&self, call: Call) -> Result<After, Error> {
        let answer = self.send_unread(call).await?;
        self.read_after(&answer)
    }

    async fn settle_batch<T: Serialize>(
        &self,
        queue: &str,
        verb: &str,
        items: &[Item<T>],
    ) -> Result<Vec<ItemResult>, Error> {
        let call = Call::post(path("/v1/queues", &[queue, verb])).body(&Batch { tasks: items });
        Ok(self.send::<Results>(call).await?.results)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_take_with_commits_writes_what_the_interface_says() {
        let held = Held { queue: "q", id: "a", token: "t" };
        let result = Some(RawJson::parse("1e400").unwrap());
        let take = Take::new().n(2).confirm().commit(vec![held.with(Commit { result })]);
        assert_eq!(
            serde_json::to_string(&take).unwrap(),
            r#"{"n":2,"confirm":true,"commit":[{"id":"a","token":"t","result":1e400}]}"#
        );
        let empty = Settle { token: "t", what: &() };
        assert_eq!(serde_json::to_string(&empty).unwrap(), r#"{"token":"t"}"#);
    }
}
