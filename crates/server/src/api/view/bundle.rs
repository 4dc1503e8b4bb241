//! How bundles read.

use std::collections::BTreeSet;

use punctual_core::http::Method;
use punctual_core::task::Attempt;
use punctual_core::{QueueName, RawJson, TaskId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::Viewing;
use crate::api::schema::{AnyJson, AttemptSchema, Time};
use crate::engine::BundleReading;

/// A bundle.
#[derive(Serialize, ToSchema)]
#[schema(as = Bundle)]
pub(crate) struct BundleView<'a> {
    /// Its queue.
    #[schema(value_type = String)]
    queue: &'a QueueName,
    /// Its key.
    #[schema(value_type = String)]
    key: &'a str,
    /// `waiting`, `started` (a worker was told of it), `locked`, `delivering` or `failed`.
    #[schema(value_type = String)]
    state: &'static str,
    /// How many payloads are in it.
    size: u64,
    /// When it is due.
    #[schema(value_type = Time)]
    ontime: Timestamp,
    /// When its first payload was pushed.
    #[schema(value_type = Time)]
    created_at: Timestamp,
    /// When its lock ends; null: nobody has it.
    #[schema(value_type = Option<Time>, required = true)]
    locked_until: Option<Timestamp>,
    /// Where it is delivered, if that is not its queue's URL.
    #[schema(value_type = Option<String>, required = true)]
    url: Option<&'a str>,
    /// With which method, if it has a URL of its own.
    #[schema(value_type = Option<String>, required = true)]
    method: Option<&'static str>,
    /// The task that delivers it; null: workers take it.
    #[schema(value_type = Option<String>, required = true)]
    task: Option<&'a TaskId>,
    /// How often its delivery was tried.
    attempt: u32,
    /// What went wrong last.
    #[schema(value_type = Option<String>, required = true)]
    error: Option<&'a str>,
    /// The strings kept with it; only where one bundle is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>, nullable = false)]
    data: Option<&'a BTreeSet<String>>,
    /// Its first payloads, at most 10,000 and 16 MiB; only where one bundle is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<AnyJson>>, nullable = false)]
    tasks: Option<&'a [RawJson]>,
    /// The last 20 attempts to deliver it, oldest first; only where one bundle is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<AttemptSchema>>, nullable = false)]
    history: Option<&'a [Attempt]>,
}

impl<'a> BundleView<'a> {
    /// A bundle as it reads in a list.
    pub(crate) fn new(reading: &'a BundleReading, viewing: Viewing<'_>) -> Self {
        let BundleReading { bundle, delivery } = reading;
        let target = bundle.target.as_ref();
        let error = delivery.as_ref().and_then(|status| status.error.as_deref());
        Self {
            queue: &bundle.queue,
            key: bundle.key.as_str(),
            state: reading.state(viewing.now),
            size: bundle.size,
            ontime: bundle.due_at,
            created_at: bundle.created_at,
            locked_until: bundle.lock(viewing.now).map(|lock| lock.until),
            url: target.and_then(|target| target.url.as_deref()),
            method: target.map(|target| target.method.map_or("POST", Method::name)),
            task: bundle.task.as_ref(),
            attempt: delivery.as_ref().map_or(0, |status| status.attempt),
            error: bundle.error.as_deref().or(error),
            data: None,
            tasks: None,
            history: None,
        }
    }

    /// The same with all that is in it.
    pub(crate) fn whole(self, reading: &'a BundleReading, payloads: &'a [RawJson]) -> Self {
        let history = reading.delivery.as_ref().map_or(&[][..], |status| &status.history);
        let (data, tasks) = (Some(&reading.bundle.data), Some(payloads));
        Self { data, tasks, history: Some(history), ..self }
    }
}
