//! The targets that are being delivered to: how much each is given, who waits for it, and its
//! connections.
//!
//! A target is a host and port, as in the lane class of a task. What nothing is under way for, and
//! nothing is known of, is forgotten, and its connections with it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use punctual_core::{QueueName, Span, Timestamp};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use utoipa::ToSchema;

use super::connect::Network;
use super::send::{Client, Health, client};
use super::sign::MessageId;
use super::valve::{ROOM_FIRST, UNDER_WAY_MAX, Valve};
use crate::engine::random;

/// Targets that are remembered while nothing is under way for them.
const IDLE_MAX: usize = 512;

/// All targets.
pub(super) struct Hosts {
    network: Arc<Network>,
    hosts: HashMap<Arc<str>, Host>,
    /// Those nothing is under way for, in the order in which the last attempt ended.
    idle: BTreeMap<u64, Arc<str>>,
    ended: u64,
}

struct Host {
    client: Client,
    /// One place per request under way.
    door: Arc<Semaphore>,
    valve: Valve,
    in_flight: usize,
    /// Queues that have more tasks for it than it was given.
    waiting: HashSet<QueueName>,
    /// Its place among the idle.
    idle: Option<u64>,
}

/// What the end of an attempt changes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Freed {
    /// Queues that can be looked at again, now.
    pub(super) queues: Vec<QueueName>,
    /// When the target is to be looked at again, if it is only probed.
    pub(super) again_at: Option<Instant>,
}

/// How a target is doing.
#[derive(Debug, PartialEq)]
pub(crate) struct HostReading {
    /// Its host and port.
    pub(crate) host: Arc<str>,
    /// Whether it is given anything.
    pub(crate) state: HostState,
    /// Attempts under way.
    pub(crate) in_flight: usize,
    /// Queues that have more for it than it is given.
    pub(crate) waiting: usize,
    /// Tasks that failed since it last answered.
    pub(crate) failures: usize,
    /// When it is probed, if it is given nothing until then.
    pub(crate) retry_at: Option<Timestamp>,
}

/// The state of a target's breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HostState {
    /// It is given what it can take.
    Closed,
    /// It is given nothing for a while.
    Open,
    /// It is given one attempt at a time.
    Probing,
}

impl Hosts {
    pub(super) fn new(network: Arc<Network>) -> Self {
        Self { network, hosts: HashMap::new(), idle: BTreeMap::new(), ended: 0 }
    }

    /// How many attempts a target can be given now.
    pub(super) fn room(&self, host: &str, now: Instant) -> usize {
        self.hosts.get(host).map_or(ROOM_FIRST, |host| host.valve.room(host.in_flight, now))
    }

    /// When a target is probed next, if it is only probed.
    pub(super) fn probed_at(&self, host: &str) -> Option<Instant> {
        self.hosts.get(host)?.valve.probed_at()
    }

    /// Every target that can be given more or less than one that is not known.
    pub(super) fn rooms(&self, now: Instant) -> Vec<(Arc<str>, usize)> {
        let rooms = self
            .hosts
            .iter()
            .map(|(name, host)| (Arc::clone(name), host.valve.room(host.in_flight, now)));
        rooms.filter(|(_, room)| *room != ROOM_FIRST).collect()
    }

