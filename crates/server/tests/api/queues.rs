//! Queues: made, changed, read, listed, paused, emptied, deleted.

use punctual_server::ServerConfig;
use serde_json::Value;

use super::{TestServer, json};

#[tokio::test]
async fn a_queue_is_made_with_the_defaults_and_changed_by_merging() {
    let server = TestServer::start().await;
    let made = server.put("/v1/queues/q", json!({})).await.is(201);
    assert_eq!(
        made,
        json!({
            "name": "q", "mode": "pull", "tag": null, "max": null, "hold": 30,
            "confirm_within": 10, "max_attempts": 5, "max_runtime": null,
            "retry": {"first": 5, "factor": 2.0, "max": 3600, "jitter": 0.1},
            "order": "fifo", "concurrency": null, "rate": null,
            "keep": {"done": 0, "failed": 604_800, "cancelled": 0},
            "url": null, "headers": {}, "secret": null, "timeout": 30,
            "abandon_after": null, "abandoned": "fail",
            "paused": false, "created_at": "2026-11-15T06:00:00.000Z", "oldest_ready_age": null,
            "counts": {
                "total": 0, "untaken": 0, "taken": 0, "waiting": 0, "ready": 0, "assigned": 0,
                "running": 0, "pausing": 0, "cancelling": 0, "paused": 0, "done": 0, "failed": 0,
                "cancelled": 0, "bundles": 0
            }
        })
    );
    let changed = server
        .put("/v1/queues/q", json!({"hold": "1m30s", "tag": "mail", "keep": {"done": "1h"}}))
        .await
        .is(200);
    assert_eq!(changed["hold"], 90);
    assert_eq!(changed["keep"], json!({"done": 3600, "failed": 604_800, "cancelled": 0}));
    let reset = server.put("/v1/queues/q", json!({"hold": null})).await.is(200);
    assert_eq!((&reset["hold"], &reset["tag"]), (&json!(30), &json!("mail")));
    assert_eq!(server.get("/v1/queues/q").await.is(200), reset);
}

#[tokio::test]
async fn secrets_are_written_but_never_read() {
    let server = TestServer::start().await;
    let settings = json!({
        "url": "https://example.com/hook", "secret": "whsec_abc",
        "headers": {"Authorization": "Bearer x", "X-Plain": "y"}
    });
    let made = server.put("/v1/queues/q", settings).await.is(201);
    assert_eq!(made["secret"], "***");
    assert_eq!(made["headers"], json!({"authorization": "***", "x-plain": "y"}));
    let same = server.put("/v1/queues/q", json!({"secret": "***"})).await.is(200);
    assert_eq!(same["secret"], "***");
    let none = server.put("/v1/queues/q", json!({"secret": null})).await.is(200);
    assert_eq!(none["secret"], Value::Null);
}

#[tokio::test]
async fn counts_and_age_tell_what_a_queue_holds() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a"})).await;
    server.push(json!({"id": "b", "delay": 60})).await;
    server.push(json!({"id": "c"})).await;
    server.take(json!({})).await;
    server.advance(5).await;
    let queue = server.get("/v1/queues/q").await.is(200);
    let counts = &queue["counts"];
    assert_eq!(counts["total"], 3);
    assert_eq!(counts["untaken"], 2);
    assert_eq!(counts["taken"], 1);
    assert_eq!(
        (&counts["ready"], &counts["waiting"], &counts["running"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!(queue["oldest_ready_age"], 5);
}

#[tokio::test]
async fn queues_are_listed_by_name_in_pages() {
    let server = TestServer::start().await;
    for (name, tag) in [("b", "x"), ("a", "y"), ("d", "x"), ("c", "x")] {
        server.put(&format!("/v1/queues/{name}"), json!({"tag": tag})).await.is(201);
    }
    let names = |page: &Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap().iter();
        items.map(|queue| queue["name"].as_str().unwrap().to_owned()).collect()
    };
    let all = server.get("/v1/queues").await.is(200);
    assert_eq!(names(&all), ["a", "b", "bundles", "c", "callbacks", "d", "notices"]);
    assert_eq!(all["next"], Value::Null);
    let first = server.get("/v1/queues?tag=x&limit=2").await.is(200);
    assert_eq!(names(&first), ["b", "c"]);
    let cursor = first["next"].as_str().unwrap();
    let second = server.get(&format!("/v1/queues?tag=x&limit=2&cursor={cursor}")).await.is(200);
    assert_eq!(names(&second), ["d"]);
    assert_eq!(second["next"], Value::Null);
    let http = server.get("/v1/queues?mode=http").await.is(200);
    assert_eq!(names(&http), ["bundles", "callbacks", "notices"]);
    for bad in ["limit=0", "limit=1001", "limit=x", "mode=push", "cursor=%2A", "nonsense=1"] {
        server.get(&format!("/v1/queues?{bad}")).await.problem(422, "invalid");
    }
}

#[tokio::test]
async fn a_paused_queue_hands_out_nothing_but_takes_pushes() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a"})).await;
    for _ in 0..2 {
        assert_eq!(server.post("/v1/queues/q/pause", json!({})).await.is(200)["paused"], true);
    }
    server.push(json!({"id": "b"})).await;
    let taken = server.post("/v1/queues/q/take", json!({"n": 9})).await.is(200);
    assert_eq!(taken, json!({"tasks": []}));
    for _ in 0..2 {
        assert_eq!(server.post("/v1/queues/q/resume", json!({})).await.is(200)["paused"], false);
    }
    let taken = server.post("/v1/queues/q/take", json!({"n": 9})).await.is(200);
    assert_eq!(taken["tasks"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn reset_empties_a_queue_and_delete_removes_it() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"tag": "t"})).await.is(201);
    server.push(json!({"id": "a"})).await;
    let held = server.take(json!({})).await;
    server.push(json!({"id": "b"})).await;
    let reset = server.post("/v1/queues/q/reset", json!({})).await.is(200);
    assert_eq!((&reset["counts"]["total"], &reset["tag"]), (&json!(0), &json!("t")));
    let commit = json!({"token": held["token"]});
    server.verb("a", "commit", commit).await.problem(404, "not_found");
    assert_eq!(server.delete("/v1/queues/q").await.is(204), Value::Null);
    for path in ["/v1/queues/q", "/v1/queues/q/tasks", "/v1/queues/q/tasks/a"] {
        server.get(path).await.problem(404, "not_found");
    }
    server.delete("/v1/queues/q").await.problem(404, "not_found");
    for verb in
        ["reset", "pause", "resume", "take", "commit", "extend", "fail", "release", "tasks/bulk"]
    {
        let body = match verb {
            "reset" | "pause" | "resume" | "take" => json!({}),
            "tasks/bulk" => json!({"verb": "cancel", "filter": {}}),
            _ => json!({"tasks": []}),
        };
        server.post(&format!("/v1/queues/q/{verb}"), body).await.problem(404, "not_found");
    }
}

