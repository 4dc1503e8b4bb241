//! What holders say about the tasks they hold.

use punctual_core::{Queue, QueueName};

use super::apply::{Ask, Known, Outcome};
use super::{Engine, Failure};

impl Engine {
    /// Lets things happen to tasks of one queue. What this node handed out needs no read.
    pub(crate) async fn settle(
        &self,
        queue: &Queue,
        asks: &[Ask],
    ) -> Result<Vec<Result<Outcome, Failure>>, Failure> {
        let known = asks.iter().map(|ask| self.known(&queue.name, ask)).collect();
        Ok(self.apply(queue, asks, known, None).await?)
    }

    /// Lets something happen to one task.
    pub(crate) async fn settle_one(&self, queue: &Queue, ask: Ask) -> Result<Outcome, Failure> {
        let answers = self.settle(queue, std::slice::from_ref(&ask)).await?;
        answers.into_iter().next().unwrap_or(Err(Failure::Contended))
    }

    fn known(&self, queue: &QueueName, ask: &Ask) -> Known {
        let held = ask.token().and_then(|token| self.held.take_out(queue, &ask.id, token));
        held.map_or(Known::Unread, Known::Cached)
    }
}
