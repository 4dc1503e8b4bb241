//! A Cluster of three primaries.

use super::Server;
use crate::{eventually, free_port};

const SLOTS: usize = 16_384;

/// Three primaries. They end with this value.
pub struct Cluster {
    /// The servers.
    pub servers: Vec<Server>,
}

impl Cluster {
    /// Starts it, and waits until it is whole.
    pub fn start() -> Self {
        let servers: Vec<Server> = (0..3)
            .map(|_| {
                let bus = free_port().to_string();
                Server::with(&[
                    "--appendonly",
                    "yes",
                    "--cluster-enabled",
                    "yes",
                    "--cluster-node-timeout",
                    "2000",
                    "--cluster-port",
                    &bus,
                ])
            })
            .collect();
        for (n, server) in servers.iter().enumerate() {
            let (first, last) = (n * SLOTS / 3, (n + 1) * SLOTS / 3 - 1);
            server.command::<String>(&format!("CLUSTER ADDSLOTSRANGE {first} {last}"));
            // Nodes must not claim to know as much as each other.
            server.command::<String>(&format!("CLUSTER SET-CONFIG-EPOCH {}", n + 1));
        }
        let bus: Vec<String> = servers[0].command("CONFIG GET cluster-port");
        for server in &servers[1..] {
            server.command::<String>(&format!(
                "CLUSTER MEET 127.0.0.1 {} {}",
                servers[0].port, bus[1]
            ));
        }
        eventually("the Cluster is whole", || {
            let is_whole = |server: &Server| {
                let info: String = server.command("CLUSTER INFO");
                info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3")
            };
            servers.iter().all(is_whole).then_some(())
        });
        Self { servers }
    }

    /// Its address as the URL of a store.
    pub fn url(&self) -> String {
        let hosts: Vec<_> =
            self.servers.iter().map(|server| format!("127.0.0.1:{}", server.port)).collect();
        format!("redis+cluster://{}", hosts.join(","))
    }

    /// The prefix of the keys of a queue's shard, and the server that has it.
    pub fn home(&self, queue: &str) -> (String, usize) {
        for (place, server) in self.servers.iter().enumerate() {
            let keys: Vec<String> = server.command(&format!("KEYS punctual:{{*}}:q:{queue}"));
            if let Some(key) = keys.first() {
                return (key.strip_suffix(&format!("q:{queue}")).unwrap().to_owned(), place);
            }
        }
        panic!("there is no queue {queue}");
    }

    /// Moves a slot with all its keys from one server to another, slowly.
    pub fn move_slot(&self, slot: u16, from: usize, to: usize) {
        let ids: Vec<String> =
            self.servers.iter().map(|server| server.command("CLUSTER MYID")).collect();
        let (source, target) = (&self.servers[from], &self.servers[to]);
        target.command::<String>(&format!("CLUSTER SETSLOT {slot} IMPORTING {}", ids[from]));
        source.command::<String>(&format!("CLUSTER SETSLOT {slot} MIGRATING {}", ids[to]));
        loop {
            let keys: Vec<String> = source.command(&format!("CLUSTER GETKEYSINSLOT {slot} 20"));
            if keys.is_empty() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
            let mut migrate = redis::cmd("MIGRATE");
            migrate
                .arg("127.0.0.1")
                .arg(target.port)
                .arg("")
                .arg(0)
                .arg(5_000)
                .arg("KEYS")
                .arg(keys);
            migrate.query::<String>(&mut source.connect()).unwrap();
        }
        for server in [target, source] {
            server.command::<String>(&format!("CLUSTER SETSLOT {slot} NODE {}", ids[to]));
        }
    }
}
