//! Around a move of the clock: what is under way ends before it, and all that fell due is handed out
//! before anybody is told.

use std::sync::atomic::Ordering;
use std::time::Duration;

use punctual_store::StoreError;
use tokio::time::{Instant, sleep, timeout};

use super::Engine;
use super::loops::{ROUND_MAX, Round};

/// How long to wait for what does not get on, and how often to look.
const QUIET_WITHIN: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// How long deliveries under way may take to end before the clock is moved all the same.
const ENDED_WITHIN: Duration = Duration::from_secs(2);

impl Engine {
    /// Lets deliveries under way end. Whoever saw one arrive may move the clock before its answer is
    /// stored; its hold would be over then, and the attempt would not count.
    pub(crate) async fn let_deliveries_end(&self) {
        let _ = timeout(ENDED_WITHIN, self.deliveries.ended()).await;
    }

    /// Deals with all that is due by the clock as it is now. If the store fails, the clock has been
    /// moved all the same.
    pub(crate) async fn catch_up(&self) -> Result<(), StoreError> {
        self.hand_out().await.map_err(StoreError::in_doubt)
    }

    /// What is done at once may make more due, as each run of a plan that keeps them all does: so until
    /// nothing more turns up, or it takes too long.
    async fn hand_out(&self) -> Result<(), StoreError> {
        let patience = Instant::now() + QUIET_WITHIN;
        self.store.tick().await?;
        self.work_off().await?;
        while self.store.sweep(ROUND_MAX).await? {}
        loop {
            let rounds = self.rounds.load(Ordering::SeqCst);
            self.call_all().await?;
            self.work_off().await?;
            if self.rounds.load(Ordering::SeqCst) == rounds || Instant::now() > patience {
                return Ok(());
            }
        }
    }

    /// Has everybody look who hands out, and waits until they are through.
    async fn call_all(&self) -> Result<(), StoreError> {
        self.lines.call_all();
        self.bells.ring_all();
        for queue in self.http_queues().await? {
            self.deliveries.call(queue);
        }
        for queue in self.handed_out_queues().await? {
            self.dispatch.call(queue.name.clone());
        }
        let quiet = async {
            while !self.lines.is_quiet() || !self.bells.is_quiet() {
                sleep(LOOK_EVERY).await;
            }
            self.deliveries.begun().await;
            self.dispatch.begun().await;
        };
        // A server that is stopping serves nobody any more.
        let _ = timeout(QUIET_WITHIN, quiet).await;
        Ok(())
    }

    /// Ends holds, and looks after plans and bundles, until nothing is left to do. The loops do the
    /// same, but do not say when they are through.
    async fn work_off(&self) -> Result<(), StoreError> {
        let mut patience = Instant::now() + QUIET_WITHIN;
        loop {
            let rounds = [self.end_holds_once().await?, self.look_after_owners_once().await?];
            if rounds == [Round::Empty; 2] {
                return Ok(());
            }
            if rounds.contains(&Round::Progress) {
                patience = Instant::now() + QUIET_WITHIN;
            } else if Instant::now() > patience {
                // What cannot be done now is tried again and again by the loops.
                return Ok(());
            } else {
                // A loop is dealing with the same.
                sleep(LOOK_EVERY).await;
            }
        }
    }
}
