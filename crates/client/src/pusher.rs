//! Pushes that gather into batches by themselves, and are repeated while the server is away.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use punctual_core::RawJson;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::error::{Error, Problem};
use crate::tasks::ItemResult;
use crate::transport::{Call, Client, path};

/// One request carries at most so many tasks and bytes. The server takes more; this keeps each answer quick.
const ITEMS_MAX: usize = 1_000;
const BYTES_MAX: usize = 4 << 20;
const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// Pushes tasks. Cheap to clone; clones gather together.
///
/// Pushes that come while a request to the same queue is under way go together in the next one, and each caller gets its
/// own answer. A request carries an Idempotency-Key, so its repeat after a lost answer pushes nothing twice.
///
/// ```no_run
/// # async fn example(client: punctual_client::Client) -> Result<(), punctual_client::Error> {
/// use punctual_client::{NewTask, Pusher};
///
/// let pusher = Pusher::new(client);
/// let id = pusher.push("mail", &NewTask::new("ada")).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Pusher(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: Client,
    retry_for: Duration,
    /// A queue with a request under way, and the pushes that wait for it.
    lines: Mutex<HashMap<String, Vec<Waiting>>>,
}

#[derive(Debug)]
struct Waiting {
    task: RawJson,
    answer: oneshot::Sender<Result<String, Error>>,
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

impl Pusher {
    /// Waits 10 seconds for a server that is away.
    pub fn new(client: Client) -> Self {
        Self::with_retry_for(client, Duration::from_secs(10))
    }

    /// Waits that long for a server that is away.
    pub fn with_retry_for(client: Client, retry_for: Duration) -> Self {
        Self(Arc::new(Inner { client, retry_for, lines: Mutex::default() }))
    }

    /// Pushes a task, durably, and returns its id. A task is a [`NewTask`](crate::NewTask), or [`RawJson`] with the
    /// same fields.
    pub async fn push<T: Serialize + ?Sized>(
        &self,
        queue: &str,
        task: &T,
    ) -> Result<String, Error> {
        let (answer, answered) = oneshot::channel();
        let waiting = Waiting { task: RawJson::of(task), answer };
        let is_first = {
            let mut lines = self.lines();
            match lines.get_mut(queue) {
                Some(line) => {
                    line.push(waiting);
                    false
                }
                None => {
                    lines.insert(queue.to_owned(), vec![waiting]);
                    true
                }
            }
        };
        if is_first {
            // It goes on if this caller gives up, since others wait for it too.
            tokio::spawn(self.clone().send_all(queue.to_owned()));
        }
        let lost = |_| self.no_answer("the program ends");
        answered.await.map_err(lost)?
    }

    fn lines(&self) -> MutexGuard<'_, HashMap<String, Vec<Waiting>>> {
        self.0.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn no_answer(&self, reason: &str) -> Error {
        Error::NoAnswer { url: self.0.client.url().to_owned(), reason: reason.to_owned() }
    }

    async fn send_all(self, queue: String) {
        loop {
            let group: Vec<Waiting> = {
                let mut lines = self.lines();
                let Some(line) = lines.get_mut(&queue).filter(|line| !line.is_empty()) else {
                    lines.remove(&queue);
                    return;
                };
                let number = portion(line);
                line.drain(..number).collect()
            };
            self.send(&queue, group).await;
        }
    }

    async fn send(&self, queue: &str, group: Vec<Waiting>) {
        let outcome =
            if group.len() > 1 { self.send_batch(queue, &group).await } else { Ok(vec![]) };
        match outcome {
            Ok(results) if !results.is_empty() => {
                for (waiting, result) in group.into_iter().zip(results) {
                    let _ = waiting.answer.send(id_of(result));
                }
            }
            Err(error) if !matches!(error.status(), Some(400 | 413 | 422)) => {
                for waiting in group {
                    let _ = waiting.answer.send(Err(copy_of(&error)));
                }
            }
            // One task alone; or the refusal of a batch may be the fault of one task, so each gets its own answer.
            _ => {
                for waiting in group {
                    let pushed = self.send_one(queue, &waiting.task).await;
                    let _ = waiting.answer.send(pushed);
                }
            }
        }
    }

    async fn send_one(&self, queue: &str, task: &RawJson) -> Result<String, Error> {
        let key = key()?;
        let call = || {
            let call = Call::post(path("/v1/queues", &[queue, "tasks"]));
            self.0.client.send::<Named>(call.body(task).idempotency_key(Some(&key)))
        };
        self.repeated(call).await.map(|pushed| pushed.id)
    }

