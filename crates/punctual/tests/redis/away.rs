//! While Redis is away, hangs or has lost its data: what requests and `/readyz` say, and that all
//! comes back by itself.

use std::time::{Duration, Instant};

use punctual_client::{Commit, Mode, NewTask, QueueChanges, RawJson, Span, State, Take};
use punctual_testing::redis::Server as Redis;

use crate::process::{PATIENCE, Server};
use crate::task::take_one;
use crate::{node, raw};

/// How soon a server works again; what is promised is 5 s, on a machine that is not overloaded.
const RECOVERY: Duration = Duration::from_secs(20);

/// What `/readyz` says when it is 503.
fn unready(server: &Server) -> serde_json::Value {
    let answer = raw::send(server.address(), "GET", "/readyz", b"");
    assert_eq!(answer.status, 503, "{answer:?}");
    assert!(answer.head.contains("retry-after: "), "{answer:?}");
    serde_json::from_str(&answer.body).unwrap()
}

fn recovers(server: &Server) {
    let since = Instant::now();
    while raw::readiness(server.address()) != 200 {
        assert!(since.elapsed() < RECOVERY, "not ready after {RECOVERY:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Processor time of a process, in ticks of a hundredth of a second.
fn worked(server: &Server) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    [11, 12].iter().map(|place| fields[*place].parse::<u64>().unwrap()).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_says_that_redis_is_away_and_comes_back_with_it() {
    let mut redis = Redis::with(&["--appendonly", "yes", "--appendfsync", "always"]);
    let server = node(&redis);
    let client = server.client();
    let settings = QueueChanges::new().hold(Span::from_millis(500));
    client.put_queue("q", &settings).await.unwrap();
    client.push("q", &NewTask::new("x").id("held")).await.unwrap();
    let lost = take_one(&client, "q", &Take::new()).await;
    client.push("q", &NewTask::new("x").id("later").delay(Span::from_millis(500))).await.unwrap();
    let waiting = server.client();
    let taker = tokio::spawn(async move {
        let mut got = Vec::new();
        let deadline = Instant::now() + PATIENCE;
        while got.len() < 2 {
            assert!(Instant::now() < deadline, "{got:?}");
            // A take that waits when Redis goes away may be told so; then it asks again.
            match waiting
                .take("q", &Take::new().hold(Span::from_secs(600)).wait(Span::from_secs(30)))
                .await
            {
                Ok(taken) => got.extend(taken.tasks.into_iter().map(|taken| taken.task.id)),
                Err(error) => assert_eq!(error.code(), Some("unavailable"), "{error}"),
            }
        }
        got.sort();
        got
    });
    // Deliveries are looked for again and again, but not all the time.
    let url = RawJson::of(&"http://192.0.2.1/");
    client.put_queue("hooks", &QueueChanges::new().mode(Mode::Http).set("url", url)).await.unwrap();
    client.push("hooks", &NewTask::new("x")).await.unwrap();
    redis.kill();
    let detail = unready(&server)["detail"].as_str().unwrap().to_owned();
    assert!(detail.starts_with("Redis: "), "{detail}");
    let answer = raw::send(server.address(), "POST", "/v1/queues/q/tasks", b"{}");
    assert_eq!((answer.status, answer.code().as_deref()), (503, Some("unavailable")));
    assert!(answer.head.contains("retry-after: "), "{answer:?}");
    assert!(answer.body.contains(r#""effect":"none""#), "nothing was sent: {answer:?}");
    assert_eq!(raw::send(server.address(), "GET", "/livez", b"").status, 200);

    let before = worked(&server);
    std::thread::sleep(Duration::from_secs(2));
    let ticks = worked(&server) - before;
    assert!(ticks < 60, "{ticks} hundredths of a second of work in 2 s of waiting");

    redis.run();
    recovers(&server);
    assert_eq!(taker.await.unwrap(), ["held", "later"], "what ended or fell due meanwhile");
    let error = client.commit(lost.held(), &Commit::default()).await.unwrap_err();
    assert_eq!(error.code(), Some("stale_token"));
    server.stop();
}

/// Also with deliveries to make and tasks in hands, a server ends when it is told to.
#[tokio::test]
async fn a_server_ends_while_redis_is_away() {
    let mut redis = Redis::start();
    let server = node(&redis);
    let client = server.client();
    let url = RawJson::of(&"http://192.0.2.1/");
    client.put_queue("hooks", &QueueChanges::new().mode(Mode::Http).set("url", url)).await.unwrap();
    client.push("hooks", &NewTask::new("x")).await.unwrap();
    client.push("q", &NewTask::new("x")).await.unwrap();
    take_one(&client, "q", &Take::new()).await;
    redis.kill();
    assert_eq!(raw::readiness(server.address()), 503);
    server.stop();
}

/// FAULTS row 30.
#[tokio::test]
async fn a_redis_that_hangs_is_told_and_comes_back() {
    let redis = Redis::start();
    let server = node(&redis);
    let client = server.client();
    client.push("q", &NewTask::new("x").id("before")).await.unwrap();
    redis.pause();
    let begun = Instant::now();
    let error = client.push("q", &NewTask::new("x").id("meanwhile")).await.unwrap_err();
    assert_eq!((error.status(), error.code()), (Some(503), Some("unavailable")), "{error}");
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    unready(&server);
    redis.go_on();
    recovers(&server);
    // Whether it was carried out or not: repeated under its id it is there once.
    let _ = client.push("q", &NewTask::new("x").id("meanwhile")).await;
    let taken = client.take("q", &Take::new().n(9)).await.unwrap().tasks;
    let ids: Vec<_> = taken.iter().map(|taken| taken.task.id.as_str()).collect();
    assert_eq!(ids, ["before", "meanwhile"]);
    server.stop();
}

/// Row 25: what Redis refuses is told with its reason; takes and commits go on where it lets them.
#[tokio::test]
async fn a_redis_without_memory_refuses_pushes_only() {
    let redis = Redis::start();
    let server = node(&redis);
    let client = server.client();
    client.push("q", &NewTask::new("x").id("a")).await.unwrap();
    redis.command::<String>("CONFIG SET maxmemory 1");
    let error = client.push("q", &NewTask::new("x").id("b")).await.unwrap_err();
    assert_eq!((error.status(), error.code()), (Some(503), Some("unavailable")), "{error}");
    assert!(error.to_string().contains("out of memory"), "{error}");
    assert_eq!(error.effect(), punctual_client::Effect::None);
    let taken = take_one(&client, "q", &Take::new()).await;
    client.commit(taken.held(), &Commit::default()).await.unwrap();
    redis.command::<String>("CONFIG SET maxmemory 0");
    client.push("q", &NewTask::new("x").id("b")).await.unwrap();
    redis.command::<String>("SCRIPT FLUSH");
    let taken = take_one(&client, "q", &Take::new()).await;
    client.commit(taken.held(), &Commit::default()).await.unwrap();
    server.stop();
}

/// Row 24, without Sentinels: Redis is a replica for a while.
#[tokio::test]
async fn a_redis_that_is_a_replica_is_not_written_to() {
    let redis = Redis::start();
    let server = node(&redis);
    let nowhere = punctual_testing::free_port();
    redis.command::<String>(&format!("REPLICAOF 127.0.0.1 {nowhere}"));
    let error = server.client().push("q", &NewTask::new("x").id("a")).await.unwrap_err();
    assert_eq!(error.code(), Some("unavailable"), "{error}");
    unready(&server);
    redis.command::<String>("REPLICAOF NO ONE");
    recovers(&server);
    server.client().push("q", &NewTask::new("x").id("a")).await.unwrap();
    server.stop();
}

/// Row 28.
#[tokio::test]
async fn after_a_flush_the_store_begins_anew() {
    let redis = Redis::start();
    let (one, other) = (node(&redis), node(&redis));
    one.client().push("q", &NewTask::new("x").id("a")).await.unwrap();
    take_one(&other.client(), "q", &Take::new()).await;
    redis.command::<String>("FLUSHALL");
    for server in [&one, &other] {
        let pushed = server.client().push("q", &NewTask::new("x")).await.unwrap();
        assert_eq!(pushed.state, State::Ready);
        recovers(server);
    }
    assert_eq!(other.client().queue("q").await.unwrap().counts.ready, 2);
    assert_eq!(one.client().queue("notices").await.unwrap().counts.total, 0);
}
