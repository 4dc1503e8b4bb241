//! Two servers over one Redis: a worker may speak to either.

use std::path::Path;
use std::time::{Duration, Instant};

use punctual_testing::redis::{Cluster, Server as Redis};
use serde_json::{Value, json};

use crate::process::{PATIENCE, Server, punctual};
use crate::{ask, given, join, make_queue, refused, say, until};

fn pair() -> (Redis, Server, Server) {
    let redis = Redis::start();
    let node = || Server::start(Path::new(&redis.url()));
    let (one, other) = (node(), node());
    (redis, one, other)
}

fn push(server: &Server, id: &str) {
    ask(server, "POST", "/v1/queues/q/tasks", &json!({"id": id}));
}

#[test]
fn a_worker_that_polls_one_server_is_given_what_is_pushed_at_the_other() {
    let (redis, one, other) = pair();
    make_queue(&one, "dispatch", "30s");
    join(&one, "w", 1);
    for round in 0..6 {
        let id = format!("t{round}");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| given(&one, "w"));
            push(&other, &id);
            let task = waiting.join().unwrap();
            assert_eq!(task["id"], id.as_str());
            // Who is told what does not matter either.
            say(&other, &task, "confirm", &json!({}));
            say(if round % 2 == 0 { &one } else { &other }, &task, "commit", &json!({}));
        });
    }
    // A cancel at one server is heard by a poll at the other.
    push(&other, "last");
    let task = given(&one, "w");
    say(&one, &task, "confirm", &json!({}));
    let held = ask(&other, "GET", "/v1/workers/w/tasks", &json!({}));
    assert_eq!((&held["items"][0]["id"], &held["next"]), (&json!("last"), &Value::Null));
    std::thread::scope(|scope| {
        let poll = || ask(&one, "POST", "/v1/workers/w/poll", &json!({"wait": 30}));
        let waiting = scope.spawn(poll);
        ask(&other, "POST", "/v1/queues/q/tasks/last/cancel", &json!({}));
        assert_eq!(waiting.join().unwrap()["cancel"][0]["id"], "last");
    });
    say(&other, &task, "cancelled", &json!({}));
    let output = punctual().args(["doctor", "--store", &redis.url()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    one.stop();
    other.stop();
}

#[test]
fn capacity_holds_over_two_servers() {
    const TASKS: usize = 60;
    let (_redis, one, other) = pair();
    make_queue(&one, "dispatch", "30s");
    join(&one, "a", 2);
    join(&other, "b", 2);
    for (number, server) in [&one, &other].into_iter().cycle().take(TASKS).enumerate() {
        push(server, &format!("t{number}"));
    }
    let (one, other) = (&one, &other);
    let done = std::thread::scope(|scope| {
        let work = |server: &Server, name: &'static str| {
            let mut done = 0;
            let deadline = Instant::now() + PATIENCE;
            loop {
                let path = format!("/v1/workers/{name}/poll");
                let polled = ask(server, "POST", &path, &json!({"wait": 1}));
                let tasks = polled["assignments"].as_array().unwrap();
                let load = ask(server, "GET", &format!("/v1/workers/{name}"), &json!({}));
                assert!(tasks.len() <= 2 && load["load"].as_u64() <= Some(2), "{load}");
                for task in tasks {
                    say(server, task, "confirm", &json!({}));
                    say(server, task, "commit", &json!({}));
                    done += 1;
                }
                let counts = ask(server, "GET", "/v1/queues/q", &json!({}))["counts"].clone();
                if counts["done"] == TASKS {
                    return done;
                }
                assert!(Instant::now() < deadline, "{counts}");
            }
        };
        let workers = [scope.spawn(move || work(one, "a")), scope.spawn(move || work(other, "b"))];
        workers.map(|worker| worker.join().unwrap())
    });
    assert_eq!(done.iter().sum::<usize>(), TASKS, "each of them once");
}

