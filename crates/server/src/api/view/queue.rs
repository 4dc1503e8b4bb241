//! How a queue reads.

use std::collections::BTreeMap;

use punctual_core::http::HIDDEN;
use punctual_core::queue::{Abandoned, Keep, Mode, Order, Rate};
use punctual_core::retry::{MaxAttempts, RetryPolicy};
use punctual_core::{QueueName, Span, State, Timestamp};
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use super::Viewing;
use crate::api::schema::{
    AbandonedSchema, CountsSchema, DurationSeconds, KeepSchema, ModeSchema, OrderSchema,
    RateSchema, RetrySchema, Time,
};
use crate::engine::{QueueReading, Scale, Totals};

/// A queue.
#[derive(Serialize, ToSchema)]
#[schema(as = Queue)]
pub(crate) struct QueueView<'a> {
    /// Its name.
    #[schema(value_type = String)]
    name: &'a QueueName,
    /// Who carries out its tasks.
    #[schema(value_type = ModeSchema)]
    mode: Mode,
    /// A label to tell queues apart.
    #[schema(value_type = Option<String>, required = true)]
    tag: Option<&'a str>,
    /// Most live tasks; null: unlimited.
    #[schema(required = true)]
    max: Option<u64>,
    /// How long a taken task is held before it counts as lost.
    #[schema(value_type = DurationSeconds)]
    hold: Span,
    /// How long a worker has to confirm.
    #[schema(value_type = DurationSeconds)]
    confirm_within: Span,
    /// Takes before a task is failed; -1 for no limit.
    #[schema(value_type = i32)]
    max_attempts: MaxAttempts,
    /// The longest a task may be held in one attempt; null: unlimited.
    #[schema(value_type = Option<DurationSeconds>, required = true)]
    max_runtime: Option<Span>,
    /// When to try again.
    #[schema(value_type = RetrySchema)]
    retry: &'a RetryPolicy,
    /// The order among ready tasks of one priority.
    #[schema(value_type = OrderSchema)]
    order: Order,
    /// Most tasks held at once; null: unlimited.
    #[schema(required = true)]
    concurrency: Option<u32>,
    /// Most tasks handed out in a time; null: unlimited.
    #[schema(value_type = Option<RateSchema>, required = true)]
    rate: Option<Rate>,
    /// How long finished tasks stay readable.
    #[schema(value_type = KeepSchema)]
    keep: Keep,
    /// Target of tasks that name none.
    #[schema(value_type = Option<String>, required = true)]
    url: Option<&'a str>,
    /// Headers sent to that target; secret values read as `***`.
    headers: BTreeMap<&'a str, &'a str>,
    /// `***` if there is one.
    #[schema(value_type = Option<String>, required = true)]
    secret: Option<&'a str>,
    /// The time one delivery may take.
    #[schema(value_type = DurationSeconds)]
    timeout: Span,
    /// After how long a scheduled bundle counts as abandoned; null: never.
    #[schema(value_type = Option<DurationSeconds>, required = true)]
    abandon_after: Option<Span>,
    /// What becomes of it then.
    #[schema(value_type = AbandonedSchema)]
    abandoned: Abandoned,
    /// Whether nothing is handed out.
    paused: bool,
    /// When it was made.
    #[schema(value_type = Time)]
    created_at: Timestamp,
    /// How long its oldest ready task has been ready; null: none is ready.
    #[schema(value_type = Option<DurationSeconds>, required = true)]
    oldest_ready_age: Option<Span>,
    /// What it holds.
    #[schema(value_type = CountsSchema)]
    counts: Counts<'a>,
}

impl<'a> QueueView<'a> {
    /// The fields that no request sets; a PUT ignores them.
    pub(crate) const READ_ONLY: &'static [&'static str] =
        &["name", "paused", "created_at", "oldest_ready_age", "counts"];

    /// A queue as it reads now.
    pub(crate) fn new(reading: &'a QueueReading, viewing: Viewing<'_>) -> Self {
        let QueueReading { queue, stats } = reading;
        let settings = &queue.settings;
        Self {
            name: &queue.name,
            mode: settings.mode,
            tag: settings.tag.as_deref(),
            max: settings.max,
            hold: settings.hold,
            confirm_within: settings.confirm_within,
            max_attempts: settings.max_attempts,
            max_runtime: settings.max_runtime,
            retry: &settings.retry,
            order: settings.order,
            concurrency: settings.concurrency,
            rate: settings.rate,
            keep: settings.keep,
            url: settings.url.as_deref(),
            headers: settings.headers.shown(viewing.secret_headers),
            secret: (!settings.secret.is_empty()).then_some(HIDDEN),
            timeout: settings.timeout,
            abandon_after: settings.abandon_after,
            abandoned: settings.abandoned,
            paused: queue.paused,
            created_at: queue.created_at,
            oldest_ready_age: stats.oldest_ready_at.map(|at| viewing.now.since(at)),
            counts: Counts(stats),
        }
    }
}

/// How many workers a queue has and needs.
#[derive(Serialize, ToSchema)]
#[schema(as = Scale)]
pub(crate) struct ScaleView {
    /// Tasks that are ready and wait for a worker.
    backlog: u64,
    /// Workers that took, waited or reported within the last 90 seconds; if none has given its
    /// name, tasks held and takers waiting.
    workers: u64,
    /// Workers it takes to keep up with what arrives and to work off the backlog within a minute,
    /// by the rates of about the last minute. 1 until a task has been worked on; 0 if idle.
    desired_workers: u64,
}

impl From<Scale> for ScaleView {
    fn from(scale: Scale) -> Self {
        let Scale { backlog, workers, desired_workers } = scale;
        Self { backlog, workers, desired_workers }
    }
}

/// What queues hold together.
#[derive(Serialize, ToSchema)]
#[schema(as = Totals)]
pub(crate) struct TotalsView<'a> {
    /// How many queues there are.
    queues: usize,
    /// How many of them are paused.
    paused: usize,
    /// What they hold.
    #[schema(value_type = CountsSchema)]
    counts: Counts<'a>,
    /// How long the oldest ready task has been ready; null: none is ready.
    #[schema(value_type = Option<DurationSeconds>, required = true)]
    oldest_ready_age: Option<Span>,
    /// Its queue.
    #[schema(value_type = Option<String>, required = true)]
    oldest_ready_queue: Option<&'a QueueName>,
    /// Those that hold most tasks that have not ended, most first: at most 5. One that is paused may hold
    /// nothing.
    busiest: Vec<QueueView<'a>>,
}

impl<'a> TotalsView<'a> {
    /// The totals as they read now.
    pub(crate) fn new(totals: &'a Totals, viewing: Viewing<'_>) -> Self {
        let oldest = totals.oldest.as_ref();
        Self {
            queues: totals.queues,
            paused: totals.paused,
            counts: Counts(&totals.sum),
            oldest_ready_age: oldest.map(|(at, _)| viewing.now.since(*at)),
            oldest_ready_queue: oldest.map(|(_, queue)| queue),
            busiest: totals.busiest.iter().map(|it| QueueView::new(it, viewing)).collect(),
        }
    }
}

/// The tasks of a queue, or of several, counted.
struct Counts<'a>(&'a punctual_store::QueueStats);

impl Serialize for Counts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stats = self.0;
        let totals = [
            ("total", stats.live()),
            ("untaken", stats.live() - stats.held()),
            ("taken", stats.held()),
        ];
        let states = State::ALL.into_iter().map(|state| (state.name(), stats.count(state)));
        serializer.collect_map(totals.into_iter().chain(states).chain([("bundles", stats.bundles)]))
    }
}
