//! Tasks that the server assigns.

use std::time::Duration;

use super::{TestServer, Value, json};

#[tokio::test]
async fn a_task_is_assigned_confirmed_and_committed() {
    let server = TestServer::of_mode("dispatch").await;
    server.join("w", json!({})).await;
    let waiting = server.post("/v1/workers/w/poll", json!({"wait": 30}));
    let (polled, pushed) = tokio::join!(waiting, server.push(json!({"id": "a", "payload": 7})));
    assert_eq!(pushed["state"], "ready");
    let polled = polled.is(200);
    let task = &polled["assignments"][0];
    assert_eq!((&task["state"], &task["worker"]), (&json!("assigned"), &json!("w")));
    assert_eq!((&task["payload"], &task["attempt"]), (&json!(7), &json!(1)));
    assert_eq!(task["hold_until"], "2026-11-15T06:00:10.000Z");
    // It repeats until it is confirmed, and reading shows no token.
    let again = server.poll("w", json!({"wait": 30})).await;
    assert_eq!(again["assignments"][0]["token"], task["token"]);
    assert_eq!(server.task("a").await.get("token"), None);
    assert_eq!(server.get("/v1/workers/w").await.is(200)["load"], 1);
    let token = json!({"token": task["token"]});
    let confirmed = server.verb("a", "confirm", token.clone()).await.is(200);
    assert_eq!(confirmed["hold_until"], "2026-11-15T06:00:30.000Z");
    assert_eq!(server.poll("w", json!({})).await["assignments"], json!([]));
    let done = server.verb("a", "commit", token.clone()).await.is(200);
    assert_eq!((&done["state"], &done["worker"]), (&json!("done"), &json!("w")));
    server.verb("a", "commit", token).await.is(200);
    assert_eq!(server.get("/v1/workers/w").await.is(200)["load"], 0);
    server.post("/v1/queues/q/take", json!({})).await.problem(409, "wrong_state");
}

#[tokio::test]
async fn a_freed_place_is_filled_and_capacity_is_kept() {
    let server = TestServer::of_mode("dispatch").await;
    server.join("w", json!({"capacity": 2})).await;
    for id in ["a", "b", "c", "d"] {
        server.push(json!({"id": id})).await;
    }
    let mut done = 0;
    while done < 4 {
        let tasks = server.given("w", 1).await;
        assert!(tasks.len() <= 2);
        let load = server.get("/v1/workers/w").await.is(200)["load"].as_u64().unwrap();
        assert!(load <= 2, "{load}");
        let counts = server.get("/v1/queues/q").await.is(200)["counts"].clone();
        assert!(counts["taken"].as_u64().unwrap() <= 2, "{counts}");
        server.work(&tasks[0], json!(1)).await;
        done += 1;
    }
    let why = server.get("/v1/queues/q").await.is(200)["counts"]["done"].clone();
    assert_eq!(why, 4);
}

#[tokio::test]
async fn the_least_loaded_is_given_the_next() {
    let server = TestServer::of_mode("dispatch").await;
    for name in ["a", "b", "c"] {
        server.join(name, json!({"capacity": 9})).await;
    }
    for id in 0..9 {
        server.push(json!({"id": id.to_string()})).await;
        server.until(&id.to_string(), "assigned").await;
    }
    for name in ["a", "b", "c"] {
        let load = server.get(&format!("/v1/workers/{name}")).await.is(200)["load"].clone();
        assert_eq!(load, 3, "{name}");
    }
}

