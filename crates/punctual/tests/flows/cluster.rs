//! Flows over a Cluster, where most lie in other shards than the tasks of their steps.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::Api;
use crate::place::Place;
use crate::process::Server;

const PATIENCE: Duration = Duration::from_secs(20);

struct Flow<'a> {
    server: &'a Server,
    id: String,
    queue: String,
}

impl Flow<'_> {
    fn read(&self) -> Value {
        self.server.get(&format!("/v1/flows/{}", self.id))
    }

    /// Waits until it and its steps are in these states.
    #[track_caller]
    fn is(&self, state: &str, steps: [&str; 3]) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let flow = self.read();
            let read: Vec<_> =
                flow["steps"].as_array().unwrap().iter().map(|step| &step["state"]).collect();
            if flow["state"] == state && json!(read) == json!(steps) {
                return;
            }
            assert!(Instant::now() < deadline, "never {state} {steps:?}: {flow}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn act(&self, verb: &str) {
        self.server.post(&format!("/v1/flows/{}/{verb}", self.id), json!({}));
    }

    /// Takes the task of a step, which may be on its way.
    fn take(&self, step: &str) -> Value {
        let take = json!({"wait": 10});
        let taken = self.server.post(&format!("/v1/queues/{}/take", self.queue), take);
        assert_eq!(taken["tasks"][0]["id"], format!("{}~{step}", self.id), "{taken}");
        taken["tasks"][0].clone()
    }

    fn say(&self, step: &str, verb: &str, body: Value) -> Value {
        let path = format!("/v1/queues/{}/tasks/{}~{step}/{verb}", self.queue, self.id);
        self.server.post(&path, body)
    }

    fn work(&self, step: &str) -> Value {
        let task = self.take(step);
        self.say(step, "commit", json!({"token": task["token"], "result": step}));
        task
    }
}

/// A flow lives through all there is: paused, resumed, cancelled, tried again, failed, its task tried again.
fn live(flow: &Flow<'_>) {
    let step =
        |name: &str, after: &[&str]| json!({"name": name, "queue": flow.queue, "after": after});
    let steps = json!([step("a", &[]), step("b", &["a"]), step("c", &["b"])]);
    flow.server.post("/v1/flows", json!({"id": flow.id, "steps": steps}));
    let a = flow.take("a");
    flow.act("pause");
    flow.say("a", "commit", json!({"token": a["token"], "result": {"n": 1}}));
    flow.is("paused", ["done", "pending", "pending"]);
    flow.act("resume");
    let b = flow.take("b");
    assert_eq!(b["payload"]["inputs"], json!({"a": {"n": 1}}));
    flow.say("b", "release", json!({"token": b["token"]}));
    flow.act("pause");
    flow.is("paused", ["done", "paused", "pending"]);
    flow.act("resume");
    let b = flow.take("b");
    flow.act("cancel");
    flow.is("cancelling", ["done", "cancelling", "cancelled"]);
    flow.say("b", "cancelled", json!({"token": b["token"]}));
    flow.is("cancelled", ["done", "cancelled", "cancelled"]);
    flow.act("retry");
    let b = flow.take("b");
    flow.say("b", "fail", json!({"token": b["token"], "error": "no", "permanent": true}));
    flow.is("failed", ["done", "failed", "pending"]);
    flow.say("b", "retry", json!({}));
    flow.is("running", ["done", "ready", "pending"]);
    flow.work("b");
    flow.take("c");
    flow.server.post(&format!("/v1/queues/{}/reset", flow.queue), json!({}));
    flow.is("failed", ["done", "done", "failed"]);
    flow.act("retry");
    let c = flow.work("c");
    assert_eq!(c["payload"]["inputs"], json!({"b": "b"}));
    flow.is("done", ["done", "done", "done"]);
    assert!(flow.server.live(&flow.queue).is_empty());
}

#[test]
fn flows_live_the_same_wherever_their_tasks_lie() {
    let place = Place::cluster();
    let servers = [Server::of(place.serve()), Server::of(place.serve())];
    for n in 0..8 {
        let (id, queue) = (format!("flow{n}"), format!("queue{}", n % 3));
        live(&Flow { server: &servers[n % 2], id, queue });
    }
    servers.into_iter().for_each(Server::stop);
}
