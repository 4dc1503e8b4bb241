//! `punctual doctor`: what it finds, mends and says, in Redis and in files.

use std::process::Output;

use punctual_client::{NewTask, Span, Take};
use punctual_testing::redis::Server as Redis;
use serde_json::Value;

use crate::node;
use crate::process::{Server, punctual};
use crate::task::take_one;

fn doctor(store: &str, args: &[&str]) -> Output {
    punctual().args(["doctor", "--store", store]).args(args).output().unwrap()
}

/// Whether all is well, and of each check what was found.
fn examine(store: &str, args: &[&str]) -> (bool, Value) {
    let output = doctor(store, &[&["--json"], args].concat());
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(report["ok"], output.status.success(), "{report}");
    (output.status.success(), report["checks"].clone())
}

#[track_caller]
fn is_wrong(checks: &Value, name: &str, part: &str) {
    let checks = checks.as_array().unwrap();
    let wrong: Vec<_> = checks.iter().filter(|check| check["ok"] == false).collect();
    assert_eq!(wrong.len(), 1, "{checks:?}");
    assert_eq!(wrong[0]["check"], name);
    assert!(wrong[0]["found"].to_string().contains(part), "{checks:?}");
    assert!(wrong[0]["advice"].is_string());
}

#[tokio::test]
async fn records_without_their_indexes_are_found_and_mended() {
    let redis = Redis::start();
    let url = redis.url();
    let (is_well, checks) = examine(&url, &[]);
    assert!(!is_well);
    is_wrong(&checks, "records", "no store under this prefix");
    assert_eq!(redis.command::<i64>("DBSIZE"), 0, "looking makes nothing");

    let server = node(&redis);
    let client = server.client();
    client.push("q", &NewTask::new("x").id("held")).await.unwrap();
    take_one(&client, "q", &Take::new().hold(Span::from_secs(600))).await;
    client.push("q", &NewTask::new("x").id("ready")).await.unwrap();
    client.push("q", &NewTask::new("x").id("later").delay(Span::from_secs(600))).await.unwrap();
    assert!(examine(&url, &[]).0);
    let table = String::from_utf8(doctor(&url, &[]).stdout).unwrap();
    assert!(table.contains("records") && table.contains("clock"), "{table}");

    redis.command::<i64>("DEL punctual:ready:q punctual:due:q");
    redis.command::<i64>("ZADD punctual:state:q:running 1 0000000000000001:ghost");
    let (is_well, checks) = examine(&url, &[]);
    assert!(!is_well);
    is_wrong(&checks, "records", "ready");
    assert!(!examine(&url, &[]).0, "looking mends nothing");
    let (is_well, checks) = examine(&url, &["--repair"]);
    assert!(is_well, "{checks}");
    assert!(checks.to_string().contains("mended"), "{checks}");
    assert!(examine(&url, &[]).0);
    assert_eq!(take_one(&client, "q", &Take::new()).await.task.id, "ready");
    server.stop();
}

#[test]
fn settings_and_connections_are_told() {
    let mut redis = Redis::start();
    let url = redis.url();
    node(&redis).stop();
    redis.command::<String>("CONFIG SET maxmemory-policy volatile-lru");
    is_wrong(&examine(&url, &[]).1, "settings", "volatile-lru");
    redis.kill();
    is_wrong(&examine(&url, &[]).1, "connection", "refused");
    let output = doctor("memory:", &[]);
    assert_eq!(output.status.code(), Some(1));
    let secret = url.replace("://", "://:geheim@");
    let output = doctor(&secret, &[]);
    let said = [output.stdout, output.stderr].concat();
    assert!(!String::from_utf8(said).unwrap().contains("geheim"));
}

#[tokio::test]
async fn the_files_of_the_embedded_store_are_read_through() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let path = store.to_str().unwrap();
    is_wrong(&examine(path, &[]).1, "files", "no store");
    assert!(!store.exists(), "looking makes nothing");

    let server = Server::start(&store);
    server.client().push("q", &NewTask::new("a payload to be found again")).await.unwrap();
    let (is_well, checks) = examine(path, &[]);
    assert!(is_well && checks.to_string().contains("process id"), "beside a server: {checks}");
    server.stop();
    assert!(examine(path, &[]).0);
    assert_eq!(doctor(path, &["--repair"]).status.code(), Some(1));

    let file = store.join("punctual.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.windows(9).rposition(|window| window == b"a payload").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    is_wrong(&examine(path, &[]).1, "files", "checksum");
}
