//! The loop that makes notices of what lies in an inbox.

use std::sync::Arc;
use std::time::Duration;

use punctual_core::announce;
use punctual_store::{Inbox, Received, StoreError};
use tracing::{info, warn};

use crate::engine::{Backoff, Engine, complain};

/// Messages of one round.
const ROUND_MAX: usize = 100;
/// How long an inbox is left alone that was empty, full, or another node's.
const PAUSE: Duration = Duration::from_secs(1);

/// Makes notices of messages, one after the other.
pub(crate) struct Receiver {
    engine: Arc<Engine>,
    inbox: Arc<dyn Inbox>,
    serves: bool,
}

impl Receiver {
    /// A receiver that is not running yet.
    pub(crate) fn new(engine: Arc<Engine>, inbox: Arc<dyn Inbox>) -> Self {
        Self { engine, inbox, serves: false }
    }

    /// Receives until told to close.
    pub(crate) async fn run(mut self, closing: impl Future<Output = ()>) {
        tokio::pin!(closing);
        let mut backoff = Backoff::default();
        let mut pause = Duration::ZERO;
        loop {
            tokio::select! {
                biased;
                () = &mut closing => break,
                () = tokio::time::sleep(pause) => {}
            }
            pause = match self.run_once().await {
                Ok(is_more) => {
                    backoff.reset();
                    if is_more { Duration::ZERO } else { PAUSE }
                }
                Err(failure) => {
                    complain("messages of the inbox", &failure);
                    backoff.next().max(PAUSE)
                }
            };
        }
        // If this is not heard, another node serves the inbox a little later.
        let _ = self.inbox.leave().await;
    }

    /// Receives a round of messages. True: there may be more at once.
    async fn run_once(&mut self) -> Result<bool, StoreError> {
        let messages = self.inbox.next(ROUND_MAX).await?;
        if messages.is_some() != self.serves {
            self.serves = messages.is_some();
            info!(lists = %self.inbox.lists(), serves = self.serves, "the inbox of notices");
        }
        let messages = messages.unwrap_or_default();
        for message in &messages {
            match self.receive(message).await? {
                // What is not in the backup any more was received, or put back, by somebody else.
                Received::Done | Received::Gone => {}
                Received::Full | Received::Lost => return Ok(false),
            }
        }
        Ok(!messages.is_empty())
    }

    async fn receive(&self, message: &[u8]) -> Result<Received, StoreError> {
        match self.engine.notice_of(message) {
            Ok(notice) => {
                let received = self.inbox.receive(message, &notice).await?;
                if received == Received::Done {
                    let now = self.engine.now();
                    self.engine.events.announce([announce::task::pushed(&notice, now)]);
                }
                Ok(received)
            }
            Err(reason) => {
                warn!(rejected = self.inbox.lists().rejected(), reason, "a message is no notice");
                self.inbox.reject(message, &reason).await
            }
        }
    }
}
