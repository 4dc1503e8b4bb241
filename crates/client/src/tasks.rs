//! Requests about tasks that need no token of a holder: push, read, control, bulk changes.

use std::time::Duration;

use http::Method;
use punctual_core::{RawJson, RetryPolicy, Span, State, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::changes::Changes;
use crate::error::Error;
use crate::hold::Extended;
use crate::task::{After, NewTask, Task};
use crate::transport::{Answer, Call, Client, path, query};

/// The result of one item of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ItemResult {
    /// The task's id.
    pub id: Option<String>,
    /// Whether it took effect.
    pub ok: bool,
    /// If not, the code of the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// If not, the reason in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The answer to an extend.
    #[serde(flatten)]
    pub extended: Option<Extended>,
}

/// The body of a batch.
#[derive(Serialize)]
pub(crate) struct Batch<'a, T> {
    pub(crate) tasks: &'a [T],
}

/// The answer to a batch.
#[derive(Deserialize)]
pub(crate) struct Results {
    pub(crate) results: Vec<ItemResult>,
}

/// The result of a push with an Idempotency-Key, or of one that waits.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Pushed {
    /// The task as it reads now.
    pub after: After,
    /// Whether an earlier request under that key had pushed it.
    pub replayed: bool,
}

/// Selects tasks to list or to change in bulk. All conditions must match.
///
/// ```
/// use punctual_client::{Filter, State};
///
/// let failed_mails = Filter::new().states([State::Failed]).tag("mail");
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Filter {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    state: Vec<State>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    q: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<String>,
    #[serde(skip)]
    is_newest_first: bool,
}

impl Filter {
    /// All tasks of a queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only tasks in one of these states.
    #[must_use]
    pub fn states(mut self, states: impl Into<Vec<State>>) -> Self {
        self.state = states.into();
        self
    }

    /// Only tasks with this label.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tag = Some(tag.into());
        self
    }

    /// Only tasks whose id begins so.
    #[must_use]
    pub fn id_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.id = Some(prefix.into());
        self
    }

    /// Only tasks with this in their error.
    #[must_use]
    pub fn error(mut self, error: impl Into<String>) -> Self {
        self.error = Some(error.into());
        self
    }

    /// Only tasks with this text in their payload.
    #[must_use]
    pub fn payload_contains(mut self, text: impl Into<String>) -> Self {
        self.q = Some(text.into());
        self
    }

    /// Only tasks that finished, or last failed, at this time or later.
    #[must_use]
    pub fn since(mut self, since: Timestamp) -> Self {
        self.since = Some(since);
        self
    }

    /// Only tasks that this worker holds, or held when they ended.
    #[must_use]
    pub fn worker(mut self, worker: impl Into<String>) -> Self {
        self.worker = Some(worker.into());
        self
    }

    /// Lists finished tasks by when they ended, the last first, whatever their state. Changes nothing in bulk.
    #[must_use]
    pub fn newest_first(mut self) -> Self {
        self.is_newest_first = true;
        self
    }

    fn query(&self, limit: usize, cursor: Option<&str>) -> String {
        let states: Vec<_> = self.state.iter().map(|state| state.name()).collect();
        query(&[
            ("state", Some(states.join(",")).filter(|states| !states.is_empty())),
            ("tag", self.tag.clone()),
            ("id", self.id.clone()),
            ("error", self.error.clone()),
            ("q", self.q.clone()),
            ("since", self.since.map(|since| since.to_string())),
            ("worker", self.worker.clone()),
            ("sort", self.is_newest_first.then(|| "newest".to_owned())),
            ("limit", Some(limit.to_string())),
            ("cursor", cursor.map(str::to_owned)),
        ])
    }
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page<T> {
    /// The items. A page may be short or empty without being the last.
    pub items: Vec<T>,
    /// Where the next page begins; none: this was the last.
    pub next: Option<String>,
}

