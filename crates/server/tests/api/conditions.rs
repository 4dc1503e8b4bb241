//! What was read can be written back, and only if nobody has changed it since.

use std::sync::Arc;

use serde_json::Value;

use super::{TestServer, json};

/// The tag of a thing.
async fn tag(server: &TestServer, path: &str) -> String {
    let answer = server.get(path).await;
    let tag = answer.headers["etag"].to_str().unwrap().to_owned();
    answer.is(200);
    assert!(tag.starts_with('"') && tag.ends_with('"'), "{tag}");
    tag
}

#[tokio::test]
async fn a_queue_is_written_back_as_it_was_read() {
    let server = TestServer::start().await;
    let settings = json!({"mode": "http", "url": "http://192.0.2.1/", "secret": "s", "max": 9,
        "headers": {"authorization": "a", "x-own": "b"}, "rate": {"limit": 3, "per": "1s"},
        "retry": {"intervals": [1, 2]}, "keep": {"done": 60}, "abandon_after": "5m"});
    server.put("/v1/queues/q", settings).await.is(201);
    for queue in ["q", "notices", "bundles"] {
        let path = format!("/v1/queues/{queue}");
        let before = tag(&server, &path).await;
        let mut read = server.get(&path).await.is(200);
        assert_eq!(server.put(&path, read.clone()).await.is(200), read, "{queue}");
        assert_eq!(tag(&server, &path).await, before, "nothing was changed");
        read["hold"] = json!(77);
        read["counts"] = json!("ignored");
        assert_eq!(server.put(&path, read.clone()).await.is(200)["hold"], 77);
        read["colour"] = json!(1);
        let detail = server.put(&path, read).await.problem(422, "invalid");
        assert!(detail.contains("colour"), "{detail}");
    }
}

#[tokio::test]
async fn a_plan_and_a_worker_are_written_back_as_they_were_read() {
    let server = TestServer::start().await;
    server.put("/v1/queues/h", json!({"mode": "http"})).await.is(201);
    for plan in [
        json!({"plan_id": "a", "queue": "q", "plan_type": "minute", "plan_value": 5, "repeat": -1,
            "message": {"x": 1}, "tags": ["t"], "retry": {"first": 1}}),
        json!({"plan_id": "b", "queue": "q", "plan_type": "week", "plan_value": 1,
            "plan_time": "09:30", "repeat": 3, "timezone": "Asia/Shanghai"}),
        json!({"plan_id": "c", "queue": "q", "plan_type": "cron", "cron": "0 9 * * *", "repeat": -1}),
        json!({"plan_id": "d", "queue": "h", "plan_type": "time", "plan_time": 1_900_000_000,
            "http": {"url": "http://192.0.2.1/", "headers": {"authorization": "a"}, "timeout": 3},
            "callback": {"on": ["done"], "queue": "q", "task": {"payload": 1}}}),
    ] {
        let path = format!("/v1/plans/{}", plan["plan_id"].as_str().unwrap());
        server.post("/v1/plans", plan).await.is(201);
        server.advance(30).await;
        let (before, mut read) = (tag(&server, &path).await, server.get(&path).await.is(200));
        assert_eq!(server.put(&path, read.clone()).await.is(200), read);
        assert_eq!(tag(&server, &path).await, before);
        read["description"] = json!("other");
        assert_eq!(server.put(&path, read.clone()).await.is(200)["description"], "other");
        assert_ne!(tag(&server, &path).await, before);
        read["colour"] = json!(1);
        server.put(&path, read.clone()).await.problem(422, "invalid");
        server.post("/v1/plans", read).await.problem(422, "invalid");
    }
    let join = json!({"queues": ["q"], "capabilities": ["gpu"], "capacity": 2, "session": "s"});
    let worker = server.put("/v1/workers/w", join).await.is(200);
    let again = server.put("/v1/workers/w", worker.clone()).await.is(200);
    assert_eq!((&again["queues"], &again["joined_at"]), (&worker["queues"], &worker["joined_at"]));
}

