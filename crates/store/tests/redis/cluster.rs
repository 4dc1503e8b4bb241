//! A Cluster of three primaries.

use punctual_core::callback::{Callback, End};
use punctual_core::{NewTask, QueueName, State};
use punctual_store::{Store, conformance};

use crate::nodes::{Node, hear, id, name, ready, task};
use crate::server::{Server, eventually, free_port};
use crate::subject::Redis;

const SLOTS: usize = 16_384;

pub(crate) struct Cluster {
    pub(crate) servers: Vec<Server>,
}

impl Cluster {
    pub(crate) fn start() -> Self {
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

    pub(crate) fn url(&self) -> String {
        let hosts: Vec<_> =
            self.servers.iter().map(|server| format!("127.0.0.1:{}", server.port)).collect();
        format!("redis+cluster://{}", hosts.join(","))
    }
}

#[tokio::test]
async fn conformance() {
    let cluster = Cluster::start();
    conformance::run_all(|clock| Redis::new(cluster.url(), clock)).await;
}

#[test]
fn random_sequences() {
    let cluster = Cluster::start();
    conformance::random::compare(15, |clock| Redis::new(cluster.url(), clock));
}

#[tokio::test]
async fn queues_are_spread_over_the_servers() {
    let cluster = Cluster::start();
    let node = Node::open(cluster.url()).await;
    for n in 0..60 {
        let queue = format!("queue-{n}");
        node.put(&queue, |_| ()).await;
        node.push(&queue, task("t")).await;
    }
    for server in &cluster.servers {
        let keys: Vec<String> = server.command("KEYS punctual:{*}:t:*");
        assert!(keys.len() > 5, "{} of 60 tasks are here", keys.len());
    }
    assert_eq!(node.0.queues().await.unwrap().len(), 60 + QueueName::BUILT_IN.len());
    let names: Vec<_> = (0..60).map(|n| name(&format!("queue-{n}"))).collect();
    let stats = node.0.stats(&names).await.unwrap();
    assert!(stats.iter().all(|stats| stats.unwrap().count(State::Ready) == 1));
}

#[tokio::test]
async fn nodes_hear_of_each_other() {
    let cluster = Cluster::start();
    let (a, b) = (Node::open(cluster.url()).await, Node::open(cluster.url()).await);
    let mut wakes = b.0.wakeups();
    for n in 0..9 {
        let queue = format!("queue-{n}");
        a.put(&queue, |_| ()).await;
        assert!(b.take(&queue, 1, 60_000).await.is_empty());
        a.push(&queue, task("t")).await;
        hear(&mut wakes, ready(&queue)).await;
        assert_eq!(b.take(&queue, 1, 60_000).await.len(), 1);
    }
}

#[tokio::test]
async fn callbacks_reach_queues_on_other_servers() {
    let cluster = Cluster::start();
    let (a, b) = (Node::open(cluster.url()).await, Node::open(cluster.url()).await);
    a.put("q", |_| ()).await;
    let mut wakes = b.0.wakeups();
    for n in 0..20 {
        let after = format!("after-{n}");
        let callback =
            Callback { on: vec![End::Done], http: None, queue: Some(name(&after)), task: None };
        a.push("q", NewTask { callback: Some(callback), ..task(&format!("t{n}")) }).await;
        let held = a.take("q", 1, 60_000).await;
        a.commit(&held[0]).await.unwrap();
        hear(&mut wakes, ready(&after)).await;
        assert_eq!(b.take(&after, 9, 60_000).await[0].task.spec.id, id("called-back"));
    }
}