#[tokio::test]
async fn only_those_who_are_capable_are_asked() {
    let server = TestServer::of_mode("dispatch").await;
    server.join("plain", json!({"capacity": 9})).await;
    server.push(json!({"id": "a", "requires": ["gpu", "big"]})).await;
    server.push(json!({"id": "b"})).await;
    assert_eq!(server.given("plain", 1).await[0]["id"], "b");
    let why = server.get("/v1/queues/q/tasks/a/why").await.is(200);
    assert_eq!(why["reason"], "no_capable_worker", "{why}");
    assert!(why["text"].as_str().unwrap().contains("gpu, big"), "{why}");
    // One that is busy with others is still the only one who can.
    server.join("gpu", json!({"capacity": 3, "capabilities": ["gpu", "big", "more"]})).await;
    assert_eq!(server.given("gpu", 1).await[0]["id"], "a");
    server.push(json!({"id": "c", "requires": ["gpu"]})).await;
    assert_eq!(server.until("c", "assigned").await["worker"], "gpu");
    server.push(json!({"id": "d", "requires": ["more"]})).await;
    assert_eq!(server.until("d", "assigned").await["worker"], "gpu");
    server.push(json!({"id": "e", "requires": ["more"]})).await;
    let why =
        server.eventually("/v1/queues/q/tasks/e/why", |why| why["reason"] == "workers_busy").await;
    assert_eq!(why["state"], "ready");
}

#[tokio::test]
async fn what_is_not_confirmed_goes_to_another() {
    let server = TestServer::of_mode("dispatch").await;
    server.join("a", json!({"capacity": 9})).await;
    server.push(json!({"id": "t"})).await;
    let first = server.given("a", 1).await.remove(0);
    server.join("b", json!({"capacity": 9})).await;
    // A look that is under way just then may still go by what was known before.
    let is_at_b = |task: &Value| task["worker"] == "b" && task["state"] == "assigned";
    let mut attempt = 1;
    while attempt == 1 || !is_at_b(&server.task("t").await) {
        assert!(attempt < 4, "it never goes to another");
        attempt += 1;
        server.advance(10).await;
        let path = "/v1/queues/q/tasks/t";
        server.eventually(path, |task| task["attempt"] == attempt).await;
    }
    server.given("b", 1).await;
    server.verb("t", "confirm", json!({"token": first["token"]})).await.problem(409, "stale_token");
    // Who let it pass is asked last, until it is heard of again.
    server.push(json!({"id": "u"})).await;
    assert_eq!(server.until("u", "assigned").await["worker"], "b");
    server.poll("a", json!({})).await;
    let mut workers = Vec::new();
    for id in ["v", "w"] {
        server.push(json!({"id": id})).await;
        workers.push(server.until(id, "assigned").await["worker"].clone());
    }
    assert!(workers.contains(&json!("a")), "{workers:?}");
}

#[tokio::test]
async fn attempts_are_limited() {
    let server = TestServer::of_mode("dispatch").await;
    server.join("w", json!({})).await;
    server.push(json!({"id": "a", "max_attempts": 2})).await;
    for attempt in 1..=2 {
        let task = server.given("w", 1).await.remove(0);
        assert_eq!(task["attempt"], attempt);
        server.advance(10).await;
        let path = "/v1/queues/q/tasks/a";
        let ended = |task: &Value| task["history"].as_array().map(Vec::len) == Some(attempt);
        server.eventually(path, ended).await;
    }
    let failed = server.until("a", "failed").await;
    assert_eq!(failed["error"], "not confirmed in time");
}

#[tokio::test]
async fn cancel_and_pause_reach_a_waiting_poll_once() {
    let server = TestServer::of_mode("dispatch").await;
    server.join("w", json!({"capacity": 2})).await;
    for id in ["a", "b"] {
        server.push(json!({"id": id})).await;
    }
    let tasks = server.given("w", 2).await;
    for task in &tasks {
        let id = task["id"].as_str().unwrap();
        server.verb(id, "confirm", json!({"token": task["token"]})).await.is(200);
    }
    let waiting = server.post("/v1/workers/w/poll", json!({"wait": 30}));
    let (polled, _) = tokio::join!(waiting, server.verb("a", "cancel", json!({})));
    assert_eq!(polled.is(200)["cancel"], json!([{"queue": "q", "id": "a"}]));
    let waiting = server.post("/v1/workers/w/poll", json!({"wait": 30}));
    let (polled, _) = tokio::join!(waiting, server.verb("b", "pause", json!({})));
    let polled = polled.is(200);
    assert_eq!(polled["cancel"], json!([{"queue": "q", "id": "a"}]), "still asked");
    assert_eq!(polled["pause"], json!([{"queue": "q", "id": "b"}]));
    // What it has been told does not end a wait, and is told all the same.
    let polled = server.poll("w", json!({"wait": 0.2})).await;
    assert_eq!(polled["pause"], json!([{"queue": "q", "id": "b"}]));
    let token = |id: &str| tasks.iter().find(|task| task["id"] == id).unwrap()["token"].clone();
    server.verb("a", "cancelled", json!({"token": token("a")})).await.is(200);
    let paused = server.verb("b", "paused", json!({"token": token("b"), "checkpoint": 5})).await;
    assert_eq!(paused.is(200)["state"], "paused");
    let polled = server.poll("w", json!({})).await;
    assert_eq!(polled, json!({"assignments": [], "cancel": [], "pause": []}));
    server.verb("b", "resume", json!({})).await.is(200);
    assert_eq!(server.given("w", 1).await[0]["checkpoint"], 5);
}

