//! Servers over one Redis know of each other, until they leave or were not heard of for an hour.

use std::sync::Arc;

use punctual_core::{Span, Timestamp};
use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_store::{ManualClock, NodeCard, Store};
use punctual_testing::redis::{Cluster, Server};

fn card(id: &str, at: Timestamp) -> NodeCard {
    NodeCard {
        id: id.to_owned(),
        address: format!("{id}:1"),
        version: "1.2.3".to_owned(),
        started_at: at,
        seen_at: at,
    }
}

async fn tell(url: String) {
    let clock = ManualClock::new(Timestamp::parse("2026-11-15T06:00:00Z").unwrap());
    let options =
        || RedisOptions { clock: Some(Arc::new(clock.clone())), ..RedisOptions::new(url.clone()) };
    let one = RedisStore::open(options()).await.unwrap();
    let other = RedisStore::open(options()).await.unwrap();
    assert_eq!(other.nodes().await.unwrap(), []);
    let start = one.now();
    one.attend(&card("one", start)).await.unwrap();
    clock.advance(Span::from_secs(3_599));
    other.attend(&card("other", start)).await.unwrap();
    let mut seen = one.nodes().await.unwrap();
    seen.sort_by(|a, b| a.id.cmp(&b.id));
    // Redis's clock says when each was heard of, whatever a card says.
    let later = NodeCard { seen_at: other.now(), ..card("other", start) };
    assert_eq!(seen, [card("one", start), later.clone()]);
    clock.advance(Span::from_secs(2));
    let later = NodeCard { seen_at: other.now(), ..later };
    other.attend(&later).await.unwrap();
    assert_eq!(one.nodes().await.unwrap(), [later], "one was not heard of for an hour");
    other.leave("other").await.unwrap();
    assert_eq!(one.nodes().await.unwrap(), []);
    assert!(one.bytes().await.unwrap() > Some(0));
}

#[tokio::test]
async fn servers_know_of_each_other() {
    tell(Server::start().url()).await;
}

#[tokio::test]
async fn servers_over_a_cluster_know_of_each_other() {
    tell(Cluster::start().url()).await;
}
