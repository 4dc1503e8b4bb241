//! Deliveries per second of the real server to a local target, against the same target called by
//! the same HTTP client with no queue in between: a process of its own like the server, with requests
//! that say as much.
//!
//! Then bundles: payloads pushed one by one over many keys, and delivered; the first must cost what the
//! last do. Then single deliveries, without a target that hangs and beside one. Run it with `cargo xtask bench delivery`; `-- quick` makes fewer.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark reports to a terminal")]

mod beside;

use std::io::BufRead as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const PAYLOAD_BYTES: usize = 200;
/// What the server gives one target at once, when it is doing well.
const AT_ONCE: usize = 64;
const PATIENCE: Duration = Duration::from_secs(600);

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, "call", address, calls] = &args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        return call(address.parse().unwrap(), calls.parse().unwrap());
    }
    let is_quick = args.iter().any(|arg| arg == "quick");
    let deliveries = if is_quick { 10_000 } else { 100_000 };
    let place = std::env::var("PUNCTUAL_BENCH_DIR").unwrap_or(".".into());
    let dir = tempfile::tempdir_in(place).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        println!("deliveries of {PAYLOAD_BYTES}-byte payloads to a target on this machine");
        let target = Target::start().await;
        for (name, store) in [("in memory", Path::new("memory:")), ("on disk", dir.path())] {
            let ceiling_before = target.called_directly(deliveries);
            let server = Server::start(store);
            let before = server.cpu_seconds();
            let (rate, drained) = server.deliver(&target, deliveries).await;
            let cost = (server.cpu_seconds() - before) * 1e6 / deliveries as f64;
            // Taken before and after, as the machine is not equally fast all the time.
            let ceiling_after = target.called_directly(deliveries);
            let ceiling = f64::midpoint(ceiling_before, ceiling_after);
            println!(
                "{:<44} {ceiling:>10.0} /s   ({ceiling_before:.0} before, {ceiling_after:.0} after)",
                "ceiling: the same client, no queue"
            );
            println!(
                "{:<44} {rate:>10.0} /s   {:>5.2} of the ceiling",
                format!("delivered from a backlog, {name}"),
                rate / ceiling
            );
            println!("{:<44} {cost:>10.1} µs of the server's CPU, push included", "");
            println!("{:<44} {:>10.1} s", "until all are ended", drained.as_secs_f64());
            bundles(&server, &target, deliveries * 10, deliveries / 10).await;
            beside::report(&server, deliveries / 25).await;
        }
    });
}

