//! Workers drive bundles: push, get, complete, release, data, retry, delete.

use super::super::{TestServer, json};
use super::path;

#[tokio::test]
async fn a_bundle_is_got_locked_and_completed() {
    let server = TestServer::start().await;
    let pushed = server.bundle("k", "push", json!({"task": {"n": 1}, "data": ["a", "b"]})).await;
    assert_eq!(pushed.is(200), json!({"size": 1, "ontime": server.at(0)}));
    let more = json!({"task": "two", "data": ["b", "c"], "ontime": server.at(60)});
    let pushed = server.bundle("k", "push", more).await.is(200);
    assert_eq!(pushed, json!({"size": 2, "ontime": server.at(0)}), "once keeps the time");
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["bundles"], 1);
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["total"], 0);

    let get = json!({"random": "r", "timeout": 10});
    let got = server.bundle("k", "get", get.clone()).await.is(200);
    let expected = json!({"tasks": [{"n": 1}, "two"], "data": ["a", "b", "c"],
        "locked_until": server.at(10)});
    assert_eq!(got, expected);
    let other = json!({"random": "s", "timeout": 10});
    server.bundle("k", "get", other).await.problem(409, "wrong_state");
    // The same caller renews its lock and gets the same, whatever came meanwhile.
    server.fill("k", &[json!(3)], json!({"ontime": server.at(100)})).await;
    server.advance(5).await;
    let again = json!({"random": "r", "timeout": 10, "number": 1});
    let again = server.bundle("k", "get", again).await.is(200);
    assert_eq!(again["tasks"], json!([{"n": 1}, "two"]));
    assert_eq!(again["locked_until"], server.at(10));
    let read = server.get(&path("k")).await.is(200);
    assert_eq!((&read["state"], &read["size"]), (&json!("locked"), &json!(3)));
    assert_eq!(read["locked_until"], server.at(10));

    for (verb, body) in [("complete", json!({"random": "s"})), ("release", json!({"random": "s"}))]
    {
        server.bundle("k", verb, body).await.problem(409, "wrong_state");
    }
    let over = json!({"random": "r", "number": 3});
    let detail = server.bundle("k", "complete", over).await.problem(422, "invalid");
    assert!(detail.contains("number"), "{detail}");
    let done = server.bundle("k", "complete", json!({"random": "r", "number": 2})).await;
    assert_eq!(done.is(200), json!({"left": 1}));
    let read = server.get(&path("k")).await.is(200);
    assert_eq!(read["tasks"], json!([3]));
    assert_eq!(read["ontime"], server.at(95), "what came later is due at its time");
    let got = server.bundle("k", "get", json!({"random": "t"})).await.is(200);
    assert_eq!(got["tasks"], json!([3]));
    let done = server.bundle("k", "complete", json!({"random": "t"})).await;
    assert_eq!(done.is(200), json!({"left": 0}));
    server.get(&path("k")).await.problem(404, "not_found");
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["bundles"], 0);
}

#[tokio::test]
async fn what_was_left_behind_is_due_at_once() {
    let server = TestServer::start().await;
    let later = json!({"ontime": server.at(500)});
    server.fill("k", &[json!(1), json!(2), json!(3)], later.clone()).await;
    let got = server.bundle("k", "get", json!({"random": "r", "number": 2})).await.is(200);
    assert_eq!(got["tasks"], json!([1, 2]));
    server.fill("k", &[json!(4)], later).await;
    let done = server.bundle("k", "complete", json!({"random": "r", "number": 1})).await;
    assert_eq!(done.is(200), json!({"left": 3}));
    let read = server.get(&path("k")).await.is(200);
    assert_eq!(read["tasks"], json!([2, 3, 4]));
    assert_eq!(read["ontime"], server.at(0));
}