/// A verb for many tasks at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BulkVerb {
    /// See [`Client::cancel`].
    Cancel,
    /// See [`Client::pause`].
    Pause,
    /// See [`Client::resume`].
    Resume,
    /// See [`Client::retry`].
    Retry,
    /// See [`Client::reset`].
    Reset,
    /// See [`Client::clean`].
    Clean,
}

/// The answer to [`Client::bulk`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BulkAnswer {
    /// Tasks the filter matched.
    pub matched: u64,
    /// Tasks the verb changed.
    pub changed: u64,
    /// Where to go on; none: all are done.
    pub next: Option<String>,
}

/// Why a task is not running now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Why {
    /// A stable code.
    pub reason: String,
    /// One sentence.
    pub text: String,
    /// The facts behind it.
    #[serde(flatten)]
    pub facts: Map<String, Value>,
}

/// Changes to a task nobody has taken yet.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(transparent)]
pub struct TaskChanges(Changes);

impl TaskChanges {
    /// No change yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Any field, by its name in the interface; `null` resets it.
    #[must_use]
    pub fn set(self, field: &str, value: RawJson) -> Self {
        Self(self.0.set(field, value))
    }

    /// A new payload.
    #[must_use]
    pub fn payload(self, payload: RawJson) -> Self {
        Self(self.0.set("payload", payload))
    }

    /// A new due time.
    #[must_use]
    pub fn due(self, due: Timestamp) -> Self {
        Self(self.0.set("due", RawJson::of(&due)))
    }

    /// A new priority.
    #[must_use]
    pub fn priority(self, priority: i32) -> Self {
        Self(self.0.set("priority", RawJson::of(&priority)))
    }

    /// New tags, instead of all it had.
    #[must_use]
    pub fn tags(self, tags: &[&str]) -> Self {
        Self(self.0.set("tags", RawJson::of(tags)))
    }

    /// New waits between attempts.
    #[must_use]
    pub fn retry(self, retry: &RetryPolicy) -> Self {
        Self(self.0.set("retry", RawJson::of(retry)))
    }

    /// A new time by which it must have started.
    #[must_use]
    pub fn expires(self, expires: Timestamp) -> Self {
        Self(self.0.set("expires", RawJson::of(&expires)))
    }

    /// Resets a field to its default.
    #[must_use]
    pub fn without(self, field: &str) -> Self {
        Self(self.0.set(field, RawJson::null()))
    }
}

pub(crate) fn tasks_path(queue: &str) -> String {
    format!("{}/tasks", path("/v1/queues", &[queue]))
}

pub(crate) fn task_path(queue: &str, id: &str) -> String {
    path(&tasks_path(queue), &[id])
}

fn wait_query(wait: Span) -> String {
    query(&[("wait", Some(wait.as_secs_f64().to_string()))])
}

/// How long the server may wait before it answers.
fn patience(wait: Span) -> Duration {
    Duration::from_millis(wait.as_millis().unsigned_abs())
}

