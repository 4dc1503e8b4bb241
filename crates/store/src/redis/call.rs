//! Calling a script: until it has answered, or it is clear that it will not.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use redis::{Cmd, RedisError, ToRedisArgs, cmd};
use tracing::error;

use super::answer::{Answer, Ending};
use super::connection::Connection;
use super::fields::Fields;
use super::names::Name;
use super::node::Node;
use super::places::Place;
use super::scripts::Script;
use super::trouble::{Remedy, describe, remedy};
use crate::port::{Effect, StoreError};

/// How long a call is repeated before its caller is told.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait before asking again what passes by itself.
const PAUSE: Duration = Duration::from_millis(100);

/// A call of a script with its arguments.
pub(super) struct Call<'a> {
    node: &'a Node,
    script: &'static Script,
    shard: usize,
    request: Cmd,
    /// Held until the call has ended.
    _place: Option<Place<'a>>,
}

impl Node {
    /// Begins a call of a script on a shard.
    pub(super) async fn call(&self, script: &'static Script, shard: usize) -> Call<'_> {
        let mut request = cmd("EVALSHA");
        request.arg(&script.hash);
        self.name_keys(&mut request, shard);
        request.arg(self.clock.argument());
        let place = match script.is_writing {
            true => Some(self.places[shard].take().await),
            false => None,
        };
        match &place {
            Some(place) => request.arg(&self.session).arg(place.place).arg(place.number),
            None => request.arg("").arg("").arg(""),
        };
        Call { node: self, script, shard, request, _place: place }
    }

    /// Adds the keys that every script of a shard is given.
    pub(super) fn name_keys(&self, request: &mut Cmd, shard: usize) {
        let (key, absent) = (self.keys.shard(shard), self.keys.absent(shard));
        request.arg(1 + absent.iter().len()).arg(key).arg(absent);
    }
}

impl Call<'_> {
    /// Adds an argument.
    pub(super) fn arg(&mut self, argument: impl ToRedisArgs) -> &mut Self {
        self.request.arg(argument);
        self
    }

    /// Adds fields.
    pub(super) fn fields<N: Name>(&mut self, fields: &Fields<'_, N>) -> &mut Self {
        for text in fields.flat() {
            self.request.arg(&text[..]);
        }
        self
    }

    /// Adds fields after their number.
    pub(super) fn counted<N: Name>(&mut self, fields: &Fields<'_, N>) -> &mut Self {
        self.arg(fields.flat().len()).fields(fields)
    }

    /// Carries it out.
    pub(super) async fn send(self) -> Result<Answer, StoreError> {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        let mut effect = Effect::None;
        let mut loads = 0;
        let unavailable = |reason, effect| StoreError::Unavailable { reason, effect };
        loop {
            let connected = self.node.link.connection(deadline).await;
            let (mut connection, generation) =
                connected.map_err(|reason| unavailable(reason, effect))?;
            let sent = Instant::now();
            let answered = connection.send(&self.request).await;
            self.node.measures.round_trip.took(sent.elapsed());
            let trouble = match answered {
                Ok(value) => match Ending::read(value)? {
                    Ending::Answer(answer) => {
                        self.node.clock.learn(answer.now_ms, sent, Instant::now());
                        self.confirm(&mut connection).await?;
                        self.node.heed(self.shard, &answer);
                        return Ok(answer);
                    }
                    Ending::Late => {
                        let reason = "Redis: the answer came too late".to_owned();
                        return Err(unavailable(reason, effect));
                    }
                    Ending::Empty => {
                        match self.node.set_up_again(&mut connection, Some(self.shard)).await {
                            Ok(()) => continue,
                            Err(trouble) => trouble,
                        }
                    }
                },
                Err(trouble) => trouble,
            };
            self.node.measures.errors.fetch_add(1, Ordering::Relaxed);
            let remedy = remedy(&trouble);
            if remedy == Remedy::Load {
                loads += 1;
                if loads > 1 {
                    // A shard that moves may be found at a server that still lacks the script.
                    tokio::time::sleep(PAUSE).await;
                }
            }
            effect = self.apply(remedy, &mut connection, generation, &trouble, effect).await?;
            if tokio::time::Instant::now() >= deadline {
                return Err(unavailable(describe(&trouble), effect));
            }
        }
    }

    /// Does what helps against an error, if anything does.
    async fn apply(
        &self,
        remedy: Remedy,
        connection: &mut Connection,
        generation: u64,
        trouble: &RedisError,
        effect: Effect,
    ) -> Result<Effect, StoreError> {
        let in_doubt = if self.script.is_writing { Effect::Unknown } else { Effect::None };
        match remedy {
            Remedy::Load => {
                let key = self.node.keys.shard(self.shard);
                if let Err(trouble) = connection.load(self.script, &key).await {
                    self.reconnect(generation, &trouble).await;
                }
                Ok(effect)
            }
            Remedy::Wait => {
                tokio::time::sleep(PAUSE).await;
                Ok(effect)
            }
            Remedy::Reconnect => {
                self.reconnect(generation, trouble).await;
                Ok(effect)
            }
            Remedy::ReconnectInDoubt => {
                self.reconnect(generation, trouble).await;
                Ok(in_doubt)
            }
            Remedy::Refuse => Err(StoreError::Unavailable { reason: describe(trouble), effect }),
            Remedy::GiveUp => {
                error!(script = self.script.name, error = %trouble, "a script failed");
                Err(StoreError::Unavailable { reason: describe(trouble), effect: in_doubt })
            }
        }
    }

    /// Has another connection made. In a Cluster this one is used meanwhile: the other servers go on, and
    /// the library may find the one in question again by itself.
    async fn reconnect(&self, generation: u64, trouble: &RedisError) {
        let (link, reason) = (&self.node.link, describe(trouble));
        if self.node.keys.is_cluster() {
            link.suspect(generation, &reason);
            tokio::time::sleep(PAUSE).await;
        } else {
            link.give_up(generation, &reason);
        }
    }

    /// Waits for the replicas that an answer shall be worth.
    async fn confirm(&self, connection: &mut Connection) -> Result<(), StoreError> {
        let wanted = self.node.wait_replicas;
        if wanted == 0 || !self.script.is_writing {
            return Ok(());
        }
        let (replicas, key) = (&self.node.replicas[self.shard], self.node.keys.shard(self.shard));
        let confirmed = replicas.wait(wanted, Instant::now(), connection, &key).await;
        confirmed.map_err(|reason| StoreError::Unavailable { reason, effect: Effect::Unknown })
    }
}
