//! What a worker has at the moment, as people see it.

use super::{TestServer, Value, json};

/// What a worker has, `queue/id`.
fn names(page: &Value) -> Vec<String> {
    let name = |task: &Value| {
        format!("{}/{}", task["queue"].as_str().unwrap(), task["id"].as_str().unwrap())
    };
    page["items"].as_array().unwrap().iter().map(name).collect()
}

async fn had(server: &TestServer, worker: &str) -> Vec<String> {
    names(&server.get(&format!("/v1/workers/{worker}/tasks")).await.is(200))
}

#[tokio::test]
async fn a_worker_has_what_it_was_given_until_it_settles_it() {
    let server = TestServer::of_mode("dispatch").await;
    server.put("/v1/queues/a", json!({"mode": "dispatch"})).await.is(201);
    server.join("w", json!({"queues": ["q", "a"], "capacity": 9})).await;
    assert!(had(&server, "w").await.is_empty());
    server.push(json!({"id": "y", "payload": {"n": 1}})).await;
    server.push(json!({"id": "x"})).await;
    server.post("/v1/queues/a/tasks", json!({"id": "z"})).await.is(201);
    let given = server.given("w", 3).await;
    assert_eq!(had(&server, "w").await, ["a/z", "q/x", "q/y"]);
    let task = given.iter().find(|task| task["id"] == "y").unwrap();
    server.verb("y", "confirm", json!({"token": task["token"]})).await.is(200);
    let page = server.get("/v1/workers/w/tasks").await.is(200);
    assert_eq!(page["next"], Value::Null);
    let y = &page["items"].as_array().unwrap().iter().find(|task| task["id"] == "y").unwrap();
    assert_eq!(
        (&y["state"], &y["worker"], &y["payload"]),
        (&json!("running"), &json!("w"), &json!({"n": 1}))
    );
    assert!(y.get("token").is_none(), "who reads may not settle: {y}");
    server.verb("y", "commit", json!({"token": task["token"]})).await.is(200);
    assert_eq!(had(&server, "w").await, ["a/z", "q/x"]);
    server.delete("/v1/workers/w").await.is(204);
    server.get("/v1/workers/w/tasks").await.problem(404, "not_found");
}

#[tokio::test]
async fn what_it_is_to_vote_on_is_there_until_it_has_voted() {
    let server = TestServer::of_mode("vote").await;
    server.join("a", json!({})).await;
    server.join("b", json!({})).await;
    server.push(json!({"id": "t"})).await;
    let task = server.given("a", 1).await.remove(0);
    let states = async |worker: &str| {
        let page = server.get(&format!("/v1/workers/{worker}/tasks")).await.is(200);
        let items = page["items"].as_array().unwrap().clone();
        items.into_iter().map(|task| task["state"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(states("a").await, ["assigned"]);
    server.verb("t", "confirm", json!({"token": task["token"]})).await.is(200);
    assert_eq!(
        (states("a").await, states("b").await),
        (vec![json!("running")], vec![json!("assigned")])
    );
    server.verb("t", "commit", json!({"token": task["token"], "result": 1})).await.is(200);
    assert!(states("a").await.is_empty(), "it has voted");
    assert_eq!(states("b").await, ["assigned"]);
    server.delete("/v1/queues/q/tasks/t").await.is(204);
    assert!(states("b").await.is_empty(), "there is nothing to vote on");
}

#[tokio::test]
async fn pages_end_where_the_next_begins() {
    let server = TestServer::of_mode("dispatch").await;
    server.join("w", json!({"capacity": 100})).await;
    let tasks: Vec<Value> = (0..70).map(|n| json!({"id": format!("t{n:02}")})).collect();
    server.post("/v1/queues/q/tasks", json!({"tasks": tasks})).await.is(200);
    server.given("w", 70).await;
    for limit in [1_usize, 23, 32, 35, 69, 70, 71] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/v1/workers/w/tasks?limit={limit}&cursor={cursor}");
            let page = server.get(&path).await.is(200);
            let some = names(&page);
            assert!(!some.is_empty() && some.len() <= limit, "{limit}: {some:?}");
            seen.extend(some);
            match page["next"].as_str() {
                Some(next) => cursor = next.replace(' ', "%20"),
                None => break,
            }
        }
        let all: Vec<String> = (0..70).map(|n| format!("q/t{n:02}")).collect();
        assert_eq!(seen, all, "{limit}");
    }
}

#[tokio::test]
async fn bad_questions_are_refused() {
    let server = TestServer::of_mode("dispatch").await;
    server.get("/v1/workers/none/tasks").await.problem(404, "not_found");
    server.join("w", json!({})).await;
    for query in ["limit=0", "limit=1001", "limit=x", "cursor=x", "cursor=a%20", "state=running"] {
        let path = format!("/v1/workers/w/tasks?{query}");
        server.get(&path).await.problem(422, "invalid");
    }
    server.get("/v1/workers/a%20b/tasks").await.problem(422, "invalid");
}
