//! How many tasks a worker may hold in which shard of a Cluster, so that it never holds more than it can.
//!
//! No script sees two shards. So the home of a worker, the shard its record lies in, shares its capacity out:
//! it allows a shard so many tasks, under a number, before that one hands any out, and never more than the
//! capacity in all. To lower what was allowed, it is first recalled where it was allowed to: from then on that
//! shard refuses whatever comes with the number or an older one, and what the worker holds there is counted.
//! Then the home allows the rest to others. Nothing runs out and nothing leaks: what a server that died was
//! allowed and did not use is recalled when somebody needs it. Where nothing is known of a worker, what it holds
//! is recalled and counted everywhere.
//!
//! Outside a Cluster the one script that hands out counts what there is, and none of this happens.

use std::collections::BTreeMap;
use std::fmt;

use futures_util::future::try_join_all;
use punctual_core::{OwnerKey, WorkerName};

use super::answer::Part;
use super::node::Node;
use super::scripts::{ALLOW, RECALL};
use crate::port::{Change, StoreError};

/// How often a home is asked: it may know nothing at first, and have to recall something then.
const ROUNDS_MAX: usize = 4;

/// A worker that shall get some tasks.
#[derive(Clone, Copy)]
pub(super) struct Want<'a> {
    pub(super) worker: &'a WorkerName,
    /// Most tasks it can hold.
    pub(super) capacity: usize,
    /// How many more.
    pub(super) n: usize,
}

/// How many tasks a worker may hold in a shard, as scripts are told it (see `lua/held.lua`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowance {
    most: usize,
    /// The home that allowed it and the number there; none outside a Cluster.
    by: Option<(usize, u64)>,
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.by {
            Some((home, number)) => write!(f, "{} {home} {number}", self.most),
            None => write!(f, "{}", self.most),
        }
    }
}

/// What a home is asked for.
struct Ask<'a> {
    want: Want<'a>,
    /// How many tasks the worker would hold in the shard.
    wanted: usize,
    /// What was counted for it: shard, number, tasks.
    counts: Vec<(usize, u64, usize)>,
}

/// What it answers.
enum Reply {
    /// So much; the shards that are allowed some, with their numbers, if it was not enough.
    Allowed(Allowance, Vec<(usize, u64)>),
    /// That it knows nothing.
    Unknown(u64),
}