#[tokio::test]
async fn built_in_queues_always_exist() {
    let server = TestServer::start().await;
    for name in ["notices", "bundles", "callbacks"] {
        let path = format!("/v1/queues/{name}");
        assert_eq!(server.get(&path).await.is(200)["mode"], "http");
        server.delete(&path).await.problem(409, "wrong_state");
        server.put(&path, json!({"mode": "pull"})).await.problem(422, "invalid");
        server.post(&format!("{path}/take"), json!({})).await.problem(409, "wrong_state");
        server.post(&format!("{path}/tasks"), json!({})).await.problem(422, "invalid");
    }
}

#[tokio::test]
async fn a_push_makes_its_queue_unless_that_is_off() {
    let server = TestServer::start().await;
    server.post("/v1/queues/new/tasks", json!({"payload": {"due": []}, "prio": 1})).await.is(422);
    server.get("/v1/queues/new").await.problem(404, "not_found");
    server.post("/v1/queues/new/tasks", json!({})).await.is(201);
    assert_eq!(server.get("/v1/queues/new").await.is(200)["counts"]["ready"], 1);

    let config = ServerConfig { auto_create: false, ..ServerConfig::default() };
    let strict = TestServer::with(config).await;
    strict.post("/v1/queues/new/tasks", json!({})).await.problem(404, "not_found");
    strict.post("/v1/queues/new/tasks", json!({"tasks": [{}]})).await.problem(404, "not_found");
    strict.post("/v1/queues/new/tasks", json!({"priority": 101})).await.problem(422, "invalid");
    strict.put("/v1/queues/new", json!({})).await.is(201);
    strict.post("/v1/queues/new/tasks", json!({})).await.is(201);
}

#[tokio::test]
async fn there_are_at_most_max_queues() {
    let config = ServerConfig { max_queues: 2, ..ServerConfig::default() };
    let server = TestServer::with(config).await;
    server.post("/v1/queues/a/tasks", json!({})).await.is(201);
    server.put("/v1/queues/b", json!({})).await.is(201);
    server.post("/v1/queues/c/tasks", json!({})).await.problem(422, "invalid");
    server.put("/v1/queues/c", json!({})).await.problem(422, "invalid");
    server.put("/v1/queues/a", json!({"hold": 1})).await.is(200);
    server.delete("/v1/queues/a").await.is(204);
    server.put("/v1/queues/c", json!({})).await.is(201);
}

#[tokio::test]
async fn scale_tells_how_many_workers_a_queue_needs() {
    let server = TestServer::start().await;
    let scale = async || server.get("/v1/queues/q/scale").await.is(200);
    server.get("/v1/queues/q/scale").await.problem(404, "not_found");
    server.put("/v1/queues/q", json!({})).await.is(201);
    assert_eq!(scale().await, json!({"backlog": 0, "workers": 0, "desired_workers": 0}));
    let tasks: Vec<_> = (0..61).map(|_| json!({})).collect();
    server.post("/v1/queues/q/tasks", json!({"tasks": tasks})).await.is(200);
    assert_eq!(scale().await, json!({"backlog": 61, "workers": 0, "desired_workers": 1}));
    let taken = server.take(json!({"worker": "w1"})).await;
    server.advance(10).await;
    let id = taken["id"].as_str().unwrap();
    server.verb(id, "commit", json!({"token": taken["token"]})).await.is(200);
    let busy = scale().await;
    assert_eq!((&busy["backlog"], &busy["workers"]), (&json!(60), &json!(1)));
    // Sixty tasks of ten seconds within a minute alone keep ten workers busy.
    assert!(busy["desired_workers"].as_u64().unwrap() >= 10, "{busy}");
    server.post("/v1/queues/q/reset", json!({})).await.is(200);
    server.advance(600).await;
    assert_eq!(scale().await, json!({"backlog": 0, "workers": 0, "desired_workers": 0}));
}
