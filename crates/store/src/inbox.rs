//! The port of an inbox: messages that programs leave beside the store, and that become notices.
//!
//! Messages lie in a list. They move through a second one, the backup, so that none is lost on its way:
//! whoever serves the inbox takes them there, makes a notice of each in the step that removes it from
//! the backup, and puts back what is left there when it takes the next. One node serves it at a time,
//! for as long as it goes on asking.

use std::fmt;

use async_trait::async_trait;
use punctual_core::Spec;

use crate::port::StoreError;

/// The two lists of an inbox, by the names programs know them by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxLists {
    /// Where programs append messages.
    pub list: String,
    /// Where messages are on their way.
    pub backup: String,
}

impl InboxLists {
    /// Where messages go that cannot be read.
    pub fn rejected(&self) -> String {
        format!("{}:rejected", self.list)
    }
}

impl fmt::Display for InboxLists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} through {}", self.list, self.backup)
    }
}

/// What came of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// A notice was made of it, or it was rejected.
    Done,
    /// It was not in the backup any more.
    Gone,
    /// The queue is full: it stays where it is.
    Full,
    /// Another node serves the inbox now.
    Lost,
}

/// An inbox.
#[async_trait]
pub trait Inbox: Send + Sync + 'static {
    /// The lists.
    fn lists(&self) -> &InboxLists;

    /// Takes up to `n` messages, in their order, after putting back what was left in the backup. None:
    /// another node serves the inbox.
    async fn next(&self, n: usize) -> Result<Option<Vec<Vec<u8>>>, StoreError>;

    /// Makes a notice of a message and removes the message from the backup, in one step. If a live task
    /// has its id, the message is rejected.
    async fn receive(&self, message: &[u8], notice: &Spec) -> Result<Received, StoreError>;

    /// Moves a message from the backup to those that cannot be read, with the reason.
    async fn reject(&self, message: &[u8], reason: &str) -> Result<Received, StoreError>;

    /// Lets another node serve the inbox at once.
    async fn leave(&self) -> Result<(), StoreError>;
}
