//! What the executor of deliveries asks for.

use std::sync::Arc;

use punctual_core::announce;
use punctual_core::queue::Mode;
use punctual_core::{Event, OwnerRef, QueueName, Span, State, Timestamp};
use punctual_store::{Classes, Listing, StoreError, Stored, Take, Taken, Taker};

use super::owned::Decided;
use super::{Engine, random};

/// Tasks freed at once.
const PAGE: usize = 500;

/// Tasks to deliver.
pub(crate) struct ToDeliver {
    /// The tasks, held from now on.
    pub(crate) tasks: Vec<Stored>,
    /// When the rate limit lets the next one go.
    pub(crate) again_at: Option<Timestamp>,
    /// Lane classes that have more than there was room for.
    pub(crate) left_out: Vec<Arc<str>>,
}

impl Engine {
    /// The queues whose tasks the server delivers.
    pub(crate) async fn http_queues(&self) -> Result<Vec<QueueName>, StoreError> {
        let mut queues = self.store.queues().await?;
        queues.retain(|queue| queue.settings.mode == Mode::Http);
        Ok(queues.iter().map(|queue| queue.name.clone()).collect())
    }

    /// Frees what a server that is gone was delivering: nobody else can be. Called before this one
    /// delivers anything.
    pub(crate) async fn free_deliveries(&self, name: &QueueName) -> Result<(), StoreError> {
        let states: Vec<State> = State::ALL.into_iter().filter(|state| state.is_held()).collect();
        self.free_held(name, &states).await
    }

    /// Ends the holds of all tasks in these states, if no other server can have them.
    pub(super) async fn free_held(
        &self,
        name: &QueueName,
        states: &[State],
    ) -> Result<(), StoreError> {
        let Some(queue) = self.store.queue(name).await?.filter(|_| self.store.is_exclusive())
        else {
            return Ok(());
        };
        let mut cursor = None;
        loop {
            let (queue_name, states) = (name.clone(), states.to_vec());
            let listing = Listing { queue: queue_name, states, cursor, limit: PAGE, sort: None };
            let page = self.store.list(listing).await?;
            let now = self.now();
            let decided = page.items.iter().filter_map(|before| {
                let decision = self.decide(&queue, &before.task, Event::HoldEnd, now).ok()?;
                Some(Decided { queue: &queue, event: &Event::HoldEnd, before, decision })
            });
            // A task that has changed meanwhile is held by nobody that is gone.
            self.commit(decided.collect(), now).await?;
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    /// Takes up to `n` tasks to deliver, so many of each lane class. None: there is no such queue.
    pub(crate) async fn take_to_deliver(
        &self,
        queue: &QueueName,
        n: usize,
        hold: Span,
        classes: Classes,
    ) -> Result<Option<ToDeliver>, StoreError> {
        let seed = random::seed();
        let hold = Some(hold);
        let taker = Taker { seed, worker: None, n, hold, confirm: false, capacity: None };
        let take = Take { queue: queue.clone(), classes, takers: vec![taker] };
        match self.store.take(take).await? {
            Taken::NoQueue => Ok(None),
            Taken::Tasks { per_taker, again_at, left_out } => {
                let tasks: Vec<Stored> = per_taker.into_iter().flatten().collect();
                self.tell_taken(&tasks);
                Ok(Some(ToDeliver { tasks, again_at, left_out }))
            }
        }
    }

    /// Announces that deliveries begin.
    fn tell_taken(&self, tasks: &[Stored]) {
        let now = self.now();
        let due = tasks.iter().filter_map(|Stored { task, .. }| match &task.spec.owner {
            Some(OwnerRef::Bundle(key)) => Some(announce::bundle::due(&task.spec.queue, key, now)),
            _ => None,
        });
        let taken = announce::task::taken(tasks.iter().map(|stored| &stored.task), now);
        self.events.announce(taken.into_iter().chain(due));
    }
}
