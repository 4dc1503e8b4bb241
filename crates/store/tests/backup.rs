//! Copies of an embedded store that is open: one at a time, and nothing left behind.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;
use std::sync::Arc;

use punctual_core::{NewTask, QueueName, RawJson, Spec, TaskId};
use punctual_store::local::{Contents, LocalOptions, LocalStore};
use punctual_store::{NoBackup, Push, Store, SystemClock};

fn open(dir: &Path) -> Arc<LocalStore> {
    let clock = Arc::new(SystemClock::new());
    LocalStore::open(LocalOptions { dir: Some(dir.to_owned()), clock }).unwrap()
}

async fn push(store: &LocalStore, count: usize) {
    let queue = QueueName::bundles();
    let new = NewTask { payload: Some(RawJson::of(&"x".repeat(200))), ..NewTask::default() };
    let spec = |n| {
        let id = TaskId::parse(&format!("t{n}")).unwrap();
        Arc::new(Spec::new(queue.clone(), new.clone(), id, store.now()))
    };
    let tasks = (0..count).map(spec).collect();
    store.push(Push { queue: queue.clone(), tasks, keyed: None }).await.unwrap();
}

fn files(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn one_copy_at_a_time_and_nothing_is_left_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    push(&store, 1_000).await;
    let before = files(dir.path());
    let backup = store.backup().await.unwrap();
    assert_eq!(files(dir.path()), before, "it has no name");
    assert!(matches!(store.backup().await, Err(NoBackup::UnderWay)));
    let copy = tempfile::NamedTempFile::new().unwrap();
    let mut file = &backup.file;
    let bytes = std::io::copy(&mut file, &mut copy.as_file()).unwrap();
    assert_eq!(bytes, backup.bytes);
    assert_eq!(Contents::of(copy.path()).unwrap().tasks, 1_000);
    drop(backup);
    drop(store.backup().await.unwrap());
}

#[tokio::test]
async fn what_a_stopped_server_left_of_a_copy_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    std::fs::write(dir.path().join("backup.part"), "half").unwrap();
    drop(open(dir.path()));
    assert!(!files(dir.path()).contains(&"backup.part".to_owned()));
}

#[tokio::test]
async fn a_store_in_memory_says_that_it_cannot() {
    let clock = Arc::new(SystemClock::new());
    let store = LocalStore::open(LocalOptions { dir: None, clock }).unwrap();
    assert!(matches!(store.backup().await, Err(NoBackup::Unsupported(_))));
}