impl Node {
    /// How many tasks workers may hold in a shard, in their order.
    pub(super) async fn allow(
        &self,
        shard: usize,
        wants: &[Option<Want<'_>>],
    ) -> Result<Vec<Option<Allowance>>, StoreError> {
        let mut allowances = vec![None; wants.len()];
        if self.keys.shards() == 1 {
            let most = |want: Want<'_>| Allowance { most: want.capacity, by: None };
            return Ok(wants.iter().map(|want| want.map(most)).collect());
        }
        let places: Vec<usize> = (0..wants.len()).filter(|place| wants[*place].is_some()).collect();
        let wants: Vec<Want<'_>> = wants.iter().flatten().copied().collect();
        if wants.is_empty() {
            return Ok(allowances);
        }
        let workers: Vec<WorkerName> = wants.iter().map(|want| want.worker.clone()).collect();
        let mut wanted: BTreeMap<&WorkerName, usize> = BTreeMap::new();
        let mut asks = Vec::new();
        for (want, held) in wants.iter().zip(self.holdings_in(shard, "count", &workers).await?) {
            // Several takers may be of one worker.
            let wanted = wanted.entry(want.worker).or_insert(held.count()?);
            *wanted += want.n;
            asks.push(Ask { want: *want, wanted: *wanted, counts: Vec::new() });
        }
        let mut by_home: BTreeMap<usize, (Vec<usize>, Vec<Ask<'_>>)> = BTreeMap::new();
        for (place, ask) in places.into_iter().zip(asks) {
            let home = self.keys.shard_of(&OwnerKey::worker(ask.want.worker).queue);
            let (places, asks) = by_home.entry(home).or_default();
            places.push(place);
            asks.push(ask);
        }
        let allow = |(home, (places, asks))| async move {
            Ok::<_, StoreError>((places, self.allow_at(home, shard, asks).await?))
        };
        for (places, allowed) in try_join_all(by_home.into_iter().map(allow)).await? {
            for (place, allowance) in places.into_iter().zip(allowed) {
                allowances[place] = Some(allowance);
            }
        }
        Ok(allowances)
    }

    /// How many tasks those may hold who get tasks by decisions that ask for it.
    pub(super) async fn allow_changes(
        &self,
        shard: usize,
        changes: &[&Change],
    ) -> Result<Vec<Option<Allowance>>, StoreError> {
        let wants: Vec<_> = changes.iter().copied().map(want_of).collect();
        self.allow(shard, &wants).await
    }

    /// Asks one home, and recalls what it needs.
    async fn allow_at(
        &self,
        home: usize,
        shard: usize,
        mut asks: Vec<Ask<'_>>,
    ) -> Result<Vec<Allowance>, StoreError> {
        for _ in 0..ROUNDS_MAX {
            let replies = self.ask_home(home, shard, &asks).await?;
            let mut recalls: BTreeMap<usize, Vec<(usize, u64)>> = BTreeMap::new();
            let mut recall = |shard, place, number| {
                recalls.entry(shard).or_default().push((place, number));
            };
            let mut allowances = Vec::new();
            for (place, reply) in replies.into_iter().enumerate() {
                match reply {
                    Reply::Unknown(number) => {
                        asks[place].counts.clear();
                        (0..self.keys.shards()).for_each(|shard| recall(shard, place, number));
                    }
                    Reply::Allowed(allowance, others) => {
                        // What was counted before is not counted again: it is full.
                        if asks[place].counts.is_empty() {
                            others
                                .iter()
                                .for_each(|(shard, number)| recall(*shard, place, *number));
                        }
                        allowances.push(allowance);
                    }
                }
            }
            if recalls.is_empty() {
                return Ok(allowances);
            }
            self.recall(home, &mut asks, recalls).await?;
        }
        // Others keep on changing what is known; nothing can be handed out for now.
        Ok(asks.iter().map(|_| Allowance { most: 0, by: None }).collect())
    }

    async fn ask_home(
        &self,
        home: usize,
        shard: usize,
        asks: &[Ask<'_>],
    ) -> Result<Vec<Reply>, StoreError> {
        let mut call = self.call(&ALLOW, home).await;
        call.arg(shard);
        for Ask { want, wanted, counts } in asks {
            call.arg(want.worker.as_str()).arg(want.capacity).arg(*wanted).arg(counts.len());
            for (shard, number, held) in counts {
                call.arg(*shard).arg(*number).arg(*held);
            }
        }
        let replies = call.send().await?.body.list()?;
        replies.into_iter().map(|reply| read_reply(reply, home)).collect()
    }

    /// Recalls what shards were allowed, and counts what is held there.
    async fn recall(
        &self,
        home: usize,
        asks: &mut [Ask<'_>],
        recalls: BTreeMap<usize, Vec<(usize, u64)>>,
    ) -> Result<(), StoreError> {
        let asked: &[Ask<'_>] = asks;
        let count = |(shard, recalls): (usize, Vec<(usize, u64)>)| async move {
            let mut call = self.call(&RECALL, shard).await;
            call.arg(home);
            for (place, number) in &recalls {
                call.arg(asked[*place].want.worker.as_str()).arg(*number);
            }
            let counts = call.send().await?.body.list()?;
            Ok::<_, StoreError>((shard, recalls, counts))
        };
        let counted = try_join_all(recalls.into_iter().map(count)).await?;
        for (shard, recalls, counts) in counted {
            for ((place, number), held) in recalls.into_iter().zip(counts) {
                asks[place].counts.push((shard, number, held.count()?));
            }
        }
        Ok(())
    }
}

/// What a decision gives to a worker, if that has a limit.
fn want_of(change: &Change) -> Option<Want<'_>> {
    let (capacity, status) = (change.decision.capacity?, &change.decision.task.status);
    Some(Want { worker: status.worker.as_ref()?, capacity, n: 1 })
}

fn read_reply(part: Part, home: usize) -> Result<Reply, StoreError> {
    let (word, parts) = part.tagged()?;
    let mut parts = parts.into_iter();
    let mut next = || parts.next().unwrap_or_default();
    if word == "UNKNOWN" {
        return Ok(Reply::Unknown(next().int()?.unsigned_abs()));
    }
    let most = next().count()?;
    let number = next().int()?.unsigned_abs();
    let mut others = Vec::new();
    let mut flat = next().list()?.into_iter();
    while let (Some(shard), Some(number)) = (flat.next(), flat.next()) {
        others.push((shard.count()?, number.int()?.unsigned_abs()));
    }
    Ok(Reply::Allowed(Allowance { most, by: Some((home, number)) }, others))
}
