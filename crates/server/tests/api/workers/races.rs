//! Many workers at once: nobody is given more than it can hold, and every task is done once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::{TestServer, Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn capacity_holds_and_every_task_is_done_once() {
    const TASKS: usize = 300;
    const CAPACITY: usize = 3;
    let server = Arc::new(TestServer::of_mode("dispatch").await);
    let done: Arc<Mutex<HashMap<String, usize>>> = Arc::default();
    let finished = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..6)
        .map(|number| {
            let (server, done, finished) = (server.clone(), done.clone(), finished.clone());
            tokio::spawn(async move {
                let name = format!("w{number}");
                server.join(&name, json!({"capacity": CAPACITY})).await;
                while finished.load(Ordering::Relaxed) < TASKS {
                    let polled = server.poll(&name, json!({"wait": 0.2})).await;
                    let tasks = polled["assignments"].as_array().unwrap();
                    assert!(tasks.len() <= CAPACITY, "{name} has {}", tasks.len());
                    let load = server.get(&format!("/v1/workers/{name}")).await.is(200);
                    assert!(load["load"].as_u64().unwrap() <= CAPACITY as u64, "{load}");
                    for task in tasks {
                        let id = task["id"].as_str().unwrap().to_owned();
                        let token = json!({"token": task["token"]});
                        server.verb(&id, "confirm", token.clone()).await.is(200);
                        server.verb(&id, "commit", token).await.is(200);
                        *done.lock().unwrap().entry(id).or_default() += 1;
                        finished.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        })
        .collect();
    let batches = (0..TASKS / 10).map(|batch| {
        let tasks: Vec<Value> =
            (0..10).map(|n| json!({"id": format!("t{}", batch * 10 + n)})).collect();
        server.post("/v1/queues/q/tasks", json!({"tasks": tasks}))
    });
    for batch in batches {
        batch.await.is(200);
    }
    for worker in workers {
        worker.await.unwrap();
    }
    let done = done.lock().unwrap();
    assert_eq!(done.len(), TASKS);
    assert!(done.values().all(|count| *count == 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_voters_at_once_are_all_heard() {
    const VOTERS: usize = 24;
    let server = Arc::new(TestServer::of_mode("vote").await);
    for number in 0..VOTERS {
        server.join(&format!("v{number:02}"), json!({})).await;
    }
    server.push(json!({"id": "t"})).await;
    let voters: Vec<_> = (0..VOTERS)
        .map(|number| {
            let server = server.clone();
            tokio::spawn(async move {
                let task = server.given(&format!("v{number:02}"), 1).await.remove(0);
                server.work(&task, json!(number)).await
            })
        })
        .collect();
    let mut ends = 0;
    for voter in voters {
        ends += usize::from(voter.await.unwrap()["state"] == "done");
    }
    assert_eq!(ends, 1, "one of them is the last");
    let result = server.task("t").await["result"].clone();
    for number in 0..VOTERS {
        assert_eq!(result[format!("v{number:02}")], number);
    }
}
