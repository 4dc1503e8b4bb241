//! What the embedded store finds when its files were touched while it was away.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;
use std::sync::Arc;

use punctual_core::bundle::{BundleKey, BundlePush};
use punctual_core::{NewTask, Owner, QueueName, RawJson, Spec, TaskId};
use punctual_store::local::{LocalOptions, LocalStore};
use punctual_store::{Listing, OwnerChange, Push, Store, StoreError, SystemClock};

fn open(dir: &Path) -> Result<Arc<LocalStore>, StoreError> {
    LocalStore::open(LocalOptions {
        dir: Some(dir.to_owned()),
        clock: Arc::new(SystemClock::new()),
    })
}

fn refusal(dir: &Path) -> String {
    open(dir).err().expect("it must not open").to_string()
}

fn queue() -> QueueName {
    QueueName::parse("bundles").unwrap()
}

async fn push(store: &LocalStore, count: usize) {
    let now = store.now();
    let spec = |n| {
        let payload = Some(RawJson::of(&"a payload to be found again"));
        let new = NewTask { payload, ..NewTask::default() };
        Arc::new(Spec::new(queue(), new, TaskId::parse(&format!("t{n}")).unwrap(), now))
    };
    let tasks = (0..count).map(spec).collect();
    store.push(Push { queue: queue(), tasks, keyed: None }).await.unwrap();
}

/// A directory with a store of a hundred tasks, closed.
async fn used() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    push(&store, 100).await;
    drop(store);
    dir
}

fn sql(dir: &Path, statement: &str) {
    let connection = rusqlite::Connection::open(dir.join("punctual.db")).unwrap();
    connection.execute_batch(statement).unwrap();
}

#[tokio::test]
async fn a_damaged_payload_is_named_at_start() {
    let dir = used().await;
    let path = dir.path().join("punctual.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(9).rposition(|window| window == b"a payload").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let said = refusal(dir.path());
    assert!(said.contains("table spec row") && said.contains("checksum"), "{said}");
}

#[tokio::test]
async fn a_task_without_its_spec_is_named_at_start() {
    let dir = used().await;
    sql(dir.path(), "DELETE FROM spec WHERE key=42");
    assert!(refusal(dir.path()).contains("row 42"));
    sql(dir.path(), "DELETE FROM status WHERE key=42");
    assert!(open(dir.path()).is_ok());
}

/// Makes a bundle of ten payloads, in a store that had nothing before.
async fn merge(store: &LocalStore) {
    let payload = RawJson::of(&"an item to be found again");
    let push = BundlePush { payload: payload.clone(), ..BundlePush::default() };
    let key = BundleKey::parse("k").unwrap();
    let queue = store.queue(&queue()).await.unwrap().unwrap();
    let owner = Owner::Bundle(push.apply(&queue, &key, None, None, store.now()).unwrap().bundle);
    let change = OwnerChange {
        key: owner.key(),
        expected: None,
        after: Some(owner),
        drop_first: 0,
        append: vec![payload; 10],
    };
    store.write_one(change.into()).await.unwrap();
}

#[tokio::test]
async fn a_bundle_without_all_its_payloads_is_named_at_start() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    merge(&store).await;
    drop(store);
    sql(dir.path(), "DELETE FROM item WHERE key=5");
    let said = refusal(dir.path());
    assert!(said.contains("table owner row 1") && said.contains("10 items"), "{said}");
    sql(dir.path(), "UPDATE item SET row=(SELECT row FROM item WHERE key=7) WHERE key=6");
    let said = refusal(dir.path());
    assert!(said.contains("table item row 6") && said.contains("checksum"), "{said}");
}

#[tokio::test]
async fn payloads_without_their_bundle_are_swept() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    merge(&store).await;
    drop(store);
    sql(dir.path(), "DELETE FROM owner");
    let store = open(dir.path()).unwrap();
    assert!(store.sweep(4).await.unwrap(), "there is more than that");
    while store.sweep(4).await.unwrap() {}
    drop(store);
    let connection = rusqlite::Connection::open(dir.path().join("punctual.db")).unwrap();
    let left: i64 =
        connection.query_row("SELECT count(*) FROM item", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn an_empty_file_is_a_new_store() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("punctual.db"), b"").unwrap();
    assert!(open(dir.path()).is_ok());
}

#[tokio::test]
async fn another_database_another_format_and_a_missing_file_are_refused() {
    let dir = used().await;
    sql(dir.path(), "PRAGMA user_version=99");
    assert!(refusal(dir.path()).contains("newer"));
    sql(dir.path(), "PRAGMA user_version=2");
    assert!(refusal(dir.path()).contains("before the first release"));
    sql(dir.path(), "PRAGMA user_version=4; PRAGMA application_id=7");
    assert!(refusal(dir.path()).contains("not a Punctual store"));
    std::fs::remove_file(dir.path().join("punctual.db")).unwrap();
    assert!(refusal(dir.path()).contains("missing"));
}

#[tokio::test]
async fn one_directory_has_one_server() {
    let dir = tempfile::tempdir().unwrap();
    let _store = open(dir.path()).unwrap();
    let said = refusal(dir.path());
    assert!(said.contains(&std::process::id().to_string()), "{said}");
}

/// A caller that goes away while its list is read must not take the reader with it.
#[tokio::test(flavor = "multi_thread")]
async fn callers_that_are_gone_hold_nobody_up() {
    let dir = used().await;
    let store = open(dir.path()).unwrap();
    let listing = || Listing {
        queue: queue(),
        states: punctual_core::State::ALL.to_vec(),
        cursor: None,
        limit: 100,
        sort: None,
    };
    for _ in 0..50 {
        let gone: Vec<_> = (0..16)
            .map(|_| {
                let (store, listing) = (Arc::clone(&store), listing());
                tokio::spawn(async move { store.list(listing).await.map(|page| page.items.len()) })
            })
            .collect();
        tokio::task::yield_now().await;
        for caller in gone {
            caller.abort();
        }
        assert_eq!(store.list(listing()).await.unwrap().items.len(), 100);
    }
}
