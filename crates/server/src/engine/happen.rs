//! What clients say about tasks that exist, holders and anybody else: one way for all verbs.

use std::sync::Arc;

use punctual_core::queue::Mode;
use punctual_core::{Event, Queue, QueueName};
use punctual_store::{Receipt, Stored};

use super::apply::{Ask, Known, Outcome};
use super::{Engine, Failure};

impl Engine {
    /// Lets things happen to tasks of one queue. What this node handed out needs no read.
    pub(crate) async fn happen(
        &self,
        queue: &QueueName,
        asks: &[Ask],
    ) -> Result<Vec<Result<Outcome, Failure>>, Failure> {
        let known = asks.iter().map(|ask| self.known(queue, ask)).collect();
        self.happen_to(queue, asks, known).await
    }

    /// The same for tasks that the asker itself holds, as it got them; for those that follow in `asks`
    /// it has nothing.
    pub(crate) async fn happen_to_held(
        &self,
        queue: &QueueName,
        asks: &[Ask],
        held: Vec<Stored>,
    ) -> Result<Vec<Result<Outcome, Failure>>, Failure> {
        let unread = std::iter::repeat_with(|| Known::Unread);
        let known = held.into_iter().map(Known::Cached).chain(unread);
        self.happen_to(queue, asks, known.take(asks.len()).collect()).await
    }

    async fn happen_to(
        &self,
        queue: &QueueName,
        asks: &[Ask],
        known: Vec<Known>,
    ) -> Result<Vec<Result<Outcome, Failure>>, Failure> {
        match self.queue(queue).await {
            // What few need lies on the heap by itself, so that the others' way stays small.
            Ok(record) if record.settings.mode == Mode::Vote => {
                Box::pin(self.vote(&record, asks)).await
            }
            Ok(record) => Ok(self.apply(&record, asks, known, None).await?),
            Err(missing @ Failure::NoQueue(_)) => self.happened(queue, asks, missing).await,
            Err(failure) => Err(failure),
        }
    }

    /// The same in a vote queue, where tokens are those of ballots.
    async fn vote(
        &self,
        queue: &Arc<Queue>,
        asks: &[Ask],
    ) -> Result<Vec<Result<Outcome, Failure>>, Failure> {
        let mut answers = Vec::with_capacity(asks.len());
        for ask in asks {
            if ask.token().is_some() {
                answers.push(self.cast(queue, ask).await);
            } else {
                let one = std::slice::from_ref(ask);
                answers.extend(self.apply(queue, one, vec![Known::Unread], None).await?);
            }
        }
        Ok(answers)
    }

    /// Lets something happen to one task.
    pub(crate) async fn happen_to_one(
        &self,
        queue: &QueueName,
        ask: Ask,
    ) -> Result<Outcome, Failure> {
        let answers = self.happen(queue, std::slice::from_ref(&ask)).await?;
        answers.into_iter().next().unwrap_or(Err(Failure::Contended))
    }

    /// Answers verbs on tasks of a queue that is gone: what was settled before its end stays so. If
    /// none was, all there is to say is that the queue is missing.
    async fn happened(
        &self,
        queue: &QueueName,
        asks: &[Ask],
        missing: Failure,
    ) -> Result<Vec<Result<Outcome, Failure>>, Failure> {
        let mut answers: Vec<_> = asks.iter().map(|_| Err(missing.clone())).collect();
        let (places, receipts): (Vec<_>, Vec<_>) = asks
            .iter()
            .enumerate()
            .filter_map(|(place, ask)| Some((place, ask.receipt(queue)?)))
            .unzip();
        let settled = self.store.settled(&receipts).await?;
        for ((place, receipt), settled) in places.into_iter().zip(receipts).zip(settled) {
            if settled {
                answers[place] = Ok(Outcome::Before { verb: receipt.verb });
            }
        }
        if answers.iter().any(Result::is_ok) { Ok(answers) } else { Err(missing) }
    }

    fn known(&self, queue: &QueueName, ask: &Ask) -> Known {
        let held = ask.token().and_then(|token| self.held.take_out(queue, &ask.id, token));
        held.map_or(Known::Unread, Known::Cached)
    }
}

impl Ask {
    /// What would be remembered if this settled its task before.
    pub(super) fn receipt(&self, queue: &QueueName) -> Option<Receipt> {
        let Event::Settle { token, settlement } = &self.event else { return None };
        let (queue, id) = (queue.clone(), self.id.clone());
        Some(Receipt { queue, id, token: *token, verb: settlement.verb() })
    }
}
