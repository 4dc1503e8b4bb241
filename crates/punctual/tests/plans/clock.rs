//! FAULTS row 16: the wall clock is set while the server runs, a day forward, then back to an hour
//! before. What counts durations goes on.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::api::Api;
use crate::place::Place;
use crate::process::{PATIENCE, Server};

/// A server whose time of day is set by what a file says.
fn under(place: &Place, file: &Path) -> Server {
    let mut command = place.serve();
    command.env("LD_PRELOAD", library()).env("FAKETIME_TIMESTAMP_FILE", file);
    command.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    command.env("DONT_FAKE_MONOTONIC", "1");
    Server::of(command)
}

/// The library that fakes the time: what `faketime` would preload.
fn library() -> String {
    let output = Command::new("faketime").args(["-f", "+0s", "env"]).output();
    let output = output.expect("faketime is installed; on Debian: apt-get install faketime");
    let lines = String::from_utf8(output.stdout).unwrap();
    let library = lines.lines().find_map(|line| line.strip_prefix("LD_PRELOAD="));
    library.unwrap_or_else(|| panic!("{lines}")).to_owned()
}

#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_clock_that_is_set_fires_what_is_due_once_and_ends_no_hold() {
    let (place, dir) = (Place::directory(), tempfile::tempdir().unwrap());
    let file = dir.path().join("offset");
    std::fs::write(&file, "+0s").unwrap();
    let server = under(&place, &file);
    server.post("/v1/queues/held/tasks", json!({"id": "h"}));
    let held = server.post("/v1/queues/held/take", json!({"hold": "10m"}));
    server.post("/v1/queues/t/tasks", json!({"id": "a", "delay": "12h"}));
    server
        .post("/v1/queues/b/bundles/k/push", json!({"task": 1, "ontime": "4000-01-01T00:00:00Z"}));
    for (id, no_keep) in [("skips", false), ("keeps", true)] {
        let plan = json!({"plan_id": id, "station": id, "plan_type": "hour", "plan_value": 1,
            "plan_repet": -1, "no_keep": no_keep});
        server.post("/v1/plans", plan);
    }

    std::fs::write(&file, "+86400s").unwrap();
    until("a task that is due", || server.live("t")[0]["state"] == "ready");
    for id in ["skips", "keeps"] {
        until("a plan that is due", || server.plan(id)["state"] == "running");
    }
    assert_eq!(server.live("held")[0]["state"], "running", "its hold goes on");
    assert_eq!(server.work("t")["id"], "a");
    assert_eq!(server.work("skips")["id"], "skips@1");
    let skips = server.plan("skips");
    assert_eq!((&skips["skipped"], &skips["state"]), (&json!(23), &json!("scheduled")));
    for run in 1..=3 {
        until("the next one", || server.live("keeps").len() == 1);
        assert_eq!(server.work("keeps")["plan"]["run"], run);
    }

    until("the fourth", || server.live("keeps").len() == 1);
    std::fs::write(&file, "-3600s").unwrap();
    let next_at = skips["next_at"].clone();
    // By the clock as it is now none of this is due for a day; the server looks each second.
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(server.plan("skips")["next_at"], next_at);
    assert_eq!((server.live("skips").len(), server.live("t").len()), (0, 0), "nothing again");
    assert_eq!(server.live("held")[0]["state"], "running", "its hold goes on");
    assert_eq!(server.work("keeps")["plan"]["run"], 4, "what was due stays so");
    let keeps = server.plan("keeps");
    assert_eq!((&keeps["state"], &keeps["real_repet"]), (&json!("scheduled"), &json!(4)));
    assert_eq!(server.live("keeps").len(), 0, "the fifth is not due yet");
    let token = held["tasks"][0]["token"].clone();
    server.post("/v1/queues/held/tasks/h/commit", json!({"token": token}));
    server.stop();
}
