//! How a worker reads, and what it is told.

use punctual_core::worker::WorkerState;
use punctual_core::{QueueName, TaskId, Timestamp, WorkerName};
use serde::Serialize;
use utoipa::ToSchema;

use super::{TaskView, Viewing};
use crate::api::schema::Time;
use crate::engine::{Orders, WorkerReading};

/// A worker.
#[derive(Serialize, ToSchema)]
#[schema(as = Worker)]
pub(crate) struct WorkerView<'a> {
    /// Its name.
    #[schema(value_type = String)]
    name: &'a WorkerName,
    /// The queues it serves.
    #[schema(value_type = Vec<String>)]
    queues: &'a [QueueName],
    /// What it is capable of.
    capabilities: &'a [String],
    /// Most tasks of dispatch queues it holds at once.
    capacity: u32,
    /// Which incarnation it is, as it says itself.
    #[schema(required = true)]
    session: Option<&'a str>,
    /// Whether it is given tasks.
    #[schema(value_type = WorkerStateSchema)]
    state: WorkerState,
    /// How many tasks of dispatch queues it holds.
    load: usize,
    /// When this incarnation joined.
    #[schema(value_type = Time)]
    joined_at: Timestamp,
    /// When it was last heard of.
    #[schema(value_type = Time)]
    last_heartbeat: Timestamp,
}

/// Where a worker stands.
#[derive(ToSchema)]
#[schema(as = WorkerState, rename_all = "lowercase")]
#[expect(dead_code, reason = "describes the states of `core`")]
pub(crate) enum WorkerStateSchema {
    /// It is given tasks.
    Active,
    /// It is given no more tasks and finishes what it has.
    Draining,
    /// It was not heard of for 30 seconds; what it held went back.
    Lost,
}

impl WorkerView<'_> {
    /// The fields that no request sets; a PUT ignores them.
    pub(crate) const READ_ONLY: &'static [&'static str] =
        &["name", "state", "load", "joined_at", "last_heartbeat"];
}

impl<'a> From<&'a WorkerReading> for WorkerView<'a> {
    fn from(reading: &'a WorkerReading) -> Self {
        let WorkerReading { worker, load } = reading;
        Self {
            name: &worker.name,
            queues: &worker.queues,
            capabilities: &worker.capabilities,
            capacity: worker.capacity,
            session: worker.session.as_deref(),
            state: worker.state,
            load: *load,
            joined_at: worker.joined_at,
            last_heartbeat: worker.seen_at,
        }
    }
}

/// What a worker is told.
#[derive(Serialize, ToSchema)]
#[schema(as = Orders)]
pub(crate) struct OrdersView<'a> {
    /// Tasks it was given and has not confirmed, each with its token. They repeat until it does.
    assignments: Vec<TaskView<'a>>,
    /// Tasks it holds and is asked to stop for good.
    cancel: Vec<NamedView<'a>>,
    /// Tasks it holds and is asked to set aside.
    pause: Vec<NamedView<'a>>,
}

/// Which task.
#[derive(Serialize, ToSchema)]
#[schema(as = TaskName)]
pub(crate) struct NamedView<'a> {
    /// Its queue.
    #[schema(value_type = String)]
    queue: &'a QueueName,
    /// Its id.
    #[schema(value_type = String)]
    id: &'a TaskId,
}

impl<'a> OrdersView<'a> {
    /// What a worker is told now.
    pub(crate) fn new(orders: &'a Orders, viewing: Viewing<'_>) -> Self {
        let named = |tasks: &'a [(QueueName, TaskId)]| {
            tasks.iter().map(|(queue, id)| NamedView { queue, id }).collect()
        };
        let assignment = |(queue, stored): &'a (std::sync::Arc<punctual_core::Queue>, _)| {
            let punctual_store::Stored { task, .. } = stored;
            TaskView::new(task, &queue.settings, viewing).with_token(task)
        };
        Self {
            assignments: orders.assignments.iter().map(assignment).collect(),
            cancel: named(&orders.cancel),
            pause: named(&orders.pause),
        }
    }
}