impl Client {
    /// Pushes a task.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), punctual_client::Error> {
    /// use punctual_client::{Client, NewTask};
    ///
    /// let client = Client::new("http://127.0.0.1:23334", None)?;
    /// let task = client.push("mail", &NewTask::new("hello").id("greeting")).await?;
    /// assert_eq!(task.id, "greeting");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn push(&self, queue: &str, task: &NewTask) -> Result<Task, Error> {
        self.send(Call::post(tasks_path(queue)).body(task)).await
    }

    /// Pushes a task with an Idempotency-Key. A repeat with the same key pushes nothing and returns the task as
    /// it is then.
    pub async fn push_once(&self, queue: &str, key: &str, task: &NewTask) -> Result<Pushed, Error> {
        let call = Call::post(tasks_path(queue)).body(task).idempotency_key(Some(key));
        let answer = self.send_unread(call).await?;
        let replayed = answer.headers.contains_key("idempotency-replayed");
        Ok(Pushed { after: self.read_after(&answer)?, replayed })
    }

    /// Pushes a task and waits for its end, up to 60 seconds. Returns the task when it has ended, or after that
    /// time as it is then. With a key, a repeat pushes nothing and waits as well.
    ///
    /// ```no_run
    /// # async fn example(client: punctual_client::Client) -> Result<(), punctual_client::Error> {
    /// use punctual_client::{NewTask, Span, State};
    ///
    /// let wait = Span::from_secs(30);
    /// let pushed = client.push_and_wait("sums", &NewTask::new(&[1, 2]), wait, None).await?;
    /// if pushed.after.state() == Some(State::Done) {
    ///     println!("{:?}", pushed.after.task().and_then(|task| task.result.as_ref()));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn push_and_wait(
        &self,
        queue: &str,
        task: &NewTask,
        wait: Span,
        idempotency_key: Option<&str>,
    ) -> Result<Pushed, Error> {
        let call = Call::post(tasks_path(queue) + &wait_query(wait)).body(task);
        let call = call.idempotency_key(idempotency_key).wait(patience(wait));
        let answer = self.send_unread(call).await?;
        let replayed = answer.headers.contains_key("idempotency-replayed");
        Ok(Pushed { after: self.read_after(&answer)?, replayed })
    }

    /// Reads the answer to a request that may be a repeat.
    pub(crate) fn read_after(&self, answer: &Answer) -> Result<After, Error> {
        match serde_json::from_slice(&answer.body) {
            Ok(task) => Ok(After::Task(Box::new(task))),
            Err(_) => self.read(answer).map(After::Gone),
        }
    }

    /// Pushes up to 10,000 tasks, and returns one result for each, in their order. With a key, repeats have no
    /// second effect. A task is a [`NewTask`], or [`RawJson`] with the same fields.
    pub async fn push_batch<T: Serialize>(
        &self,
        queue: &str,
        tasks: &[T],
        idempotency_key: Option<&str>,
    ) -> Result<Vec<ItemResult>, Error> {
        let call = Call::post(tasks_path(queue)).body(&Batch { tasks });
        Ok(self.send::<Results>(call.idempotency_key(idempotency_key)).await?.results)
    }

    /// Reads a task.
    pub async fn task(&self, queue: &str, id: &str) -> Result<Task, Error> {
        self.send(Call::get(task_path(queue, id))).await
    }

    /// Waits for the end of a task, up to 60 seconds, and reads it then. After that time it reads the task as it
    /// is.
    pub async fn wait_for_end(&self, queue: &str, id: &str, wait: Span) -> Result<After, Error> {
        let call = Call::get(task_path(queue, id) + &wait_query(wait)).wait(patience(wait));
        self.read_after(&self.send_unread(call).await?)
    }

    /// Reads a page of a queue's tasks; ready tasks are in hand-out order.
    ///
    /// ```no_run
    /// # async fn example(client: punctual_client::Client) -> Result<(), punctual_client::Error> {
    /// use punctual_client::Filter;
    ///
    /// let mut cursor = None;
    /// loop {
    ///     let page = client.tasks("mail", &Filter::new(), 100, cursor.as_deref()).await?;
    ///     for task in &page.items {
    ///         println!("{} is {}", task.id, task.state);
    ///     }
    ///     cursor = page.next;
    ///     if cursor.is_none() {
    ///         break;
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn tasks(
        &self,
        queue: &str,
        filter: &Filter,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<Task>, Error> {
        self.send(Call::get(tasks_path(queue) + &filter.query(limit, cursor))).await
    }

    /// Says why a task is not running now.
    pub async fn why(&self, queue: &str, id: &str) -> Result<Why, Error> {
        self.send(Call::get(task_path(queue, id) + "/why")).await
    }

    /// Cancels a task: at once if nobody runs it, else its holder is asked to stop.
    pub async fn cancel(&self, queue: &str, id: &str) -> Result<Task, Error> {
        self.send(Call::post(task_path(queue, id) + "/cancel")).await
    }

    /// Pauses a task: at once if nobody runs it, else its holder is asked to pause.
    pub async fn pause(&self, queue: &str, id: &str) -> Result<Task, Error> {
        self.send(Call::post(task_path(queue, id) + "/pause")).await
    }

    /// Resumes a paused task.
    pub async fn resume(&self, queue: &str, id: &str) -> Result<Task, Error> {
        self.send(Call::post(task_path(queue, id) + "/resume")).await
    }

    /// Makes a task ready now that failed or waits for its retry. With `force` also a held task; the token of
    /// its holder becomes stale.
    pub async fn retry(&self, queue: &str, id: &str, force: bool) -> Result<Task, Error> {
        let mut call = Call::post(task_path(queue, id) + "/retry");
        if force {
            call = call.body(&serde_json::json!({ "force": true }));
        }
        self.send(call).await
    }

    /// Makes a task like new: attempts, progress, checkpoint and history are cleared.
    pub async fn reset(&self, queue: &str, id: &str) -> Result<Task, Error> {
        self.send(Call::post(task_path(queue, id) + "/reset")).await
    }

    /// Removes a task, whatever its state.
    pub async fn clean(&self, queue: &str, id: &str) -> Result<(), Error> {
        self.send_unread(Call::new(Method::DELETE, task_path(queue, id))).await.map(drop)
    }

    /// Changes a task nobody has taken yet.
    pub async fn edit(&self, queue: &str, id: &str, changes: &TaskChanges) -> Result<Task, Error> {
        self.send(Call::new(Method::PATCH, task_path(queue, id)).body(changes)).await
    }

    /// Applies a verb to the tasks that match a filter, at most 1,000 per call; continue from
    /// [`BulkAnswer::next`]. A dry run counts and changes nothing.
    pub async fn bulk(
        &self,
        queue: &str,
        verb: BulkVerb,
        filter: &Filter,
        dry_run: bool,
        cursor: Option<&str>,
    ) -> Result<BulkAnswer, Error> {
        #[derive(Serialize)]
        struct Body<'a> {
            verb: BulkVerb,
            filter: &'a Filter,
            dry_run: bool,
            #[serde(skip_serializing_if = "Option::is_none")]
            cursor: Option<&'a str>,
        }
        let body = Body { verb, filter, dry_run, cursor };
        self.send(Call::post(tasks_path(queue) + "/bulk").body(&body)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_becomes_a_query() {
        let filter = Filter::new()
            .states([State::Failed, State::Ready])
            .tag("a b")
            .id_prefix("x")
            .error("e")
            .payload_contains("\"q\"")
            .since(Timestamp::from_millis(1_000))
            .worker("w")
            .newest_first();
        assert_eq!(
            filter.query(10, Some("c")),
            "?state=failed%2Cready&tag=a%20b&id=x&error=e&q=%22q%22\
             &since=1970-01-01T00%3A00%3A01.000Z&worker=w&sort=newest&limit=10&cursor=c"
        );
        assert_eq!(Filter::new().query(50, None), "?limit=50");
    }

    #[test]
    fn an_item_reads_with_what_it_has() {
        for (json, heard) in [
            (r#"{"id":"a","ok":true}"#, None),
            (r#"{"id":null,"ok":false,"code":"invalid","detail":"id: missing"}"#, None),
            (
                r#"{"id":"a","ok":true,"hold_until":"2026-11-15T06:50:28.123Z","cancel":true,"pause":false}"#,
                Some(true),
            ),
        ] {
            let item: ItemResult = serde_json::from_str(json).unwrap();
            assert_eq!(item.extended.as_ref().map(|extended| extended.cancel), heard);
            let value: Value = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_value(&item).unwrap(), value);
        }
    }

    #[test]
    fn changes_name_their_fields() {
        let changes = TaskChanges::new()
            .payload(RawJson::parse("1e400").unwrap())
            .tags(&["a"])
            .without("expires");
        assert_eq!(
            serde_json::to_string(&changes).unwrap(),
            r#"{"expires":null,"payload":1e400,"tags":["a"]}"#
        );
    }
}
