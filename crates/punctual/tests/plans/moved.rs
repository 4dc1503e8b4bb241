//! The clock that users move: `serve --dev` and `POST /v1/dev/clock`.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::Api;
use crate::place::Place;
use crate::process::{PATIENCE, Server, complaint};
use crate::target::Target;

/// A request that waits for its answer.
fn wait(server: &Server, path: &str) -> JoinHandle<Value> {
    let (address, path) = (server.address().to_owned(), path.to_owned());
    std::thread::spawn(move || address.post(&path, json!({"wait": 60})))
}

#[test]
fn all_that_fell_due_is_handed_out_before_the_answer() {
    for place in [Place::directory(), Place::redis(), Place::cluster()] {
        let target = Target::start();
        let server = place.dev();
        server.set_clock("2030-01-07T00:00:00Z");
        server.put("/v1/queues/h", json!({"mode": "http", "url": target.url}));
        server.put("/v1/queues/b", json!({}));
        server.put("/v1/queues/kept", json!({"keep": {"done": "1h"}, "max_attempts": 1}));
        let kept = "/v1/queues/kept";
        server.post(&format!("{kept}/tasks"), json!({"id": "done"}));
        server.work("kept");
        server.post(&format!("{kept}/tasks"), json!({"id": "lost"}));
        server.post(&format!("{kept}/take"), json!({"hold": "50m"}));
        server.post("/v1/queues/q/tasks", json!({"id": "late", "delay": "1h"}));
        server.post("/v1/queues/h/tasks", json!({"id": "call", "delay": "1h"}));
        let notice = json!({"url": target.url, "data": "a=1"});
        let notice = server.post("/v1/notices", notice)["id"].as_str().unwrap().to_owned();
        target.next(); // Its first try, which breaks off; the next comes ten minutes later.
        server.post(
            "/v1/queues/b/bundles/k/push",
            json!({"task": 1, "ontime": "2030-01-07T00:30:00Z"}),
        );
        let plan = json!({"plan_id": "p", "station": "s", "plan_type": "minute", "plan_value": 30,
            "plan_time": "2030-01-07T00:00:00Z", "plan_repet": -1});
        server.post("/v1/plans", plan);
        let take = wait(&server, "/v1/queues/q/take");
        let schedule = wait(&server, "/v1/queues/b/bundles/schedule");
        // Nothing says that both wait already; one that came later would still be served, but not seen.
        std::thread::sleep(Duration::from_millis(300));

        let before = Instant::now();
        server.advance("1h");
        assert!(before.elapsed() < PATIENCE);
        // Nobody waits for anything from here on: it has happened.
        assert_eq!(server.get("/v1/queues/q/tasks/late")["state"], "running");
        assert_eq!(server.get("/v1/queues/h/tasks/call")["state"], "running");
        assert_eq!(server.get(&format!("/v1/notices/{notice}"))["state"], "delivering");
        assert_eq!(server.get(&format!("{kept}/tasks/lost"))["state"], "failed");
        let gone = server.send("GET", &format!("{kept}/tasks/done"), &json!({}));
        assert_eq!(gone.0, 404, "kept for an hour: {}", gone.1);
        assert_eq!(server.plan("p")["state"], "running");
        assert_eq!(server.live("s")[0]["plan"]["plan_time"], "2030-01-07T00:30:00.000Z");
        assert_eq!(take.join().unwrap()["tasks"][0]["id"], "late");
        assert_eq!(schedule.join().unwrap()["key"], "k");
    }
}

#[test]
fn all_runs_of_a_plan_that_keeps_them_are_made_before_the_answer() {
    for place in [Place::directory(), Place::redis()] {
        let server = place.dev();
        server.put("/v1/queues/p", json!({"mode": "pub"}));
        for (id, station, bundle_key) in [("news", "p", None), ("bundled", "b", Some("k"))] {
            let plan = json!({"station": station, "bundle_key": bundle_key, "plan_type": "second",
                "plan_value": 1, "plan_repet": 20, "no_keep": true});
            server.put(&format!("/v1/plans/{id}"), plan);
        }
        server.advance("1m");
        for id in ["news", "bundled"] {
            let plan = server.plan(id);
            assert_eq!((&plan["state"], &plan["real_repet"]), (&json!("finished"), &json!(20)));
        }
        server.stop();
    }
}

#[test]
fn an_attempt_under_way_ends_before_the_clock_moves_and_counts() {
    for place in [Place::directory(), Place::redis()] {
        let target = Target::start();
        let server = place.dev();
        server.post("/v1/notices", json!({"id": "n", "url": target.url}));
        for _ in 1..5 {
            let request = target.next();
            let address = server.address().to_owned();
            let moving = std::thread::spawn(move || address.advance("10m"));
            request.answer();
            moving.join().unwrap();
        }
        target.next().answer();
        server.advance("0s");
        let notice = server.get("/v1/notices/n");
        assert_eq!((&notice["state"], &notice["notice_count"]), (&json!("exhausted"), &json!(5)));
        server.stop();
    }
}

#[test]
fn a_silent_worker_is_lost_also_after_the_clock_was_set_back() {
    for place in [Place::directory(), Place::redis()] {
        let server = place.dev();
        server.set_clock("2020-01-07T00:00:00Z");
        server.put("/v1/workers/w", json!({"queues": ["q"]}));
        server.advance("29s");
        assert_eq!(server.get("/v1/workers/w")["state"], "active");
        server.advance("2s");
        assert_eq!(server.get("/v1/workers/w")["state"], "lost");
        server.stop();
    }
}