#[tokio::test]
async fn limits_of_a_queue_hold_for_assignments() {
    let server = TestServer::of_mode("dispatch").await;
    server.put("/v1/queues/q", json!({"concurrency": 1})).await.is(200);
    server.join("w", json!({"capacity": 9})).await;
    for id in ["a", "b"] {
        server.push(json!({"id": id})).await;
    }
    let first = server.given("w", 1).await;
    assert_eq!(first.len(), 1);
    let why = server.get("/v1/queues/q/tasks/b/why").await.is(200);
    assert_eq!(why["reason"], "concurrency", "{why}");
    server.work(&first[0], json!(1)).await;
    let second = server.given("w", 1).await;
    server.post("/v1/queues/q/pause", json!({})).await.is(200);
    server.push(json!({"id": "c"})).await;
    server.work(&second[0], json!(1)).await;
    let why = server.get("/v1/queues/q/tasks/c/why").await.is(200);
    assert_eq!(why["reason"], "queue_paused", "{why}");
    assert_eq!(server.poll("w", json!({})).await["assignments"], json!([]));
    server.post("/v1/queues/q/resume", json!({})).await.is(200);
    assert_eq!(server.given("w", 1).await[0]["id"], "c");
}

#[tokio::test]
async fn a_worker_shares_its_places_among_queues() {
    let server = TestServer::of_mode("dispatch").await;
    server.put("/v1/queues/r", json!({"mode": "dispatch"})).await.is(201);
    for queue in ["q", "r"] {
        let tasks: Vec<Value> = (0..20).map(|id| json!({"id": format!("{queue}{id}")})).collect();
        server.post(&format!("/v1/queues/{queue}/tasks"), json!({"tasks": tasks})).await.is(200);
    }
    server.join("w", json!({"queues": ["q", "r"], "capacity": 10})).await;
    let tasks = server.given("w", 10).await;
    let of = |queue: &str| tasks.iter().filter(|task| task["queue"] == queue).count();
    assert_eq!((of("q"), of("r")), (5, 5));
    // One place: both queues get their turns.
    server.join("one", json!({"queues": ["q", "r"], "capacity": 1})).await;
    let mut turns = Vec::new();
    for _ in 0..6 {
        let task = server.given("one", 1).await.remove(0);
        let (queue, id) = (task["queue"].as_str().unwrap(), task["id"].as_str().unwrap());
        turns.push(queue.to_owned());
        let path = format!("/v1/queues/{queue}/tasks/{id}");
        let token = json!({"token": task["token"]});
        server.post(&format!("{path}/confirm"), token.clone()).await.is(200);
        server.post(&format!("{path}/commit"), token).await.is(200);
    }
    let of = |queue: &str| turns.iter().filter(|turn| *turn == queue).count();
    assert!(of("q") >= 2 && of("r") >= 2, "{turns:?}");
}

