//! What earlier releases have kept is read by this one, each field as it was.
//!
//! `data/` has a directory per release, written once by that release with the example `release_data`.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use flate2::read::GzDecoder;
use punctual_core::Timestamp;
use punctual_store::conformance::full::{differences, fill, rewrite, snapshot};
use punctual_store::local::{LocalOptions, LocalStore, Restored};
use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_store::{Clock, ManualClock, Store, Transfer};
use punctual_testing::redis::Server;
use serde_json::Value;

/// The releases whose data is read.
const RELEASES: [&str; 1] = ["0.1"];

fn data(release: &str, name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(release).join(name);
    let mut bytes = Vec::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn records(release: &str) -> Value {
    serde_json::from_slice(&data(release, "records.json.gz")).unwrap()
}

/// The time at which the records were made.
fn clock() -> Arc<dyn Clock> {
    Arc::new(ManualClock::new(Timestamp::from_millis(1_800_000_000_000)))
}

/// A directory with the embedded store of a release.
fn unpack_embedded(release: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("punctual.db"), data(release, "embedded.db.gz")).unwrap();
    dir
}

fn open_embedded(dir: &tempfile::TempDir) -> Arc<LocalStore> {
    LocalStore::open(LocalOptions { dir: Some(dir.path().to_owned()), clock: clock() }).unwrap()
}

/// Fills an empty Redis with what a release had there.
fn fill_redis(server: &Server, release: &str) {
    let text = String::from_utf8(data(release, "redis.jsonl.gz")).unwrap();
    let mut connection = server.connect();
    for line in text.lines() {
        let words: Vec<String> = serde_json::from_str(line).unwrap();
        let bytes = |word: &String| word.chars().map(|it| u8::try_from(it).unwrap()).collect();
        let words: Vec<Vec<u8>> = words.iter().map(bytes).collect();
        let mut command = redis::cmd(std::str::from_utf8(&words[0]).unwrap());
        for word in &words[1..] {
            command.arg(&word[..]);
        }
        command.query::<redis::Value>(&mut connection).unwrap();
    }
}

async fn open_redis(server: &Server) -> Arc<RedisStore> {
    let options = RedisOptions { clock: Some(clock()), ..RedisOptions::new(server.url()) };
    RedisStore::open(options).await.unwrap()
}

/// What a store has otherwise than a release had, but for what is not compared.
async fn other_than(
    store: &dyn Transfer,
    release: &str,
    is_left_out: fn(&str) -> bool,
) -> Vec<String> {
    let found = differences(&records(release), &snapshot(store).await);
    found.into_iter().filter(|place| !is_left_out(place)).collect()
}

async fn reads_like(store: &dyn Transfer, release: &str) {
    assert_eq!(other_than(store, release, |_| false).await, Vec::<String>::new(), "{release}");
}

/// The same, though every record was written since.
async fn says_the_same(store: &dyn Transfer, release: &str) {
    let differs = other_than(store, release, |place| place.contains("/change: ")).await;
    assert_eq!(differs, Vec::<String>::new(), "{release}");
}

/// A restore ends holds: their tokens are no longer good, and their time is over.
fn is_ended_by_a_restore(place: &str) -> bool {
    ["/change: ", "/hold/", "/token: "].iter().any(|part| place.contains(part))
}

#[tokio::test]
async fn an_embedded_store_of_every_release_is_read_and_rewritten() {
    for release in RELEASES {
        let dir = unpack_embedded(release);
        reads_like(&*open_embedded(&dir), release).await;
        let store = open_embedded(&dir);
        reads_like(&*store, release).await;
        rewrite(&*store).await;
        says_the_same(&*store, release).await;
        drop(store);
        let file = rusqlite::Connection::open(dir.path().join("punctual.db")).unwrap();
        for table in ["queue", "spec", "status", "owner"] {
            let sql = format!("SELECT DISTINCT hex(substr(row, 1, 1)) FROM {table}");
            let format: String = file.query_row(&sql, [], |row| row.get(0)).unwrap();
            assert_eq!(format, "02", "all rows of {table} are of the new format");
        }
        drop(file);
        says_the_same(&*open_embedded(&dir), release).await;
    }
}

#[tokio::test]
async fn a_redis_store_of_every_release_is_read_and_rewritten() {
    for release in RELEASES {
        let server = Server::start();
        fill_redis(&server, release);
        let store = open_redis(&server).await;
        reads_like(&*store, release).await;
        assert_eq!(store.check(false).await.unwrap(), Vec::<String>::new());
        rewrite(&*store).await;
        says_the_same(&*store, release).await;
        assert_eq!(store.check(false).await.unwrap(), Vec::<String>::new());
        drop(store);
        let packed = |line: &str| server.command::<Vec<u8>>(line)[..2].to_vec();
        assert_eq!(packed("HGET punctual:t:every%3Astate:t%3Aready callback"), [0xff, 2]);
        assert_eq!(server.command::<String>("HGET punctual:shard format"), "3");
        says_the_same(&*open_redis(&server).await, release).await;
    }
}

#[tokio::test]
async fn a_backup_of_every_release_is_restored() {
    for release in RELEASES {
        let (from, to) = (unpack_embedded(release), tempfile::tempdir().unwrap());
        let backup = from.path().join("punctual.db");
        let now = Timestamp::from_millis(1_800_000_000_000);
        Restored::new(&backup, &to.path().join("store"), false, now).unwrap();
        let options = LocalOptions { dir: Some(to.path().join("store")), clock: clock() };
        let store = LocalStore::open(options).unwrap();
        let differs = other_than(&*store, release, is_ended_by_a_restore).await;
        assert_eq!(differs, Vec::<String>::new(), "{release}");
    }
}

#[tokio::test]
async fn a_backup_keeps_every_field() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open_embedded(&from);
    fill(&*store).await;
    let before = snapshot(&*store).await;
    let backup = store.backup().await.unwrap();
    let copy = to.path().join("copy");
    std::io::copy(&mut &backup.file, &mut std::fs::File::create(&copy).unwrap()).unwrap();
    let dir = to.path().join("store");
    Restored::new(&copy, &dir, false, store.now()).unwrap();
    let restored = LocalStore::open(LocalOptions { dir: Some(dir), clock: clock() }).unwrap();
    let mut differs = differences(&before, &snapshot(&*restored).await);
    differs.retain(|place| !is_ended_by_a_restore(place));
    assert_eq!(differs, Vec::<String>::new());
}
