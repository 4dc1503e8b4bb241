//! What a worker has at the moment: the tasks it holds, and those it has yet to vote on.

use std::collections::BTreeSet;
use std::sync::Arc;

use punctual_core::limits::PAGE_BYTES_MAX;
use punctual_core::{Queue, QueueName, TaskId, WorkerName};
use punctual_store::{StoreError, Stored};

use super::held::bytes_of;
use super::{Engine, Failure};
use crate::access::Scope;

/// Tasks read at a time: what is read beyond the end of a page stays small.
const CHUNK: usize = 32;

/// A task by its queue and id.
type Named = (QueueName, TaskId);

/// A page of what a worker has.
#[derive(Debug)]
pub(crate) struct HoldingsPage {
    /// The tasks, by queue and id, as the worker sees them.
    pub(crate) items: Vec<(Arc<Queue>, Stored)>,
    /// Where the next page begins; none: this was the last.
    pub(crate) next: Option<String>,
}

impl Engine {
    /// Lists what a worker has of the queues of a scope. Found by the index of holdings, not by a scan.
    pub(crate) async fn list_holdings(
        &self,
        worker: &WorkerName,
        scope: &Scope,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<HoldingsPage, Failure> {
        let after = cursor.map(read_cursor).transpose()?;
        self.worker(worker).await?;
        let ballots: BTreeSet<Named> = self.roster.ballots(worker).into_iter().collect();
        let held: BTreeSet<Named> = self.store.holdings(worker).await?.into_iter().collect();
        let mut names: Vec<Named> = held.union(&ballots).cloned().collect();
        names.retain(|name| scope.covers(&name.0) && after.as_ref().is_none_or(|end| name > end));
        let (mut items, mut bytes): (Vec<(Arc<Queue>, Stored)>, _) = (Vec::new(), 0);
        for chunk in names.chunks(CHUNK) {
            for had in self.had_among(worker, chunk, &ballots).await? {
                bytes += bytes_of(&had.1.task);
                if items.len() == limit || (bytes > PAGE_BYTES_MAX && !items.is_empty()) {
                    let next = items.last().map(|(_, last)| cursor_after(last));
                    return Ok(HoldingsPage { items, next });
                }
                items.push(had);
            }
        }
        Ok(HoldingsPage { items, next: None })
    }

    /// Those of some tasks, which stand in order, that a worker has, in the same order.
    async fn had_among(
        &self,
        worker: &WorkerName,
        names: &[Named],
        ballots: &BTreeSet<Named>,
    ) -> Result<Vec<(Arc<Queue>, Stored)>, StoreError> {
        let mut had = self.held_among(worker, names).await?;
        let votes: Vec<Named> =
            names.iter().filter(|name| ballots.contains(name)).cloned().collect();
        had.extend(self.ballots_among(worker, votes).await?);
        had.sort_by(|(_, a), (_, b)| named(a).cmp(&named(b)));
        Ok(had)
    }
}

fn named(stored: &Stored) -> (&QueueName, &TaskId) {
    (&stored.task.spec.queue, &stored.task.spec.id)
}

fn cursor_after(last: &Stored) -> String {
    let (queue, id) = named(last);
    format!("{queue} {id}")
}

fn read_cursor(cursor: &str) -> Result<Named, Failure> {
    let bad = || Failure::invalid("cursor", "not one that a list answered");
    let (queue, id) = cursor.split_once(' ').ok_or_else(bad)?;
    Ok((QueueName::parse(queue).map_err(|_| bad())?, TaskId::parse(id).map_err(|_| bad())?))
}
