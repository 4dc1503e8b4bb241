//! What earlier releases have kept is read by this one, each field as it was.
//!
//! `data/` has a directory per release, written once by that release with the example `release_data`.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use flate2::read::GzDecoder;
use punctual_core::Timestamp;
use punctual_store::conformance::full::{differences, snapshot};
use punctual_store::local::{LocalOptions, LocalStore};
use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_store::{Clock, ManualClock, Transfer};
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

async fn reads_like(store: &dyn Transfer, release: &str) {
    let differences = differences(&records(release), &snapshot(store).await);
    assert!(differences.is_empty(), "{release}: {}", differences.join("\n"));
}

#[tokio::test]
async fn an_embedded_store_of_every_release_is_read() {
    for release in RELEASES {
        let dir = unpack_embedded(release);
        reads_like(&*open_embedded(&dir), release).await;
        reads_like(&*open_embedded(&dir), release).await;
    }
}

#[tokio::test]
async fn a_redis_store_of_every_release_is_read() {
    for release in RELEASES {
        let server = Server::start();
        fill_redis(&server, release);
        let store = open_redis(&server).await;
        reads_like(&*store, release).await;
        assert_eq!(store.check(false).await.unwrap(), Vec::<String>::new());
    }
}
