//! The life of a plan at each kind of station.

use std::time::Instant;

use serde_json::{Value, json};

use crate::api::Api;
use crate::place::Place;
use crate::process::{PATIENCE, Server};
use crate::target::Target;

/// Waits until a plan reads as it should.
#[track_caller]
fn until(server: &Server, id: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let plan = server.plan(id);
        if is_so(&plan) {
            return plan;
        }
        assert!(Instant::now() < deadline, "{plan}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn a_plan_runs_is_committed_and_runs_again_over_restarts() {
    for place in [Place::directory(), Place::redis()] {
        let mut server = place.dev();
        server.set_clock("2030-01-07T00:00:00Z");
        let plan = json!({"plan_id": "p", "station": "q", "plan_type": "day", "plan_value": 1,
            "plan_time": "2030-01-06T08:00:00Z", "plan_repet": 3, "message": {"n": 1}});
        assert_eq!(server.post("/v1/plans", plan)["next_at"], "2030-01-07T08:00:00.000Z");
        for day in 7..10 {
            let at = format!("2030-01-{day:02}T08:00:00.000Z");
            server.set_clock(&format!("2030-01-{day:02}T07:59:00Z"));
            assert_eq!(
                (server.live("q").len(), server.plan("p")["next_at"].clone()),
                (0, json!(at))
            );
            server.advance("1m");
            let id = format!("p@{}", day - 6);
            assert_eq!(server.plan("p")["task"], json!(id));
            server.stop();
            server = place.dev();
            let run = server.work("q");
            assert_eq!((&run["id"], &run["plan"]["plan_time"]), (&json!(id), &json!(at)));
            assert_eq!(run["plan"]["real_repet"], day - 7);
            let plan = server.plan("p");
            assert_eq!((&plan["real_repet"], &plan["task"]), (&json!(day - 6), &json!(null)));
            server.stop();
            server = place.dev();
        }
        assert_eq!(server.plan("p")["state"], "finished");
        server.advance("400d");
        assert_eq!(server.send("GET", "/v1/plans/p", &json!({})).0, 404, "kept for a day");
        assert!(server.live("q").is_empty());
        server.stop();
    }
}

#[test]
fn an_http_station_is_told_which_run_it_is() {
    let (place, target) = (Place::directory(), Target::start());
    let server = place.dev();
    server.set_clock("2030-01-07T00:00:00Z");
    server.put("/v1/queues/h", json!({"mode": "http", "url": target.url}));
    let plan = json!({"plan_id": "p", "station": "h", "plan_type": "minute", "plan_value": 1,
        "plan_time": "2030-01-07T00:00:00Z", "plan_repet": 2, "message": {"n": 1}});
    server.post("/v1/plans", plan);
    for run in 1..=2 {
        server.advance("1m");
        let request = target.next();
        assert_eq!(request.header("punctual-plan-id"), "p");
        assert_eq!(request.header("punctual-plan-run"), run.to_string());
        assert_eq!(request.header("punctual-plan-time"), format!("2030-01-07T00:0{run}:00.000Z"));
        assert_eq!(request.body, json!({"n": 1}));
        assert_eq!(server.plan("p")["state"], "running");
        request.answer();
        until(&server, "p", |plan| plan["real_repet"] == run);
    }
    assert_eq!(server.plan("p")["state"], "finished");
    server.stop();
}

#[test]
fn a_plan_fills_a_bundle_of_a_pull_station_and_of_an_http_station() {
    for place in [Place::directory(), Place::redis()] {
        let target = Target::start();
        let server = place.dev();
        server.set_clock("2030-01-07T00:00:00Z");
        server.put("/v1/queues/h", json!({"mode": "http", "url": target.url}));
        for (id, station) in [("pull", "q"), ("http", "h")] {
            let plan = json!({"plan_id": id, "station": station, "plan_type": "minute",
                "plan_value": 1, "plan_time": "2030-01-07T00:00:00Z", "plan_repet": 3,
                "no_keep": true, "message": id, "bundle_key": "digest"});
            server.post("/v1/plans", plan);
        }
        server.advance("1m");
        let request = target.next();
        assert_eq!(request.body, json!(["http"]));
        request.answer();
        // What fell due meanwhile comes one after the other, and is done when it was pushed.
        server.advance("10m");
        for id in ["pull", "http"] {
            let plan = server.plan(id);
            assert_eq!((&plan["state"], &plan["real_repet"]), (&json!("finished"), &json!(3)));
        }
        let bundles = "/v1/queues/q/bundles";
        let due = server.post(&format!("{bundles}/schedule"), json!({}));
        assert_eq!(due["key"], "digest", "{due}");
        let got = server.post(&format!("{bundles}/digest/get"), json!({"random": "me"}));
        assert_eq!(got["tasks"], json!(["pull", "pull", "pull"]));
        let mut delivered = 0;
        while delivered < 2 {
            let request = target.next();
            delivered += request.body.as_array().unwrap().len();
            request.answer();
        }
        assert_eq!(delivered, 2, "each payload once");
        server.stop();
    }
}
