//! `punctual migrate`: from files to Redis and back, and all that can be read is the same.

use std::path::Path;
use std::process::Output;

use punctual_testing::redis::Server as Redis;
use serde_json::{Value, json};

use crate::node;
use crate::process::{Server, complaint, punctual};
use crate::raw::send;

fn migrate(from: &str, to: &str, more: &[&str]) -> Output {
    punctual().args(["migrate", "--from", from, "--to", to]).args(more).output().unwrap()
}

fn told(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn ask(server: &Server, method: &str, path: &str, body: Value) -> Value {
    let answer = send(server.address(), method, path, body.to_string().as_bytes());
    assert!((200..300).contains(&answer.status), "{method} {path}: {answer:?}");
    serde_json::from_str(&answer.body).unwrap_or_default()
}

/// What a server shows of all there is.
fn everything(server: &Server) -> Vec<Value> {
    let paths = [
        "/v1/queues",
        "/v1/system/audit",
        "/v1/queues/q/tasks",
        "/v1/queues/slow/tasks",
        "/v1/queues/merge/bundles",
        "/v1/queues/merge/bundles/k",
        "/v1/plans",
        "/v1/plans/hourly/results",
        "/v1/flows/f",
        "/v1/notices/n",
    ];
    let mut all: Vec<Value> =
        paths.iter().map(|path| ask(server, "GET", path, json!({}))).collect();
    for queue in all[0]["items"].as_array_mut().unwrap() {
        // It grows while it is looked at.
        queue.as_object_mut().unwrap().remove("oldest_ready_age");
    }
    all
}

/// Something of every kind, and the task that somebody holds.
fn fill(server: &Server) -> Value {
    let put = |queue: &str, settings| ask(server, "PUT", &format!("/v1/queues/{queue}"), settings);
    let post = |path: &str, body| ask(server, "POST", path, body);
    put("q", json!({"keep": {"done": "1h"}, "hold": "1h", "tag": "x", "max_attempts": 3}));
    put("slow", json!({"rate": {"limit": 1, "per": "1h"}}));
    put("merge", json!({}));
    for id in ["done", "held", "second", "first"] {
        let priority = i32::from(id == "first") - 2 * i32::from(id == "second");
        let task = json!({"id": id, "payload": {"for": id}, "priority": priority, "tags": ["t"]});
        post("/v1/queues/q/tasks", task);
    }
    post("/v1/queues/q/tasks", json!({"id": "big", "payload": "x".repeat(5_000), "delay": "1h"}));
    post("/v1/queues/q/tasks", json!({"id": "paused"}));
    post("/v1/queues/q/tasks/paused/pause", json!({}));
    post("/v1/queues/q/tasks/first/pause", json!({}));
    post("/v1/queues/q/tasks/second/cancel", json!({}));
    let callback = json!({"on": ["done"], "queue": "slow", "task": {"id": "after"}});
    post("/v1/queues/q/tasks", json!({"id": "once", "unique_for": "1h", "callback": callback}));
    let taken = post("/v1/queues/q/take", json!({"n": 3, "worker": "w"}));
    let tasks = taken["tasks"].as_array().unwrap();
    let by_id = |id: &str| tasks.iter().find(|task| task["id"] == id).unwrap().clone();
    for id in ["done", "once"] {
        let token = by_id(id)["token"].clone();
        let path = format!("/v1/queues/q/tasks/{id}/commit");
        post(&path, json!({"token": token, "result": {"ok": true}}));
    }
    for n in 0..3 {
        let push = json!({"task": n, "data": ["a", "b"], "ontime": 4_000_000_000u64});
        post("/v1/queues/merge/bundles/k/push", push);
    }
    let rule = json!({"plan_type": "hour", "plan_value": 1, "plan_repet": -1, "plan_time": 0});
    let mut plan = json!({"plan_id": "hourly", "station": "q", "message": {"a": null}});
    plan.as_object_mut().unwrap().extend(rule.as_object().unwrap().clone());
    post("/v1/plans", plan);
    let steps =
        json!([{"name": "a", "queue": "slow"}, {"name": "b", "queue": "slow", "after": ["a"]}]);
    post("/v1/flows", json!({"id": "f", "steps": steps}));
    post("/v1/notices", json!({"id": "n", "url": "http://192.0.2.1/", "data": "x=1"}));
    post("/v1/queues/notices/pause", json!({}));
    by_id("held")
}

#[tokio::test]
async fn there_and_back_again_nothing_is_lost() {
    let (redis, dir) = (Redis::start(), tempfile::tempdir().unwrap());
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    let (url, one_name) = (redis.url(), one.to_str().unwrap());
    let server = Server::start(&one);
    // Nothing is delivered while it moves.
    ask(&server, "POST", "/v1/queues/notices/pause", json!({}));
    let held = fill(&server);
    let said = complaint(&migrate(one_name, &url, &[]), 1);
    assert!(said.contains("in use by the server"), "{said}");
    let before = everything(&server);
    server.kill();

    let first = told(&migrate(one_name, &url, &["--json"]));
    assert_eq!(
        (&first["plans"], &first["flows"], &first["steps"]),
        (&json!(1), &json!(1), &json!(2))
    );
    assert_eq!((&first["bundles"], &first["receipts"]), (&json!(1), &json!(2)), "{first}");
    let server = node(&redis);
    assert_eq!(everything(&server), before);
    let said = complaint(&migrate(&url, two.to_str().unwrap(), &[]), 1);
    assert!(said.contains("a server uses it"), "{said}");
    server.stop();
    let doctor = punctual().args(["doctor", "--store", &url]).output().unwrap();
    assert!(doctor.status.success(), "{}", String::from_utf8_lossy(&doctor.stdout));

    let second = told(&migrate(&url, two.to_str().unwrap(), &["--json"]));
    assert_eq!(second["tasks"], first["tasks"]);
    let server = Server::start(&two);
    assert_eq!(everything(&server), before);
    // A held task stays held, by the same token; what was reserved is; what was settled is known.
    let commit = json!({"token": held["token"]});
    assert_eq!(ask(&server, "POST", "/v1/queues/q/tasks/held/commit", commit)["state"], "done");
    server.stop();
}

#[tokio::test]
async fn a_target_must_be_empty_and_a_source_be_there() {
    let (redis, dir) = (Redis::start(), tempfile::tempdir().unwrap());
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    let (url, one_name, two_name) = (redis.url(), one.to_str().unwrap(), two.to_str().unwrap());
    let said = complaint(&migrate(one_name, two_name, &[]), 1);
    assert!(said.contains("there is no store"), "{said}");
    let said = complaint(&migrate(&url, two_name, &[]), 1);
    assert!(said.contains("no store in Redis"), "{said}");
    assert_eq!(redis.command::<i64>("DBSIZE"), 0, "none was made");
    for (from, to, why) in [
        ("memory:", two_name, "keeps nothing"),
        (one_name, "memory:", "keeps nothing"),
        (one_name, one_name, "the same store"),
        (one_name, "postgres://x", "not supported"),
    ] {
        let said = complaint(&migrate(from, to, &[]), 1);
        assert!(said.contains(why), "{said}");
    }

    Server::start(&one).stop();
    let server = node(&redis);
    ask(&server, "POST", "/v1/queues/q/tasks", json!({"id": "there"}));
    server.stop();
    let said = complaint(&migrate(one_name, &url, &["--force"]), 1);
    assert!(said.contains("not empty"), "{said}");
    let said = complaint(&migrate(&url, one_name, &["--force"]), 1);
    assert!(said.contains("there is a store already"), "{said}");
    let server = node(&redis);
    ask(&server, "GET", "/v1/queues/q/tasks/there", json!({}));
    server.stop();

    // Under another prefix there is room; one that was interrupted there is begun again when told to.
    let mut other = punctual();
    other
        .args(["serve", "--listen", "127.0.0.1:0", "--prefix", "b", "--store"])
        .arg(Path::new(&url));
    Server::of(other).stop();
    redis.command::<i64>("HSET b:shard filling 1");
    let prefixes = ["--to-prefix", "b", "--json"];
    let said = complaint(&migrate(&url, &url, &prefixes), 1);
    assert!(said.contains("--force"), "{said}");
    let mut refused = punctual();
    refused.args(["serve", "--listen", "127.0.0.1:0", "--prefix", "b", "--store"]);
    let said = complaint(&refused.arg(Path::new(&url)).output().unwrap(), 1);
    assert!(said.contains("not whole"), "{said}");
    let moved = told(&migrate(&url, &url, &[&prefixes[..], &["--force"]].concat()));
    assert_eq!(moved["tasks"], 1, "{moved}");
    let left: Vec<String> = redis.command("KEYS b:t:q:*");
    assert_eq!(left, ["b:t:q:there"]);
}
