//! FAULTS rows 1 and 27a for plans: servers are killed while many short plans fire and workers commit.
//! There is one run per plan and nominal time, every run that is done is counted once, and every plan
//! has exactly one thing to come (invariant 6).

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use crate::api::Api;
use crate::place::Place;
use crate::process::Server;

const PLANS: usize = 30;
const WORKERS: usize = 3;

/// What workers know.
struct Work {
    /// Where servers can be reached.
    addresses: Mutex<Vec<String>>,
    is_over: AtomicBool,
    /// Runs that were done, by plan and nominal time; a run that is done twice is told at once.
    done: Mutex<BTreeMap<(String, String), Value>>,
}

impl Work {
    /// Sends a request to some server, until one answers it.
    fn ask(&self, turn: usize, path: &str, body: &Value) -> Option<(u16, Value)> {
        for turn in turn.. {
            let address = {
                let addresses = self.addresses.lock().unwrap();
                addresses.get(turn % addresses.len().max(1)).cloned()
            };
            if let Some(address) = address.filter(|address| TcpStream::connect(address).is_ok()) {
                let answered = std::panic::catch_unwind(|| address.send("POST", path, body));
                match answered {
                    Ok((503, _)) | Err(_) => {}
                    Ok(answer) => return Some(answer),
                }
            }
            if self.is_over.load(Ordering::Relaxed) {
                return None;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    fn work(&self, number: usize) {
        let take = json!({"n": 5, "wait": 0.2, "worker": format!("w{number}"), "hold": 1});
        while let Some((status, taken)) = self.ask(number, "/v1/queues/q/take", &take) {
            assert_eq!(status, 200, "{taken}");
            let tasks = taken["tasks"].as_array().unwrap();
            if tasks.is_empty() && self.is_over.load(Ordering::Relaxed) {
                return;
            }
            for task in tasks {
                let id = task["id"].as_str().unwrap();
                let path = format!("/v1/queues/q/tasks/{id}/commit");
                let commit = json!({"token": task["token"], "result": task["plan"]["run"]});
                // An answer that was lost is asked for again: a commit may be repeated.
                match self.ask(number, &path, &commit) {
                    Some((200, _)) => self.note(&task["plan"]),
                    Some((status, problem)) => {
                        assert!([404, 409].contains(&status), "{problem}");
                    }
                    None => {}
                }
            }
        }
    }

    fn note(&self, plan: &Value) {
        let text = |field: &str| plan[field].as_str().unwrap().to_owned();
        let run = plan["run"].clone();
        let mut done = self.done.lock().unwrap();
        let before = done.insert((text("plan_id"), text("plan_time")), run.clone());
        assert_eq!(before, None, "done twice: {plan}");
    }
}

fn start(server: &Server) {
    server.put("/v1/queues/q", json!({"max_attempts": -1}));
    for n in 0..PLANS {
        let plan = json!({"plan_id": format!("p{n:02}"), "station": "q", "plan_type": "second",
            "plan_value": 1, "plan_repet": -1, "no_keep": n % 2 == 0});
        server.post("/v1/plans", plan);
    }
}

/// The plans and their tasks at one moment: none fired while they were read.
fn picture(server: &Server) -> (Vec<Value>, Vec<Value>) {
    let plans = || server.get("/v1/plans?limit=1000")["items"].as_array().unwrap().clone();
    for _ in 0..100 {
        let (before, tasks) = (plans(), server.live("q"));
        if plans() == before {
            return (before, tasks);
        }
    }
    panic!("plans fire all the time")
}

/// Checks that each plan has one thing to come, and that its counters are what was done.
fn check(server: &Server, done: &BTreeMap<(String, String), Value>) {
    let (plans, tasks) = picture(server);
    let mut living: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for task in tasks {
        let plan = task["plan"]["plan_id"].as_str().unwrap().to_owned();
        living.entry(plan).or_default().push(task["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(plans.len(), PLANS);
    for plan in plans {
        let id = plan["plan_id"].as_str().unwrap();
        let tasks = living.remove(id).unwrap_or_default();
        match plan["state"].as_str().unwrap() {
            "scheduled" => {
                assert!(plan["next_at"].is_string() && tasks.is_empty(), "{plan} {tasks:?}")
            }
            "running" => assert_eq!(
                (&json!(tasks), &plan["next_at"]),
                (&json!([plan["task"]]), &json!(null))
            ),
            state => panic!("{state}: {plan}"),
        }
        let runs: Vec<_> = done.iter().filter(|((plan, _), _)| plan == id).collect();
        assert_eq!(plan["real_repet"], runs.len(), "{plan}");
        assert!(!runs.is_empty(), "{plan}");
        let numbers: Vec<_> = runs.iter().map(|(_, run)| run.as_u64().unwrap()).collect();
        let expected: Vec<_> = (1..=numbers.len() as u64).collect();
        assert_eq!(numbers, expected, "one run per nominal time, in their order: {id}");
        let results = server.get(&format!("/v1/plans/{id}/results?limit=1000"));
        let kept: BTreeSet<_> =
            results["items"].as_array().unwrap().iter().map(|item| item["run"].as_u64()).collect();
        assert_eq!(kept.len(), runs.len().min(100), "one result per run: {id}");
        if plan["no_keep"] == true {
            assert_eq!(plan["skipped"], 0);
            let times: Vec<_> = runs.iter().map(|((_, at), _)| millis(at)).collect();
            assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 1_000), "{id}: {times:?}");
        }
    }
    assert!(living.is_empty(), "runs of no plan: {living:?}");
}

fn millis(time: &str) -> i64 {
    punctual_client::Timestamp::parse(time).unwrap().as_millis()
}

/// Kills one server after the other while plans fire, and checks what came of it.
fn kill_and_check(place: &Place, nodes: usize, kills: usize) {
    let mut servers: Vec<_> = (0..nodes).map(|_| Server::of(place.serve())).collect();
    start(&servers[0]);
    let addresses = |servers: &[Server]| servers.iter().map(|s| s.address().to_owned()).collect();
    let work = Arc::new(Work {
        addresses: Mutex::new(addresses(&servers)),
        is_over: AtomicBool::new(false),
        done: Mutex::default(),
    });
    let spawn = |number| {
        let work = work.clone();
        std::thread::spawn(move || work.work(number))
    };
    let workers: Vec<JoinHandle<()>> = (0..WORKERS).map(spawn).collect();
    for kill in 0..kills {
        // Plans fire on the second they were made at: kills fall before, into and after that.
        std::thread::sleep(Duration::from_millis(350 + 137 * (kill as u64 % 5)));
        let victim = servers.remove(0);
        if kill % 3 == 2 {
            victim.stop()
        } else {
            victim.kill()
        }
        *work.addresses.lock().unwrap() = addresses(&servers);
        servers.push(Server::of(place.serve()));
        *work.addresses.lock().unwrap() = addresses(&servers);
    }
    // Whatever a killed taker's answer held is free again, and done.
    std::thread::sleep(Duration::from_millis(2_500));
    for plan in servers[0].get("/v1/plans?limit=1000")["items"].as_array().unwrap() {
        let id = plan["plan_id"].as_str().unwrap();
        servers[0].post(&format!("/v1/plans/{id}/pause"), json!({}));
    }
    while !servers[0].live("q").is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    work.is_over.store(true, Ordering::Relaxed);
    for worker in workers {
        worker.join().unwrap();
    }
    for n in 0..PLANS {
        servers[0].post(&format!("/v1/plans/p{n:02}/resume"), json!({}));
    }
    check(&servers[nodes - 1], &work.done.lock().unwrap());
    servers.into_iter().for_each(Server::stop);
}

#[test]
fn killed_while_plans_fire_every_run_is_made_and_counted_once() {
    kill_and_check(&Place::directory(), 1, 7);
}

#[test]
fn two_servers_over_one_redis_never_fire_a_run_twice() {
    kill_and_check(&Place::redis(), 2, 4);
}
