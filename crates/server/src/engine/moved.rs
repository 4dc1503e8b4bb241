//! Around a move of the clock: what is under way is answered before it, and all that fell due is handed
//! out after it, before anybody is told.

use std::time::Duration;

use punctual_store::StoreError;
use tokio::time::{Instant, sleep, timeout};

use super::Engine;
use super::loops::{ROUND_MAX, Round};

/// How long deliveries under way may take to be answered.
const ANSWERED_WITHIN: Duration = Duration::from_secs(1);
/// How long to wait for what does not get on, and how often to look.
const QUIET_WITHIN: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(1);

impl Engine {
    /// Lets deliveries under way be answered. The server would not hear of their answers asleep, and
    /// make them again; whoever moves the clock because it saw a request come does not mean that.
    pub(crate) async fn settle_down(&self) {
        // A target that takes longer may well be slept through.
        let _ = timeout(ANSWERED_WITHIN, self.deliveries.ended()).await;
    }

    /// Deals with all that is due by the clock as it is now. If the store fails, the clock has been
    /// moved all the same.
    pub(crate) async fn catch_up(&self) -> Result<(), StoreError> {
        self.hand_out().await.map_err(StoreError::in_doubt)
    }

    async fn hand_out(&self) -> Result<(), StoreError> {
        self.store.tick().await?;
        self.work_off().await?;
        while self.store.sweep(ROUND_MAX).await? {}
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
