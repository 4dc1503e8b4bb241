//! No more at once than the queue, the target and the server allow; and nobody waits for a target
//! that hangs but its own tasks.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

async fn push_many(server: &TestServer, count: usize, task: impl Fn(usize) -> Value) {
    let tasks: Vec<Value> = (0..count).map(task).collect();
    for part in tasks.chunks(1_000) {
        let pushed = server.post("/v1/queues/q/tasks", json!({"tasks": part})).await.is(200);
        assert!(pushed["results"].as_array().unwrap().iter().all(|item| item["ok"] == true));
    }
}

async fn until_counted(server: &TestServer, state: &str, count: usize) {
    server.eventually("/v1/queues/q", |queue| queue["counts"][state] == count).await;
}

#[tokio::test]
async fn concurrency_is_the_most_under_way() {
    let stub = Stub::start(|_| Reply::Gate).await;
    let server = delivering(json!({"url": stub.url("/"), "concurrency": 2})).await;
    push_many(&server, 20, |_| json!({})).await;
    stub.seen(2).await;
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["running"], 2);
    stub.open();
    until_counted(&server, "done", 20).await;
    assert_eq!((stub.under_way_max(), stub.count()), (2, 20));
}

#[tokio::test]
async fn a_rate_is_kept() {
    let stub = Stub::ok().await;
    let rate = json!({"limit": 3, "per": "60s"});
    let server = delivering(json!({"url": stub.url("/"), "rate": rate})).await;
    push_many(&server, 5, |n| json!({"id": n.to_string()})).await;
    until_counted(&server, "done", 3).await;
    assert_eq!(server.get("/v1/queues/q/tasks/4/why").await.is(200)["reason"], "rate");
    assert_eq!(stub.count(), 3);
    // The executor looks again in real time; a change of the queue lets it look at once.
    server.advance(40).await;
    server.put("/v1/queues/q", json!({"tag": "look"})).await.is(200);
    until_counted(&server, "done", 5).await;
}

#[tokio::test]
async fn a_target_that_hangs_keeps_nobody_else_waiting() {
    let hanging = Stub::start(|_| Reply::Hang).await;
    let good = Stub::ok().await;
    let server = delivering(json!({"url": hanging.url("/")})).await;
    // The hanging one's come first, by their own URL and by the queue's.
    push_many(&server, 300, |n| match n % 2 {
        0 => json!({"http": {"url": hanging.url("/")}}),
        _ => json!({}),
    })
    .await;
    hanging.seen(8).await;
    push_many(&server, 300, |_| json!({"http": {"url": good.url("/")}})).await;
    good.seen(300).await;
    until_counted(&server, "done", 300).await;
    assert_eq!(hanging.under_way_max(), 8, "what a target nothing is known of is given");
    let stuck = server.get("/v1/queues/q/tasks?state=ready&limit=1").await.is(200);
    let id = stuck["items"][0]["id"].as_str().unwrap();
    let why = server.get(&format!("/v1/queues/q/tasks/{id}/why")).await.is(200);
    assert_eq!(why["reason"], "target_busy");
    let task = server.get(&format!("/v1/queues/q/tasks/{id}")).await.is(200);
    assert_eq!((&task["attempt"], &task["history"]), (&json!(0), &json!([])));
}

#[tokio::test]
async fn a_greedy_queue_leaves_places_to_others() {
    let hanging = [Stub::start(|_| Reply::Hang).await, Stub::start(|_| Reply::Hang).await];
    let good = Stub::ok().await;
    let limits = DeliveryLimits { max_in_flight: 20, ..DeliveryLimits::default() };
    let reach = Reach::everywhere();
    let server = with(DeliveryConfig { reach, limits, ..DeliveryConfig::default() }).await;
    put_queue(&server, json!({})).await;
    push_many(&server, 100, |n| json!({"http": {"url": hanging[n % 2].url("/")}})).await;
    until_counted(&server, "running", 10).await;
    let path = "/v1/queues/q/tasks?state=ready&limit=1";
    let stuck = server.get(path).await.is(200)["items"][0]["id"].clone();
    let why = format!("/v1/queues/q/tasks/{}/why", stuck.as_str().unwrap());
    server.eventually(&why, |why| why["reason"] == "deliveries_busy").await;
    server.put("/v1/queues/other", json!({"mode": "http", "url": good.url("/")})).await.is(201);
    for _ in 0..30 {
        server.post("/v1/queues/other/tasks", json!({})).await.is(201);
    }
    good.seen(30).await;
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["running"], 10);
}

