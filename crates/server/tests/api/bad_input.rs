//! Wrong input of every kind: it gets its error and changes nothing.

use super::{TestServer, json};

/// Bodies of a push: what is wrong with them, and what the answer says.
fn table() -> Vec<(Vec<u8>, u16, &'static str, &'static str)> {
    let nested = |levels| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let big = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
    let tags = |count| format!("[{}]", vec!["\"t\""; count].join(","));
    let mut rows: Vec<(String, u16, &str, &str)> = vec![
        ("{".into(), 400, "bad_json", "not JSON"),
        ("{}}".into(), 400, "bad_json", "not JSON"),
        ("{\"payload\":}".into(), 400, "bad_json", "not JSON"),
        ("{'id':'a'}".into(), 400, "bad_json", "not JSON"),
        ("{\"payload\":NaN}".into(), 400, "bad_json", "not JSON"),
        ("{\"payload\":Infinity}".into(), 400, "bad_json", "not JSON"),
        ("{\"payload\":01}".into(), 400, "bad_json", "not JSON"),
        ("{\"payload\":\"\u{1}\"}".into(), 400, "bad_json", "not JSON"),
        ("{\"payload\":1,}".into(), 400, "bad_json", "not JSON"),
        ("\u{feff}{}".into(), 400, "bad_json", "not JSON"),
        ("id=a&payload=1".into(), 400, "bad_json", "not JSON"),
        (format!("{{\"payload\":{}}}", nested(200)), 400, "bad_json", "deep"),
        (nested(100_000), 400, "bad_json", "deep"),
        ("[]".into(), 422, "invalid", "body"),
        ("[{\"id\":\"a\"}]".into(), 422, "invalid", "body"),
        ("null".into(), 422, "invalid", "body"),
        ("\"text\"".into(), 422, "invalid", "body"),
        ("7".into(), 422, "invalid", "body"),
        ("{\"colour\":1}".into(), 422, "invalid", "colour"),
        ("{\"id\":\"a\",\"tasks\":[]}".into(), 422, "invalid", "tasks"),
        ("{\"tasks\":[],\"id\":\"a\"}".into(), 422, "invalid", "id"),
        ("{\"tasks\":{}}".into(), 422, "invalid", "tasks"),
        ("{\"id\":\"a\",\"id\":\"b\"}".into(), 422, "invalid", "id"),
        ("{\"id\":7}".into(), 422, "invalid", "id"),
        ("{\"id\":\"\"}".into(), 422, "invalid", "id"),
        ("{\"id\":\"a b\"}".into(), 422, "invalid", "id"),
        ("{\"id\":\"a/b\"}".into(), 422, "invalid", "id"),
        (format!("{{\"id\":{}}}", big(203)), 422, "invalid", "id"),
        (format!("{{{}:1}}", big(100_000)), 422, "invalid", "xxx"),
        (format!("{{\"priority\":{}}}", big(100_000)), 422, "invalid", "priority"),
        (format!("{{\"due\":{}}}", big(100_000)), 422, "invalid", "due"),
        ("{\"priority\":101}".into(), 422, "invalid", "priority"),
        ("{\"priority\":-101}".into(), 422, "invalid", "priority"),
        ("{\"priority\":1.5}".into(), 422, "invalid", "priority"),
        ("{\"priority\":\"high\"}".into(), 422, "invalid", "priority"),
        ("{\"priority\":1e400}".into(), 422, "invalid", "priority"),
        ("{\"priority\":99999999999999999999}".into(), 422, "invalid", "priority"),
        ("{\"due\":-1}".into(), 422, "invalid", "due"),
        ("{\"due\":1e300}".into(), 422, "invalid", "due"),
        ("{\"due\":1e400}".into(), 422, "invalid", "due"),
        ("{\"due\":9223372036854775807}".into(), 422, "invalid", "due"),
        ("{\"due\":\"2026-02-30T00:00:00Z\"}".into(), 422, "invalid", "due"),
        ("{\"due\":\"tomorrow\"}".into(), 422, "invalid", "due"),
        ("{\"due\":\"10000-01-01T00:00:00Z\"}".into(), 422, "invalid", "due"),
        ("{\"due\":253402300800}".into(), 422, "invalid", "due"),
        ("{\"due\":true}".into(), 422, "invalid", "due"),
        ("{\"due\":1,\"delay\":1}".into(), 422, "invalid", "delay"),
        ("{\"delay\":-1}".into(), 422, "invalid", "delay"),
        ("{\"delay\":\"5 parsecs\"}".into(), 422, "invalid", "delay"),
        ("{\"delay\":\"NaN\"}".into(), 422, "invalid", "delay"),
        ("{\"delay\":1e18}".into(), 422, "invalid", "delay"),
        ("{\"hold\":0}".into(), 422, "invalid", "hold"),
        ("{\"max_attempts\":0}".into(), 422, "invalid", "max_attempts"),
        ("{\"max_attempts\":-2}".into(), 422, "invalid", "max_attempts"),
        ("{\"retry\":{}}".into(), 422, "invalid", "retry"),
        ("{\"retry\":{\"first\":1,\"factor\":0}}".into(), 422, "invalid", "factor"),
        ("{\"retry\":{\"intervals\":[1,-1]}}".into(), 422, "invalid", "retry.intervals[1]"),
        ("{\"retry\":[1]}".into(), 422, "invalid", "retry"),
        ("{\"tags\":\"x\"}".into(), 422, "invalid", "tags"),
        ("{\"tags\":[1]}".into(), 422, "invalid", "tags[0]"),
        ("{\"tags\":[\"\"]}".into(), 422, "invalid", "tags"),
        (format!("{{\"tags\":{}}}", tags(33)), 422, "invalid", "tags"),
        (format!("{{\"tags\":[{}]}}", big(131)), 413, "too_large", "tags"),
        (format!("{{\"payload\":{}}}", big((1 << 20) + 1)), 413, "too_large", "payload"),
        ("{\"http\":{\"url\":\"http://x\"}}".into(), 422, "invalid", "http"),
        ("{\"requires\":[\"gpu\"]}".into(), 422, "invalid", "requires"),
        ("{\"callback\":{\"on\":[],\"queue\":\"x\"}}".into(), 422, "invalid", "callback"),
        (
            "{\"callback\":{\"on\":[\"never\"],\"queue\":\"x\"}}".into(),
            422,
            "invalid",
            "callback.on[0]",
        ),
        ("{\"callback\":{}}".into(), 422, "invalid", "callback"),
        (
            "{\"callback\":{\"queue\":\"x\",\"task\":{\"colour\":1}}}".into(),
            422,
            "invalid",
            "colour",
        ),
        ("{\"expires\":\"soon\"}".into(), 422, "invalid", "expires"),
        ("{\"unique_for\":-5}".into(), 422, "invalid", "unique_for"),
    ];
    let mut callback = String::from("{}");
    for _ in 0..62 {
        callback = format!("{{\"callback\":{{\"queue\":\"x\",\"task\":{callback}}}}}");
    }
    rows.push((callback.replace("{}", "{\"colour\":1}"), 422, "invalid", "callback.task.callback"));
    let mut rows: Vec<_> = rows
        .into_iter()
        .map(|(body, status, code, says)| (body.into_bytes(), status, code, says))
        .collect();
    rows.push((b"{\"payload\":\"\xff\"}".to_vec(), 400, "bad_json", "UTF-8"));
    rows.push((b"\xff\xfe{}".to_vec(), 400, "bad_json", "UTF-8"));
    rows.push((b"{\"payload\":\"\xed\xa0\x80\"}".to_vec(), 400, "bad_json", "UTF-8"));
    rows
}

