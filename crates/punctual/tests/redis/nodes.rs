//! Several servers over one Redis: whatever is asked of one holds for all.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use punctual_client::{Commit, NewTask, QueueChanges, RawJson, Span, State, Take};
use punctual_testing::redis::Server as Redis;
use serde_json::json;

use crate::process::{PATIENCE, Server, serve};
use crate::task::take_one;
use crate::{node, raw};

fn pair() -> (Redis, Server, Server) {
    let redis = Redis::start();
    let (one, other) = (node(&redis), node(&redis));
    (redis, one, other)
}

#[tokio::test]
async fn a_push_on_one_server_wakes_a_take_that_waits_on_another() {
    let (_redis, one, other) = pair();
    one.client().put_queue("q", &QueueChanges::new()).await.unwrap();
    for round in 0..10 {
        let waiting = other.client();
        let take = Take::new().wait(Span::from_secs(60));
        let taker = tokio::spawn(async move { take_one(&waiting, "q", &take).await });
        let id = format!("t{round}");
        let task = match round % 2 {
            0 => NewTask::new("x").id(id.as_str()),
            // Also when it becomes due by itself.
            _ => NewTask::new("x").id(id.as_str()).delay(Span::from_millis(100)),
        };
        one.client().push("q", &task).await.unwrap();
        let pushed = Instant::now();
        let taken = tokio::time::timeout(PATIENCE / 2, taker).await.expect("it is woken").unwrap();
        assert_eq!(taken.task.id, id);
        assert!(pushed.elapsed() < Duration::from_secs(20), "{:?}", pushed.elapsed());
        // Who took it where does not matter.
        let done = one.client().commit(taken.held(), &Commit::default()).await.unwrap();
        assert_eq!(done.state(), Some(State::Done));
        other.client().commit(taken.held(), &Commit::default()).await.unwrap();
    }
    one.stop();
    other.stop();
}

/// The nodes that a server tells of.
fn told(server: &Server) -> Vec<serde_json::Value> {
    let body = raw::send(server.address(), "GET", "/v1/system", b"").body;
    let system: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(system["store"]["kind"], "redis");
    assert!(system["store"]["bytes"].as_u64() > Some(0), "{system}");
    system["nodes"].as_array().unwrap().clone()
}

#[test]
fn every_server_tells_of_all() {
    let (_redis, one, other) = pair();
    let deadline = Instant::now() + PATIENCE;
    let nodes = loop {
        let nodes = told(&one);
        if nodes.len() == 2 {
            break nodes;
        }
        assert!(Instant::now() < deadline, "{nodes:?}");
        std::thread::sleep(Duration::from_millis(5));
    };
    let addresses: BTreeSet<_> =
        nodes.iter().map(|node| node["address"].as_str().unwrap()).collect();
    assert_eq!(addresses, BTreeSet::from([one.address(), other.address()]));
    let this: Vec<_> = nodes.iter().filter(|node| node["this"] == true).collect();
    assert_eq!((this.len(), this[0]["address"].as_str()), (1, Some(one.address())));
    // What was done at one is told by the other.
    raw::send(other.address(), "PUT", "/v1/queues/q", b"{}");
    let audit = raw::send(one.address(), "GET", "/v1/system/audit", b"").body;
    assert!(audit.contains("queue.put"), "{audit}");
    other.stop();
    assert_eq!(told(&one).len(), 1, "one that stops says so");
}

