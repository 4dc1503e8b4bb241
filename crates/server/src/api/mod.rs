//! The HTTP API: one file per resource.
//!
//! A handler reads its request, calls the engine and writes what it says; it decides nothing. The
//! routes and the document that describes them (`/openapi.json`) are made from the same attributes.

mod access;
mod backup;
mod batch;
mod body;
mod bulk;
mod bundles;
mod conditions;
mod control;
mod dashboard;
mod dev;
mod encoding;
mod events;
mod failures;
mod flows;
#[cfg(test)]
mod fuzz;
mod guard;
mod health;
mod hosts;
mod json;
mod locks;
mod marks;
mod merge;
mod metrics;
mod notices;
mod openapi;
mod plans;
mod problem;
mod push;
mod queues;
mod rights;
mod schema;
mod settle;
mod stats;
mod system;
mod take;
mod target;
mod tasks;
mod tokens;
mod unread;
mod view;
mod workers;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::Router;
use axum::http::header::{CONNECTION, CONTENT_TYPE};
use axum::http::{HeaderValue, Method, Request, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use punctual_store::DevClock;
use serde::{Deserialize, Serialize};
use tower::Service;
use tracing::{debug, error};
use utoipa::ToSchema;

use self::body::{InFlight, Lent};
use self::encoding::AcceptsGzip;
pub(crate) use self::problem::Problem;
use self::view::Viewing;
use crate::ServerConfig;
use crate::access::{AccessToken, Line};
use crate::audit::Audit;
use crate::code::Code;
use crate::engine::Engine;
use crate::memory;
use crate::metrics::Requests;
use crate::presence::Presence;
use crate::settings::Setting;

/// What every handler can reach.
pub(crate) struct App {
    engine: Arc<Engine>,
    hosts: Vec<String>,
    /// What was asked, and how long the answers took.
    requests: Requests,
    /// The same in the order they were given in.
    token_list: Vec<AccessToken>,
    settings: Vec<Setting>,
    presence: Arc<Presence>,
    audit: Audit,
    secret_headers: Vec<String>,
    in_flight: Arc<InFlight>,
    draining: AtomicBool,
    /// The clock, if it may be moved: by one request at a time.
    dev_clock: Option<tokio::sync::Mutex<Arc<dyn DevClock>>>,
}

impl App {
    /// An app over an engine.
    pub(crate) fn new(engine: Arc<Engine>, presence: Arc<Presence>, config: &ServerConfig) -> Self {
        Self {
            hosts: config.hosts.clone(),
            requests: Requests::new(openapi::templates()),
            token_list: config.tokens.clone(),
            settings: config.settings.clone(),
            presence,
            audit: Audit::new(engine.shared_store()),
            secret_headers: config.secret_headers.clone(),
            engine,
            in_flight: Arc::new(InFlight::new(memory::limit_bytes())),
            draining: AtomicBool::new(false),
            dev_clock: config.dev_clock.clone().map(tokio::sync::Mutex::new),
        }
    }

    /// What is read now, as it may be read.
    fn viewing(&self) -> Viewing<'_> {
        Viewing { now: self.engine.now(), secret_headers: &self.secret_headers }
    }

    /// From now on the server says that it is not ready.
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }
}

/// Most bytes of requests that this server works on at once.
pub(crate) fn bytes_in_flight_max() -> u64 {
    InFlight::new(memory::limit_bytes()).bytes_max() as u64
}

/// All routes, and the guard before them.
#[derive(Clone)]
pub(crate) struct Api {
    app: Arc<App>,
    routes: Router,
    /// Where requests come from.
    peer: Option<SocketAddr>,
    /// The connection they come over.
    line: Arc<Line>,
    /// Whether the connection has one of the places that are kept for settling tasks and for health.
    is_reserved: bool,
}

impl Api {
    /// The API of an app.
    pub(crate) fn new(app: Arc<App>) -> Self {
        let (routes, _) = openapi::routes().split_for_parts();
        let routes = routes
            .merge(dashboard::routes())
            .fallback(no_route)
            .method_not_allowed_fallback(no_method)
            .with_state(app.clone());
        Self { app, routes, peer: None, line: Arc::default(), is_reserved: false }
    }

    /// The same for requests over a connection from an address.
    pub(crate) fn heard_from(self, peer: SocketAddr, is_reserved: bool) -> Self {
        Self { peer: Some(peer), line: Arc::default(), is_reserved, ..self }
    }

    /// The connection that requests come over.
    pub(crate) fn line(&self) -> Arc<Line> {
        self.line.clone()
    }

    /// Answers a request. The guard stands here and not in a layer, which would put every request in
    /// one more box and copy it.
    pub(crate) async fn answer<B>(self, request: Request<B>) -> Response
    where
        B: http_body::Body<Data = Bytes, Error: Into<axum::BoxError>> + Send + Unpin + 'static,
    {
        let Self { app, mut routes, peer, line, is_reserved } = self;
        let (request, unread) = Lent::lend(target::without_slash(request));
        let (begun, method) = (Instant::now(), request.method().clone());
        let place = app.requests.place(request.uri().path());
        let accepts = AcceptsGzip::of(request.headers());
        let response = if is_reserved && !rights::is_vital(request.method(), request.uri().path()) {
            no_place()
        } else {
            guard::guard(&app, (peer, &line), request, |request| routes.call(request)).await
        };
        let (status, took) = (response.status(), begun.elapsed());
        app.requests.answered(place, &method, status, took);
        let route = app.requests.template(place);
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            error!(%method, route, "a request failed for a reason that is told before this");
        }
        debug!(%method, route, status = status.as_u16(), ?took, "answered");
        let response = encoding::finish(response, accepts).await;
        let response = unread::watched(response, &line);
        unread.discard().await;
        response
    }
}

/// The answer to a request over a connection that is kept for others.
fn no_place() -> Response {
    let detail = "the server has its limit of connections; the rest is kept for settling tasks";
    let mut response = Problem::new(Code::Unavailable, detail).into_response();
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

async fn no_route(uri: Uri) -> Problem {
    let path = json::shortened(uri.path().to_owned());
    let detail = format!("there is no {path}; see /openapi.json for what there is");
    Problem::new(Code::NotFound, detail)
}

async fn no_method(method: Method, uri: Uri) -> Problem {
    let path = json::shortened(uri.path().to_owned());
    let detail = format!("{path} takes no {method}; the Allow header says what it takes");
    Problem::new(Code::MethodNotAllowed, detail)
}

/// The body of a verb that needs none.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// A value in JSON, with space for one task from the start.
fn to_json<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut json = Vec::with_capacity(1 << 10);
    serde_json::to_writer(&mut json, value).expect("answers have string keys only");
    json
}

/// An answer in JSON.
fn answer<T: Serialize + ?Sized>(status: StatusCode, value: &T) -> Response {
    let body = to_json(value);
    (status, [(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}