    /// How all targets are doing, by name. `now` is the same moment on both clocks.
    pub(super) fn readings(&self, instant: Instant, now: Timestamp) -> Vec<HostReading> {
        let reading = |(name, host): (&Arc<str>, &Host)| {
            let (probed_at, failures) = (host.valve.probed_at(), host.valve.failures());
            let wait = probed_at.and_then(|at| at.checked_duration_since(instant));
            let wait = wait.filter(|wait| !wait.is_zero());
            HostReading {
                host: Arc::clone(name),
                state: match (probed_at, wait) {
                    (None, _) => HostState::Closed,
                    (Some(_), Some(_)) => HostState::Open,
                    (Some(_), None) => HostState::Probing,
                },
                in_flight: host.in_flight,
                waiting: host.waiting.len(),
                failures,
                retry_at: wait.map(|wait| {
                    now + Span::from_millis(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX))
                }),
            }
        };
        let mut readings: Vec<_> = self.hosts.iter().map(reading).collect();
        readings.sort_unstable_by(|a, b| a.host.cmp(&b.host));
        readings
    }

    /// Begins an attempt, whose target has room or not: the caller knows. It is to be sent by this
    /// client, once there is a place at the door.
    pub(super) fn begin(&mut self, name: &Arc<str>) -> (Client, Arc<Semaphore>) {
        let network = &self.network;
        let host = self.hosts.entry(Arc::clone(name)).or_insert_with(|| Host {
            client: client(network, UNDER_WAY_MAX),
            door: Arc::new(Semaphore::new(UNDER_WAY_MAX)),
            valve: Valve::default(),
            in_flight: 0,
            waiting: HashSet::new(),
            idle: None,
        });
        host.in_flight += 1;
        if let Some(place) = host.idle.take() {
            self.idle.remove(&place);
        }
        (host.client.clone(), host.door.clone())
    }

    /// Ends an attempt.
    pub(super) fn end(
        &mut self,
        name: &Arc<str>,
        task: MessageId,
        health: Health,
        now: Instant,
    ) -> Freed {
        if let Some(host) = self.hosts.get_mut(name) {
            host.in_flight -= 1;
            match health {
                Health::Up { after } => host.valve.answered(after),
                Health::Down => {
                    host.valve.failed(task, now, random::roll());
                    // A connection that leads nowhere is not used again.
                    host.client = client(&self.network, UNDER_WAY_MAX);
                }
                Health::Ours => {}
            }
        }
        self.look(name, now)
    }

    /// Remembers that a queue has more tasks for a target than it was given.
    pub(super) fn wait(&mut self, name: &Arc<str>, queue: &QueueName, now: Instant) -> Freed {
        let Some(host) = self.hosts.get_mut(name) else {
            return Freed { queues: vec![queue.clone()], again_at: None };
        };
        host.waiting.insert(queue.clone());
        self.look(name, now)
    }

    /// Looks at a target: who waits for it can go on if more is wanted.
    pub(super) fn look(&mut self, name: &Arc<str>, now: Instant) -> Freed {
        let Some(host) = self.hosts.get_mut(name) else { return Freed::default() };
        let mut freed = Freed::default();
        if host.valve.wants(host.in_flight, now) {
            freed.queues.extend(host.waiting.drain());
        } else if !host.waiting.is_empty() {
            freed.again_at = host.valve.probed_at().filter(|at| *at > now);
        }
        if host.in_flight == 0 && host.waiting.is_empty() && host.idle.is_none() {
            self.ended += 1;
            host.idle = Some(self.ended);
            self.idle.insert(self.ended, Arc::clone(name));
        } else if !host.waiting.is_empty()
            && let Some(place) = host.idle.take()
        {
            self.idle.remove(&place);
        }
        self.forget();
        freed
    }

    /// Forgets the targets that have been idle longest.
    fn forget(&mut self) {
        while self.idle.len() > IDLE_MAX
            && let Some((_, name)) = self.idle.pop_first()
        {
            self.hosts.remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::delivery::{DeliveryConfig, valve};

    const UP: Health = Health::Up { after: Duration::ZERO };

    fn hosts() -> Hosts {
        Hosts::new(Arc::new(DeliveryConfig::default().network()))
    }

    fn task(number: u128) -> MessageId {
        MessageId::test(number)
    }

    fn queue(name: &str) -> QueueName {
        QueueName::parse(name).unwrap()
    }

    #[test]
    fn who_waits_hears_of_the_first_free_place() {
        let (mut hosts, now) = (hosts(), Instant::now());
        let (name, q): (Arc<str>, _) = ("a:80".into(), queue("q"));
        let freed = Freed { queues: vec![q.clone()], again_at: None };
        assert_eq!(hosts.wait(&name, &q, now), freed, "nothing is under way");
        for taken in 0..ROOM_FIRST {
            assert_eq!(hosts.room(&name, now), ROOM_FIRST - taken);
            hosts.begin(&name);
        }
        assert_eq!(hosts.wait(&name, &q, now), Freed::default());
        assert_eq!(hosts.rooms(now), [(name.clone(), 0)]);
        assert_eq!(hosts.end(&name, task(0), Health::Ours, now), freed);
        assert_eq!(hosts.end(&name, task(0), Health::Ours, now), Freed::default(), "told once");
    }

    #[test]
    fn who_waits_for_a_target_that_is_down_is_told_when_to_look() {
        let (mut hosts, now) = (hosts(), Instant::now());
        let (name, q): (Arc<str>, _) = ("a:80".into(), queue("q"));
        for n in 0.. {
            hosts.begin(&name);
            assert_eq!(hosts.end(&name, task(n), Health::Down, now), Freed::default());
            if hosts.probed_at(&name).is_some() {
                break;
            }
        }
        let at = hosts.probed_at(&name);
        let reading = |hosts: &Hosts, instant| hosts.readings(instant, Timestamp::EPOCH).remove(0);
        let down = reading(&hosts, now);
        assert_eq!((down.state, down.failures, down.in_flight), (HostState::Open, 10, 0));
        assert!(down.retry_at > Some(Timestamp::EPOCH));
        let probed = reading(&hosts, at.unwrap());
        assert_eq!((probed.state, probed.retry_at), (HostState::Probing, None));
        assert_eq!(hosts.wait(&name, &q, now), Freed { queues: Vec::new(), again_at: at });
        assert_eq!(hosts.look(&name, at.unwrap()).queues, std::slice::from_ref(&q));
        hosts.begin(&name);
        assert_eq!(hosts.wait(&name, &q, at.unwrap()), Freed::default(), "a probe is under way");
        let freed = hosts.end(&name, task(0), Health::Down, at.unwrap());
        assert!(freed.queues.is_empty() && freed.again_at > at);
    }

    #[test]
    fn what_is_idle_is_forgotten_in_time() {
        let (mut hosts, now) = (hosts(), Instant::now());
        let names: Vec<Arc<str>> = (0..10_000).map(|n| format!("h{n}:80").into()).collect();
        hosts.begin(&names[0]);
        for name in &names[1..] {
            hosts.begin(name);
            hosts.end(name, task(0), UP, now);
            hosts.look(name, now);
        }
        assert_eq!(hosts.hosts.len(), IDLE_MAX + 1, "what is under way is not forgotten");
        assert_eq!(hosts.room(&names[0], now), valve::ROOM_FIRST - 1);
        hosts.begin(&names[9_999]);
        assert_eq!(hosts.idle.len(), IDLE_MAX - 1);
    }
}
