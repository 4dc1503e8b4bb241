//! A task as its handler sees it.

use punctual_core::RawJson;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use crate::hold::{Extend, Fail};
use crate::task::Task;

/// A task to execute, with the means to report on it.
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
    /// Its hold has ended, so it cannot be settled any more. Another worker may have it.
    Lost,
    /// The worker shuts down. An error gives the task back, and the last checkpoint is kept.
    Stopping,
}

impl Job {
    /// Parses the payload. If it does not fit the type, the task fails without a retry, since the payload will
    /// not change.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, Fail> {
        self.task.payload_as().map_err(|error| {
            let error = Some(format!("the payload cannot be read: {error}"));
            Fail { error, permanent: true, ..Fail::default() }
        })
    }

    /// Returns the checkpoint of an earlier attempt, if there is one and it can be parsed.
    pub fn checkpoint<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.task.checkpoint.as_ref()?.as_str()).ok()
    }

    /// Reports the progress from 0 to 1, with a message.
    pub fn progress(&self, progress: f64, message: impl Into<String>) {
        self.report.send_modify(|report| {
            report.progress = Some(progress.clamp(0.0, 1.0));
            report.message = Some(message.into());
        });
    }

    /// Saves a checkpoint for the next holder.
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

/// Turns any error of a handler into a failure with the error's own text.
impl<E: std::error::Error> From<E> for Fail {
    fn from(error: E) -> Self {
        Self { error: Some(error.to_string()), ..Self::default() }
    }
}
