//! After the clock was moved: all that fell due is handed out before anybody is told.

use std::time::Duration;

use punctual_store::StoreError;

use super::Engine;
use super::loops::Round;

/// How long to wait for takers to be served, and how often to look.
const QUIET_WITHIN: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(1);

impl Engine {
    /// Deals with all that is due by the clock as it is now. Holds that ended, plans and bundles are
    /// dealt with here and not only by the loops, as those do not say when they are through.
    pub(crate) async fn catch_up(&self) -> Result<(), StoreError> {
        self.store.tick().await?;
        loop {
            let holds = self.end_holds_once().await?;
            let owners = self.look_after_owners_once().await?;
            if holds == Round::Empty && owners == Round::Empty {
                break;
            }
            if holds != Round::Progress && owners != Round::Progress {
                // Somebody else is dealing with the same.
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
        self.lines.call_all();
        for queue in self.http_queues().await? {
            self.deliveries.call(queue);
        }
        let quiet = async {
            while !self.lines.is_quiet() {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            self.deliveries.begun().await;
        };
        // A server that is stopping serves nobody any more.
        let _ = tokio::time::timeout(QUIET_WITHIN, quiet).await;
        Ok(())
    }
}