#[tokio::test]
async fn a_lock_ends_by_itself_or_by_release() {
    let server = TestServer::start().await;
    server.fill("k", &[json!(1)], json!({"ontime": server.at(500)})).await;
    server.bundle("k", "get", json!({"random": "r", "timeout": 10})).await.is(200);
    assert_eq!(server.get(&path("k")).await.is(200)["ontime"], server.at(10));
    server.advance(10).await;
    server.bundle("k", "complete", json!({"random": "r"})).await.problem(409, "wrong_state");
    let released = server.bundle("k", "release", json!({"random": "r"})).await;
    assert_eq!(released.is(200)["ontime"], server.at(0), "when the lock ended");
    // Until it completes every push sets the time, whatever it says about that.
    let pushed = json!({"task": 2, "ontime": server.at(60), "overwrite": "once"});
    assert_eq!(server.bundle("k", "push", pushed).await.is(200)["ontime"], server.at(60));
    server.bundle("k", "get", json!({"random": "s", "timeout": 30})).await.is(200);
    let released = json!({"random": "s", "ontime": server.at(7)});
    assert_eq!(server.bundle("k", "release", released).await.is(200)["ontime"], server.at(7));
    server.bundle("k", "get", json!({"random": "s", "timeout": 30})).await.is(200);
    let released = server.bundle("k", "release", json!({"random": "s"})).await;
    assert_eq!(released.is(200)["ontime"], server.at(30), "when it would have ended");
    server.bundle("none", "release", json!({"random": "s"})).await.problem(404, "not_found");
}

#[tokio::test]
async fn data_retry_and_delete() {
    let server = TestServer::start().await;
    server.fill("k", &[json!(1)], json!({"data": ["a"]})).await;
    let change = json!({"add": ["b", "c"], "remove": ["a", "c"]});
    let read = server.bundle("k", "data", change).await.is(200);
    assert_eq!(read["data"], json!(["b"]));
    server
        .bundle("k", "push", json!({"task": 1, "ontime": server.at(50), "overwrite": "always"}))
        .await
        .is(200);
    let read = server.bundle("k", "retry", json!({})).await.is(200);
    assert_eq!(read["ontime"], server.at(0), "what waits for its time is due now");
    server.bundle("k", "get", json!({"random": "r", "timeout": 100})).await.is(200);
    server.bundle("k", "retry", json!({})).await.problem(409, "wrong_state");
    server.bundle("k", "release", json!({"random": "r"})).await.is(200);
    let read = server.bundle("k", "retry", json!({})).await.is(200);
    assert_eq!(read["ontime"], server.at(0));
    server.delete(&path("k")).await.is(204);
    server.delete(&path("k")).await.problem(404, "not_found");
    for verb in ["data", "retry"] {
        server.bundle("k", verb, json!({})).await.problem(404, "not_found");
    }
    // A bundle of the same key is a new one.
    server.fill("k", &[json!(2)], json!({})).await;
    assert_eq!(server.get(&path("k")).await.is(200)["data"], json!([]));
}

#[tokio::test]
async fn a_get_is_bounded_and_the_rest_stays_due() {
    let server = TestServer::start().await;
    let large = json!("x".repeat(1 << 20).split_at(2).1);
    let payloads: Vec<_> = (0..18).map(|_| large.clone()).collect();
    server.fill("k", &payloads, json!({})).await;
    let got = server.bundle("k", "get", json!({"random": "r"})).await.is(200);
    assert_eq!(got["tasks"].as_array().unwrap().len(), 16);
    let done = server.bundle("k", "complete", json!({"random": "r"})).await;
    assert_eq!(done.is(200), json!({"left": 2}));
    let due = server.post("/v1/queues/q/bundles/schedule", json!({})).await.is(200);
    assert_eq!(due["key"], "k");
}

