//! A primary, a replica, and three Sentinels that make the replica the primary when that is gone.

use std::time::Duration;

use super::{LOGGED, Life, Server};
use crate::eventually;

/// A primary, a replica, and three Sentinels that know the primary as `main`. They end with this value.
pub struct Group {
    /// The primary, as long as it lives.
    pub primary: Server,
    /// Its replica.
    pub replica: Server,
    /// The Sentinels.
    pub sentinels: Vec<Server>,
}

impl Group {
    /// A group that lets the replica take over soon after the primary is gone.
    pub fn start() -> Self {
        Self::patient(Duration::from_millis(500))
    }

    /// A group whose primary is given that long to answer: on a busy machine a short time takes one
    /// that is only slow for dead, and what it had not passed on yet is lost.
    pub fn patient(patience: Duration) -> Self {
        Self::living(&Life::OfValue, patience)
    }

    pub(super) fn living(life: &Life, patience: Duration) -> Self {
        let primary = Server::living(life, &LOGGED);
        let port = primary.port.to_string();
        let following = [&LOGGED[..], &["--replicaof", "127.0.0.1", &port]].concat();
        let replica = Server::living(life, &following);
        eventually("the replica follows", || {
            let info = replica.info("replication");
            info.contains("master_link_status:up").then_some(())
        });
        let settings = [
            format!("sentinel monitor main 127.0.0.1 {port} 2"),
            format!("sentinel down-after-milliseconds main {}", patience.as_millis()),
            "sentinel failover-timeout main 3000".to_owned(),
        ];
        let sentinels: Vec<Server> = (0..3).map(|_| Server::sentinel(life, &settings)).collect();
        eventually("the Sentinels know each other and the replica", || {
            let knows = |sentinel: &Server| {
                let info = sentinel.info("sentinel");
                info.contains("slaves=1,sentinels=3")
            };
            sentinels.iter().all(knows).then_some(())
        });
        Self { primary, replica, sentinels }
    }

    /// Its address as the URL of a store.
    pub fn url(&self) -> String {
        let hosts: Vec<_> =
            self.sentinels.iter().map(|sentinel| format!("127.0.0.1:{}", sentinel.port)).collect();
        format!("redis+sentinel://{}/main", hosts.join(","))
    }

    /// Waits until a server is the primary.
    pub fn wait_until_primary(server: &Server) {
        eventually("the replica is the primary", || {
            let info = server.info("replication");
            info.contains("role:master").then_some(())
        });
    }
}