#[tokio::test]
async fn no_delivery_takes_longer_than_the_server_allows() {
    let hanging = Stub::start(|_| Reply::Hang).await;
    let limits =
        DeliveryLimits { max_timeout: Span::from_millis(100), ..DeliveryLimits::default() };
    let reach = Reach::everywhere();
    let server = with(DeliveryConfig { reach, limits, ..DeliveryConfig::default() }).await;
    put_queue(&server, json!({"max_attempts": 1})).await;
    let task = json!({"id": "a", "http": {"url": hanging.url("/"), "timeout": "1h"}});
    server.post("/v1/queues/q/tasks", task).await.is(201);
    server.until("a", "failed").await;
}

#[tokio::test]
async fn a_good_target_is_given_more_and_more() {
    let is_gated = Arc::new(AtomicBool::new(false));
    let gated = is_gated.clone();
    let stub = Stub::start(move |_| match gated.load(Ordering::SeqCst) {
        false => Reply::status(200),
        true => Reply::Gate,
    })
    .await;
    let server = delivering(json!({"url": stub.url("/")})).await;
    push_many(&server, 200, |_| json!({})).await;
    until_counted(&server, "done", 200).await;
    is_gated.store(true, Ordering::SeqCst);
    push_many(&server, 200, |_| json!({})).await;
    stub.seen(264).await;
    // More are taken already, and wait at the door.
    server.eventually("/v1/queues/q", |queue| queue["counts"]["running"].as_u64() > Some(64)).await;
    stub.open();
    until_counted(&server, "done", 400).await;
    assert_eq!(stub.under_way_max(), 64);
    assert!(stub.connections() < 200, "connections are used again: {}", stub.connections());
}

#[tokio::test]
async fn a_target_that_is_down_is_probed_and_comes_back_slowly() {
    // A port that nobody listens on, until later.
    let address = Stub::ok().await.address;
    let reserved = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = reserved.local_addr().unwrap();
    drop(reserved);
    assert_ne!(address, dead);
    let server = delivering(json!({"retry": {"intervals": [3_600]}, "keep": {"done": "1d"}})).await;
    push_many(
        &server,
        200,
        |n| json!({"id": n.to_string(), "http": {"url": format!("http://{dead}/")}}),
    )
    .await;
    let failed = |queue: &Value| queue["counts"]["waiting"].as_u64() >= Some(10);
    server.eventually("/v1/queues/q", failed).await;
    let why =
        server.eventually("/v1/queues/q/tasks/199/why", |why| why["reason"] == "target_down").await;
    assert!(why["until"].is_string());
    let is_down = |hosts: &Value| {
        let host = &hosts["items"][0];
        host["host"] == dead.to_string() && host["state"] != "closed" && host["failures"] == 10
    };
    let down = server.eventually("/v1/hosts", is_down).await;
    assert_eq!(down["items"].as_array().unwrap().len(), 1);
    let (host, state) = (&down["items"][0], down["items"][0]["state"].as_str().unwrap());
    assert_eq!(host["retry_at"].is_string(), state == "open", "{host}");
    assert!(host["waiting"].as_u64() <= Some(1) && host["in_flight"].as_u64() <= Some(8), "{host}");
    let tried = server.get("/v1/queues/q").await.is(200)["counts"]["waiting"].as_u64().unwrap();
    assert!(tried < 40, "{tried} attempts on a target that is down");
    let stub = Stub::at(&dead.to_string(), |_| Reply::status(200)).await;
    server.eventually("/v1/queues/q", |queue| queue["counts"]["ready"] == 0).await;
    let queue = server.get("/v1/queues/q").await.is(200);
    let untried = 200 - queue["counts"]["waiting"].as_u64().unwrap();
    stub.seen(usize::try_from(untried).unwrap()).await;
    // What failed before waits for its retry, and is delivered then.
    server.advance(3_600).await;
    until_counted(&server, "done", 200).await;
    let is_well = |hosts: &Value| hosts["items"][0]["in_flight"] == 0;
    let well = server.eventually("/v1/hosts", is_well).await["items"][0].clone();
    let (state, failures) = (&well["state"], &well["failures"]);
    assert_eq!((state, failures, &well["retry_at"]), (&json!("closed"), &json!(0), &json!(null)));
}

