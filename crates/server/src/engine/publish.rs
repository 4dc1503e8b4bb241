//! What the server hands out by itself besides deliveries: assignments, votes and broadcasts.

use std::sync::Arc;

use punctual_core::limits::PUB_PAYLOAD_BYTES_MAX;
use punctual_core::queue::Mode;
use punctual_core::task::Settlement;
use punctual_core::{Event, Queue, State, Task, Timestamp, WorkerName, announce};
use punctual_store::{Classes, Store, StoreError, Stored, Take, Taken, Taker};

use super::{Ask, Engine, Failure, random};

/// Tasks taken at a time.
const BATCH: usize = 100;

impl Engine {
    /// A share of the store, for what outlasts a request.
    pub(crate) fn shared_store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    /// The store, for those who hand out tasks.
    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The queues whose tasks the dispatcher hands out.
    pub(crate) async fn handed_out_queues(&self) -> Result<Vec<Arc<Queue>>, StoreError> {
        let mut queues = self.store.queues().await?;
        let is_ours = |mode| matches!(mode, Mode::Dispatch | Mode::Vote | Mode::Pub);
        queues.retain(|queue| is_ours(queue.settings.mode));
        Ok(queues)
    }

    /// Frees what a server that is gone had taken for itself: nobody else can have it.
    pub(crate) async fn free_own(&self, queue: &Queue) -> Result<(), StoreError> {
        match queue.settings.mode {
            Mode::Pub => self.free_held(&queue.name, &[State::Running]).await,
            Mode::Vote => self.free_held(&queue.name, &[State::Assigned]).await,
            Mode::Pull | Mode::Dispatch | Mode::Http => Ok(()),
        }
    }

    /// Tasks were assigned to a worker.
    pub(crate) fn assigned(&self, worker: &WorkerName, tasks: &[Stored]) {
        self.held.keep(tasks);
        self.announce_taken(tasks);
        self.roster.ring(worker);
    }

    fn announce_taken(&self, tasks: &[Stored]) {
        let tasks = tasks.iter().map(|stored| &stored.task);
        self.events.announce(announce::task::taken(tasks, self.now()));
    }

    /// Begins votes on tasks that are ready, if anybody serves the queue: how many, and when the rate
    /// limit lets the next one go.
    pub(crate) async fn begin_votes(
        &self,
        queue: &Queue,
    ) -> Result<(usize, Option<Timestamp>), StoreError> {
        if self.roster.serving(&queue.name).is_empty() {
            return Ok((0, None));
        }
        let (tasks, again_at) = self.take_own(queue, true).await?;
        let count = tasks.len();
        if count > 0 {
            self.announce_taken(&tasks);
            if !self.store.is_exclusive() {
                // Whoever had joined when a task was pushed has a voice, also if that was elsewhere.
                self.find_workers().await?;
            }
            let voters = self.roster.serving(&queue.name).into_iter().map(|it| it.name).collect();
            self.open_votes(queue, tasks, voters).await?;
        }
        Ok((count, again_at))
    }

    /// Broadcasts tasks that are ready, and says that they are done: how many, and when the rate limit
    /// lets the next one go. If the server dies in between, they are broadcast again.
    pub(crate) async fn publish(
        &self,
        queue: &Queue,
    ) -> Result<(usize, Option<Timestamp>), StoreError> {
        let (tasks, again_at) = self.take_own(queue, false).await?;
        let ask = |Stored { task, .. }: &Stored| {
            let token = task.status.hold?.token;
            let settlement = if task.spec.payload.len() > PUB_PAYLOAD_BYTES_MAX {
                let error = Some("payload: at most 65536 bytes can be broadcast".to_owned());
                Settlement::Fail { error, retry_in: None, permanent: true }
            } else {
                self.broadcast(task);
                Settlement::Commit { result: None }
            };
            Some(Ask { id: task.spec.id.clone(), event: Event::Settle { token, settlement } })
        };
        let asks: Vec<Ask> = tasks.iter().filter_map(ask).collect();
        match self.happen(&queue.name, &asks).await {
            Err(Failure::Store(failure)) => Err(failure),
            _ => Ok((tasks.len(), again_at)),
        }
    }

    /// Announces a task of a pub queue to whoever is subscribed.
    fn broadcast(&self, task: &Task) {
        self.events.announce(vec![announce::task::published(&task.spec, self.now())]);
    }

    /// Takes tasks that the server carries out itself.
    async fn take_own(
        &self,
        queue: &Queue,
        confirm: bool,
    ) -> Result<(Vec<Stored>, Option<Timestamp>), StoreError> {
        let seed = random::seed();
        let taker = Taker { seed, worker: None, n: BATCH, hold: None, confirm, capacity: None };
        let queue = queue.name.clone();
        let take = Take { queue, classes: Classes::all(), takers: vec![taker] };
        match self.store.take(take).await? {
            Taken::NoQueue => Ok((Vec::new(), None)),
            Taken::Tasks { per_taker, again_at, .. } => {
                Ok((per_taker.into_iter().flatten().collect(), again_at))
            }
        }
    }
}