#[tokio::test]
async fn a_task_can_be_assigned_by_hand() {
    let server = TestServer::of_mode("dispatch").await;
    server.post("/v1/queues/q/pause", json!({})).await.is(200);
    server.join("w", json!({"capabilities": ["gpu"]})).await;
    server.join("elsewhere", json!({"queues": ["other"]})).await;
    server.push(json!({"id": "a", "requires": ["gpu"]})).await;
    server.push(json!({"id": "b", "requires": ["big"]})).await;
    server.push(json!({"id": "c"})).await;
    let assign = |id: &str, worker: &str| {
        let (path, body) = (format!("/v1/queues/q/tasks/{id}/assign"), json!({"worker": worker}));
        let server = &server;
        async move { server.post(&path, body).await }
    };
    assert!(assign("b", "w").await.problem(409, "wrong_state").contains("big"));
    assign("c", "elsewhere").await.problem(409, "wrong_state");
    assign("c", "nobody").await.problem(404, "not_found");
    assign("none", "w").await.problem(404, "not_found");
    let assigned = assign("a", "w").await.is(200);
    assert_eq!((&assigned["state"], &assigned["worker"]), (&json!("assigned"), &json!("w")));
    assert_eq!(assigned.get("token"), None);
    assert!(assign("c", "w").await.problem(409, "wrong_state").contains("as many as it can"));
    assign("a", "w").await.problem(409, "wrong_state");
    let task = server.given("w", 1).await.remove(0);
    assert_eq!(task["id"], "a");
    server.work(&task, json!(1)).await;
    server.post("/v1/workers/w/drain", json!({})).await.is(200);
    assign("c", "w").await.problem(409, "wrong_state");
    server.put("/v1/queues/pull", json!({})).await.is(201);
    server.post("/v1/queues/pull/tasks", json!({"id": "a"})).await.is(201);
    let path = "/v1/queues/pull/tasks/a/assign";
    server.post(path, json!({"worker": "w"})).await.problem(409, "wrong_state");
}

#[tokio::test]
async fn the_scale_tells_of_registered_workers() {
    let server = TestServer::of_mode("dispatch").await;
    let scale = server.get("/v1/queues/q/scale").await.is(200);
    assert_eq!(scale, json!({"backlog": 0, "workers": 0, "desired_workers": 0}));
    server.push(json!({"id": "a"})).await;
    let why = server.get("/v1/queues/q/tasks/a/why").await.is(200);
    assert_eq!(why["reason"], "no_worker");
    let scale = server.get("/v1/queues/q/scale").await.is(200);
    assert_eq!(scale, json!({"backlog": 1, "workers": 0, "desired_workers": 1}));
    server.join("w", json!({"capacity": 4})).await;
    server.join("v", json!({"capacity": 4})).await;
    server.until("a", "assigned").await;
    let scale = server.get("/v1/queues/q/scale").await.is(200);
    assert_eq!(scale, json!({"backlog": 0, "workers": 2, "desired_workers": 1}));
}

#[tokio::test]
async fn a_plan_whose_station_nobody_serves_says_so() {
    let server = TestServer::of_mode("dispatch").await;
    let plan = json!({"plan_id": "p", "station": "q", "plan_type": "none"});
    server.post("/v1/plans", plan).await.is(201);
    // Nobody is registered, so that is said at once.
    server.eventually("/v1/plans/p", |plan| plan["last_state"] == "no_worker").await;
    server.join("w", json!({})).await;
    let run = server.given("w", 1).await.remove(0);
    assert_eq!(run["plan"]["plan_id"], "p");
    server.work(&run, json!({"x": 1})).await;
    server.eventually("/v1/plans/p", |plan| plan["state"] == "finished").await;
    let results = server.get("/v1/plans/p/results").await.is(200);
    assert_eq!(results["items"][0]["worker"], "w");
}

#[tokio::test]
async fn a_stopping_server_lets_polls_go() {
    let mut server = TestServer::of_mode("dispatch").await;
    server.join("w", json!({})).await;
    let address = server.address;
    let polling = tokio::spawn(async move {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let body = r#"{"wait":60}"#;
        let head = "POST /v1/workers/w/poll HTTP/1.1\r\nhost: localhost\r\nconnection: close";
        let request = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        tokio::io::AsyncReadExt::read_to_string(&mut stream, &mut answer).await.unwrap();
        answer
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    server.stop();
    server.stopped().await.unwrap();
    assert!(polling.await.unwrap().starts_with("HTTP/1.1 200"));
}
