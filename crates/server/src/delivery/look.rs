//! A look at a queue: what it has to deliver is taken, no more of it than its targets have room for.

use std::sync::Arc;

use punctual_core::queue::Mode;
use punctual_core::{Queue, QueueName};
use punctual_store::{Classes, StoreError};
use tokio::time::Instant;

use super::executor::MARGIN;
use super::valve::{ROOM_FIRST, UNDER_WAY_MAX};
use crate::engine::{Engine, Failure, ToDeliver, random};

/// A look at a queue, and what it found.
pub(super) struct Look {
    pub(super) name: QueueName,
    /// How much was asked for.
    pub(super) asked: usize,
    /// The queue and what it has to deliver; none, if it is no queue to deliver from.
    pub(super) found: Result<Option<(Arc<Queue>, ToDeliver)>, StoreError>,
}

impl Look {
    /// Looks at a queue for as many tasks.
    pub(super) async fn at(engine: &Engine, name: QueueName, asked: usize) -> Self {
        let found = look_at(engine, &name, asked).await;
        Self { name, asked, found }
    }
}

async fn look_at(
    engine: &Engine,
    name: &QueueName,
    asked: usize,
) -> Result<Option<(Arc<Queue>, ToDeliver)>, StoreError> {
    let queue = match engine.queue(name).await {
        Ok(queue) if queue.settings.mode == Mode::Http => queue,
        Ok(_) => return Ok(None),
        Err(Failure::Store(failure)) => return Err(failure),
        Err(_) => return Ok(None),
    };
    let classes = {
        let (hosts, now) = (engine.deliveries.hosts(), Instant::now());
        let mut named = hosts.rooms(now);
        if let Some(url) = queue.settings.target() {
            let target: Arc<str> = url.authority().into();
            share(&mut named, target.clone(), hosts.room(&target, now));
        }
        Classes { named, others: ROOM_FIRST, covered_by: None }
    };
    let hold = queue.settings.timeout + MARGIN;
    Ok(engine.take_to_deliver(name, asked, hold, classes).await?.map(|taken| (queue, taken)))
}

/// Shares the room of the queue's own target between the tasks that name no URL and those that name
/// it themselves: they wait in two lanes. Where there is more room than requests can be under way, both
/// may use all of it, as the rest waits at the door.
fn share(named: &mut Vec<(Arc<str>, usize)>, target: Arc<str>, room: usize) {
    let half = (room + usize::from(random::roll() < 0.5)) / 2;
    let (own, none) = if room > UNDER_WAY_MAX { (room, room) } else { (half, room - half) };
    named.retain(|(name, _)| *name != target);
    named.push((target, own));
    named.push(("".into(), none));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lanes_share_what_can_be_under_way() {
        let rooms = |room| {
            let mut named = vec![("a:80".into(), 3), ("b:80".into(), 7)];
            share(&mut named, "b:80".into(), room);
            named.into_iter().map(|(_, room)| room).collect::<Vec<_>>()
        };
        assert_eq!(rooms(6), [3, 3, 3]);
        let shared = rooms(1);
        assert_eq!((shared[0], shared[1] + shared[2]), (3, 1), "one of them is probed");
        assert_eq!(rooms(200), [3, 200, 200], "the rest waits at the door");
    }
}
