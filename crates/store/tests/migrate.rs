//! Everything from one store to another: whatever happened in one, goes on in the other as if nothing had
//! been moved.
#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "subjects/traveller.rs"]
mod traveller;

use std::sync::Arc;

use punctual_core::{NewTask, Queue, QueueName, RawJson, Settings, Spec, TaskId};
use punctual_store::conformance::random;
use punctual_store::local::{Filling, LocalOptions, LocalStore};
use punctual_store::migrate::{MigrateError, Tally, migrate};
use punctual_store::model::ModelStore;
use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_store::{Push, PutQueue, Store, SystemClock};
use punctual_testing::redis::{Cluster, Server};

use self::traveller::{Kind, Traveller};

#[test]
fn sequences_go_on_in_other_embedded_stores() {
    let route = [Kind::Memory, Kind::Disk, Kind::Model];
    random::compare(60, |clock| Traveller::new(route.to_vec(), clock));
}

#[test]
fn sequences_go_on_between_files_and_redis() {
    let server = Server::start();
    let route = [Kind::Disk, Kind::Redis(server.url()), Kind::Memory, Kind::Redis(server.url())];
    random::compare(60, |clock| Traveller::new(route.to_vec(), clock));
}

#[test]
fn sequences_go_on_between_redis_and_a_cluster() {
    let (server, cluster) = (Server::start(), Cluster::start());
    let route = [Kind::Redis(cluster.url()), Kind::Redis(server.url()), Kind::Model];
    random::compare(6, |clock| Traveller::new(route.to_vec(), clock));
}

fn queue(name: &str) -> QueueName {
    QueueName::parse(name).unwrap()
}

async fn push(store: &dyn Store, name: &str, count: usize) {
    let (settings, created_at) = (Settings::default(), store.now());
    let put = Queue { name: queue(name), settings, paused: false, created_at };
    let _ = store.put_queue(PutQueue { queue: put, before: None }).await.unwrap();
    let new = NewTask { payload: Some(RawJson::of(&"x".repeat(2_000))), ..NewTask::default() };
    let spec = |n| {
        let id = TaskId::parse(&format!("t{n}")).unwrap();
        Arc::new(Spec::new(queue(name), new.clone(), id, store.now()))
    };
    let tasks = (0..count).map(spec).collect();
    store.push(Push { queue: queue(name), tasks, keyed: None }).await.unwrap();
}

#[tokio::test]
async fn a_store_that_holds_something_is_no_target() {
    let clock = Arc::new(SystemClock::new());
    let (from, to) = (ModelStore::new(clock.clone()), ModelStore::new(clock));
    push(&from, "q", 3).await;
    push(&to, "bundles", 1).await;
    let refused = migrate(&from, &to, &|_| ()).await;
    assert!(matches!(refused, Err(MigrateError::NotEmpty(_))), "{refused:?}");
    assert_eq!(to.queues().await.unwrap().len(), QueueName::BUILT_IN.len(), "nothing was moved");
}

#[tokio::test]
async fn a_directory_becomes_a_store_whole_or_not_at_all() {
    let clock = Arc::new(SystemClock::new());
    let from = ModelStore::new(clock.clone());
    push(&from, "q", 1_200).await;
    let dir = tempfile::tempdir().unwrap();
    let filling = Filling::begin(dir.path(), clock.clone()).unwrap();
    assert!(Filling::begin(dir.path(), clock.clone()).is_err(), "somebody fills it");
    migrate(&from, filling.store(), &|_| ()).await.unwrap();
    // Interrupted at the last moment.
    drop(filling);
    assert!(!dir.path().join("punctual.db").exists());

    let filling = Filling::begin(dir.path(), clock.clone()).unwrap();
    let tally = migrate(&from, filling.store(), &|_| ()).await.unwrap();
    filling.finish().unwrap();
    assert!(Filling::begin(dir.path(), clock.clone()).is_err(), "there is a store now");
    let options = LocalOptions { dir: Some(dir.path().to_owned()), clock };
    let store = LocalStore::open(options).unwrap();
    assert_eq!(Tally::of(&*store).await.unwrap().difference(&tally), None);
    assert!(!dir.path().join("migrating").exists());
}

#[tokio::test]
async fn a_redis_that_is_half_filled_is_refused_until_it_is_cleared() {
    let (server, clock) = (Server::start(), Arc::new(SystemClock::new()));
    let from = ModelStore::new(clock);
    push(&from, "q", 700).await;
    let options = || RedisOptions::new(server.url());
    assert!(!RedisStore::presence(&options()).await.unwrap().is_made);
    let to = RedisStore::open(options()).await.unwrap();
    to.set_filling(true).await.unwrap();
    migrate(&from, &*to, &|_| ()).await.unwrap();
    let presence = RedisStore::presence(&options()).await.unwrap();
    assert!(presence.is_made && presence.is_filling, "{presence:?}");
    assert_eq!(presence.servers, Some(1));
    drop(to);

    let refused = RedisStore::open(options()).await.err().unwrap().to_string();
    assert!(refused.contains("--force"), "{refused}");
    let to = RedisStore::open(RedisOptions { is_filled: true, ..options() }).await.unwrap();
    to.clear().await.unwrap();
    let left: Vec<String> = server.command("KEYS punctual:t:*");
    assert_eq!(left, [""; 0]);
    migrate(&from, &*to, &|_| ()).await.unwrap();
    to.set_filling(false).await.unwrap();
    assert!(to.check(false).await.unwrap().is_empty());
    drop(to);
    RedisStore::open(options()).await.unwrap();
}
