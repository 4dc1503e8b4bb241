//! What a target that hangs does to others: how long deliveries to good targets take without it, and
//! beside it.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::{PATIENCE, Server, listen, payload};

/// Good targets, each a host of its own.
const TARGETS: usize = 4;
/// As many deliveries to good targets go along with one to the target that hangs.
const GOOD_PER_HANGING: usize = 2;
/// The time between two pushes.
const PACE: Duration = Duration::from_millis(2);

/// Median and p99 of the time from a push to its arrival, in ms.
type Latency = (f64, f64);

/// Measures deliveries without a target that hangs and beside one, and says what it changed.
pub(crate) async fn report(server: &Server, deliveries: usize) {
    server.send(Method::PUT, "/v1/queues/beside", r#"{"mode":"http"}"#.to_owned()).await;
    let mut scene = Scene::start(server).await;
    let alone = scene.deliver(deliveries, false).await;
    let beside = scene.deliver(deliveries, true).await;
    for (name, (median, p99)) in [("no target hangs", alone), ("one target hangs", beside)] {
        let name = format!("push to arrival, {name}");
        println!("{name:<44} {median:>10.2} ms median, {p99:.2} ms p99");
    }
    let (median, p99) = (beside.0 / alone.0, beside.1 / alone.1);
    println!("{:<44} {median:>10.2} at the median, {p99:.2} at p99", "ratio");
}

/// Good targets, one that hangs, and a client that pushes.
struct Scene {
    client: Client<HttpConnector, Full<Bytes>>,
    server: String,
    good: Vec<SocketAddr>,
    hanging: SocketAddr,
    arrived: UnboundedReceiver<(usize, Instant)>,
}

impl Scene {
    async fn start(server: &Server) -> Self {
        let (arrivals, arrived) = unbounded_channel();
        let mut good = Vec::new();
        for _ in 0..TARGETS {
            let arrivals = arrivals.clone();
            let note = move |request: &[u8]| {
                let _ = arrivals.send((number(request), Instant::now()));
            };
            good.push(listen(note).await);
        }
        let client = Client::builder(TokioExecutor::new()).build_http();
        let server = server.address.clone();
        Self { client, server, good, hanging: hang().await, arrived }
    }

    /// Pushes at a steady pace and waits until all is delivered that can be.
    async fn deliver(&mut self, deliveries: usize, is_beside: bool) -> Latency {
        let mut pushed = Vec::new();
        let mut pace = tokio::time::interval(PACE);
        for number in 0..deliveries {
            pace.tick().await;
            if is_beside && number % GOOD_PER_HANGING == 0 {
                self.push(self.hanging, number).await;
            }
            pushed.push(Instant::now());
            self.push(self.good[number % TARGETS], number).await;
        }
        let mut latencies = Vec::new();
        while latencies.len() < deliveries {
            let next = tokio::time::timeout(PATIENCE, self.arrived.recv()).await;
            let (number, at) = next.expect("all are delivered").unwrap();
            latencies.push((at - pushed[number]).as_secs_f64() * 1_000.0);
        }
        latencies.sort_by(f64::total_cmp);
        (latencies[deliveries / 2], latencies[deliveries * 99 / 100])
    }

    async fn push(&self, target: SocketAddr, number: usize) {
        let http = format!(r#"{{"url":"http://{target}/{number}"}}"#);
        let body = format!(r#"{{"payload":{},"http":{http}}}"#, payload());
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() =
            format!("http://{}/v1/queues/beside/tasks", self.server).parse().unwrap();
        let response = self.client.request(request).await.unwrap();
        assert!(response.status().is_success());
        response.into_body().collect().await.unwrap();
    }
}

/// The number in the path of a request.
fn number(request: &[u8]) -> usize {
    let head = String::from_utf8_lossy(request);
    let path = head.split(' ').nth(1).unwrap();
    path.trim_start_matches('/').parse().unwrap()
}

/// A target that takes connections and never says anything.
async fn hang() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut open: Vec<TcpStream> = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            open.push(stream);
        }
    });
    address
}
