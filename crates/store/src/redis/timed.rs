//! The plans that wait for a time, the soonest first, over all shards.

use std::collections::HashMap;

use punctual_core::{Owner, OwnerKey, OwnerKind, QueueName};

use super::fields::corrupt;
use super::keys::unescaped;
use super::node::Node;
use super::scripts::TIMED;
use crate::port::{OwnerPage, StoreError, StoredOwner};

/// A plan in the set of those that wait: when, in Unix seconds, and its entry.
#[derive(Clone)]
struct Timed {
    at: f64,
    entry: String,
}

impl Timed {
    /// Where a page ended.
    fn parse(cursor: &str) -> Option<Self> {
        let (at, entry) = cursor.split_once(' ')?;
        let at = at.parse().ok().filter(|at: &f64| at.is_finite())?;
        Some(Self { at, entry: entry.to_owned() })
    }

    fn cursor(&self) -> String {
        format!("{} {}", self.at, self.entry)
    }

    fn key(&self) -> Option<OwnerKey> {
        let (station, id) = self.entry.strip_prefix("plan:msg:")?.split_once(':')?;
        let queue = QueueName::parse(&unescaped(station)).ok()?;
        Some(OwnerKey { kind: OwnerKind::Plan, queue, name: unescaped(id).into() })
    }

    /// Whether a plan waits for that time, still.
    fn is_of(&self, stored: &StoredOwner) -> bool {
        let Owner::Plan(plan) = &stored.owner else { return false };
        let waits = plan.timed_at().map(|at| at.as_millis());
        // Milliseconds are exact in a score: they are below 2^53.
        waits == Some((self.at * 1_000.0).round() as i64)
    }
}

impl Node {
    pub(super) async fn timed_plans(
        &self,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<OwnerPage, StoreError> {
        let mut after =
            cursor.map(|text| Timed::parse(text).ok_or(StoreError::BadCursor)).transpose()?;
        loop {
            let named = async |shard| self.timed_in(shard, after.as_ref(), limit + 1).await;
            let mut timed = self.everywhere(named).await?.concat();
            timed.sort_by(|a, b| a.at.total_cmp(&b.at).then_with(|| a.entry.cmp(&b.entry)));
            let mut has_more = timed.len() > limit;
            timed.truncate(limit);
            // What somebody else put there is passed over.
            let keyed = timed.iter().filter_map(|timed| Some((timed.key()?, timed)));
            let (keys, known): (Vec<OwnerKey>, Vec<&Timed>) = keyed.unzip();
            let (mut items, read) = self.page(&keys).await?;
            let by_key: HashMap<&OwnerKey, &Timed> = keys.iter().zip(known.clone()).collect();
            items.retain(|stored| {
                by_key.get(&stored.owner.key()).is_some_and(|timed| timed.is_of(stored))
            });
            let mut last = timed.last();
            if read < keys.len() {
                has_more = true;
                last = known[..read].last().copied();
            }
            after = last.cloned().filter(|_| has_more);
            if after.is_none() || !items.is_empty() {
                return Ok(OwnerPage { items, next: after.map(|timed| timed.cursor()) });
            }
        }
    }

    async fn timed_in(
        &self,
        shard: usize,
        after: Option<&Timed>,
        limit: usize,
    ) -> Result<Vec<Timed>, StoreError> {
        let mut call = self.call(&TIMED, shard).await;
        call.arg(after.map_or_else(String::new, |after| after.at.to_string()));
        call.arg(after.map_or("", |after| &after.entry)).arg(limit);
        let mut parts = call.send().await?.body.list()?.into_iter();
        let mut timed = Vec::new();
        while let (Some(entry), Some(at)) = (parts.next(), parts.next()) {
            let at = at.text()?.parse().map_err(|_| corrupt("plan:time:set", "a score is none"))?;
            timed.push(Timed { at, entry: entry.text()? });
        }
        Ok(timed)
    }
}