#[tokio::test]
async fn bad_pushes_get_their_error_and_change_nothing() {
    let server = TestServer::start().await;
    for (body, status, code, says) in table() {
        let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
        let answer = server.raw("POST", "/v1/queues/q/tasks", &[], body).await;
        assert_eq!(answer.status.as_u16(), status, "{shown}: {}", answer.json);
        let detail = answer.problem(status, code);
        assert!(detail.contains(says), "{shown}: {detail}");
        assert!(detail.len() < 1_000, "{shown}: {detail}");
    }
    server.get("/v1/queues/q").await.problem(404, "not_found");
}

#[tokio::test]
async fn what_is_unusual_but_right_is_taken() {
    let server = TestServer::start().await;
    let nested = format!("{{\"payload\":{}1{}}}", "[".repeat(127), "]".repeat(127));
    let exact = format!("{{\"payload\":\"{}\"}}", "x".repeat((1 << 20) - 2));
    for body in [
        "{\"payload\":1e400}",
        "{\"payload\":\"\\ud800\"}",
        "{\"payload\":{\"a\":1,\"a\":2}}",
        " \r\n\t{ \"payload\" : null } \n",
        "{\"id\":null,\"payload\":1,\"due\":null,\"tags\":null,\"callback\":null}",
        "{\"tags\":[]}",
        "{\"max_attempts\":-1}",
        "{\"due\":0}",
        "{\"due\":253402300799.999}",
        "{\"delay\":\"100y\"}".replace("100y", "36500d").as_str(),
        &nested,
        &exact,
    ] {
        let body = body.to_owned();
        let answer = server.raw("POST", "/v1/queues/q/tasks", &[], body.clone()).await;
        assert_eq!(answer.status, 201, "{}: {}", &body[..body.len().min(80)], answer.json);
    }
}

