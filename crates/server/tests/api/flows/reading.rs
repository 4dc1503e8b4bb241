//! How flows are listed, and what a step that is no task yet waits for.

use super::super::{TestServer, json};
use super::*;

#[tokio::test]
async fn a_step_says_what_it_waits_for() {
    let server = TestServer::start().await;
    make(&server, "stop", &[("a", &[]), ("b", &[]), ("c", &["a", "b"]), ("d", &["c"])]).await;
    let why = server.get("/v1/queues/q/tasks/f~c/why").await.is(200);
    assert_eq!(
        why,
        json!({"reason": "waiting_for_steps", "text": "waiting for steps a and b",
            "state": "pending", "waiting_for": ["a", "b"]})
    );
    let why = server.get("/v1/queues/q/tasks/f~d/why").await.is(200);
    assert_eq!(why["text"], "waiting for step c");
    let why = server.get("/v1/queues/q/tasks/f~a/why").await.is(200);
    assert_eq!(why["reason"], "no_taker");
    for id in ["f~x", "x~a", "f", "f~", "~c", "~", "f~c~"] {
        let path = format!("/v1/queues/q/tasks/{id}/why");
        server.get(&path).await.problem(404, "not_found");
    }
    server.put("/v1/queues/other", json!({})).await.is(201);
    server.get("/v1/queues/other/tasks/f~c/why").await.problem(404, "not_found");
    fail(&server, "a").await;
    work(&server, "b", json!(1)).await;
    let why = server.get("/v1/queues/q/tasks/f~c/why").await.is(200);
    assert_eq!(why["text"], "waiting for step a");
}

#[tokio::test]
async fn names_with_tildes_are_told_apart() {
    let server = TestServer::start().await;
    let steps = json!([{"name": "a", "queue": "q"}, {"name": "b~c", "queue": "q", "after": ["a"]}]);
    server.post("/v1/flows", json!({"id": "x~y", "steps": steps})).await.is(201);
    let why = server.get("/v1/queues/q/tasks/x~y~b~c/why").await.is(200);
    assert_eq!(why["waiting_for"], json!(["a"]));
    let read = server.get("/v1/flows/x~y").await.is(200);
    assert_eq!(read["steps"][1]["task"], "x~y~b~c");
}

#[tokio::test]
async fn flows_are_listed_by_id_and_state() {
    let server = TestServer::start().await;
    for id in ["c", "a", "b"] {
        let flow = json!({"id": id, "steps": [{"name": "s", "queue": "q"}]});
        server.post("/v1/flows", flow).await.is(201);
    }
    server.post("/v1/flows/b/pause", json!({})).await.is(200);
    server.post("/v1/flows/c/cancel", json!({})).await.is(200);
    let ids = |page: &serde_json::Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap();
        items.iter().map(|flow| flow["id"].as_str().unwrap().to_owned()).collect()
    };
    let all = server.get("/v1/flows").await.is(200);
    assert_eq!((ids(&all), &all["next"]), (vec!["a".into(), "b".into(), "c".into()], &json!(null)));
    assert!(all["items"][0].get("steps").is_none());
    let some = server.get("/v1/flows?state=paused,cancelled").await.is(200);
    assert_eq!(ids(&some), ["b", "c"]);
    let first = server.get("/v1/flows?limit=2").await.is(200);
    assert_eq!(ids(&first), ["a", "b"]);
    let next = first["next"].as_str().unwrap().replace('"', "%22").replace('{', "%7B");
    let rest =
        server.get(&format!("/v1/flows?limit=2&cursor={next}").replace('}', "%7D")).await.is(200);
    assert_eq!((ids(&rest), &rest["next"]), (vec!["c".into()], &json!(null)));
    for query in ["state=waiting", "limit=0", "limit=1001", "cursor=%00", "colour=1"] {
        server.get(&format!("/v1/flows?{query}")).await.problem(422, "invalid");
    }
    server.get("/v1/flows/none").await.problem(404, "not_found");
    server.post("/v1/flows/none/retry", json!({})).await.problem(404, "not_found");
    server.get(&format!("/v1/flows/{}", "x".repeat(91))).await.problem(422, "invalid");
}

#[tokio::test]
async fn results_that_are_too_many_for_an_answer_are_left_out() {
    let server = TestServer::start().await;
    let names: Vec<String> = (0..150).map(|n| format!("s{n:03}")).collect();
    let steps: Vec<_> = names.iter().map(|name| json!({"name": name, "queue": "q"})).collect();
    server.post("/v1/flows", json!({"id": "f", "steps": steps})).await.is(201);
    let taken = server.post("/v1/queues/q/take", json!({"n": 150})).await.is(200);
    let result = "x".repeat(60_000);
    let commits: Vec<_> = taken["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| json!({"id": task["id"], "token": task["token"], "result": result}))
        .collect();
    server.post("/v1/queues/q/commit", json!({"tasks": commits})).await.is(200);
    let read = flow(&server).await;
    assert_eq!(read["state"], "done");
    let told = |step: &&serde_json::Value| !step["result"].is_null();
    let told = read["steps"].as_array().unwrap().iter().filter(told).count();
    assert_eq!(told, (8 << 20) / 60_002);
    assert_eq!(read["steps"][149]["result_left_out"], true);
    assert!(read["steps"][0].get("result_left_out").is_none());
}
