//! Jobs: what the writer thread is asked to do, and how the answer comes back.
//!
//! A job travels to the writer in one box, and back in it with its answer. So what a caller took
//! memory for, it frees itself; freed by another thread, every piece would cost a lock.

use tokio::sync::oneshot;

use super::journal::JournalError;
use super::stopped;
use super::writer::Desk;
use crate::port::StoreError;

/// Something to do with the shard: applied at once, answered when it is durable.
pub(super) trait Job: Send {
    /// Does it, in memory and in the journal.
    fn apply(&mut self, desk: &mut Desk<'_>) -> Result<(), JournalError>;

    /// Answers it, once its group is durable or has failed.
    fn answer(self: Box<Self>, verdict: Result<(), StoreError>);
}

/// A job for somebody who waits for it.
pub(super) struct Errand<T, F> {
    act: F,
    value: Option<T>,
    verdict: Result<(), StoreError>,
    caller: Option<oneshot::Sender<Box<Self>>>,
}

impl<T, F> Errand<T, F> {
    /// A job, and where it will come back.
    pub(super) fn new(act: F) -> (Box<Self>, oneshot::Receiver<Box<Self>>) {
        let (caller, back) = oneshot::channel();
        (Box::new(Self { act, value: None, verdict: Ok(()), caller: Some(caller) }), back)
    }

    /// What came of it.
    pub(super) fn outcome(self) -> Result<T, StoreError> {
        self.verdict.and_then(|()| self.value.ok_or_else(stopped))
    }
}

impl<T: Send, F> Job for Errand<T, F>
where
    F: FnMut(&mut Desk<'_>) -> Result<T, JournalError> + Send,
{
    fn apply(&mut self, desk: &mut Desk<'_>) -> Result<(), JournalError> {
        self.value = Some((self.act)(desk)?);
        Ok(())
    }

    fn answer(mut self: Box<Self>, verdict: Result<(), StoreError>) {
        self.verdict = verdict;
        if let Some(caller) = self.caller.take() {
            // The caller may be gone; what it asked for is done all the same.
            let _ = caller.send(self);
        }
    }
}
