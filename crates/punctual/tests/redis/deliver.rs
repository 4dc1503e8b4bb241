//! Deliveries over Redis: by whichever server, once, and again if that one is killed in the middle.

use std::process::Command;
use std::time::Instant;

use punctual_client::{Mode, NewTask, QueueChanges, RawJson, State};
use punctual_testing::redis::Server as Redis;
use serde_json::json;

use crate::process::{PATIENCE, Server, serve};
use crate::target::{answer, target};

fn allowing(redis: &Redis) -> Server {
    let mut command: Command = serve(redis.url().as_ref());
    command.arg("--allow-private-targets");
    Server::of(command)
}

fn hooks(address: std::net::SocketAddr) -> QueueChanges {
    QueueChanges::new()
        .mode(Mode::Http)
        .set("url", RawJson::of(&format!("http://{address}/")))
        .set("timeout", RawJson::of(&1))
        .set("keep", RawJson::of(&json!({"done": "1h"})))
}

#[tokio::test]
async fn a_delivery_whose_server_is_killed_is_made_by_another() {
    let redis = Redis::start();
    let (address, requests) = target();
    let one = allowing(&redis);
    one.client().put_queue("hooks", &hooks(address)).await.unwrap();
    one.client().push("hooks", &NewTask::new("a").id("a")).await.unwrap();
    let (request, stream) = requests.recv_timeout(PATIENCE).unwrap();
    assert_eq!(request, "a");
    let other = allowing(&redis);
    one.kill();
    drop(stream);
    let (request, stream) = requests.recv_timeout(PATIENCE).unwrap();
    assert_eq!(request, "a");
    answer(stream, "200 OK");
    let task = until_done(&other, "a").await;
    assert_eq!((task.attempt, task.history.len()), (2, 2));
    other.stop();
}

#[tokio::test]
async fn each_task_is_delivered_once_however_many_servers_there_are() {
    const TASKS: usize = 40;
    let redis = Redis::start();
    let (address, requests) = target();
    let servers = [allowing(&redis), allowing(&redis)];
    servers[0].client().put_queue("hooks", &hooks(address)).await.unwrap();
    for n in 0..TASKS {
        let task = NewTask::new(&n).id(format!("{n}"));
        servers[n % 2].client().push("hooks", &task).await.unwrap();
    }
    let mut seen = vec![0; TASKS];
    for _ in 0..TASKS {
        let (request, stream) = requests.recv_timeout(PATIENCE).unwrap();
        answer(stream, "200 OK");
        seen[request.as_u64().unwrap() as usize] += 1;
    }
    for n in 0..TASKS {
        until_done(&servers[n % 2], &n.to_string()).await;
    }
    assert!(requests.try_recv().is_err(), "nothing is delivered twice");
    assert_eq!(seen, vec![1; TASKS]);
}

async fn until_done(server: &Server, id: &str) -> punctual_client::Task {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let task = server.client().task("hooks", id).await.unwrap();
        if task.state == State::Done {
            return task;
        }
        assert!(Instant::now() < deadline, "{task:?}");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}
