//! A task as its handler sees it.

use punctual_core::RawJson;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use crate::hold::{Extend, Fail};
use crate::task::Task;

/// A task to carry out, and a line to the server while that lasts.
#[derive(Debug)]
pub struct Job {
    /// The task.
    pub task: Task,
    pub(super) stop: watch::Receiver<Option<Stop>>,
    pub(super) report: watch::Sender<Extend>,
}

/// Why a handler should stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// Somebody cancelled the task. An error acknowledges it; a result still counts.
    Cancelled,
    /// Somebody paused the task. An error acknowledges it, and the last checkpoint is kept.
    Paused,
    /// Its hold is gone, and with it the right to settle it: another worker may have it by now.
    Lost,
    /// The program stops. An error gives the task back, and the last checkpoint is kept.
    Stopping,
}

impl Job {
    /// The payload as a type of the handler's. One that does not fit will not do so later: the task is
    /// failed for good.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, Fail> {
        self.task.payload_as().map_err(|error| {
            let error = Some(format!("the payload cannot be read: {error}"));
            Fail { error, permanent: true, ..Fail::default() }
        })
    }

    /// What an earlier attempt left for this one, if it did and it can be read.
    pub fn checkpoint<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.task.checkpoint.as_ref()?.as_str()).ok()
    }

    /// Says how far it is, from 0 to 1, and a word on where.
    pub fn progress(&self, progress: f64, message: impl Into<String>) {
        self.report.send_modify(|report| {
            report.progress = Some(progress.clamp(0.0, 1.0));
            report.message = Some(message.into());
        });
    }

    /// Leaves what the next holder would need to go on.
    pub fn save_checkpoint(&self, checkpoint: &(impl Serialize + ?Sized)) {
        self.report.send_modify(|report| report.checkpoint = Some(RawJson::of(checkpoint)));
    }

    /// Whether it should stop, and why.
    pub fn is_stopped(&self) -> Option<Stop> {
        *self.stop.borrow()
    }

    /// Waits until it should stop.
    pub async fn stopped(&self) -> Stop {
        let mut stop = self.stop.clone();
        match stop.wait_for(Option::is_some).await {
            Ok(reason) => reason.unwrap_or(Stop::Stopping),
            Err(_) => Stop::Stopping,
        }
    }
}

/// Whatever a handler fails with, said in its own words.
impl<E: std::error::Error> From<E> for Fail {
    fn from(error: E) -> Self {
        Self { error: Some(error.to_string()), ..Self::default() }
    }
}