#[test]
fn every_line_of_a_log_says_which_server_it_is_from() {
    let (redis, dir) = (Redis::start(), tempfile::tempdir().unwrap());
    for format in ["json", "text"] {
        let path = dir.path().join(format);
        let mut command = serve(Path::new(&redis.url()));
        command.args(["--log-format", format]).env("PUNCTUAL_LOG", "debug");
        command.stderr(std::fs::File::create(&path).unwrap());
        let server = Server::of(command);
        let nodes = told(&server);
        let id = nodes.iter().find(|node| node["this"] == true).unwrap()["id"].as_str().unwrap();
        raw::send(server.address(), "POST", "/v1/queues/q/tasks", br#"{"id":"named-in-the-log"}"#);
        server.stop();
        let log = std::fs::read_to_string(&path).unwrap();
        assert!(log.contains("ready") && log.contains("named-in-the-log"), "{log}");
        for line in log.lines() {
            let is_signed = match format {
                "json" => serde_json::from_str::<serde_json::Value>(line).unwrap()["node"] == id,
                _ => line.ends_with(&format!(" node={id}")),
            };
            assert!(is_signed, "{line}");
        }
        // Ids are forgotten with their task.
        raw::send(node(&redis).address(), "DELETE", "/v1/queues/q", b"");
    }
    let alone = dir.path().join("alone");
    let mut command = serve(Path::new("memory:"));
    command.env("PUNCTUAL_LOG", "info").stderr(std::fs::File::create(&alone).unwrap());
    Server::of(command).stop();
    assert!(!std::fs::read_to_string(&alone).unwrap().contains("node="));
}

#[tokio::test]
async fn settings_and_tasks_read_the_same_on_every_server() {
    let (_redis, one, other) = pair();
    let keep = RawJson::of(&json!({"done": "1h"}));
    one.client().put_queue("q", &QueueChanges::new().set("keep", keep)).await.unwrap();
    one.client().push("q", &NewTask::new(&json!({"n": 1})).id("a")).await.unwrap();
    let taken = take_one(&other.client(), "q", &Take::new().worker("w")).await;
    let read = one.client().task("q", "a").await.unwrap();
    assert_eq!((read.state, read.worker.as_deref()), (State::Running, Some("w")));
    one.client().commit(taken.held(), &Commit { result: Some(RawJson::of(&2)) }).await.unwrap();
    assert_eq!(other.client().task("q", "a").await.unwrap().state, State::Done);

    one.client().pause_queue("q").await.unwrap();
    one.client().push("q", &NewTask::new("x").id("b")).await.unwrap();
    assert!(other.client().take("q", &Take::new()).await.unwrap().tasks.is_empty());
    let waiting = other.client();
    let take = Take::new().wait(Span::from_secs(60));
    let taker = tokio::spawn(async move { take_one(&waiting, "q", &take).await });
    one.client().resume_queue("q").await.unwrap();
    assert_eq!(taker.await.unwrap().task.id, "b");
    let other_body = one.client().push_once("k", "key", &NewTask::new("x")).await.unwrap();
    let again = other.client().push_once("k", "key", &NewTask::new("x")).await.unwrap();
    assert!(again.replayed && !other_body.replayed);
    assert_eq!(again.after.id(), other_body.after.id());
}

#[tokio::test]
async fn concurrency_and_rate_hold_over_all_servers() {
    let (_redis, one, other) = pair();
    one.client()
        .put_queue("few", &QueueChanges::new().set("concurrency", RawJson::of(&3)))
        .await
        .unwrap();
    let rate = RawJson::of(&json!({"limit": 4, "per": "1h"}));
    one.client().put_queue("slow", &QueueChanges::new().set("rate", rate)).await.unwrap();
    for (queue, limit) in [("few", 3), ("slow", 4)] {
        let tasks: Vec<_> = (0..20).map(|n| NewTask::new(&n).id(format!("{n}"))).collect();
        one.client().push_batch(queue, &tasks, None).await.unwrap();
        let take = |server: &Server| {
            let client = server.client();
            tokio::spawn(async move { client.take(queue, &Take::new().n(2)).await.unwrap().tasks })
        };
        let takes: Vec<_> = (0..4).flat_map(|_| [take(&one), take(&other)]).collect();
        let mut taken = BTreeSet::new();
        for tasks in takes {
            for held in tasks.await.unwrap() {
                assert!(taken.insert(held.task.id.clone()), "{} was taken twice", held.task.id);
            }
        }
        assert_eq!(taken.len(), limit, "{queue}");
    }
}

/// FAULTS row 12: workers commit just when their holds end, on one server and the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_races_the_end_of_its_hold() {
    const TASKS: usize = 60;
    let (_redis, one, other) = pair();
    let keep = RawJson::of(&json!({"done": "1h"}));
    let settings = QueueChanges::new().max_attempts(-1).set("keep", keep);
    one.client().put_queue("q", &settings).await.unwrap();
    let tasks: Vec<_> = (0..TASKS).map(|n| NewTask::new(&n)).collect();
    one.client().push_batch("q", &tasks, None).await.unwrap();
    let worker = |server: &Server| {
        let client = server.client();
        tokio::spawn(async move {
            let mut done = Vec::new();
            loop {
                let take = Take::new().hold(Span::from_millis(60)).n(3).wait(Span::from_secs(1));
                let tasks = client.take("q", &take).await.unwrap().tasks;
                if tasks.is_empty() {
                    return done;
                }
                tokio::time::sleep(Duration::from_millis(57)).await;
                for held in tasks {
                    match client.commit(held.held(), &Commit::default()).await {
                        Ok(_) => done.push(held.task.id.clone()),
                        Err(error) => assert_eq!(error.code(), Some("stale_token"), "{error}"),
                    }
                }
            }
        })
    };
    let workers = [&one, &other, &one, &other].map(worker);
    let mut done = Vec::new();
    for worker in workers {
        done.extend(worker.await.unwrap());
    }
    let unique: BTreeSet<_> = done.iter().collect();
    assert_eq!((unique.len(), done.len()), (TASKS, TASKS), "each is done once, by one");
    assert_eq!(other.client().queue("q").await.unwrap().counts.done, TASKS as u64);
}

/// What a killed server's workers held is free when their holds end, whoever is left to see it.
#[tokio::test]
async fn the_holds_of_a_killed_server_end_on_another() {
    let (_redis, one, other) = pair();
    one.client().push("q", &NewTask::new("x").id("a")).await.unwrap();
    let lost = take_one(&one.client(), "q", &Take::new().hold(Span::from_millis(300))).await;
    one.kill();
    let take = Take::new().wait(Span::from_secs(60));
    let again = take_one(&other.client(), "q", &take).await;
    assert_eq!((again.task.id.as_str(), again.task.attempt), ("a", 2));
    let error = other.client().commit(lost.held(), &Commit::default()).await.unwrap_err();
    assert_eq!(error.code(), Some("stale_token"));
}

/// Row 13: a taker that is gone before its answer was written.
#[tokio::test]
async fn what_a_taker_that_hung_up_would_have_got_is_free_on_every_server() {
    use std::io::Write as _;
    let (_redis, one, other) = pair();
    one.client().put_queue("q", &QueueChanges::new().hold(Span::from_secs(3_600))).await.unwrap();
    let mut gone = raw::connect(one.address());
    let body = r#"{"wait":60}"#;
    let head =
        raw::head("POST", "/v1/queues/q/take", &format!("Content-Length: {}\r\n", body.len()));
    gone.write_all(format!("{head}{body}").as_bytes()).unwrap();
    // The server has read the request when it has answered a later one.
    one.client().queue("q").await.unwrap();
    drop(gone);
    other.client().push("q", &NewTask::new("x").id("a")).await.unwrap();
    let taken = take_one(&other.client(), "q", &Take::new().wait(Span::from_secs(60))).await;
    assert_eq!((taken.task.id.as_str(), taken.task.attempt), ("a", 1));
}
