//! Lists of tasks, and bulk verbs over them.

use serde_json::Value;

use super::{TestServer, json};

fn ids(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn ready_tasks_are_listed_in_hand_out_order() {
    let server = TestServer::start().await;
    for (id, priority) in [("a", 0), ("b", 5), ("c", 0), ("d", -1), ("e", 5)] {
        server.push(json!({"id": id, "priority": priority})).await;
        server.advance(1).await;
    }
    let page = server.get("/v1/queues/q/tasks?state=ready").await.is(200);
    assert_eq!(ids(&page), ["b", "e", "a", "c", "d"]);
    assert_eq!(page["next"], Value::Null);
    let taken = server.post("/v1/queues/q/take", json!({"n": 5})).await.is(200);
    let order: Vec<&str> =
        taken["tasks"].as_array().unwrap().iter().map(|t| t["id"].as_str().unwrap()).collect();
    assert_eq!(order, ["b", "e", "a", "c", "d"]);
}

#[tokio::test]
async fn lists_are_filtered() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a1", "tags": ["x"], "payload": {"name": "ann"}})).await;
    server.push(json!({"id": "a2", "tags": ["x", "y"], "delay": 60, "payload": "ünïcode"})).await;
    server.push(json!({"id": "b1", "tags": ["y"], "priority": 9, "max_attempts": 1})).await;
    let taken = server.take(json!({})).await;
    let body = json!({"token": taken["token"], "error": "no route to host"});
    server.verb("b1", "fail", body).await.is(200);
    for (query, found) in [
        ("", vec!["a1", "a2", "b1"]),
        ("state=", vec!["a1", "a2", "b1"]),
        ("state=failed", vec!["b1"]),
        ("state=waiting,ready", vec!["a2", "a1"]),
        ("state=waiting,%20ready,waiting", vec!["a2", "a1"]),
        ("tag=x", vec!["a1", "a2"]),
        ("tag=y&state=waiting", vec!["a2"]),
        ("id=a", vec!["a1", "a2"]),
        ("id=b1", vec!["b1"]),
        ("error=route", vec!["b1"]),
        ("q=ann", vec!["a1"]),
        ("q=%C3%BCn%C3%AF", vec!["a2"]),
        ("q=nobody", vec![]),
        ("tag=z", vec![]),
    ] {
        let page = server.get(&format!("/v1/queues/q/tasks?{query}")).await.is(200);
        assert_eq!(ids(&page), found, "{query}");
    }
    for (bad, field) in [
        ("state=sleeping", "state"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=-1", "limit"),
        ("colour=red", "colour"),
        ("cursor=nonsense", "cursor"),
        ("tag=a&tag=b", "tag"),
    ] {
        let answer = server.get(&format!("/v1/queues/q/tasks?{bad}")).await;
        let detail = answer.problem(422, "invalid");
        assert!(detail.contains(field), "{bad}: {detail}");
    }
}

#[tokio::test]
async fn pages_follow_one_another_without_gaps() {
    let server = TestServer::start().await;
    let tasks: Vec<Value> = (0..95)
        .map(|n| json!({"id": format!("t{n:02}"), "delay": n % 3, "tags": [format!("m{}", n % 2)]}))
        .collect();
    server.post("/v1/queues/q/tasks", json!({"tasks": tasks})).await.is(200);
    for (query, count) in [("", 95), ("&tag=m1", 47), ("&state=waiting", 63)] {
        for limit in [1, 7, 50, 1_000] {
            let mut seen = Vec::new();
            let mut cursor = String::new();
            loop {
                let path = format!("/v1/queues/q/tasks?limit={limit}{query}&cursor={cursor}");
                let page = server.get(&path).await.is(200);
                let page_ids = ids(&page);
                assert!(page_ids.len() <= limit);
                seen.extend(page_ids.into_iter().map(str::to_owned));
                let Some(next) = page["next"].as_str() else { break };
                next.clone_into(&mut cursor);
            }
            let total = seen.len();
            seen.sort();
            seen.dedup();
            assert_eq!((seen.len(), total), (count, count), "{query} {limit}");
        }
    }
}

/// The rest of a list, by its cursor.
async fn rest(server: &TestServer, query: &str, first: &Value) -> Vec<String> {
    let mut seen = Vec::new();
    let mut next = first["next"].as_str().map(str::to_owned);
    while let Some(cursor) = next {
        let path = format!("/v1/queues/q/tasks?{query}&cursor={cursor}");
        let page = server.get(&path).await.is(200);
        seen.extend(ids(&page).into_iter().map(str::to_owned));
        next = page["next"].as_str().map(str::to_owned);
    }
    seen
}

#[tokio::test]
async fn a_task_that_is_edited_between_two_pages_is_listed_once() {
    let server = TestServer::start().await;
    let minute = |n: u32| format!("2026-11-15T08:{n:02}:00Z");
    for n in 0..12 {
        let due = (n >= 6).then(|| minute(n));
        let (id, tag) = (format!("t{n:02}"), format!("m{}", n % 2));
        server.push(json!({"id": id, "due": due, "tags": [tag]})).await;
    }
    let edit = async |id: &str, body: Value| {
        server.patch(&format!("/v1/queues/q/tasks/{id}"), body).await.is(200);
    };
    let queries = ["limit=3", "limit=3&tag=m0", "limit=2&state=waiting,ready"];
    let mut firsts = Vec::new();
    for query in queries {
        firsts.push(server.get(&format!("/v1/queues/q/tasks?{query}")).await.is(200));
    }
    assert_eq!(ids(&firsts[0]), ["t00", "t01", "t02"]);
    assert_eq!(ids(&firsts[1]), ["t00", "t02", "t04"]);
    assert_eq!(ids(&firsts[2]), ["t06", "t07"]);
    for (id, priority) in [("t00", -5), ("t04", 5), ("t05", 7), ("t04", -7), ("t08", 9)] {
        edit(id, json!({"priority": priority})).await;
    }
    for (id, due) in [("t06", 40), ("t11", 5), ("t08", 50), ("t10", 4)] {
        edit(id, json!({"due": minute(due)})).await;
    }
    let [plain, tagged, waiting] = queries;
    let order = ["t03", "t04", "t05", "t06", "t07", "t08", "t09", "t10", "t11"];
    assert_eq!(rest(&server, plain, &firsts[0]).await, order);
    assert_eq!(rest(&server, tagged, &firsts[1]).await, ["t06", "t08", "t10"]);
    let order = ["t08", "t09", "t10", "t11", "t00", "t01", "t02", "t03", "t04", "t05"];
    assert_eq!(rest(&server, waiting, &firsts[2]).await, order);
    let now = server.get("/v1/queues/q/tasks?state=ready").await.is(200);
    assert_eq!(ids(&now), ["t05", "t01", "t02", "t03", "t00", "t04"]);
}

#[tokio::test]
async fn a_page_is_at_most_eight_mebibytes() {
    let server = TestServer::start().await;
    for n in 0..20 {
        server.push(json!({"id": format!("t{n:02}"), "payload": "x".repeat(1_000_000)})).await;
    }
    let mut seen = 0;
    let mut pages = 0;
    let mut cursor = String::new();
    loop {
        let path = format!("/v1/queues/q/tasks?limit=1000&cursor={cursor}");
        let page = server.get(&path).await.is(200);
        seen += ids(&page).len();
        pages += 1;
        assert!(ids(&page).len() <= 8);
        let Some(next) = page["next"].as_str() else { break };
        next.clone_into(&mut cursor);
    }
    assert_eq!((seen, pages), (20, 3));
}

#[tokio::test]
async fn bulk_does_the_same_to_all_that_match() {
    let server = TestServer::start().await;
    let tasks: Vec<Value> = (0..10)
        .map(|n| json!({"id": format!("t{n}"), "tags": [if n < 4 { "x" } else { "y" }]}))
        .collect();
    server.post("/v1/queues/q/tasks", json!({"tasks": tasks})).await.is(200);
    let bulk = async |body: Value| server.post("/v1/queues/q/tasks/bulk", body).await.is(200);
    let counts = async || server.get("/v1/queues/q").await.is(200)["counts"].clone();
    let dry = bulk(json!({"verb": "pause", "filter": {"tag": "x"}, "dry_run": true})).await;
    assert_eq!(dry, json!({"matched": 4, "changed": 0, "next": null}));
    assert_eq!(counts().await["paused"], 0);
    let paused = bulk(json!({"verb": "pause", "filter": {"tag": "x"}})).await;
    assert_eq!(paused, json!({"matched": 4, "changed": 4, "next": null}));
    let again =
        bulk(json!({"verb": "pause", "filter": {"tag": "x", "state": ["paused", "ready"]}})).await;
    assert_eq!(again, json!({"matched": 4, "changed": 0, "next": null}));
    let resumed = bulk(json!({"verb": "resume", "filter": {"state": "paused", "id": "t1"}})).await;
    assert_eq!(resumed, json!({"matched": 1, "changed": 1, "next": null}));
    assert_eq!((&counts().await["paused"], &counts().await["ready"]), (&json!(3), &json!(7)));
    let refused = bulk(json!({"verb": "retry", "filter": {"state": "ready"}})).await;
    assert_eq!(refused, json!({"matched": 7, "changed": 0, "next": null}));
    let reset = bulk(json!({"verb": "reset", "filter": {}})).await;
    assert_eq!(reset, json!({"matched": 10, "changed": 3, "next": null}));
    let cleaned = bulk(json!({"verb": "clean", "filter": {"tag": "y"}})).await;
    assert_eq!(cleaned, json!({"matched": 6, "changed": 6, "next": null}));
    let cancelled = bulk(json!({"verb": "cancel", "filter": {}})).await;
    assert_eq!(cancelled, json!({"matched": 4, "changed": 4, "next": null}));
    assert_eq!(counts().await["total"], 0);
}

#[tokio::test]
async fn bulk_changes_at_most_a_thousand_per_call() {
    let server = TestServer::start().await;
    let tasks = vec![json!({"max_attempts": 1}); 2_500];
    server.post("/v1/queues/q/tasks", json!({"tasks": tasks})).await.is(200);
    for (verb, expected) in [("pause", [1_000, 1_000, 500]), ("reset", [1_000, 1_000, 500])] {
        let mut cursor = Value::Null;
        for count in expected {
            let body = json!({"verb": verb, "filter": {}, "cursor": cursor});
            let answer = server.post("/v1/queues/q/tasks/bulk", body).await.is(200);
            assert_eq!(answer["matched"], count, "{verb}");
            assert_eq!(answer["changed"], count, "{verb}");
            cursor = answer["next"].clone();
        }
        assert_eq!(cursor, Value::Null, "{verb}");
    }
}

#[tokio::test]
async fn bad_bulk_requests_name_their_field() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({})).await.is(201);
    for (body, field) in [
        (json!({}), "verb"),
        (json!({"verb": "take"}), "verb"),
        (json!({"verb": "cancel", "filter": {"state": "asleep"}}), "filter.state"),
        (json!({"verb": "cancel", "filter": {"state": ["ready", 1]}}), "filter.state"),
        (json!({"verb": "cancel", "filter": {"colour": "red"}}), "colour"),
        (json!({"verb": "cancel", "filter": []}), "filter"),
        (json!({"verb": "clean"}), "filter"),
        (json!({"verb": "clean", "filter": null}), "filter"),
        (json!({"verb": "cancel", "filter": {}, "dry_run": "yes"}), "dry_run"),
        (json!({"verb": "cancel", "filter": {}, "cursor": "nonsense"}), "cursor"),
    ] {
        let answer = server.post("/v1/queues/q/tasks/bulk", body.clone()).await;
        let detail = answer.problem(422, "invalid");
        assert!(detail.contains(field), "{body}: {detail}");
    }
}

