//! Connections to Redis: one server, the primary that Sentinels name, or a Cluster.
//!
//! All requests of a node share one connection (in a Cluster one per server); nothing that blocks goes
//! over it. Messages from other nodes come over the same connection, but for a Cluster: a server there
//! ends the subscription to a shard that moves away, and the library would take that word for the answer
//! to a request.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{
    MultipleNodeRoutingInfo, Route, RoutingInfo, SingleNodeRoutingInfo, SlotAddr,
};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionInfo, ErrorKind, ProtocolVersion, PushInfo,
    RedisError, RedisResult, Value, cmd,
};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::timeout;

use super::address::{Address, Topology};
use super::keys::Keys;
use super::scripts::Script;

/// How long one request may take. Scripts take milliseconds.
pub(super) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(3);
/// How long replicas have to confirm a write.
const WAIT_MS: u32 = 1_000;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long it may take to find all servers of a Cluster.
const CLUSTER_TIMEOUT: Duration = Duration::from_secs(5);
/// How often the library itself repeats a request to a Cluster: enough to follow a redirection or two.
const CLUSTER_RETRIES: u32 = 3;
/// How long it waits before that. Requests have a patience of their own.
const CLUSTER_PAUSE_MS: std::ops::Range<u64> = 20..100;

/// A connection. Clones share it.
#[derive(Clone)]
pub(super) enum Connection {
    /// To one server.
    One(MultiplexedConnection),
    /// To all servers of a Cluster.
    Cluster(ClusterConnection),
}

impl Connection {
    /// Connects to the server that takes writes. Of a Cluster no messages come this way.
    pub(super) async fn open(
        address: &Address,
        messages: UnboundedSender<PushInfo>,
    ) -> RedisResult<Self> {
        if address.is_tls {
            // The process may have chosen one already.
            let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        }
        match &address.topology {
            Topology::Single => {
                let (host, port) = &address.hosts[0];
                let one =
                    connect(address.redis(host, *port)?, Some(messages), RESPONSE_TIMEOUT).await?;
                require_primary(one).await
            }
            Topology::Sentinel { primary } => {
                let (host, port) = find_primary(address, primary).await?;
                let one =
                    connect(address.redis(&host, port)?, Some(messages), RESPONSE_TIMEOUT).await?;
                require_primary(one).await
            }
            Topology::Cluster => {
                open_cluster(address, None, RESPONSE_TIMEOUT).await.map(Self::Cluster)
            }
        }
    }

