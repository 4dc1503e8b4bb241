//! What is read of plans in pages, and what is left of one that is gone.

use serde_json::Value;

use super::{TestServer, json};

/// Reads all pages of a list and says how many items were on each.
async fn pages(server: &TestServer, path: &str) -> (Vec<Value>, Vec<usize>) {
    let (mut items, mut sizes, mut cursor) = (Vec::new(), Vec::new(), String::new());
    loop {
        let page = server.get(&format!("{path}?limit=1000&cursor={cursor}")).await.is(200);
        let read = page["items"].as_array().unwrap();
        sizes.push(read.len());
        items.extend_from_slice(read);
        match page["next"].as_str() {
            Some(next) => cursor = next.bytes().map(|byte| format!("%{byte:02X}")).collect(),
            None => return (items, sizes),
        }
    }
}

#[tokio::test]
async fn a_list_of_large_plans_comes_in_pages_of_8_mib() {
    let server = TestServer::start().await;
    let message = "x".repeat((1 << 20) - 2);
    for id in 10..20 {
        let plan = json!({"plan_id": id.to_string(), "station": "q", "plan_type": "time",
            "plan_time": "2030-01-01T00:00:00Z", "message": message});
        server.post("/v1/plans", plan).await.is(201);
    }
    let (plans, sizes) = pages(&server, "/v1/plans").await;
    let ids: Vec<&str> = plans.iter().map(|plan| plan["plan_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["10", "11", "12", "13", "14", "15", "16", "17", "18", "19"]);
    assert!(sizes.iter().all(|size| (1..=8).contains(size)), "{sizes:?}");
}

#[tokio::test]
async fn plans_are_listed_by_the_time_they_wait_for() {
    let server = TestServer::start().await;
    for (id, station, hour) in [("late", "q", 9), ("soon", "r", 7), ("next", "q", 8)] {
        let plan = json!({"plan_id": id, "station": station, "plan_type": "time",
            "plan_time": format!("2030-01-01T0{hour}:00:00Z")});
        server.post("/v1/plans", plan).await.is(201);
    }
    let day = json!({"plan_id": "paused", "station": "q", "plan_type": "day", "plan_value": 1,
        "plan_repet": -1});
    server.post("/v1/plans", day).await.is(201);
    server.post("/v1/plans/paused/pause", json!({})).await.is(200);
    let ids = async |query: &str| -> Vec<String> {
        let page = server.get(&format!("/v1/plans?order=next{query}")).await.is(200);
        let items = page["items"].as_array().unwrap().clone();
        items.iter().map(|item| item["plan_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids("").await, ["soon", "next", "late"]);
    assert_eq!(ids("&station=q").await, ["next", "late"]);
    assert_eq!(ids("&state=paused").await, [""; 0]);
    let first = server.get("/v1/plans?order=next&limit=2").await.is(200);
    let cursor: String =
        first["next"].as_str().unwrap().bytes().map(|byte| format!("%{byte:02X}")).collect();
    assert_eq!(ids(&format!("&limit=2&cursor={cursor}")).await, ["late"]);
    server.get("/v1/plans?order=random").await.problem(422, "invalid");
    server.get("/v1/plans?order=next&cursor=%00").await.problem(422, "invalid");
}

#[tokio::test]
async fn large_results_come_in_pages_and_none_is_left_out() {
    let server = TestServer::start().await;
    let plan = json!({"plan_id": "p", "station": "q", "plan_type": "second", "plan_value": 1,
        "plan_repet": -1, "keep_results": 18});
    server.post("/v1/plans", plan).await.is(201);
    let result = "x".repeat((1 << 20) - 2);
    for n in 1..=20 {
        server.advance(1).await;
        let run = server.take(json!({"wait": 20})).await;
        assert_eq!(run["plan"]["run"], n);
        let commit = json!({"token": run["token"], "result": result});
        server.verb(&format!("p@{n}"), "commit", commit).await.is(200);
    }
    let (results, sizes) = pages(&server, "/v1/plans/p/results").await;
    let runs: Vec<u64> = results.iter().map(|result| result["run"].as_u64().unwrap()).collect();
    assert_eq!(runs, (3..=20).rev().collect::<Vec<u64>>(), "the newest first, {sizes:?}");
    assert!(sizes.iter().all(|size| (1..=8).contains(size)), "{sizes:?}");
}

#[tokio::test]
async fn a_result_that_comes_between_two_pages_moves_none() {
    let server = TestServer::start().await;
    let plan = json!({"plan_id": "p", "station": "q", "plan_type": "second", "plan_value": 1,
        "plan_repet": -1, "keep_results": 4});
    server.post("/v1/plans", plan).await.is(201);
    let run = async |n: u64| {
        server.advance(1).await;
        let run = server.take(json!({"wait": 20})).await;
        server.verb(&format!("p@{n}"), "commit", json!({"token": run["token"]})).await.is(200);
    };
    for n in 1..=4 {
        run(n).await;
    }
    let first = server.get("/v1/plans/p/results?limit=2").await.is(200);
    assert_eq!((&first["items"][0]["run"], &first["items"][1]["run"]), (&json!(4), &json!(3)));
    run(5).await;
    let cursor = first["next"].as_str().unwrap();
    let second = server.get(&format!("/v1/plans/p/results?cursor={cursor}")).await.is(200);
    assert_eq!(second["items"].as_array().unwrap().len(), 1, "the first is kept no more");
    assert_eq!((&second["items"][0]["run"], &second["next"]), (&json!(2), &json!(null)));
}

#[tokio::test]
async fn a_repeated_request_for_a_plan_that_is_gone_names_it() {
    let server = TestServer::start().await;
    let (key, body) = ([("idempotency-key", "k")], r#"{"station":"q","plan_type":"none"}"#);
    let made = server.raw("POST", "/v1/plans", &key, body).await.is(201);
    let id = made["plan_id"].as_str().unwrap();
    server.delete(&format!("/v1/plans/{id}")).await.is(204);
    let gone = server.raw("POST", "/v1/plans", &key, body).await.is(201);
    assert_eq!(gone, json!({"plan_id": id, "station": "q", "id": id, "queue": "q"}));
}

#[tokio::test]
async fn a_second_run_is_refused_for_the_first_also_while_paused() {
    let server = TestServer::start().await;
    let plan = json!({"plan_id": "p", "station": "q", "plan_type": "hour", "plan_value": 1,
        "plan_repet": -1});
    server.post("/v1/plans", plan).await.is(201);
    server.post("/v1/plans/p/pause", json!({})).await.is(200);
    server.post("/v1/plans/p/run", json!({})).await.is(200);
    let refused = server.post("/v1/plans/p/run", json!({})).await.is(409);
    let words = "run does not apply while the run asked for before is running: task p@1.1";
    assert_eq!(refused["detail"], words);
}

#[tokio::test]
async fn a_failed_run_that_is_tried_again_after_a_resume_is_heard() {
    let server = TestServer::start().await;
    let plan = json!({"plan_id": "p", "station": "q", "plan_type": "hour", "plan_value": 1,
        "plan_repet": 2, "max_attempts": 1});
    server.post("/v1/plans", plan).await.is(201);
    server.advance(3_600).await;
    let run = server.take(json!({"wait": 20})).await;
    server.verb("p@1", "fail", json!({"token": run["token"]})).await.is(200);
    server.post("/v1/plans/p/resume", json!({})).await.is(200);
    server.verb("p@1", "retry", json!({})).await.is(200);
    assert_eq!(server.get("/v1/plans/p").await.is(200)["state"], "running");
    let run = server.take(json!({"wait": 20})).await;
    server.verb("p@1", "commit", json!({"token": run["token"]})).await.is(200);
    let plan = server.get("/v1/plans/p").await.is(200);
    assert_eq!((&plan["state"], &plan["real_repet"]), (&json!("scheduled"), &json!(1)));
    assert_eq!(plan["next_at"], "2026-11-15T08:00:00.000Z");
}
