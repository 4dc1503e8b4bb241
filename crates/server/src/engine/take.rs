//! Takes: at once, or by waiting in line; and what becomes of tasks whose taker is gone.
//!
//! A take that was begun runs to its end, also if the request is dropped that asked for it.
//! What was taken travels as a [`Handout`], which gives the tasks back when it is dropped before its
//! answer was written.

use std::sync::Arc;
use std::time::Duration;

use punctual_core::announce;
use punctual_core::limits::{TAKE_N_MAX, WAIT_MS_MAX};
use punctual_core::queue::Rate;
use punctual_core::task::Settlement;
use punctual_core::{Event, Queue, QueueName, Span, Timestamp, WorkerName};
use punctual_store::{Classes, Stored, Take, Taken, Taker};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;

use super::apply::Ask;
use super::lines::{Lines, Next};
use super::to_its_end::ToItsEnd;
use super::{Engine, Failure, random};

/// What a taker asks for.
#[derive(Debug, Clone)]
pub(crate) struct TakeAsk {
    /// Its name.
    pub(crate) worker: Option<WorkerName>,
    /// How many tasks at most.
    pub(crate) n: usize,
    /// The hold it asks for.
    pub(crate) hold: Option<Span>,
    /// Whether it will confirm.
    pub(crate) confirm: bool,
    /// How long it waits for the first task.
    pub(crate) wait: Span,
}

impl TakeAsk {
    /// Checks every field.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if !(1..=TAKE_N_MAX).contains(&self.n) {
            return Err(Failure::invalid("n", "a whole number from 1 to 1000"));
        }
        if self.hold.is_some_and(Span::is_zero) {
            return Err(Failure::invalid("hold", "longer than 0"));
        }
        if self.wait.as_millis() > WAIT_MS_MAX {
            return Err(Failure::invalid("wait", "at most 60 seconds"));
        }
        Ok(())
    }

    fn taker(&self) -> Taker {
        Taker {
            seed: random::seed(),
            worker: self.worker.clone(),
            n: self.n,
            hold: self.hold,
            confirm: self.confirm,
            capacity: None,
        }
    }
}

/// Tasks on their way to a taker. Dropped before they are [`Handout::written`], they go back.
#[derive(Debug, Default)]
pub(crate) struct Handout {
    tasks: Vec<Stored>,
    returned: Option<UnboundedSender<(QueueName, Vec<Ask>)>>,
}

impl Handout {
    /// The tasks.
    pub(crate) fn tasks(&self) -> &[Stored] {
        &self.tasks
    }

    /// The taker has them now.
    pub(crate) fn written(&mut self) {
        self.tasks.clear();
    }
}

impl Drop for Handout {
    fn drop(&mut self) {
        let (Some(first), Some(returned)) = (self.tasks.first(), &self.returned) else { return };
        let queue = first.task.spec.queue.clone();
        let asks = self.tasks.iter().filter_map(|stored| {
            let token = stored.task.status.hold?.token;
            let settlement = Settlement::Release { delay: None, checkpoint: None };
            let id = stored.task.spec.id.clone();
            Some(Ask { id, event: Event::Settle { token, settlement } })
        });
        // With the loop that gives tasks back gone, the server is too: their holds end by themselves.
        let _ = returned.send((queue, asks.collect()));
    }
}

/// How long to wait for the rate limit: not longer than it takes for one task, however far away the
/// wall clock says that is after it was set. Without a limit, or a queue, a take finds out at once.
fn rate_wait(rate: Option<Rate>, wait: Span) -> Duration {
    let per_task = rate.map_or(0, |rate| {
        rate.per.as_millis().unsigned_abs().div_ceil(u64::from(rate.limit.max(1)))
    });
    Duration::from_millis(wait.as_millis().unsigned_abs().min(per_task))
}

impl Engine {
    /// Reads a queue whose tasks can be taken.
    pub(crate) async fn pull_queue(&self, queue: &QueueName) -> Result<Arc<Queue>, Failure> {
        let record = self.queue(queue).await?;
        record.check_take()?;
        Ok(record)
    }

    /// Takes tasks from a pull queue, waiting for the first if the taker wants to.
    pub(crate) async fn take(
        self: &Arc<Self>,
        queue: &QueueName,
        ask: TakeAsk,
    ) -> Result<Handout, Failure> {
        self.paces.asked(queue, ask.worker.as_ref(), self.now());
        // Whoever comes while others wait is served after them.
        if ask.wait.is_zero() || self.lines.waiting(queue) == 0 {
            let handout = self.take_at_once(queue, ask.clone()).await?;
            if ask.wait.is_zero() || !handout.tasks.is_empty() {
                return Ok(handout);
            }
        }
        self.wait_in_line(queue, ask).await
    }

