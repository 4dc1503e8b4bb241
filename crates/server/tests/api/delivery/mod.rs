//! Deliveries, to targets with real sockets.

mod basics;
mod faults;
mod guard;
mod limits;
mod redirects;
mod secrets;
mod stolen;
mod stub;
mod tls;

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use punctual_core::Span;
use punctual_core::http::Reach;
use punctual_server::{DeliveryConfig, DeliveryLimits, Resolve, ServerConfig};
use serde_json::Value;

pub(crate) use self::stub::{Reply, Seen, Stub};
pub(crate) use super::{TestServer, json};

/// A server whose deliveries may go everywhere.
pub(crate) async fn server() -> TestServer {
    reaching(Reach::everywhere()).await
}

/// A server whose deliveries may go there.
pub(crate) async fn reaching(reach: Reach) -> TestServer {
    with(DeliveryConfig { reach, ..DeliveryConfig::default() }).await
}

pub(crate) async fn with(delivery: DeliveryConfig) -> TestServer {
    TestServer::with(ServerConfig { delivery, ..ServerConfig::default() }).await
}

/// A server with the queue `q` of mode `http`, which keeps what has ended. The settings come on top.
pub(crate) async fn delivering(settings: Value) -> TestServer {
    let server = server().await;
    put_queue(&server, settings).await;
    server
}

pub(crate) async fn put_queue(server: &TestServer, settings: Value) {
    let mut body = json!({"mode": "http", "keep": {"done": "1h"},
        "retry": {"intervals": [10, 20]}});
    body.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    server.put("/v1/queues/q", body).await.is(201);
}

/// Answers to look-ups of names: each time the next, the last again and again.
#[derive(Default)]
pub(crate) struct Names(Mutex<HashMap<String, Vec<Vec<IpAddr>>>>);

impl Names {
    pub(crate) fn new(names: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let ips = |list: &&[&str]| list.iter().map(|ip| ip.parse().unwrap()).collect();
        let answers = |lists: &[&[&str]]| lists.iter().map(ips).collect();
        let names = names.iter().map(|(name, lists)| ((*name).to_owned(), answers(lists)));
        Arc::new(Self(Mutex::new(names.collect())))
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let mut names = self.0.lock().unwrap();
        let answer = match names.get_mut(name) {
            Some(answers) if answers.len() > 1 => Ok(answers.remove(0)),
            Some(answers) => Ok(answers[0].clone()),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "no such name")),
        };
        async move { answer }.boxed()
    }
}
