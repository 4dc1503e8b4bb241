//! A Cluster of three primaries.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use super::{Life, Server};
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
        Self::living(&Life::OfValue, Duration::from_secs(2))
    }

    /// A Cluster whose servers are given that long to answer each other.
    pub(super) fn living(life: &Life, patience: Duration) -> Self {
        let patience = patience.as_millis().to_string();
        let servers: Vec<Server> = (0..3)
            .map(|_| {
                let bus = free_port().to_string();
                let arguments = [
                    "--appendonly",
                    "yes",
                    "--cluster-enabled",
                    "yes",
                    "--cluster-node-timeout",
                    &patience,
                    "--cluster-port",
                    &bus,
                ];
                Server::living(life, &arguments)
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

    /// The slot of a queue's shard.
    pub fn slot(&self, queue: &str) -> u16 {
        let (prefix, place) = self.home(queue);
        self.servers[place].command(&format!("CLUSTER KEYSLOT {prefix}shard"))
    }

    /// Moves the lowest slots of a server to another as an operator does, with `redis-cli`.
    pub fn reshard(&self, slots: u16, from: usize, to: usize) {
        let id = |place: usize| self.servers[place].command::<String>("CLUSTER MYID");
        let output = Command::new("redis-cli")
            .args(["--cluster", "reshard", &format!("127.0.0.1:{}", self.servers[0].port)])
            .args(["--cluster-from", &id(from), "--cluster-to", &id(to)])
            .args(["--cluster-slots", &slots.to_string(), "--cluster-yes"])
            .output()
            .expect("redis-cli can be started");
        let said = String::from_utf8_lossy(&output.stdout);
        let end: Vec<&str> = said.lines().rev().take(5).collect();
        assert!(output.status.success() && !said.contains("ERR"), "{end:#?}");
        eventually("all servers know where the slots are", || {
            let known: BTreeSet<_> = self.servers.iter().map(Self::known_slots).collect();
            (known.len() == 1).then_some(())
        });
    }

    /// The slots of every server, as one of them knows them.
    fn known_slots(server: &Server) -> BTreeSet<String> {
        let nodes: String = server.command("CLUSTER NODES");
        let of_node = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            format!("{} {}", words[0], words[8..].join(" "))
        };
        nodes.lines().map(of_node).collect()
    }

    /// Moves a slot with all its keys from one server to another, slowly.
    pub fn move_slot(&self, slot: u16, from: usize, to: usize) {
        self.open_slot(slot, from, to);
        self.finish_slot(slot, from, to);
    }

    /// Moves what is left of a slot.
    pub fn finish_slot(&self, slot: u16, from: usize, to: usize) {
        let source = &self.servers[from];
        loop {
            let keys: Vec<String> = source.command(&format!("CLUSTER GETKEYSINSLOT {slot} 20"));
            if keys.is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
            self.migrate(&keys, from, to);
        }
        let id: String = self.servers[to].command("CLUSTER MYID");
        for place in [to, from] {
            self.servers[place].command::<String>(&format!("CLUSTER SETSLOT {slot} NODE {id}"));
        }
    }

    /// Begins to move a slot.
    pub fn open_slot(&self, slot: u16, from: usize, to: usize) {
        let (source, target) = (&self.servers[from], &self.servers[to]);
        let id = |server: &Server| server.command::<String>("CLUSTER MYID");
        let importing = format!("CLUSTER SETSLOT {slot} IMPORTING {}", id(source));
        target.command::<String>(&importing);
        let migrating = format!("CLUSTER SETSLOT {slot} MIGRATING {}", id(target));
        source.command::<String>(&migrating);
    }

    /// Gives up moving a slot.
    pub fn close_slot(&self, slot: u16) {
        for server in &self.servers {
            server.command::<String>(&format!("CLUSTER SETSLOT {slot} STABLE"));
        }
    }

    /// Moves keys from one server to another.
    pub fn migrate(&self, keys: &[String], from: usize, to: usize) {
        let mut migrate = redis::cmd("MIGRATE");
        migrate.arg("127.0.0.1").arg(self.servers[to].port).arg("").arg(0).arg(5_000);
        migrate.arg("KEYS").arg(keys).query::<String>(&mut self.servers[from].connect()).unwrap();
    }
}