    async fn take_at_once(
        self: &Arc<Self>,
        queue: &QueueName,
        ask: TakeAsk,
    ) -> Result<Handout, Failure> {
        let (engine, queue) = (self.clone(), queue.clone());
        let take = async move {
            let (mut handouts, _) = engine.take_for(&queue, vec![ask.taker()]).await?;
            Ok(handouts.pop().unwrap_or_default())
        };
        ToItsEnd::new(take).await
    }

    async fn wait_in_line(
        self: &Arc<Self>,
        queue: &QueueName,
        ask: TakeAsk,
    ) -> Result<Handout, Failure> {
        let wait = Duration::from_millis(ask.wait.as_millis().unsigned_abs());
        let Some((mut place, new)) = Lines::join(self, queue, ask) else {
            return Ok(Handout::default());
        };
        if let Some(wake) = new {
            tokio::spawn(self.clone().run_line(queue.clone(), wake));
        }
        let told = match tokio::time::timeout(wait, &mut place.answer).await {
            Ok(told) => told,
            Err(_) => {
                self.lines.wait_no_longer(queue, place.number);
                (&mut place.answer).await
            }
        };
        told.unwrap_or_else(|_| Ok(Handout::default()))
    }

    /// Serves the line of a queue until nobody waits: one take at a time for all whom a call may
    /// concern, again at once while there was something, else when called.
    async fn run_line(self: Arc<Self>, queue: QueueName, wake: Arc<Notify>) {
        let mut again_at = None;
        loop {
            let waiters = match self.lines.next(&queue) {
                Next::Serve(waiters) => waiters,
                Next::Wait => {
                    if self.wait_for_call(&queue, &wake, again_at).await {
                        self.lines.call(&queue, 1);
                    }
                    continue;
                }
                Next::End => return,
            };
            let takers = waiters.iter().map(|(_, ask)| ask.taker()).collect();
            match self.take_for(&queue, takers).await {
                Ok((handouts, at)) => {
                    again_at = at;
                    let mut served = 0;
                    for ((number, _), handout) in waiters.iter().zip(handouts) {
                        if !handout.tasks.is_empty() {
                            served += 1;
                            self.lines.tell(&queue, *number, Ok(handout));
                        }
                    }
                    // There may be more than was said; the next take finds out.
                    if served > 0 {
                        self.lines.call(&queue, waiters.len() * 2);
                    }
                }
                Err(failure) => self.lines.fail(&queue, &failure),
            }
        }
    }

    /// Waits for a call, or for the rate limit: then true.
    async fn wait_for_call(
        &self,
        queue: &QueueName,
        wake: &Notify,
        again_at: Option<Timestamp>,
    ) -> bool {
        let Some(at) = again_at else {
            wake.notified().await;
            return false;
        };
        let record = self.queue(queue).await.ok();
        let rate = record.and_then(|record| record.settings.rate);
        tokio::select! {
            () = wake.notified() => false,
            () = tokio::time::sleep(rate_wait(rate, at.since(self.now()))) => true,
        }
    }

    /// One take for some takers. What they got is known here from now on.
    async fn take_for(
        &self,
        queue: &QueueName,
        takers: Vec<Taker>,
    ) -> Result<(Vec<Handout>, Option<Timestamp>), Failure> {
        let take = Take { queue: queue.clone(), classes: Classes::all(), takers };
        match self.store.take(take).await? {
            Taken::NoQueue => Err(Failure::NoQueue(queue.clone())),
            Taken::Tasks { per_taker, again_at, .. } => {
                self.held.keep(per_taker.iter().flatten());
                let now = self.now();
                let taken = per_taker.iter().filter_map(|tasks| {
                    announce::task::taken(tasks.iter().map(|stored| &stored.task), now)
                });
                self.events.announce(taken);
                let returned = Some(self.returned.clone());
                let handout = |tasks| Handout { tasks, returned: returned.clone() };
                Ok((per_taker.into_iter().map(handout).collect(), again_at))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_back_makes_nobody_wait_longer_than_the_rate_does() {
        let rate = Some(Rate { limit: 4, per: Span::from_secs(2) });
        assert_eq!(rate_wait(rate, Span::from_secs(3_600)), Duration::from_millis(500));
        assert_eq!(rate_wait(rate, Span::from_millis(20)), Duration::from_millis(20));
        assert_eq!(rate_wait(None, Span::from_secs(3_600)), Duration::ZERO);
    }
}
