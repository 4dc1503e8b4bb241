//! Writes what a release keeps, for the tests of every later one: `cargo run -p punctual-store --example
//! release_data -- DIRECTORY`. It needs a redis-server.
//!
//! - `embedded.db.gz`: the file of an embedded store
//! - `redis.jsonl.gz`: the commands that fill an empty Redis, one JSON array a line, a character per byte
//! - `records.json.gz`: all that either lets read
//!
//! Run it once for each release and never again: what it writes is what users of that release have.
#![allow(clippy::unwrap_used, reason = "it is run by hand")]

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use punctual_core::Timestamp;
use punctual_store::conformance::full::{differences, fill, snapshot};
use punctual_store::local::{LocalOptions, LocalStore};
use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_store::{Clock, ManualClock};
use punctual_testing::redis::Server;

fn write(path: &Path, bytes: &[u8]) {
    let mut file = GzEncoder::new(File::create(path).unwrap(), Compression::best());
    file.write_all(bytes).unwrap();
    file.finish().unwrap();
}

/// The commands that make everything there is in a Redis.
fn commands(server: &Server) -> Vec<Vec<Vec<u8>>> {
    let ask = |words: &[&[u8]]| -> Vec<Vec<u8>> {
        let mut command = redis::cmd(std::str::from_utf8(words[0]).unwrap());
        for word in &words[1..] {
            command.arg(*word);
        }
        command.query(&mut server.connect()).unwrap()
    };
    let mut keys = ask(&[b"KEYS", b"*"]);
    keys.sort();
    let mut commands = Vec::new();
    for key in keys {
        let kind: String = redis::cmd("TYPE").arg(&key).query(&mut server.connect()).unwrap();
        let (make, mut values): (&str, _) = match kind.as_str() {
            "hash" => ("HSET", ask(&[b"HGETALL", &key])),
            "list" => ("RPUSH", ask(&[b"LRANGE", &key, b"0", b"-1"])),
            "set" => ("SADD", ask(&[b"SMEMBERS", &key])),
            "zset" => ("ZADD", ask(&[b"ZRANGE", &key, b"0", b"-1", b"WITHSCORES"])),
            "string" => {
                let value: Vec<u8> =
                    redis::cmd("GET").arg(&key).query(&mut server.connect()).unwrap();
                ("SET", vec![value])
            }
            "stream" => {
                let range = redis::cmd("XRANGE").arg(&key).arg("-").arg("+").to_owned();
                let entries: Vec<(Vec<u8>, Vec<Vec<u8>>)> =
                    range.query(&mut server.connect()).unwrap();
                for (id, values) in entries {
                    commands.push([vec![b"XADD".to_vec(), key.clone(), id], values].concat());
                }
                continue;
            }
            other => panic!("{} is a {other}", String::from_utf8_lossy(&key)),
        };
        if make == "ZADD" {
            values.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
        }
        commands.push([vec![make.as_bytes().to_vec(), key], values].concat());
    }
    commands
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let target = std::env::args().nth(1).expect("the directory to write to");
    let target = Path::new(&target);
    let clock: Arc<dyn Clock> =
        Arc::new(ManualClock::new(Timestamp::from_millis(1_800_000_000_000)));

    let dir = tempfile::tempdir().unwrap();
    let options = LocalOptions { dir: Some(dir.path().to_owned()), clock: clock.clone() };
    let store = LocalStore::open(options).unwrap();
    fill(&*store).await;
    let records = snapshot(&*store).await;
    // Its write-ahead log goes into the file when it is closed.
    drop(store);
    write(&target.join("embedded.db.gz"), &std::fs::read(dir.path().join("punctual.db")).unwrap());
    write(&target.join("records.json.gz"), &serde_json::to_vec_pretty(&records).unwrap());

    let server = Server::start();
    let options = RedisOptions { clock: Some(clock), ..RedisOptions::new(server.url()) };
    let store = RedisStore::open(options).await.unwrap();
    fill(&*store).await;
    assert_eq!(differences(&records, &snapshot(&*store).await), Vec::<String>::new());
    assert_eq!(store.check(false).await.unwrap(), Vec::<String>::new());
    drop(store);
    let mut lines = String::new();
    for command in commands(&server) {
        let text = |word: &Vec<u8>| word.iter().map(|byte| char::from(*byte)).collect::<String>();
        let command: Vec<String> = command.iter().map(text).collect();
        lines += &serde_json::to_string(&command).unwrap();
        lines.push('\n');
    }
    write(&target.join("redis.jsonl.gz"), lines.as_bytes());
}