/// Pushes payloads over keys, then lets them be delivered, and says what that costs.
async fn bundles(server: &Server, target: &Target, payloads: usize, keys: usize) {
    let url = format!("http://{}/", target.address);
    let settings = format!(r#"{{"mode":"http","url":"{url}"}}"#);
    server.send(Method::PUT, "/v1/queues/merged", settings).await;
    server.send(Method::POST, "/v1/queues/merged/pause", String::new()).await;
    let tenth = payloads / 10;
    for (name, range) in [
        (format!("bundle pushes, the first {tenth} over {keys} keys"), 0..tenth),
        (String::new(), tenth..payloads - tenth),
        (format!("bundle pushes, the last {tenth} of {payloads}"), payloads - tenth..payloads),
    ] {
        let (count, before, start) = (range.len() as f64, server.cpu_seconds(), Instant::now());
        server.push_all(range, keys).await;
        let rate = count / start.elapsed().as_secs_f64();
        let cost = (server.cpu_seconds() - before) * 1e6 / count;
        if !name.is_empty() {
            println!("{name:<44} {rate:>10.0} /s   {cost:>5.1} µs of CPU each");
        }
    }
    let (before, start) = (server.cpu_seconds(), Instant::now());
    server.send(Method::POST, "/v1/queues/merged/resume", String::new()).await;
    loop {
        let queue = server.send(Method::GET, "/v1/queues/merged", String::new()).await;
        if queue.contains(r#""bundles":0"#) {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "not all were delivered");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let rate = payloads as f64 / start.elapsed().as_secs_f64();
    let cost = (server.cpu_seconds() - before) * 1e6 / payloads as f64;
    println!(
        "{:<44} {rate:>10.0} /s   {cost:>5.1} µs of CPU each",
        "payloads delivered in bundles"
    );
}

fn payload() -> String {
    format!(r#""{}""#, "x".repeat(PAYLOAD_BYTES - 2))
}

/// A target that answers as fast as it can.
struct Target {
    address: SocketAddr,
    answered: Arc<AtomicUsize>,
}

impl Target {
    async fn start() -> Self {
        let answered = Arc::new(AtomicUsize::new(0));
        let count = answered.clone();
        let note = move |_: &[u8]| {
            count.fetch_add(1, Ordering::Relaxed);
        };
        Self { address: listen(note).await, answered }
    }

    /// How many calls a second a process makes that does nothing else.
    fn called_directly(&self, calls: usize) -> f64 {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["call", &self.address.to_string(), &calls.to_string()])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
    }
}

/// Calls a target so often, and prints how many calls a second that were.
#[tokio::main]
async fn call(target: SocketAddr, calls: usize) {
    let client: Client<HttpConnector, Full<Bytes>> =
        Client::builder(TokioExecutor::new()).build_http();
    let body = Bytes::from(payload());
    let start = Instant::now();
    let callers: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let (client, body) = (client.clone(), body.clone());
            tokio::spawn(async move {
                for _ in 0..calls / AT_ONCE {
                    let response = client.request(like_a_delivery(target, &body)).await.unwrap();
                    response.into_body().collect().await.unwrap();
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    println!("{}", (calls / AT_ONCE * AT_ONCE) as f64 / start.elapsed().as_secs_f64());
}

/// A request with the headers that a delivery has.
fn like_a_delivery(target: SocketAddr, body: &Bytes) -> Request<Full<Bytes>> {
    Request::post(format!("http://{target}/"))
        .header("user-agent", "punctual/0.1.0")
        .header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
        .header("content-type", "application/json")
        .header("webhook-id", "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W")
        .header("webhook-timestamp", "1674087231")
        .body(Full::new(body.clone()))
        .unwrap()
}

/// Takes connections; every request on them is noted, then answered.
async fn listen(note: impl Fn(&[u8]) + Clone + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            tokio::spawn(answer(stream, note.clone()));
        }
    });
    address
}

/// Answers every request on a connection.
async fn answer(mut stream: TcpStream, note: impl Fn(&[u8])) {
    let mut buffer = Vec::with_capacity(4_096);
    loop {
        let whole = loop {
            let head = buffer.windows(4).position(|window| window == b"\r\n\r\n");
            if let Some(end) = head.map(|head| head + 4 + content_length(&buffer[..head]))
                && buffer.len() >= end
            {
                break end;
            }
            if !stream.read_buf(&mut buffer).await.is_ok_and(|bytes| bytes > 0) {
                return;
            }
        };
        note(&buffer[..whole]);
        buffer.drain(..whole);
        if stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.is_err() {
            return;
        }
    }
}

/// The length of the body behind a head.
fn content_length(head: &[u8]) -> usize {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
    length.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// A server of its own process, ended with this value.
struct Server {
    process: Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    fn start(store: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_punctual"))
            .args(["serve", "--listen", "127.0.0.1:0", "--allow-private-targets", "--store"])
            .arg(store)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit("//").next().unwrap().to_owned();
        Self { process, address }
    }

    /// What the server's threads have used so far.
    fn cpu_seconds(&self) -> f64 {
        const TICKS_PER_SECOND: f64 = 100.0;
        let path = format!("/proc/{}/stat", self.process.id());
        let stat = std::fs::read_to_string(path).unwrap_or_default();
        let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        let ticks: f64 = fields.skip(11).take(2).filter_map(|f| f.parse::<f64>().ok()).sum();
        ticks / TICKS_PER_SECOND
    }

    async fn send(&self, method: Method, path: &str, body: String) -> String {
        let client: Client<HttpConnector, Full<Bytes>> =
            Client::builder(TokioExecutor::new()).build_http();
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = format!("http://{}{path}", self.address).parse().unwrap();
        let response = client.request(request).await.unwrap();
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&body).into_owned();
        assert!(status.is_success(), "{text}");
        text
    }

    /// Pushes payloads one by one into bundles, from many callers at once.
    async fn push_all(&self, range: std::ops::Range<usize>, keys: usize) {
        let client: Client<HttpConnector, Full<Bytes>> =
            Client::builder(TokioExecutor::new()).build_http();
        let body = Bytes::from(format!(r#"{{"task":{}}}"#, payload()));
        let callers: Vec<_> = (0..AT_ONCE)
            .map(|caller| {
                let (client, body, range) = (client.clone(), body.clone(), range.clone());
                let base = format!("http://{}/v1/queues/merged/bundles", self.address);
                tokio::spawn(async move {
                    for n in range.filter(|n| n % keys % AT_ONCE == caller) {
                        let mut request = Request::new(Full::new(body.clone()));
                        *request.method_mut() = Method::POST;
                        *request.uri_mut() = format!("{base}/k{}/push", n % keys).parse().unwrap();
                        let response = client.request(request).await.unwrap();
                        assert!(response.status().is_success());
                        response.into_body().collect().await.unwrap();
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.await.unwrap();
        }
    }

    /// Delivers a backlog: how many arrive per second, and how long until the last has ended.
    async fn deliver(&self, target: &Target, deliveries: usize) -> (f64, Duration) {
        let url = format!("http://{}/", target.address);
        let settings = format!(r#"{{"mode":"http","url":"{url}"}}"#);
        self.send(Method::PUT, "/v1/queues/bench", settings).await;
        self.send(Method::POST, "/v1/queues/bench/pause", String::new()).await;
        let task = format!(r#"{{"payload":{}}}"#, payload());
        let batch = format!(r#"{{"tasks":[{}]}}"#, vec![task; 1_000].join(","));
        for _ in 0..deliveries / 1_000 {
            self.send(Method::POST, "/v1/queues/bench/tasks", batch.clone()).await;
        }
        let before = target.answered.load(Ordering::Relaxed);
        let start = Instant::now();
        self.send(Method::POST, "/v1/queues/bench/resume", String::new()).await;
        while target.answered.load(Ordering::Relaxed) < before + deliveries {
            assert!(start.elapsed() < PATIENCE, "not all were delivered");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let rate = deliveries as f64 / start.elapsed().as_secs_f64();
        loop {
            let queue = self.send(Method::GET, "/v1/queues/bench", String::new()).await;
            if queue.contains(r#""total":0"#) {
                return (rate, start.elapsed());
            }
            assert!(start.elapsed() < PATIENCE, "not all have ended");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