/// A worker of queues in several shards is given tasks by two servers at once. What it knows itself of what it has
/// is never more than it can hold: assignments it has not confirmed, and tasks it has not committed.
#[test]
fn capacity_holds_over_the_shards_of_a_cluster() {
    const QUEUES: usize = 6;
    const TASKS: usize = 10;
    const CAPACITY: usize = 3;
    let cluster = Cluster::start();
    let node = || Server::start(Path::new(&cluster.url()));
    let servers = [node(), node()];
    let queues: Vec<String> = (0..QUEUES).map(|n| format!("q{n}")).collect();
    let settings = json!({"mode": "dispatch", "hold": "60s", "confirm_within": "60s"});
    for queue in &queues {
        ask(&servers[0], "PUT", &format!("/v1/queues/{queue}"), &settings);
    }
    let body = json!({"queues": queues, "capacity": CAPACITY});
    ask(&servers[0], "PUT", "/v1/workers/w", &body);
    for n in 0..QUEUES * TASKS {
        let path = format!("/v1/queues/q{}/tasks", n % QUEUES);
        ask(&servers[n % 2], "POST", &path, &json!({"id": format!("t{n}")}));
    }
    let tell = |server: &Server, task: &Value, verb: &str| {
        let [queue, id] = ["queue", "id"].map(|field| task[field].as_str().unwrap());
        let path = format!("/v1/queues/{queue}/tasks/{id}/{verb}");
        ask(server, "POST", &path, &json!({"token": task["token"]}));
    };
    let (mut running, mut done): (Vec<Value>, usize) = (Vec::new(), 0);
    let deadline = Instant::now() + PATIENCE;
    for round in 0.. {
        let server = &servers[round % 2];
        let polled = ask(server, "POST", "/v1/workers/w/poll", &json!({"wait": 0.05}));
        let given = polled["assignments"].as_array().unwrap();
        assert!(given.len() + running.len() <= CAPACITY, "{given:?} besides {running:?}");
        for task in given {
            tell(server, task, "confirm");
        }
        running.extend(given.iter().cloned());
        // One is always under way while places become free and are given to others.
        while running.len() > 1 || (running.len() == 1 && done + 1 == QUEUES * TASKS) {
            tell(server, &running.remove(0), "commit");
            done += 1;
        }
        if done == QUEUES * TASKS {
            break;
        }
        assert!(Instant::now() < deadline, "{done} are done");
    }
    servers.into_iter().for_each(Server::stop);
}

/// What is asked of a worker at one server is told it by the poll that waits at another, in one Redis and in a
/// Cluster. How long that takes is printed.
#[test]
fn a_poll_at_another_server_hears_at_once() {
    let (redis, cluster) = (Redis::start(), Cluster::start());
    for url in [redis.url(), cluster.url()] {
        let node = || Server::start(Path::new(&url));
        let (one, other) = (node(), node());
        ask(&one, "PUT", "/v1/queues/v", &json!({"mode": "vote"}));
        make_queue(&one, "dispatch", "60s");
        let body = json!({"queues": ["q", "v"], "capacity": 9});
        ask(&one, "PUT", "/v1/workers/w", &body);
        let hears = |path: &str, body: &Value| {
            std::thread::scope(|scope| {
                let poll = || ask(&other, "POST", "/v1/workers/w/poll", &json!({"wait": 30}));
                let waiting = scope.spawn(move || (poll(), Instant::now()));
                // Should it not wait yet, it hears all the same.
                std::thread::sleep(Duration::from_millis(100));
                let since = Instant::now();
                ask(&one, "POST", path, body);
                let (heard, at) = waiting.join().unwrap();
                println!("{path} is heard after {:?}", at - since);
                heard
            })
        };
        for round in 0..5 {
            let id = format!("t{round}");
            let mut held = Value::Null;
            for queue in ["v", "q"] {
                let heard = hears(&format!("/v1/queues/{queue}/tasks"), &json!({"id": id}));
                let task = &heard["assignments"][0];
                assert_eq!((&task["queue"], &task["id"]), (&json!(queue), &json!(id)));
                let body = json!({"token": task["token"]});
                ask(&other, "POST", &format!("/v1/queues/{queue}/tasks/{id}/confirm"), &body);
                if queue == "v" {
                    ask(&other, "POST", &format!("/v1/queues/v/tasks/{id}/commit"), &body);
                }
                held = task.clone();
            }
            for verb in ["pause", "cancel"] {
                let heard = hears(&format!("/v1/queues/q/tasks/{id}/{verb}"), &json!({}));
                assert_eq!(heard[verb][0]["id"], id.as_str(), "{heard}");
            }
            say(&one, &held, "cancelled", &json!({}));
        }
        one.stop();
        other.stop();
    }
}

#[test]
fn voters_at_different_servers_are_all_heard() {
    let (_redis, one, other) = pair();
    make_queue(&one, "vote", "30s");
    join(&one, "a", 1);
    join(&other, "b", 1);
    push(&one, "t");
    for (server, name) in [(&one, "a"), (&other, "b")] {
        let task = given(server, name);
        say(server, &task, "confirm", &json!({}));
        say(server, &task, "commit", &json!({"result": name}));
    }
    assert_eq!(until(&one, "t", "done")["result"], json!({"a": "a", "b": "b"}));
}

#[test]
fn another_session_at_another_server_ends_the_first() {
    let (_redis, one, other) = pair();
    make_queue(&one, "dispatch", "30s");
    let join = |server, session| {
        let body = json!({"queues": ["q"], "session": session});
        ask(server, "PUT", "/v1/workers/w", &body);
    };
    join(&one, "first");
    push(&one, "t");
    let task = given(&one, "w");
    say(&one, &task, "confirm", &json!({}));
    let poll = json!({"wait": 30, "session": "first"});
    let code = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| refused(&one, "/v1/workers/w/poll", &poll));
        std::thread::sleep(Duration::from_millis(100));
        join(&other, "second");
        waiting.join().unwrap()
    });
    assert_eq!(code, "stale_token");
    let again = given(&other, "w");
    assert_eq!(again["attempt"], 2);
    assert_ne!(again["token"], task["token"]);
}