#[tokio::test]
async fn a_list_shows_as_much_of_payloads_as_it_is_asked_for() {
    let server = TestServer::start().await;
    let text = "é".repeat(300);
    server.push(json!({"id": "long", "payload": {"text": text}})).await;
    server.push(json!({"id": "short", "payload": [1, 2]})).await;
    let full = server.get("/v1/queues/q/tasks?payload=full").await.is(200);
    assert_eq!(full, server.get("/v1/queues/q/tasks").await.is(200));
    let preview = server.get("/v1/queues/q/tasks?payload=preview").await.is(200);
    let [long, short] = &preview["items"].as_array().unwrap()[..] else { panic!("two tasks") };
    let expected: String = json!({"text": text}).to_string().chars().take(200).collect();
    assert_eq!(long["payload_preview"], expected);
    assert_eq!(short["payload_preview"], "[1,2]");
    let none = server.get("/v1/queues/q/tasks?payload=none").await.is(200);
    for task in preview["items"].as_array().unwrap().iter().chain(none["items"].as_array().unwrap())
    {
        assert_eq!(task.get("payload"), None, "{task}");
    }
    assert_eq!(none["items"][0].get("payload_preview"), None);
    let detail = server.get("/v1/queues/q/tasks?payload=some").await.problem(422, "invalid");
    assert!(detail.starts_with("payload"), "{detail}");
}

