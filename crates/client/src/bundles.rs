//! Bundles: payloads that fall due together, for workers or for the server to deliver.

use http::Method;
use punctual_core::bundle::Overwrite;
use punctual_core::{RawJson, Span, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::tasks::Page;
use crate::transport::{Call, Client, path, query};

/// A payload to push into a bundle.
///
/// ```
/// use punctual_client::{Payload, Span};
///
/// let payload = Payload::new(&"order 17").always().max_wait(Span::from_secs(3_600));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Payload {
    task: RawJson,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    data: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ontime: Option<Timestamp>,
    overwrite: Overwrite,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_wait: Option<Span>,
}

impl Payload {
    /// A payload that is due now.
    pub fn new<T: Serialize + ?Sized>(task: &T) -> Self {
        Self::raw(RawJson::of(task))
    }

    /// The same, with JSON that is kept exactly.
    pub fn raw(task: RawJson) -> Self {
        let overwrite = Overwrite::Once;
        Self { task, data: Vec::new(), ontime: None, overwrite, max_wait: None }
    }

    /// A string to keep with the bundle.
    #[must_use]
    pub fn data(mut self, text: impl Into<String>) -> Self {
        self.data.push(text.into());
        self
    }

    /// When the bundle is due.
    #[must_use]
    pub fn ontime(self, ontime: Timestamp) -> Self {
        Self { ontime: Some(ontime), ..self }
    }

    /// Moves the due time of a bundle that exists.
    #[must_use]
    pub fn always(self) -> Self {
        Self { overwrite: Overwrite::Always, ..self }
    }

    /// The bundle is due no later than that long after its first payload.
    #[must_use]
    pub fn max_wait(self, span: Span) -> Self {
        Self { max_wait: Some(span), ..self }
    }
}

/// The bundle after a push.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BundlePushed {
    /// How many payloads are in it.
    pub size: u64,
    /// When the payload is due; none: the push was a repeat, and the bundle is gone.
    pub ontime: Option<Timestamp>,
}

/// A bundle as it reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Bundle {
    /// Its queue.
    pub queue: String,
    /// Its key.
    pub key: String,
    /// `waiting`, `started`, `locked`, `delivering` or `failed`.
    pub state: String,
    /// How many payloads are in it.
    pub size: u64,
    /// When it is due.
    pub ontime: Timestamp,
    /// When its first payload was pushed.
    pub created_at: Timestamp,
    /// When its lock ends.
    pub locked_until: Option<Timestamp>,
    /// Where it is delivered, if not to its queue's URL.
    pub url: Option<String>,
    /// The task that delivers it.
    pub task: Option<String>,
    /// How often its delivery was tried.
    pub attempt: u32,
    /// The last error.
    pub error: Option<String>,
    /// The strings kept with it, where one bundle is read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<String>,
    /// Its first payloads, where one bundle is read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<RawJson>,
}

/// The answer to a worker that asks for a due bundle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Scheduled {
    /// The key of one that is due.
    pub key: Option<String>,
    /// Since when.
    pub ontime: Option<Timestamp>,
    /// How long until the first falls due, if none is.
    pub next_in: Option<Span>,
}

/// The payloads of a bundle that is locked for the caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GotBundle {
    /// The payloads, in the order they were pushed.
    pub tasks: Vec<RawJson>,
    /// The strings kept with the bundle.
    pub data: Vec<String>,
    /// When the lock ends.
    pub locked_until: Timestamp,
}

#[derive(Serialize)]
struct Lock<'a> {
    random: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ontime: Option<Timestamp>,
}

impl<'a> Lock<'a> {
    fn new(random: &'a str) -> Self {
        Self { random, number: None, timeout: None, ontime: None }
    }
}

fn bundle_path(queue: &str, key: &str) -> String {
    path("/v1/queues", &[queue, "bundles", key])
}

impl Client {
    /// Pushes a payload into a bundle. Under an Idempotency-Key a repeat has no second effect.
    pub async fn push_bundle(
        &self,
        queue: &str,
        key: &str,
        payload: &Payload,
        idempotency_key: Option<&str>,
    ) -> Result<BundlePushed, Error> {
        let call = Call::post(bundle_path(queue, key) + "/push").body(payload);
        self.send(call.idempotency_key(idempotency_key)).await
    }

    /// Reads a page of a queue's bundles, or of those in one state.
    pub async fn bundles(
        &self,
        queue: &str,
        state: Option<&str>,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<Bundle>, Error> {
        let query = query(&[
            ("state", state.map(str::to_owned)),
            ("limit", Some(limit.to_string())),
            ("cursor", cursor.map(str::to_owned)),
        ]);
        self.send(Call::get(path("/v1/queues", &[queue, "bundles"]) + &query)).await
    }

    /// Reads a bundle and its first payloads.
    pub async fn bundle(&self, queue: &str, key: &str) -> Result<Bundle, Error> {
        self.send(Call::get(bundle_path(queue, key))).await
    }

    /// Makes a failed or waiting bundle due now.
    pub async fn retry_bundle(&self, queue: &str, key: &str) -> Result<Bundle, Error> {
        self.send(Call::post(bundle_path(queue, key) + "/retry")).await
    }

    /// Removes a bundle with all its payloads.
    pub async fn delete_bundle(&self, queue: &str, key: &str) -> Result<(), Error> {
        self.send_unread(Call::new(Method::DELETE, bundle_path(queue, key))).await.map(drop)
    }

    /// Asks for a due bundle, and waits for one if asked to.
    pub async fn schedule_bundle(&self, queue: &str, wait: Span) -> Result<Scheduled, Error> {
        let call = Call::post(path("/v1/queues", &[queue, "bundles", "schedule"]))
            .body(&serde_json::json!({"wait": wait}))
            .wait(std::time::Duration::from_millis(wait.as_millis().unsigned_abs()));
        self.send(call).await
    }

    /// Locks a bundle under a value of the caller, and returns its first payloads.
    pub async fn get_bundle(
        &self,
        queue: &str,
        key: &str,
        random: &str,
        timeout: Option<Span>,
        number: Option<u64>,
    ) -> Result<GotBundle, Error> {
        let lock = Lock { timeout, number, ..Lock::new(random) };
        self.send(Call::post(bundle_path(queue, key) + "/get").body(&lock)).await
    }

    /// Completes the first payloads of a bundle, or all that were got. Returns how many are left.
    pub async fn complete_bundle(
        &self,
        queue: &str,
        key: &str,
        random: &str,
        number: Option<u64>,
    ) -> Result<u64, Error> {
        #[derive(Deserialize)]
        struct Completed {
            left: u64,
        }
        let lock = Lock { number, ..Lock::new(random) };
        let call = Call::post(bundle_path(queue, key) + "/complete").body(&lock);
        self.send(call).await.map(|Completed { left }| left)
    }

    /// Gives a bundle back, due at a time, or when its lock would have ended.
    pub async fn release_bundle(
        &self,
        queue: &str,
        key: &str,
        random: &str,
        ontime: Option<Timestamp>,
    ) -> Result<BundlePushed, Error> {
        let lock = Lock { ontime, ..Lock::new(random) };
        self.send(Call::post(bundle_path(queue, key) + "/release").body(&lock)).await
    }

    /// Adds strings to those kept with a bundle, and removes others.
    pub async fn change_bundle_data(
        &self,
        queue: &str,
        key: &str,
        add: &[String],
        remove: &[String],
    ) -> Result<Bundle, Error> {
        let change = serde_json::json!({"add": add, "remove": remove});
        self.send(Call::post(bundle_path(queue, key) + "/data").body(&change)).await
    }
}
