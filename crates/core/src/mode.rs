//! The verbs that apply to queues of some modes only.

use crate::queue::{Mode, Queue};

/// A verb that does not apply to queues of the queue's mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("queue {queue} has mode {}: {rule}", mode.name())]
pub struct WrongMode {
    /// The queue.
    pub queue: String,
    /// Its mode.
    pub mode: Mode,
    /// The modes that the verb applies to, as a sentence.
    pub rule: &'static str,
}

impl Queue {
    /// Refuses to take tasks from a queue that is not a pull queue.
    pub fn check_take(&self) -> Result<(), WrongMode> {
        self.check_mode(&[Mode::Pull], "only pull queues can be taken from")
    }

    /// Refuses to assign tasks of a queue that is not a dispatch queue.
    pub fn check_assign(&self) -> Result<(), WrongMode> {
        self.check_mode(&[Mode::Dispatch], "only tasks of dispatch queues can be assigned")
    }

    /// Refuses to hand bundles of a queue to workers that is not a pull queue.
    pub fn check_bundle_work(&self) -> Result<(), WrongMode> {
        self.check_mode(&[Mode::Pull], "workers take bundles only from pull queues")
    }

    /// Refuses bundles in a queue that is neither a pull nor an http queue.
    pub fn check_bundles(&self) -> Result<(), WrongMode> {
        self.check_mode(&[Mode::Pull, Mode::Http], "only pull and http queues have bundles")
    }

    fn check_mode(&self, modes: &[Mode], rule: &'static str) -> Result<(), WrongMode> {
        let mode = self.settings.mode;
        if modes.contains(&mode) {
            return Ok(());
        }
        Err(WrongMode { queue: self.name.to_string(), mode, rule })
    }
}