#[tokio::test]
async fn finished_tasks_are_listed_by_their_end_and_by_worker() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"keep": {"done": "1h"}})).await.is(201);
    for (id, verb, worker) in
        [("a", "commit", "w1"), ("b", "fail", "w2"), ("c", "commit", "w2"), ("d", "commit", "w1")]
    {
        server.push(json!({"id": id})).await;
        let token = server.take(json!({"worker": worker})).await["token"].clone();
        let body = match verb {
            "commit" => json!({"token": token}),
            _ => json!({"token": token, "permanent": true}),
        };
        server.verb(id, verb, body).await.is(200);
        server.advance(1).await;
    }
    server.push(json!({"id": "held"})).await;
    server.take(json!({"worker": "w2"})).await;
    server.push(json!({"id": "ready"})).await;
    for (query, expected) in [
        ("sort=newest", &["held", "ready", "d", "c", "b", "a"][..]),
        ("sort=oldest", &["held", "ready", "a", "b", "c", "d"]),
        ("state=done&sort=newest", &["d", "c", "a"]),
        ("state=done,failed,cancelled&sort=newest", &["d", "c", "b", "a"]),
        ("state=failed,ready&sort=oldest", &["ready", "b"]),
        ("worker=w2&sort=newest", &["held", "c", "b"]),
        ("worker=w1", &["a", "d"]),
        ("worker=w", &[]),
    ] {
        for limit in [1, 2, 50] {
            let (mut listed, mut cursor) = (Vec::new(), String::new());
            loop {
                let path = format!("/v1/queues/q/tasks?{query}&limit={limit}&cursor={cursor}");
                let page = server.get(&path).await.is(200);
                listed.extend(ids(&page).into_iter().map(str::to_owned));
                match page["next"].as_str() {
                    Some(next) => cursor = next.to_owned(),
                    None => break,
                }
            }
            assert_eq!(listed, expected, "{query}, {limit} at a time");
        }
    }
    for (bad, field) in [("sort=up", "sort"), ("sort=newest&cursor=9~x", "cursor")] {
        let detail = server.get(&format!("/v1/queues/q/tasks?{bad}")).await.problem(422, "invalid");
        assert!(detail.starts_with(field), "{detail}");
    }
}
