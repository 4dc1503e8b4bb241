//! One round of a dispatch queue: its ready tasks go to whoever has least to do.

use std::collections::BTreeMap;

use punctual_core::worker::shares;
use punctual_core::{Queue, QueueName, State, Timestamp, WorkerName};
use punctual_store::{Classes, StoreError, Take, Taken, Taker};

use super::roster::Candidate;
use super::turns::Rivals;
use crate::engine::{Engine, random};

/// Most tasks one round hands out, so that other queues get their turn.
const ROUND_MAX: usize = 1_000;

/// What came of a round.
#[derive(Debug, Default)]
pub(super) struct Assigned {
    /// How many tasks were handed out.
    pub(super) count: usize,
    /// Whether there may be tasks left.
    pub(super) is_hungry: bool,
    /// Those it left places to.
    pub(super) yielded_to: Vec<QueueName>,
    /// When the rate limit lets the next one go.
    pub(super) again_at: Option<Timestamp>,
}

/// A worker that can be given some tasks.
struct Place {
    worker: Candidate,
    load: usize,
    free: usize,
}

/// Hands out what is ready. Free places are shared with rivals.
pub(super) async fn assign(
    engine: &Engine,
    queue: &Queue,
    rivals: &Rivals,
) -> Result<Assigned, StoreError> {
    let candidates = engine.roster.serving(&queue.name);
    let stats = engine.store().stats(std::slice::from_ref(&queue.name)).await?.pop().flatten();
    let ready = stats.map_or(0, |stats| stats.count(State::Ready));
    let ready = usize::try_from(ready).unwrap_or(usize::MAX);
    let mut assigned = Assigned { is_hungry: ready > 0, ..Assigned::default() };
    // A shared store tells other servers of a push only if somebody has asked for more than there was.
    let wanted = if engine.store().is_exclusive() { ready } else { ready.max(1) };
    if wanted == 0 || queue.paused || candidates.is_empty() {
        return Ok(assigned);
    }
    let _alone = engine.assign_alone().await;
    let names: Vec<WorkerName> = candidates.iter().map(|worker| worker.name.clone()).collect();
    let loads = engine.store().loads(&names).await?;
    let place = |(worker, load): (Candidate, usize)| {
        let all = worker.capacity.saturating_sub(load);
        let free = rivals.leave(all, &worker.queues);
        if rivals.yields && free < all {
            assigned.yielded_to.extend(rivals.served_by(&worker.queues).cloned());
        }
        Place { worker, load, free }
    };
    let places: Vec<Place> =
        candidates.into_iter().zip(loads).map(place).filter(|place| place.free > 0).collect();
    // Whoever let its time pass is asked when nobody else can be.
    let (doubtful, trusted): (Vec<Place>, Vec<Place>) =
        places.into_iter().partition(|place| place.worker.is_doubtful);
    let mut left = wanted.min(ROUND_MAX);
    for mut tier in [trusted, doubtful] {
        // First all by their loads; then whoever can do what the others could not.
        for is_shared in [true, false] {
            for take in takes(left, &tier, is_shared) {
                if left == 0 || assigned.again_at.is_some() {
                    break;
                }
                let got = hand_out(engine, queue, take, &mut tier, &mut assigned).await?;
                left -= got.min(left);
            }
        }
        if ready == 0 && !tier.is_empty() {
            // What is pushed by now is for those who come first in the next look.
            break;
        }
    }
    assigned.is_hungry = ready > assigned.count;
    Ok(assigned)
}

/// What to take, and for whom: workers of the same capabilities together, as one take serves them.
fn takes(tasks: usize, tier: &[Place], is_shared: bool) -> Vec<Vec<(usize, usize)>> {
    let mut groups: BTreeMap<&[String], Vec<usize>> = BTreeMap::new();
    for (index, place) in tier.iter().enumerate() {
        groups.entry(&place.worker.capabilities).or_default().push(index);
    }
    let all: Vec<usize> = (0..tier.len()).collect();
    let by_load = |members: &[usize]| {
        let loads: Vec<_> = members.iter().map(|it| (tier[*it].load, tier[*it].free)).collect();
        shares(tasks, &loads)
    };
    let among_all = by_load(&all);
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.sort_by_key(|members| members.iter().map(|it| tier[*it].load).min());
    let share = |members: Vec<usize>| {
        let counts = if is_shared {
            members.iter().map(|it| among_all[*it]).collect()
        } else {
            by_load(&members)
        };
        members.into_iter().zip(counts).filter(|(_, count)| *count > 0).collect()
    };
    groups.into_iter().map(share).filter(|take: &Vec<_>| !take.is_empty()).collect()
}

/// Takes tasks for some workers of the same capabilities.
async fn hand_out(
    engine: &Engine,
    queue: &Queue,
    members: Vec<(usize, usize)>,
    tier: &mut [Place],
    assigned: &mut Assigned,
) -> Result<usize, StoreError> {
    let Some((first, _)) = members.first() else { return Ok(0) };
    let capabilities = tier[*first].worker.capabilities.iter().map(String::as_str);
    let classes = Classes::covered_by(capabilities);
    let taker = |(index, n): &(usize, usize)| Taker {
        seed: random::seed(),
        worker: Some(tier[*index].worker.name.clone()),
        n: *n,
        hold: None,
        confirm: true,
        capacity: Some(tier[*index].worker.capacity),
    };
    let takers = members.iter().map(taker).collect();
    let take = Take { queue: queue.name.clone(), classes, takers };
    let Taken::Tasks { per_taker, again_at, .. } = engine.store().take(take).await? else {
        return Ok(0);
    };
    let mut got = 0;
    for ((index, _), tasks) in members.into_iter().zip(per_taker) {
        let place = &mut tier[index];
        place.load += tasks.len();
        place.free = place.free.saturating_sub(tasks.len());
        got += tasks.len();
        if !tasks.is_empty() {
            engine.assigned(&place.worker.name, &tasks);
        }
    }
    assigned.count += got;
    assigned.again_at = again_at;
    Ok(got)
}
