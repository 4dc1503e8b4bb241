//! Tasks of dispatch and vote queues: the worker registers, and the server assigns tasks to it.

use std::collections::HashMap;

use punctual_core::Span;
use tokio::sync::watch;

use super::jobs::Jobs;
use super::{Handler, Pause, Stop, is_passing};
use crate::error::Error;
use crate::transport::Client;
use crate::workers::{Join, Polled};

/// How long a poll waits. Well below the 30 seconds after which a silent worker is lost.
const WAIT: Span = Span::from_millis(15_000);

/// A registered worker.
pub(super) struct Given {
    pub(super) client: Client,
    pub(super) worker: String,
    pub(super) capabilities: Vec<String>,
    pub(super) handlers: HashMap<String, Handler>,
    pub(super) jobs: Jobs,
}

impl Given {
    /// Registers and polls until stopped; then it gets no new tasks.
    pub(super) async fn run(self, mut stopped: watch::Receiver<bool>) -> Result<(), Error> {
        let session = session();
        let capacity = self.handlers.values().map(|handler| handler.concurrency).sum::<usize>();
        let join = Join::new(self.handlers.keys().cloned())
            .capabilities(self.capabilities.clone())
            .capacity(u32::try_from(capacity).unwrap_or(u32::MAX))
            .session(&session);
        let mut pause = Pause::default();
        let mut has_joined = false;
        while !*stopped.borrow() {
            let next = async {
                if has_joined {
                    self.client.poll(&self.worker, Some(&session), WAIT).await.map(Some)
                } else {
                    self.client.join(&self.worker, &join).await.map(|_| None)
                }
            };
            let next = tokio::select! {
                next = next => next,
                _ = stopped.wait_for(|stopped| *stopped) => break,
            };
            match next {
                Ok(polled) => {
                    has_joined = true;
                    pause = Pause::default();
                    self.hear(polled);
                }
                // The worker was lost or removed, so it registers again.
                Err(error) if has_joined && error.code() == Some("not_found") => has_joined = false,
                Err(error) if is_passing(&error) => pause.after(&error, "asking for tasks").await,
                Err(error) => {
                    // Another worker has registered under this name and replaced this one.
                    if error.code() == Some("stale_token") {
                        self.handlers.keys().for_each(|queue| self.jobs.lose(queue));
                    }
                    return Err(error);
                }
            }
        }
        if has_joined {
            // Running tasks finish. If this request fails, new assignments are not confirmed, and other workers
            // get them.
            let _ = self.client.drain_worker(&self.worker).await;
        }
        Ok(())
    }

    fn hear(&self, polled: Option<Polled>) {
        let Some(Polled { assignments, cancel, pause }) = polled else { return };
        for taken in assignments {
            if let Some(handler) = self.handlers.get(&taken.task.queue) {
                self.jobs.start(taken, handler.clone(), None);
            }
        }
        for asked in cancel {
            self.jobs.stop(&asked.queue, &asked.id, Stop::Cancelled);
        }
        for asked in pause {
            self.jobs.stop(&asked.queue, &asked.id, Stop::Paused);
        }
    }
}

/// Returns a new unique session name.
fn session() -> String {
    use std::hash::{BuildHasher, RandomState};
    let bits = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", bits(), bits())
}
