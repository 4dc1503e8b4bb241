//! Tasks of a pull queue: taken whenever a handler has a free permit.

use punctual_core::Span;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::jobs::Jobs;
use super::{Handler, Pause, is_passing};
use crate::error::Error;
use crate::hold::{Release, Take};
use crate::transport::Client;

/// How long a take waits for the first task. Short, because a stop waits for it: an aborted take may
/// already have got tasks.
const WAIT: Span = Span::from_millis(2_000);

/// Takes tasks of one queue.
pub(super) struct Pull {
    pub(super) client: Client,
    pub(super) worker: String,
    pub(super) queue: String,
    pub(super) handler: Handler,
    pub(super) jobs: Jobs,
}

impl Pull {
    /// Takes until stopped.
    pub(super) async fn run(self, mut stopped: watch::Receiver<bool>) -> Result<(), Error> {
        let mut pause = Pause::default();
        loop {
            let first = tokio::select! {
                biased;
                _ = stopped.wait_for(|stopped| *stopped) => return Ok(()),
                room = self.handler.room.clone().acquire_owned() => room,
            };
            let Ok(first) = first else { return Ok(()) };
            let rooms = self.all_there_are(first);
            let take = Take::new().worker(&self.worker).n(rooms.len()).wait(WAIT);
            match self.client.take(&self.queue, &take).await {
                Ok(answer) => {
                    pause = Pause::default();
                    for (taken, room) in answer.tasks.into_iter().zip(rooms) {
                        if *stopped.borrow() {
                            // If this fails, the hold ends by itself.
                            let _ = self.client.release(taken.held(), &Release::default()).await;
                        } else {
                            self.jobs.start(taken, self.handler.clone(), Some(room));
                        }
                    }
                }
                Err(error) if is_passing(&error) || error.code() == Some("not_found") => {
                    pause.after(&error, "taking tasks").await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns permits for as many tasks as can be taken at once.
    fn all_there_are(&self, first: OwnedSemaphorePermit) -> Vec<OwnedSemaphorePermit> {
        let more = std::iter::from_fn(|| self.handler.room.clone().try_acquire_owned().ok());
        std::iter::once(first).chain(more).take(1_000).collect()
    }
}