    async fn send_batch(&self, queue: &str, group: &[Waiting]) -> Result<Vec<ItemResult>, Error> {
        let tasks: Vec<&RawJson> = group.iter().map(|waiting| &waiting.task).collect();
        let key = key()?;
        let results = self.repeated(|| self.0.client.push_batch(queue, &tasks, Some(&key))).await?;
        if results.len() == group.len() {
            return Ok(results);
        }
        Err(self.no_answer("the answer has another number of results"))
    }

    /// Sends a request again as long as the server may come back.
    async fn repeated<T, F: Future<Output = Result<T, Error>>>(
        &self,
        mut ask: impl FnMut() -> F,
    ) -> Result<T, Error> {
        let began = Instant::now();
        let mut pause = PAUSE_FIRST;
        loop {
            let error = match ask().await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let wait = pause.max(retry_after(&error));
            if !is_passing(&error) || began.elapsed() + wait > self.0.retry_for {
                return Err(error);
            }
            tokio::time::sleep(wait).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}

/// How many of the first tasks go into one request: at least one.
fn portion(line: &[Waiting]) -> usize {
    let mut bytes = 0;
    let fits = line.iter().take(ITEMS_MAX).take_while(|waiting| {
        bytes += waiting.task.len();
        bytes <= BYTES_MAX
    });
    fits.count().max(1)
}

/// A full queue does not pass by waiting for the server.
fn is_passing(error: &Error) -> bool {
    matches!(error, Error::Unreachable { .. } | Error::NoAnswer { .. })
        || error.code() == Some("limited")
        || error.status() == Some(503)
}

fn retry_after(error: &Error) -> Duration {
    match error {
        Error::Refused(problem) => Duration::from_secs(problem.retry_after_secs.unwrap_or(0)),
        _ => Duration::ZERO,
    }
}

fn key() -> Result<String, Error> {
    let random = || getrandom::u64().map_err(|_| Error::Header { field: "idempotency key" });
    Ok(format!("{:016x}{:016x}", random()?, random()?))
}

fn id_of(result: ItemResult) -> Result<String, Error> {
    match result {
        ItemResult { ok: true, id: Some(id), .. } => Ok(id),
        ItemResult { code, detail, .. } => {
            let code = code.unwrap_or("invalid".to_owned());
            let status = status_of(&code);
            let title = code.clone();
            Err(Problem { status, code, title, detail, effect: None, retry_after_secs: None }
                .into())
        }
    }
}

/// The status of an item's code where a batch answers 200.
fn status_of(code: &str) -> u16 {
    match code {
        "bad_json" => 400,
        "unauthorized" => 401,
        "forbidden" => 403,
        "not_found" => 404,
        "duplicate" | "stale_token" | "wrong_state" => 409,
        "changed" => 412,
        "too_large" => 413,
        "unsupported" => 415,
        "queue_full" | "limited" => 429,
        "unavailable" => 503,
        _ => 422,
    }
}

/// The same error for another caller.
fn copy_of(error: &Error) -> Error {
    match error {
        Error::Refused(problem) => Error::Refused(problem.clone()),
        Error::Unreachable { url, reason, .. } => {
            let source = std::io::Error::other(reason.clone()).into();
            Error::Unreachable { url: url.clone(), reason: reason.clone(), source }
        }
        Error::Unreadable { url, status, reason } => {
            Error::Unreadable { url: url.clone(), status: *status, reason: reason.clone() }
        }
        Error::NoAnswer { url, reason } => {
            Error::NoAnswer { url: url.clone(), reason: reason.clone() }
        }
        Error::Header { field } => Error::Header { field },
        other => Error::Stream { reason: other.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(bytes: usize) -> Waiting {
        let task = RawJson::of(&"x".repeat(bytes));
        Waiting { task, answer: oneshot::channel().0 }
    }

    #[test]
    fn a_request_has_a_bounded_number_of_tasks_and_bytes() {
        for (sizes, expected) in [
            (vec![1; 3], 3),
            (vec![1; 1_500], 1_000),
            (vec![5 << 20, 1], 1),
            (vec![3 << 20, 3 << 20, 1], 1),
            (vec![1 << 20, 1 << 20, 3 << 20], 2),
        ] {
            let line: Vec<Waiting> = sizes.iter().map(|bytes| waiting(*bytes)).collect();
            assert_eq!(portion(&line), expected, "{} tasks", sizes.len());
        }
    }
}