#[tokio::test]
async fn a_change_of_what_somebody_else_has_changed_is_refused() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"secret": "one"})).await.is(201);
    server.push(json!({"id": "t", "payload": 1})).await;
    let plan = json!({"queue": "q", "plan_type": "hour", "plan_value": 1, "repeat": -1});
    server.put("/v1/plans/p", plan).await.is(201);
    for (method, path, first, second) in [
        ("PUT", "/v1/queues/q", json!({"hold": 5}), json!({"secret": "two"})),
        ("PUT", "/v1/plans/p", json!({"description": "d"}), json!({"plan_value": 2})),
        ("PATCH", "/v1/queues/q/tasks/t", json!({"payload": 2}), json!({"priority": 3})),
    ] {
        let old = tag(&server, path).await;
        let send = async |tag: &str, body: &Value| {
            server.raw(method, path, &[("if-match", tag)], body.to_string()).await
        };
        let answer = send(&old, &first).await;
        let new = answer.headers["etag"].to_str().unwrap().to_owned();
        let read = answer.is(200);
        assert_ne!(new, old);
        let detail = send(&old, &second).await.problem(412, "changed");
        assert!(detail.contains("If-Match"), "{detail}");
        assert_eq!(server.get(path).await.is(200), read, "nothing was changed");
        send(&format!("\"x\", W/{new}"), &second).await.is(200);
        send("*", &json!({})).await.is(200);
        let detail = send("x", &json!({})).await.problem(422, "invalid");
        assert!(detail.starts_with("If-Match"), "{detail}");
    }
    for path in ["/v1/queues/none", "/v1/plans/none"] {
        let headers = [("if-match", "*")];
        server.raw("PUT", path, &headers, r#"{"queue":"q","plan_type":"none"}"#).await;
        server.get(path).await.problem(404, "not_found");
    }
    let headers = [("if-match", "*")];
    server.raw("PUT", "/v1/queues/none", &headers, "").await.problem(412, "changed");
    server.raw("PATCH", "/v1/queues/q/tasks/none", &headers, "").await.problem(404, "not_found");
}

#[tokio::test]
async fn a_tag_stays_while_work_goes_on() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"keep": {"done": "1h"}})).await.is(201);
    let plan = json!({"queue": "q", "plan_type": "minute", "plan_value": 1, "repeat": -1});
    server.put("/v1/plans/p", plan).await.is(201);
    server.push(json!({"id": "t", "priority": 9})).await;
    let paths = ["/v1/queues/q", "/v1/plans/p", "/v1/queues/q/tasks/t"];
    let mut before = Vec::new();
    for path in paths {
        before.push(tag(&server, path).await);
    }
    let task = server.take(json!({"worker": "w"})).await;
    let extend = json!({"token": task["token"], "progress": 0.5});
    server.verb("t", "extend", extend).await.is(200);
    server.verb("t", "commit", json!({"token": task["token"]})).await.is(200);
    server.post("/v1/queues/q/pause", json!({})).await.is(200);
    server.advance(60).await;
    server.eventually("/v1/plans/p", |plan| plan["state"] == "running").await;
    for (path, before) in paths.into_iter().zip(before) {
        assert_eq!(tag(&server, path).await, before, "{path}");
    }
}

/// Of many who read the same and change it at once, one gets through.
#[tokio::test]
async fn of_changes_at_once_one_is_made() {
    let server = Arc::new(TestServer::start().await);
    server.put("/v1/queues/q", json!({})).await.is(201);
    server.push(json!({"id": "t"})).await;
    let plan = json!({"queue": "q", "plan_type": "hour", "plan_value": 1, "repeat": -1});
    server.put("/v1/plans/p", plan).await.is(201);
    for (method, path, field) in [
        ("PUT", "/v1/queues/q", "hold"),
        ("PUT", "/v1/plans/p", "plan_value"),
        ("PATCH", "/v1/queues/q/tasks/t", "priority"),
    ] {
        let tag = tag(&server, path).await;
        let change = |n: u32| {
            let (server, tag) = (server.clone(), tag.clone());
            let body = json!({field: n + 40}).to_string();
            tokio::spawn(async move {
                server.raw(method, path, &[("if-match", &tag)], body).await.status.as_u16()
            })
        };
        let changes: Vec<_> = (0..8).map(change).collect();
        let mut statuses = Vec::new();
        for change in changes {
            statuses.push(change.await.unwrap());
        }
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 412, 412, 412, 412, 412, 412, 412], "{path}");
    }
}
