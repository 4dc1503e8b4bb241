//! What the executor of deliveries asks for.

use std::sync::Arc;

use punctual_core::queue::Mode;
use punctual_core::{QueueName, Span, Timestamp};
use punctual_store::{Classes, StoreError, Stored, Take, Taken, Taker};

use super::{Engine, random};

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

    /// Takes up to `n` tasks to deliver, so many of each lane class. None: there is no such queue.
    pub(crate) async fn take_to_deliver(
        &self,
        queue: &QueueName,
        n: usize,
        hold: Span,
        classes: Classes,
    ) -> Result<Option<ToDeliver>, StoreError> {
        let seed = random::seed();
        let taker = Taker { seed, worker: None, n, hold: Some(hold), confirm: false };
        let take = Take { queue: queue.clone(), classes, takers: vec![taker] };
        match self.store.take(take).await? {
            Taken::NoQueue => Ok(None),
            Taken::Tasks { per_taker, again_at, left_out } => {
                self.held.keep(per_taker.iter().flatten());
                let tasks = per_taker.into_iter().flatten().collect();
                Ok(Some(ToDeliver { tasks, again_at, left_out }))
            }
        }
    }
}
