//! The end of every write: transactions go to the store; those that happened are announced, and the
//! server's memory of what it changed is brought up to date.
//!
//! Once begun it runs to its end, also if the request is dropped that asked for it: a change that happened is
//! always announced.

use std::sync::Arc;

use punctual_core::{Announcements, Changes, Owner, OwnerChange, Transaction, Worker, announce};
use punctual_store::{Store, StoreError, Written};

use super::to_its_end::ToItsEnd;
use crate::dispatch::Roster;
use crate::events::Events;

/// A transaction, and the events that tell of it once it has happened.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) transaction: Transaction,
    pub(super) news: Announcements,
}

impl Draft {
    /// A transaction that tells nothing.
    pub(super) fn quiet(transaction: impl Into<Transaction>) -> Self {
        Self { transaction: transaction.into(), news: Announcements::default() }
    }

    /// A transaction, and the events that tell of it.
    pub(super) fn told(transaction: impl Into<Transaction>, news: Announcements) -> Self {
        Self { transaction: transaction.into(), news }
    }
}

/// Writes transactions.
pub(super) struct Writer {
    pub(super) store: Arc<dyn Store>,
    pub(super) events: Arc<Events>,
    pub(super) roster: Arc<Roster>,
}

/// A worker that a transaction changes.
struct WorkerChange {
    /// Its place among the owners of the transaction.
    place: usize,
    before: Option<Worker>,
    after: Option<Worker>,
}

impl Writer {
    /// Carries out transactions, each answered by itself.
    pub(super) async fn write(
        self: &Arc<Self>,
        drafts: Vec<Draft>,
    ) -> Vec<Result<Written, StoreError>> {
        if drafts.is_empty() {
            return Vec::new();
        }
        let writer = self.clone();
        ToItsEnd::new(async move { writer.write_all(drafts).await }).await
    }

    /// Carries out one transaction.
    pub(super) async fn write_one(self: &Arc<Self>, draft: Draft) -> Result<Written, StoreError> {
        self.write(vec![draft]).await.pop().unwrap_or(Ok(Written::Lost))
    }

    async fn write_all(&self, drafts: Vec<Draft>) -> Vec<Result<Written, StoreError>> {
        let workers: Vec<Vec<WorkerChange>> =
            drafts.iter().map(|draft| self.workers(&draft.transaction)).collect();
        let (transactions, told): (Vec<Transaction>, Vec<Announcements>) =
            drafts.into_iter().map(|draft| (draft.transaction, draft.news)).unzip();
        let written = self.store.write(transactions).await;
        let mut news = Announcements::default();
        for ((written, told), workers) in written.iter().zip(told).zip(workers) {
            if let Ok(written) = written
                && written.is_done()
            {
                news.extend(told.into_vec());
                workers.into_iter().for_each(|change| self.remember(change, written, &mut news));
            }
        }
        self.events.announce(news.into_vec());
        written
    }

    /// The workers that a transaction changes. Most change none, and cost nothing here.
    fn workers(&self, transaction: &Transaction) -> Vec<WorkerChange> {
        let Transaction::Records(changes) = transaction else { return Vec::new() };
        let Changes { owners, .. } = &**changes;
        let change = |(place, OwnerChange { key, after, .. }): (usize, &OwnerChange)| {
            let after = match after {
                Some(Owner::Worker(worker)) => Some((**worker).clone()),
                Some(_) => return None,
                None => None,
            };
            let name = key.worker_name()?;
            let before = self.roster.get(&name).map(|(before, _)| before);
            Some(WorkerChange { place, before, after })
        };
        owners.iter().enumerate().filter_map(change).collect()
    }

    /// Notes the new record of a worker, and tells of it.
    fn remember(&self, change: WorkerChange, written: &Written, news: &mut Announcements) {
        let WorkerChange { place, before, after } = change;
        let now = self.store.now();
        news.extend(announce::worker::changed(before.as_ref(), after.as_ref(), now));
        let Written::Records { owners, .. } = written else { return };
        match (after, owners.get(place).copied().flatten()) {
            (Some(worker), Some(revision)) => self.roster.put(worker, revision),
            _ => before.into_iter().for_each(|before| self.roster.remove(&before.name)),
        }
    }
}