#[tokio::test]
async fn thousands_of_targets_are_served_at_once() {
    let stub = Stub::ok().await;
    let hosts: Vec<String> = (0..2_000).map(|n| format!("host-{n}.example")).collect();
    let names: Vec<(&str, &[&[&str]])> = hosts
        .iter()
        .map(|host| (host.as_str(), &[&["127.0.0.1"] as &[&str]] as &[&[&str]]))
        .collect();
    let reach = Reach::everywhere();
    let resolver = Names::new(&names);
    let server = with(DeliveryConfig { reach, resolver, ..DeliveryConfig::default() }).await;
    put_queue(&server, json!({})).await;
    let port = stub.address.port();
    push_many(
        &server,
        4_000,
        |n| json!({"http": {"url": format!("http://{}:{port}/", hosts[n % hosts.len()])}}),
    )
    .await;
    let is_over =
        |queue: &Value| queue["counts"]["done"] == 4_000 || queue["counts"]["waiting"] != 0;
    server.eventually("/v1/queues/q", is_over).await;
    let failed = server.get("/v1/queues/q/tasks?state=waiting&limit=1").await;
    assert_eq!(failed.is(200)["items"], json!([]), "none had to be tried again");
    assert_eq!(stub.count(), 4_000);
}

#[tokio::test]
async fn what_hangs_is_given_back_when_the_server_stops() {
    let stub =
        Stub::start(|seen| if seen.path == "/gate" { Reply::Gate } else { Reply::Hang }).await;
    let clock = punctual_store::ManualClock::new(
        punctual_core::Timestamp::parse("2026-11-15T06:00:00Z").unwrap(),
    );
    let store = crate::store(&clock);
    let delivery = DeliveryConfig { reach: Reach::everywhere(), ..DeliveryConfig::default() };
    let config = ServerConfig { delivery, ..ServerConfig::default() };
    let mut server = TestServer::over(store.clone(), clock, config).await;
    put_queue(&server, json!({})).await;
    for path in ["gate", "hang"] {
        let url = stub.url(&format!("/{path}"));
        server.push(json!({"id": path, "http": {"url": url}})).await;
    }
    stub.seen(2).await;
    server.stop();
    stub.open();
    server.stopped().await.unwrap();
    let queue = punctual_core::QueueName::parse("q").unwrap();
    let ids = ["gate", "hang"].map(|id| punctual_core::TaskId::parse(id).unwrap());
    let tasks = store.read(&queue, &ids).await.unwrap();
    let states: Vec<_> = tasks
        .iter()
        .map(|stored| stored.as_ref().map(|stored| &stored.task.status))
        .map(|status| status.map(|status| (status.state, status.attempt)))
        .collect();
    use punctual_core::State::{Done, Ready};
    assert_eq!(states, [Some((Done, 1)), Some((Ready, 0))]);
}

/// Every name leads to this machine.
struct Here;

impl Resolve for Here {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        async { Ok(vec![IpAddr::from([127, 0, 0, 1])]) }.boxed()
    }
}

/// Memory of this process, the target's included, in MiB.
fn resident_mib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() / 1_024
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_targets_are_served_within_bounded_memory() {
    let stub = Stub::ok().await;
    let (reach, resolver) = (Reach::everywhere(), Arc::new(Here));
    let server = with(DeliveryConfig { reach, resolver, ..DeliveryConfig::default() }).await;
    put_queue(&server, json!({})).await;
    // The model looks through all its tasks again and again, so it gets fewer of them.
    let ready = server.get("/readyz").await.is(200).to_string();
    let count = if ready.contains("model") { 1_000 } else { 10_000 };
    let before = resident_mib();
    let port = stub.address.port();
    push_many(&server, count, |n| json!({"http": {"url": format!("http://t{n}.test:{port}/")}}))
        .await;
    for done in (count / 10..=count).step_by(count / 10) {
        let is_so_far = |queue: &Value| queue["counts"]["done"].as_u64() >= Some(done as u64);
        server.eventually("/v1/queues/q", is_so_far).await;
    }
    let hosts: BTreeSet<String> =
        stub.seen(count).await.iter().map(|seen| seen.headers["host"].clone()).collect();
    assert_eq!((hosts.len(), stub.count()), (count, count));
    let grown = resident_mib().saturating_sub(before);
    assert!(grown < 256, "{grown} MiB more than before");
}
