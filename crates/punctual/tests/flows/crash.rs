//! FAULTS rows 1 and 27a for flows: servers are killed while flows are made and their steps committed.
//! Every step is done once, with the results of those before it; a step that waits for nothing any
//! more is never missing (invariant 4), so every flow comes to its end.

use std::collections::BTreeSet;
use std::net::TcpStream;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::Api;
use crate::place::Place;
use crate::process::Server;

const WORKERS: usize = 3;
const LAYERS: usize = 4;
const WIDTH: usize = 3;
/// How long flows may take to come to their end after the last kill.
const PATIENCE: Duration = Duration::from_secs(60);

/// What workers and the maker of flows know.
struct Work {
    /// Where servers can be reached.
    addresses: Mutex<Vec<String>>,
    is_over: AtomicBool,
    /// Flows that were acknowledged.
    made: Mutex<Vec<String>>,
    /// Tasks that were committed; one that is done twice is told at once.
    done: Mutex<BTreeSet<String>>,
}

impl Work {
    /// Sends a request to some server, until one answers it.
    fn ask(&self, turn: usize, path: &str, body: &Value) -> Option<(u16, Value)> {
        self.call(turn, |address| address.send("POST", path, body))
    }

    /// Calls some server, until one answers.
    fn call(&self, turn: usize, call: impl Fn(&String) -> (u16, Value)) -> Option<(u16, Value)> {
        for turn in turn.. {
            let address = {
                let addresses = self.addresses.lock().unwrap();
                addresses.get(turn % addresses.len().max(1)).cloned()
            };
            if let Some(address) = address.filter(|address| TcpStream::connect(address).is_ok()) {
                match std::panic::catch_unwind(AssertUnwindSafe(|| call(&address))) {
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
        let take = json!({"n": 20, "wait": 0.2, "worker": format!("w{number}"), "hold": 1});
        while let Some((status, taken)) = self.ask(number, "/v1/queues/q/take", &take) {
            assert_eq!(status, 200, "{taken}");
            let tasks = taken["tasks"].as_array().unwrap();
            if tasks.is_empty() && self.is_over.load(Ordering::Relaxed) {
                return;
            }
            // Some are committed one by one, some together.
            if number == 0 {
                tasks.iter().for_each(|task| self.commit(number, task));
            } else if !tasks.is_empty() {
                self.commit_all(number, tasks);
            }
        }
    }

    fn commit(&self, number: usize, task: &Value) {
        let path = format!("/v1/queues/q/tasks/{}/commit", task["id"].as_str().unwrap());
        let mut commit = committed(task);
        commit.as_object_mut().unwrap().remove("id");
        match self.ask(number, &path, &commit) {
            Some((200, _)) => self.note(&task["id"]),
            Some((status, problem)) => assert!([404, 409].contains(&status), "{problem}"),
            None => {}
        }
    }

    fn commit_all(&self, number: usize, tasks: &[Value]) {
        let body = json!({"tasks": tasks.iter().map(committed).collect::<Vec<_>>()});
        let mut answer = Some(body);
        // What could not be done just now is asked for again: a commit may be repeated.
        while let Some(body) = answer.take() {
            let Some((status, answered)) = self.ask(number, "/v1/queues/q/commit", &body) else {
                return;
            };
            assert_eq!(status, 200, "{answered}");
            let results = answered["results"].as_array().unwrap();
            let mut rest = Vec::new();
            for (task, result) in body["tasks"].as_array().unwrap().iter().zip(results) {
                match result["code"].as_str() {
                    None => self.note(&task["id"]),
                    Some("unavailable") => rest.push(task.clone()),
                    Some(code) => assert!(["not_found", "stale_token"].contains(&code), "{result}"),
                }
            }
            if !rest.is_empty() {
                answer = Some(json!({"tasks": rest}));
            }
        }
    }

    fn note(&self, id: &Value) {
        let id = id.as_str().unwrap().to_owned();
        assert!(self.done.lock().unwrap().insert(id.clone()), "done twice: {id}");
    }

    /// Makes one flow after the other.
    fn make(&self) {
        for n in 0.. {
            let id = format!("f{n}");
            let path = format!("/v1/flows/{id}");
            let made = self.call(n, |address| match address.send("GET", &path, &json!({})) {
                (404, _) => address.send("POST", "/v1/flows", &flow(&id)),
                // It was made, and the answer was lost. By now it may have ended: made once more, it
                // would run once more.
                read => read,
            });
            match made {
                Some((200 | 201, _)) => self.made.lock().unwrap().push(id),
                Some((status, problem)) => panic!("{status} {problem}"),
                None => return,
            }
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
        }
    }
}

/// Layers of steps, each of which waits for two of the layer before; the last waits for a whole layer.
fn flow(id: &str) -> Value {
    let called = |layer: usize, step: usize| format!("{layer}.{}", step % WIDTH);
    let mut steps = Vec::new();
    for layer in 0..LAYERS {
        for step in 0..WIDTH {
            let after = match layer {
                0 => json!([]),
                _ => json!([called(layer - 1, step), called(layer - 1, step + 1)]),
            };
            let name = called(layer, step);
            steps.push(json!({"name": name, "queue": "q", "after": after, "payload": {"one": 1}}));
        }
    }
    let last: Vec<_> = (0..WIDTH).map(|step| called(LAYERS - 1, step)).collect();
    steps.push(json!({"name": "last", "queue": "q", "after": last, "payload": {"one": 1}}));
    json!({"id": id, "steps": steps})
}

/// A step's result is one more than all its inputs.
fn committed(task: &Value) -> Value {
    let inputs = task["payload"]["inputs"].as_object();
    let sum: u64 = inputs.into_iter().flatten().map(|(_, input)| input.as_u64().unwrap()).sum();
    json!({"id": task["id"], "token": task["token"], "result": sum + 1})
}

/// What a step of a layer comes to.
fn expected(layer: usize) -> u64 {
    (0..layer).fold(1, |below, _| 2 * below + 1)
}

/// A step that waits for nothing any more is a task; the others wait for one that is not done.
fn check_waiting(flow: &Value) {
    let steps = flow["steps"].as_array().unwrap();
    for step in steps.iter().filter(|step| step["state"] == "pending") {
        assert!(step["waiting_for"].is_array(), "nobody will start it: {step}");
    }
}

fn check_done(flow: &Value) {
    for step in flow["steps"].as_array().unwrap() {
        let name = step["name"].as_str().unwrap();
        let layer = name.split('.').next().unwrap().parse();
        let result = layer.map_or(3 * expected(LAYERS - 1) + 1, expected);
        assert_eq!((&step["state"], &step["result"]), (&json!("done"), &json!(result)), "{flow}");
    }
}

/// Kills one server after the other while steps are carried out, and checks what came of it.
fn kill_and_check(place: &Place, nodes: usize, kills: usize) {
    let mut servers: Vec<_> = (0..nodes).map(|_| Server::of(place.serve())).collect();
    servers[0].put("/v1/queues/q", json!({"max_attempts": -1}));
    let addresses = |servers: &[Server]| servers.iter().map(|s| s.address().to_owned()).collect();
    let work = Arc::new(Work {
        addresses: Mutex::new(addresses(&servers)),
        is_over: AtomicBool::new(false),
        made: Mutex::default(),
        done: Mutex::default(),
    });
    let maker = {
        let work = work.clone();
        std::thread::spawn(move || work.make())
    };
    let spawn = |number| {
        let work = work.clone();
        std::thread::spawn(move || work.work(number))
    };
    let workers: Vec<_> = (0..WORKERS).map(spawn).collect();
    for kill in 0..kills {
        std::thread::sleep(Duration::from_millis(250 + 137 * (kill as u64 % 5)));
        let victim = servers.remove(0);
        if kill % 3 == 2 {
            victim.stop()
        } else {
            victim.kill()
        }
        *work.addresses.lock().unwrap() = addresses(&servers);
        servers.push(Server::of(place.serve()));
        *work.addresses.lock().unwrap() = addresses(&servers);
        for flow in servers[0].get("/v1/flows?state=running")["items"].as_array().unwrap() {
            check_waiting(&servers[0].get(&format!("/v1/flows/{}", flow["id"].as_str().unwrap())));
        }
    }
    work.is_over.store(true, Ordering::Relaxed);
    maker.join().unwrap();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    // What is left is done by one who is sure of his answers.
    work.is_over.store(false, Ordering::Relaxed);
    let deadline = Instant::now() + PATIENCE;
    while !servers[0].get("/v1/flows?state=running&limit=1")["items"].as_array().unwrap().is_empty()
    {
        assert!(Instant::now() < deadline, "flows that never end");
        let taken = servers[0].post("/v1/queues/q/take", json!({"n": 100, "wait": 0.2}));
        taken["tasks"].as_array().unwrap().iter().for_each(|task| work.commit(0, task));
    }
    let made = work.made.lock().unwrap();
    assert!(!made.is_empty());
    for id in made.iter() {
        let flow = servers[nodes - 1].get(&format!("/v1/flows/{id}"));
        assert_eq!(flow["state"], "done", "{flow}");
        check_done(&flow);
    }
    assert!(servers[0].live("q").is_empty(), "tasks of no flow");
    servers.into_iter().for_each(Server::stop);
}

#[test]
fn killed_while_steps_are_committed_every_step_is_done_once() {
    kill_and_check(&Place::directory(), 1, 8);
}

#[test]
fn two_servers_over_one_redis_start_every_step_once() {
    kill_and_check(&Place::redis(), 2, 4);
}

/// Most flows lie in other shards than the queue of their steps.
#[test]
fn two_servers_over_a_cluster_start_every_step_once() {
    kill_and_check(&Place::cluster(), 2, 4);
}
