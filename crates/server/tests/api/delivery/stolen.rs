//! Attempts to have secrets sent elsewhere by somebody who may change a target but not read them.

use super::*;

const HOME: &str = "https://home.example/hook";

/// A plan with a secret header and a callback with two more, which never fires by itself.
async fn planned(server: &TestServer) {
    let secret = |url: &str| json!({"url": url, "headers": {"Authorization": "Bearer s3cret"}});
    let nested = json!({"queue": "a", "task": {"http": {"headers": {"x-api-key": "s3cret"}}}});
    server.put("/v1/queues/q", json!({"mode": "http"})).await.is(201);
    for queue in ["a", "b"] {
        let settings = json!({"mode": "http", "url": format!("https://{queue}.example/")});
        server.put(&format!("/v1/queues/{queue}"), settings).await.is(201);
    }
    let rule = json!({"station": "q", "plan_type": "day", "plan_value": 1, "plan_repet": -1});
    for (id, callback) in [("direct", json!({"http": secret(HOME)})), ("pushed", nested)] {
        let mut plan = rule.clone();
        plan["http"] = secret(HOME);
        plan["callback"] = callback;
        server.put(&format!("/v1/plans/{id}"), plan).await.is(201);
    }
}

#[tokio::test]
async fn a_plan_does_not_carry_its_secrets_to_another_origin() {
    let thief = Stub::ok().await;
    let server = server().await;
    planned(&server).await;
    let stolen = json!({"url": thief.url("/"), "headers": {"authorization": "***"}});
    let before = server.get("/v1/plans/direct").await.is(200);
    let refused = server.put("/v1/plans/direct", json!({"http": stolen})).await;
    let detail = refused.problem(422, "invalid");
    assert!(detail.starts_with("http.headers: "), "{detail}");
    let refused = server.put("/v1/plans/direct", json!({"callback": {"http": stolen}})).await;
    let detail = refused.problem(422, "invalid");
    assert!(detail.starts_with("callback.http.headers: "), "{detail}");
    assert_eq!(server.get("/v1/plans/direct").await.is(200), before, "nothing changed");

    // The target's own queue is the same, so a target without a URL would follow the queue named.
    let moved = json!({"callback": {"queue": "b",
        "task": {"http": {"headers": {"x-api-key": "***"}}}}});
    let detail = server.put("/v1/plans/pushed", moved).await.problem(422, "invalid");
    assert!(detail.starts_with("callback.task.http.headers: "), "{detail}");

    // The same origin, a secret of one's own, or none at all.
    let kept = json!({"url": "https://home.example/other", "headers": {"authorization": "***"}});
    server.put("/v1/plans/direct", json!({"http": kept})).await.is(200);
    for headers in [json!({"authorization": "mine"}), json!(null)] {
        let own = json!({"url": thief.url("/"), "headers": headers});
        server.put("/v1/plans/direct", json!({"http": own})).await.is(200);
    }
    server.post("/v1/plans/direct/run", json!({})).await.is(200);
    assert!(!thief.seen(1).await[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_queue_does_not_carry_its_secrets_to_another_origin() {
    let thief = Stub::ok().await;
    let server =
        delivering(json!({"url": HOME, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "headers": {"Cookie": "s3cret", "x-plain": "1"}}))
        .await;
    let url = thief.url("/");
    for (attempt, field) in [
        (json!({"url": url}), "headers"),
        (json!({"url": url, "headers": {"cookie": "***"}, "secret": null}), "headers"),
        (json!({"url": url, "headers": null}), "secret"),
        (json!({"url": url, "headers": {}, "secret": "***"}), "secret"),
        (json!({"url": url, "headers": {}, "secret": ["whsec_AQIDBA==", "***"]}), "secret"),
    ] {
        let detail = server.put("/v1/queues/q", attempt.clone()).await.problem(422, "invalid");
        assert!(detail.starts_with(&format!("{field}: ")), "{attempt}: {detail}");
        assert_eq!(server.get("/v1/queues/q").await.is(200)["url"], HOME);
    }
    // Removing the URL first is no way around it.
    server.put("/v1/queues/q", json!({"url": null})).await.is(200);
    server.put("/v1/queues/q", json!({"url": url})).await.problem(422, "invalid");
    // Without the secrets the queue may go anywhere.
    let bare = json!({"url": url, "secret": null, "headers": {"x-plain": "2"}});
    server.put("/v1/queues/q", bare).await.is(200);
    server.push(json!({"id": "t"})).await;
    server.until("t", "done").await;
    let seen = &thief.seen(1).await[0];
    assert!(
        !seen.headers.contains_key("cookie") && !seen.headers.contains_key("webhook-signature")
    );
    assert_eq!(seen.headers["x-plain"], "2");
}