#[tokio::test]
async fn null_is_as_good_as_left_out() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a", "callback": {"queue": "r", "on": null}})).await;
    let take = json!({"worker": null, "n": null, "wait": null, "confirm": null, "commit": null});
    let taken = server.take(take).await;
    server.verb("a", "retry", json!({"force": null})).await.problem(409, "wrong_state");
    let fail = json!({"token": taken["token"], "error": null, "permanent": null});
    assert_eq!(server.verb("a", "fail", fail).await.is(200)["state"], "waiting");
    let bulk = json!({"verb": "pause", "filter": {"tag": null}, "dry_run": null, "cursor": null});
    assert_eq!(server.post("/v1/queues/q/tasks/bulk", bulk).await.is(200)["changed"], 1);
    let push = json!({"task": null, "data": null, "ontime": null, "overwrite": null});
    assert_eq!(server.post("/v1/queues/q/bundles/k/push", push).await.is(200)["size"], 1);
    let data = json!({"add": null, "remove": null});
    assert_eq!(server.post("/v1/queues/q/bundles/k/data", data).await.is(200)["data"], json!([]));
}

#[tokio::test]
async fn bad_settings_get_their_error_and_change_nothing() {
    let server = TestServer::start().await;
    let before = server.put("/v1/queues/q", json!({"tag": "t"})).await.is(201);
    for (body, field) in [
        (json!({"hold": 0}), "hold"),
        (json!({"hold": "x"}), "hold"),
        (json!({"hold": -1}), "hold"),
        (json!({"max": 0}), "max"),
        (json!({"max": -1}), "max"),
        (json!({"max": 1.5}), "max"),
        (json!({"max": "many"}), "max"),
        (json!({"max_attempts": 0}), "max_attempts"),
        (json!({"concurrency": 0}), "concurrency"),
        (json!({"concurrency": 5_000_000_000_u64}), "concurrency"),
        (json!({"rate": 5}), "rate"),
        (json!({"rate": {"limit": 5}}), "per"),
        (json!({"rate": {"limit": 5, "per": 0}}), "rate"),
        (json!({"rate": {"limit": 5, "per": 1, "burst": 1}}), "burst"),
        (json!({"keep": {"done": "x"}}), "keep.done"),
        (json!({"keep": {"lost": 1}}), "lost"),
        (json!({"keep": 1}), "keep"),
        (json!({"order": "lifo"}), "order"),
        (json!({"mode": "push"}), "mode"),
        (json!({"tag": 1}), "tag"),
        (json!({"url": "ftp://x"}), "url"),
        (json!({"url": "http://127.1/"}), "url"),
        (json!({"timeout": 0}), "timeout"),
        (json!({"timeout": "2h"}), "timeout"),
        (json!({"secret": "whsk_x"}), "secret"),
        (json!({"headers": {"Host": "x"}}), "headers"),
        (json!({"headers": {"x": "a\r\nb"}}), "headers"),
        (json!({"headers": [1]}), "headers"),
        (json!({"secret": ["1", "2", "3", "4", "5", "6"]}), "secret"),
        (json!({"secret": 1}), "secret"),
        (json!({"abandoned": "keep"}), "abandoned"),
        (json!({"colour": "red"}), "colour"),
        (json!({"tag": "new", "pause": true}), "pause"),
    ] {
        let detail = server.put("/v1/queues/q", body.clone()).await.problem(422, "invalid");
        assert!(detail.contains(field), "{body}: {detail}");
    }
    server.put("/v1/queues/q", json!({"tag": "x".repeat(129)})).await.problem(413, "too_large");
    assert_eq!(server.get("/v1/queues/q").await.is(200), before);
}