#[test]
fn backwards_nothing_fires_again() {
    for place in [Place::directory(), Place::redis(), Place::cluster()] {
        let mut server = place.dev();
        server.set_clock("2030-01-07T00:00:00Z");
        let plan = json!({"plan_id": "p", "station": "q", "plan_type": "cron",
            "cron": "0 1 * * *", "plan_repet": -1});
        server.post("/v1/plans", plan);
        server.post("/v1/queues/t/tasks", json!({"id": "a", "due": "2030-01-07T01:00:00Z"}));
        server.set_clock("2030-01-07T01:30:00Z");
        assert_eq!(server.work("q")["id"], "p@1");
        assert_eq!(server.work("t")["id"], "a");
        server.set_clock("2030-01-06T00:30:00Z");
        for is_restarted in [false, true] {
            if is_restarted {
                server.stop();
                server = place.dev();
            }
            assert_eq!(server.plan("p")["next_at"], "2030-01-08T01:00:00.000Z");
            server.set_clock("2030-01-07T02:00:00Z");
            assert_eq!((server.live("q").len(), server.live("t").len()), (0, 0));
            server.set_clock("2030-01-06T00:30:00Z");
        }
        server.set_clock("2030-01-08T01:00:00Z");
        assert_eq!(server.work("q")["id"], "p@2");
        server.stop();
    }
}

#[test]
fn a_run_under_way_while_the_clock_goes_back_is_not_made_again() {
    let place = Place::directory();
    let server = place.dev();
    server.set_clock("2030-01-07T00:00:00Z");
    let plan = json!({"plan_id": "p", "station": "q", "plan_type": "hour", "plan_value": 1,
        "plan_repet": -1, "plan_time": "2030-01-07T00:00:00Z"});
    server.post("/v1/plans", plan);
    server.advance("1h");
    let taken = server.post("/v1/queues/q/take", json!({"hold": "10m"}));
    server.set_clock("2030-01-07T00:30:00Z");
    assert_eq!(server.live("q")[0]["state"], "running", "its hold goes on");
    let token = taken["tasks"][0]["token"].clone();
    server.post("/v1/queues/q/tasks/p@1/commit", json!({"token": token}));
    assert_eq!(server.plan("p")["next_at"], "2030-01-07T02:00:00.000Z");
    server.advance("1h");
    assert!(server.live("q").is_empty());
    server.advance("30m");
    assert_eq!(server.work("q")["id"], "p@2");
    server.stop();
}

#[test]
fn the_clock_is_kept_and_moves_for_all_servers() {
    for place in [Place::directory(), Place::redis(), Place::cluster()] {
        let server = place.dev();
        server.set_clock("2040-01-01T00:00:00Z");
        server.stop();
        let server = place.dev();
        let now = server.post("/v1/dev/clock", json!({"advance": 0}))["now"].clone();
        assert!(now.as_str().unwrap().starts_with("2040-01-01T00:0"), "{now}");
        server.stop();
    }
    for place in [Place::redis(), Place::cluster()] {
        let (one, other) = (place.dev(), place.dev());
        one.set_clock("2040-01-01T00:00:00Z");
        other.post("/v1/queues/q/tasks", json!({"id": "a", "delay": "1h"}));
        let take = wait(&other, "/v1/queues/q/take");
        one.advance("1h");
        assert_eq!(take.join().unwrap()["tasks"][0]["id"], "a");
        one.stop();
        other.stop();
    }
}

#[test]
fn only_a_store_made_for_it_has_a_clock_to_move() {
    for place in [Place::directory(), Place::redis(), Place::cluster()] {
        let server = Server::of(place.serve());
        let (status, problem) = server.send("POST", "/v1/dev/clock", &json!({"advance": 1}));
        assert_eq!((status, &problem["code"]), (403, &json!("forbidden")));
        server.stop();
        let refused = place.serve().arg("--dev").output().unwrap();
        assert!(complaint(&refused, 1).contains("was not made by serve --dev"));
    }
    for place in [Place::directory(), Place::redis(), Place::cluster()] {
        place.dev().stop();
        let refused = place.serve().output().unwrap();
        assert!(complaint(&refused, 1).contains("made by serve --dev"));
        place.dev().stop();
    }
}

#[test]
fn bad_moves_are_refused_and_move_nothing() {
    let place = Place::directory();
    let server = place.dev();
    server.set_clock("2030-01-07T00:00:00Z");
    for body in [
        json!({}),
        json!({"advance": "1h", "set": 0}),
        json!({"advance": -1}),
        json!({"advance": "-1h"}),
        json!({"advance": "soon"}),
        json!({"advance": 1e300}),
        json!({"set": -1}),
        json!({"set": "never"}),
        json!({"set": "2030-02-30T00:00:00Z"}),
        json!({"set": 1e300}),
        json!({"advance": null}),
        json!({"forward": "1h"}),
        json!([1]),
        json!("1h"),
    ] {
        let (status, problem) = server.send("POST", "/v1/dev/clock", &body);
        assert_eq!((status, &problem["code"]), (422, &json!("invalid")), "{body}: {problem}");
    }
    let now = server.post("/v1/dev/clock", json!({"advance": 0}))["now"].clone();
    assert!(now.as_str().unwrap().starts_with("2030-01-07T00:0"), "{now}");
    // The last moment there is; nothing breaks there, and nothing goes beyond.
    server.set_clock("9999-12-31T23:59:59.999Z");
    assert_eq!(server.send("POST", "/v1/dev/clock", &json!({"advance": "1h"})).0, 422);
    server.post("/v1/queues/q/tasks", json!({"id": "a", "delay": "1h"}));
    server.stop();
}