    /// Connects for requests that wait in Redis, at most so long.
    pub(super) async fn open_to_wait(address: &Address, wait: Duration) -> RedisResult<Self> {
        let timeout = wait + RESPONSE_TIMEOUT;
        let (host, port) = match &address.topology {
            Topology::Single => address.hosts[0].clone(),
            Topology::Sentinel { primary } => find_primary(address, primary).await?,
            Topology::Cluster => {
                return open_cluster(address, None, timeout).await.map(Self::Cluster);
            }
        };
        connect(address.redis(&host, port)?, None, timeout).await.map(Self::One)
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn send(&mut self, request: &Cmd) -> RedisResult<Value> {
        match self {
            Self::One(one) => request.query_async(one).await,
            Self::Cluster(cluster) => request.query_async(cluster).await,
        }
    }

    /// Sends a request without a key to the server that has a shard.
    async fn send_to(&mut self, request: Cmd, key: &str) -> RedisResult<Value> {
        match self {
            Self::One(one) => request.query_async(one).await,
            Self::Cluster(cluster) => {
                let route = Route::new(slot_of(key), SlotAddr::Master);
                let one = SingleNodeRoutingInfo::SpecificNode(route);
                cluster.route_command(request, RoutingInfo::SingleNode(one)).await
            }
        }
    }

    /// Sends a request to every server that takes writes. One answer for each.
    pub(super) async fn send_to_all(&mut self, request: &Cmd) -> RedisResult<Vec<Value>> {
        match self {
            Self::One(one) => Ok(vec![request.query_async(one).await?]),
            Self::Cluster(cluster) => {
                let all = RoutingInfo::MultiNode((MultipleNodeRoutingInfo::AllMasters, None));
                match cluster.route_command(request.clone(), all).await? {
                    Value::Map(answers) => {
                        Ok(answers.into_iter().map(|(_, value)| value).collect())
                    }
                    value => Ok(vec![value]),
                }
            }
        }
    }

    /// Loads a script where a shard lies. In a Cluster a redirection may have led to a server that the
    /// slots as they are known here do not name, so the script is loaded at every primary that answers.
    pub(super) async fn load(&mut self, script: &Script, key: &str) -> RedisResult<()> {
        let mut load = cmd("SCRIPT");
        load.arg("LOAD").arg(&script.source);
        if matches!(self, Self::Cluster(_)) && self.send_to_all(&load).await.is_ok() {
            return Ok(());
        }
        self.send_to(load, key).await.map(drop)
    }

    /// Waits until replicas have what was written to a shard, and says how many do.
    pub(super) async fn wait(&mut self, replicas: u32, key: &str) -> RedisResult<u32> {
        let mut wait = cmd("WAIT");
        wait.arg(replicas).arg(WAIT_MS);
        redis::from_redis_value(self.send_to(wait, key).await?).map_err(RedisError::from)
    }

    /// How many listen to the channel of a shard.
    pub(super) async fn listeners(&mut self, channel: &str) -> RedisResult<u64> {
        let mut ask = cmd("PUBSUB");
        let is_cluster = matches!(self, Self::Cluster(_));
        ask.arg(if is_cluster { "SHARDNUMSUB" } else { "NUMSUB" }).arg(channel);
        let (_, count): (String, u64) = redis::from_redis_value(self.send_to(ask, channel).await?)?;
        Ok(count)
    }

    /// Listens to what other nodes say, and to programs that publish on the shards' channels. In a
    /// Cluster a connection of its own does that, for as long as it is kept.
    pub(super) async fn listen(
        &mut self,
        address: &Address,
        keys: &Keys,
        messages: UnboundedSender<PushInfo>,
    ) -> RedisResult<Option<ClusterConnection>> {
        let mut ears = match self {
            Self::One(one) => {
                one.subscribe(keys.channel(0)).await?;
                return Ok(None);
            }
            Self::Cluster(_) => open_cluster(address, Some(messages), RESPONSE_TIMEOUT).await?,
        };
        for shard in 0..keys.shards() {
            ears.ssubscribe(keys.channel(shard)).await?;
            ears.subscribe(keys.channel(shard)).await?;
        }
        Ok(Some(ears))
    }
}

async fn open_cluster(
    address: &Address,
    messages: Option<UnboundedSender<PushInfo>>,
    response_timeout: Duration,
) -> RedisResult<ClusterConnection> {
    let nodes: RedisResult<Vec<ConnectionInfo>> =
        address.hosts.iter().map(|(host, port)| address.redis(host, *port)).collect();
    let mut client = ClusterClientBuilder::new(nodes?)
        .use_protocol(ProtocolVersion::RESP3)
        .connection_timeout(CONNECT_TIMEOUT)
        .response_timeout(response_timeout)
        .retries(CLUSTER_RETRIES)
        .min_retry_wait(CLUSTER_PAUSE_MS.start)
        .max_retry_wait(CLUSTER_PAUSE_MS.end);
    if let Some(messages) = messages {
        client = client.push_sender(messages);
    }
    let connecting = client.build()?;
    // The library knows a limit for each server, and none for all it does.
    let connected = timeout(CLUSTER_TIMEOUT, connecting.get_async_connection()).await;
    connected.unwrap_or_else(|_| Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()))
}

pub(super) fn slot_of(key: &str) -> u16 {
    let tag = key.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
    let tag = tag.map_or(key, |(tag, _)| tag);
    u16::try_from(super::keys::slot(tag.as_bytes())).unwrap_or(0)
}

/// Connects to one server.
pub(super) async fn connect(
    info: ConnectionInfo,
    messages: Option<UnboundedSender<PushInfo>>,
    response_timeout: Duration,
) -> RedisResult<MultiplexedConnection> {
    let mut config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(CONNECT_TIMEOUT))
        .set_response_timeout(Some(response_timeout));
    if let Some(messages) = messages {
        config = config.set_push_sender(messages);
    }
    Client::open(info)?.get_multiplexed_async_connection_with_config(&config).await
}

/// Refuses a server that is a replica: what is written there is lost.
async fn require_primary(mut one: MultiplexedConnection) -> RedisResult<Connection> {
    let role: Vec<Value> = cmd("ROLE").query_async(&mut one).await?;
    match role.first() {
        Some(Value::BulkString(role)) if role == b"master" => Ok(Connection::One(one)),
        _ => Err((ErrorKind::Io, "the server is a replica").into()),
    }
}

/// Asks the Sentinels where the primary is; the first that knows is believed.
async fn find_primary(address: &Address, primary: &str) -> RedisResult<(String, u16)> {
    let mut trouble = RedisError::from((ErrorKind::Io, "no Sentinel is named"));
    for (host, port) in &address.hosts {
        let asked = async {
            let mut sentinel =
                connect(address.sentinel(host, *port)?, None, RESPONSE_TIMEOUT).await?;
            let mut ask = cmd("SENTINEL");
            ask.arg("GET-MASTER-ADDR-BY-NAME").arg(primary);
            ask.query_async::<Option<(String, u16)>>(&mut sentinel).await
        };
        match asked.await {
            Ok(Some(place)) => return Ok(place),
            Ok(None) => {
                let unknown = "the Sentinels know no primary of this name";
                trouble = (ErrorKind::MasterNameNotFoundBySentinel, unknown).into();
            }
            Err(error) => trouble = error,
        }
    }
    Err(trouble)
}