#[tokio::test]
async fn bad_words_of_holders_get_their_error_and_change_nothing() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a"})).await;
    let taken = server.take(json!({})).await;
    let before = server.task("a").await;
    let big = "x".repeat((1 << 20) + 1);
    let long = "x".repeat(4_097);
    for (verb, extra, status, says) in [
        ("extend", json!({"progress": 1.1}), 422, "progress"),
        ("extend", json!({"progress": -0.1}), 422, "progress"),
        ("extend", json!({"progress": "half"}), 422, "progress"),
        ("extend", json!({"hold": 0}), 422, "hold"),
        ("extend", json!({"hold": "x"}), 422, "hold"),
        ("extend", json!({"message": long}), 413, "message"),
        ("extend", json!({"message": 1}), 422, "message"),
        ("extend", json!({"checkpoint": big}), 413, "checkpoint"),
        ("commit", json!({"result": big}), 413, "result"),
        ("commit", json!({"outcome": 1}), 422, "outcome"),
        ("fail", json!({"error": long}), 413, "error"),
        ("fail", json!({"error": {}}), 422, "error"),
        ("fail", json!({"retry_in": -1}), 422, "retry_in"),
        ("fail", json!({"permanent": "yes"}), 422, "permanent"),
        ("release", json!({"delay": "x"}), 422, "delay"),
        ("release", json!({"checkpoint": big}), 413, "checkpoint"),
        ("cancelled", json!({"result": big}), 413, "result"),
        ("paused", json!({"error": long}), 413, "error"),
        ("confirm", json!({"worker": "w"}), 422, "worker"),
    ] {
        let mut body = extra;
        body["token"] = taken["token"].clone();
        let code = if status == 413 { "too_large" } else { "invalid" };
        let detail = server.verb("a", verb, body).await.problem(status, code);
        assert!(detail.contains(says), "{verb}: {detail}");
    }
    for verb in ["confirm", "extend", "commit", "fail", "release", "cancelled", "paused"] {
        let detail = server.verb("a", verb, json!({})).await.problem(422, "invalid");
        assert!(detail.contains("token"), "{verb}: {detail}");
        server.verb("a", verb, json!({"token": 7})).await.problem(422, "invalid");
    }
    for verb in ["cancel", "pause", "resume", "reset"] {
        let detail = server.verb("a", verb, json!({"now": true})).await.problem(422, "invalid");
        assert!(detail.contains("now"), "{verb}: {detail}");
    }
    server.verb("a", "retry", json!({"force": 1})).await.problem(422, "invalid");
    for (edit, says) in [
        (json!({"priority": 101}), "priority"),
        (json!({"id": "b"}), "id"),
        (json!({"due": -1}), "due"),
        (json!({"tags": [""]}), "tags"),
        (json!({"retry": {"intervals": []}}), "retry"),
    ] {
        let detail = server.patch("/v1/queues/q/tasks/a", edit).await.problem(422, "invalid");
        assert!(detail.contains(says), "{detail}");
    }
    assert_eq!(server.task("a").await, before);
}

#[tokio::test]
async fn a_body_is_judged_before_its_target_is_looked_for() {
    let server = TestServer::start().await;
    let post = async |path: &str, body: &str| server.raw("POST", path, &[], body.to_owned()).await;
    for path in ["/v1/queues/none/take", "/v1/queues/none/commit", "/v1/queues/none/tasks/a/commit"]
    {
        post(path, "{").await.problem(400, "bad_json");
        post(path, "{\"colour\":1}").await.problem(422, "invalid");
    }
    let result = "x".repeat((1 << 20) + 1);
    let body = json!({"token": "t", "result": result});
    server.post("/v1/queues/none/tasks/a/commit", body).await.problem(413, "too_large");
    server.post("/v1/queues/none/take", json!({"n": 0})).await.problem(422, "invalid");
}
