//! A real server on a free port over the model store, and a plain client for it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use punctual_core::{Span, Timestamp};
use punctual_server::{ServeError, Server, ServerConfig};
use punctual_store::{ManualClock, Store};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The longest any test waits for something that should happen at once.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A server that runs.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) clock: ManualClock,
    store: Arc<dyn Store>,
    client: Client<HttpConnector, Full<Bytes>>,
    stop: Option<oneshot::Sender<()>>,
    run: Option<JoinHandle<Result<(), ServeError>>>,
}

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) json: Value,
}

impl Answer {
    /// Checks the status and gives the body.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.json);
        self.json
    }

    /// Checks that it is this problem, in the form all problems have, and gives its detail.
    #[track_caller]
    pub(crate) fn problem(self, status: u16, code: &str) -> String {
        assert_eq!(self.status.as_u16(), status, "{}", self.json);
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!(self.json["code"], code, "{}", self.json);
        assert_eq!(self.json["status"], status);
        assert_eq!(self.json["type"], format!("urn:punctual:{code}"));
        assert!(self.json["title"].is_string());
        let is_later = status == 503 || code == "limited";
        assert_eq!(self.headers.contains_key("retry-after"), is_later);
        self.json["detail"].as_str().unwrap().to_owned()
    }
}

impl TestServer {
    pub(crate) async fn start() -> Self {
        Self::with(ServerConfig::default()).await
    }

    pub(crate) async fn with(config: ServerConfig) -> Self {
        let clock = ManualClock::new(Timestamp::parse("2026-11-15T06:00:00Z").unwrap());
        let store = crate::store(&clock);
        Self::over(store, clock, config).await
    }

    pub(crate) async fn over(
        store: Arc<dyn Store>,
        clock: ManualClock,
        config: ServerConfig,
    ) -> Self {
        Self::running(Server::new(store.clone(), config), store, clock).await
    }

    pub(crate) async fn running(server: Server, store: Arc<dyn Store>, clock: ManualClock) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let run = tokio::spawn(server.run(listener, async {
            let _ = stopped.await;
        }));
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { address, clock, store, client, stop: Some(stop), run: Some(run) }
    }

    /// Lets time pass for the store.
    pub(crate) async fn advance(&self, seconds: i64) {
        self.clock.advance(Span::from_secs(seconds));
        self.store.tick().await.unwrap();
    }

    /// Asks the server to stop.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }

    /// Waits until the server has stopped.
    pub(crate) async fn stopped(&mut self) -> Result<(), ServeError> {
        tokio::time::timeout(PATIENCE, self.run.take().unwrap()).await.unwrap().unwrap()
    }

    pub(crate) async fn raw(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let request = self.request(method, path, headers, body.into());
        let (parts, body) = self.send(request).await.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let json = if bytes.is_empty() {
            Value::Null
        } else {
            // Some of what is right JSON is more than this client reads.
            let text = || Value::from(String::from_utf8_lossy(&bytes));
            serde_json::from_slice(&bytes).unwrap_or_else(|_| text())
        };
        Answer { status: parts.status, headers: parts.headers, json }
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::from_bytes(method.as_bytes()).unwrap();
        *request.uri_mut() = format!("http://{}{path}", self.address).parse().unwrap();
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            request.headers_mut().insert(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        request
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Response<Incoming> {
        let answered = tokio::time::timeout(3 * PATIENCE, self.client.request(request)).await;
        answered.expect("the server answers").unwrap()
    }

    /// Asks for something whose answer is read bit by bit.
    pub(crate) async fn open(&self, path: &str, headers: &[(&str, &str)]) -> Response<Incoming> {
        self.send(self.request("GET", path, headers, Bytes::new())).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.raw("GET", path, &[], "").await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.raw("DELETE", path, &[], "").await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.raw("POST", path, &[], body.to_string()).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        self.raw("PUT", path, &[], body.to_string()).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Answer {
        self.raw("PATCH", path, &[], body.to_string()).await
    }

    /// Pushes a task into the queue `q`.
    #[track_caller]
    pub(crate) fn push(&self, task: Value) -> impl Future<Output = Value> {
        let pushed = self.post("/v1/queues/q/tasks", task);
        async { pushed.await.is(201) }
    }

    /// Takes one task from the queue `q`, with these fields besides.
    pub(crate) async fn take(&self, body: Value) -> Value {
        let mut taken = self.post("/v1/queues/q/take", body).await.is(200);
        assert_eq!(taken["tasks"].as_array().unwrap().len(), 1, "{taken}");
        taken["tasks"][0].take()
    }

    /// A task of the queue `q`.
    pub(crate) async fn task(&self, id: &str) -> Value {
        self.get(&format!("/v1/queues/q/tasks/{id}")).await.is(200)
    }

    /// Says something about a task of the queue `q`.
    pub(crate) async fn verb(&self, id: &str, verb: &str, body: Value) -> Answer {
        self.post(&format!("/v1/queues/q/tasks/{id}/{verb}"), body).await
    }

    /// Waits until a task of the queue `q` is in a state, and reads it.
    pub(crate) async fn until(&self, id: &str, state: &str) -> Value {
        self.eventually(&format!("/v1/queues/q/tasks/{id}"), |task| task["state"] == state).await
    }

    /// Reads a thing again and again until it is as it should be.
    pub(crate) async fn eventually(&self, path: &str, right: impl Fn(&Value) -> bool) -> Value {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let read = self.get(path).await.json;
            if right(&read) {
                return read;
            }
            assert!(tokio::time::Instant::now() < deadline, "it never came to pass: {read}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// A bare connection.
    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }
}