#[tokio::test]
async fn bundles_are_listed_by_key() {
    let server = TestServer::start().await;
    for n in 0..5 {
        server.fill(&format!("k{n}"), &[json!(n)], json!({"ontime": server.at(n)})).await;
    }
    server.bundle("k3", "get", json!({"random": "r"})).await.is(200);
    let list = "/v1/queues/q/bundles";
    let first = server.get(&format!("{list}?limit=3")).await.is(200);
    let keys = |page: &serde_json::Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap().iter();
        items.map(|item| item["key"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(keys(&first), ["k0", "k1", "k2"]);
    let next = utf8(&first["next"]);
    let second = server.get(&format!("{list}?limit=3&cursor={next}")).await.is(200);
    assert_eq!((keys(&second), &second["next"]), (vec!["k3".into(), "k4".into()], &json!(null)));
    let locked = server.get(&format!("{list}/?state=locked")).await.is(200);
    assert_eq!(keys(&locked), ["k3"]);
    assert_eq!(keys(&server.get(&format!("{list}?key=k4")).await.is(200)), ["k4"]);
    server.get(&format!("{list}?state=eaten")).await.problem(422, "invalid");
    server.get(&format!("{list}?limit=0")).await.problem(422, "invalid");
    server.get(&format!("{list}?cursor=nonsense")).await.problem(422, "invalid");
    server.get("/v1/queues/none/bundles").await.problem(404, "not_found");
}

fn utf8(cursor: &serde_json::Value) -> String {
    let all = percent_encoding::NON_ALPHANUMERIC;
    percent_encoding::utf8_percent_encode(cursor.as_str().unwrap(), all).to_string()
}

#[tokio::test]
async fn any_text_is_a_key() {
    let server = TestServer::start().await;
    let long = "é".repeat(1_024);
    for key in ["a/b", "100%", "schedule", "...", " ", "?&=#", "键/值", long.as_str()] {
        server.fill(key, &[json!(1)], json!({})).await;
        let read = server.get(&path(key)).await.is(200);
        assert_eq!((&read["key"], &read["size"]), (&json!(key), &json!(1)));
        server.delete(&path(key)).await.is(204);
    }
}

#[tokio::test]
async fn reset_and_delete_drop_bundles() {
    let server = TestServer::start().await;
    server.fill("k", &[json!(1)], json!({})).await;
    let mode = server.put("/v1/queues/q", json!({"mode": "http", "url": "http://example.com"}));
    mode.await.problem(409, "wrong_state");
    let empty = server.post("/v1/queues/q/reset", json!({})).await.is(200);
    assert_eq!(empty["counts"]["bundles"], 0);
    server.get(&path("k")).await.problem(404, "not_found");
    server.fill("k", &[json!(1)], json!({})).await;
    server.delete("/v1/queues/q").await.is(204);
    server.fill("k", &[json!(2)], json!({})).await;
    assert_eq!(server.get(&path("k")).await.is(200)["tasks"], json!([2]));
}

#[tokio::test]
async fn a_repeated_push_has_no_second_effect() {
    let server = TestServer::start().await;
    let push = async |key: &str, body: &str| {
        server
            .raw(
                "POST",
                &format!("{}/push", path("k")),
                &[("idempotency-key", key)],
                body.to_owned(),
            )
            .await
    };
    let first = push("1", r#"{"task":1}"#).await.is(200);
    let again = push("1", r#"{"task":1}"#).await;
    assert_eq!(again.headers["idempotency-replayed"], "true");
    assert_eq!(again.is(200), first);
    push("1", r#"{"task":2}"#).await.problem(422, "invalid");
    push("2", r#"{"task":1}"#).await.is(200);
    assert_eq!(server.get(&path("k")).await.is(200)["size"], 2);
    server.delete(&path("k")).await.is(204);
    let gone = push("1", r#"{"task":1}"#).await.is(200);
    assert_eq!((&gone["size"], &gone["queue"], &gone["id"]), (&json!(0), &json!("q"), &json!("k")));
    server.get(&path("k")).await.problem(404, "not_found");
}
