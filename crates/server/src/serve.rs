//! Connections: accepted, served over HTTP/1.1 or cleartext HTTP/2, and brought to their end.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tokio::task::JoinHandle;
use tracing::{debug, info, warn};

use crate::api::{Api, App};
use crate::delivery::Executor;
use crate::engine::Engine;
use crate::events::{Events, Listening};
use crate::inbox::Receiver;
use crate::patience::Patience;
use crate::presence::Presence;
use crate::tls::Certificate;
use crate::traces::{Exporter, Tracer};
use crate::{Server, ServerConfig};

/// The one path whose answers go on for ever.
const EVENTS: &str = "/v1/events";
/// One of so many places for connections is kept for settling tasks and for health: 5 %.
const RESERVED_PARTS: usize = 20;
/// How long a connection may be silent, or take to send the head of a request.
const SILENCE_MAX: Duration = Duration::from_secs(75);
/// How often the peer of an HTTP/2 connection has to show that it is there.
const PING_INTERVAL: Duration = Duration::from_secs(30);
/// Most requests under way on one HTTP/2 connection.
const STREAMS_MAX: u32 = 1_000;
/// How long requests under way may take to end once the server is asked to.
const DRAIN_MAX: Duration = Duration::from_secs(20);
/// How long those who listen to events may take to hear that the server ends.
const LISTENERS_MAX: Duration = Duration::from_secs(3);
/// How long the last traces may take to be sent.
const TRACES_MAX: Duration = Duration::from_secs(3);
/// How long a peer may leave lie what was sent to it.
#[cfg(target_os = "linux")]
const UNREAD_MAX_MS: u32 = 60_000;
/// The wait after connections could not be accepted, for want of file descriptors perhaps.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// Why a server ended without being asked to.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The store has stopped for good.
    #[error("the store has stopped: {0}")]
    Store(String),
}

/// Serves until `shutdown` resolves or the store has stopped.
pub(crate) async fn run(
    server: Server,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let Server { store, mut config, inbox } = server;
    let own = listener.local_addr().ok();
    if let Some(own) = own {
        config.delivery.reach = config.delivery.reach.knowing(own);
    }
    let (tracer, tracing) = trace(&config);
    let presence = Arc::new(Presence::new(store.clone(), own, config.node.clone()));
    let (stop_attending, leaving) = tokio::sync::oneshot::channel::<()>();
    let attending = tokio::spawn(presence.clone().run(async {
        let _ = leaving.await;
    }));
    let (engine, returned) = Engine::new(store.clone(), &config, tracer);
    let loops = engine.start();
    let (stop_receiving, stopped) = tokio::sync::oneshot::channel::<()>();
    let receiving = inbox.map(|inbox| {
        tokio::spawn(Receiver::new(engine.clone(), inbox).run(async {
            let _ = stopped.await;
        }))
    });
    let (stop_delivering, stopping) = tokio::sync::oneshot::channel::<()>();
    let delivering = tokio::spawn(Executor::new(engine.clone()).run(async {
        let _ = stopping.await;
    }));
    let closing = Arc::new(Notify::new());
    let giving_back = tokio::spawn(engine.clone().give_back(returned, closing.clone()));
    let app = Arc::new(App::new(engine.clone(), presence, &config));
    let api = Api::new(app.clone());
    let connections_max = config.connections_max;
    let places = Arc::new(Semaphore::new(connections_max));
    let ending = watch::Sender::new(false);
    let accepting = accept(&listener, &api, &places, &ending, &engine.events, config.tls.as_ref());
    let ended = tokio::select! {
        () = shutdown => Ok(()),
        reason = store.failed() => Err(ServeError::Store(reason)),
        () = accepting => Ok(()),
    };
    // Whoever asks over a connection it has hears that the server is not ready; new connections are
    // refused, which says the same. Nobody waits any more, and the rest finishes.
    app.drain();
    drop(listener);
    engine.close();
    drop(stop_receiving);
    drop(stop_delivering);
    ending.send_replace(true);
    let all_places = places.acquire_many(connections_max as u32);
    if tokio::time::timeout(DRAIN_MAX, all_places).await.is_err() {
        warn!("some requests did not end within {DRAIN_MAX:?} and were cut off");
    }
    if tokio::time::timeout(DRAIN_MAX, delivering).await.is_err() {
        warn!("some deliveries were neither ended nor given back; their holds will end");
    }
    closing.notify_one();
    if tokio::time::timeout(DRAIN_MAX, giving_back).await.is_err() {
        warn!("some tasks were not given back; their holds will end");
    }
    if let Some(receiving) = receiving {
        // It ends between two messages, and one takes no longer than the store.
        let _ = tokio::time::timeout(DRAIN_MAX, receiving).await;
    }
    drop(stop_attending);
    let _ = tokio::time::timeout(LISTENERS_MAX, attending).await;
    let _ = tokio::time::timeout(LISTENERS_MAX, engine.write_token_uses()).await;
    // Other servers may want to hear of what was done last.
    engine.events.sync().await;
    drop(loops);
    if let Some((stop_tracing, tracing)) = tracing {
        drop(stop_tracing);
        // What the collector does not take in that time is lost.
        let _ = tokio::time::timeout(TRACES_MAX, tracing).await;
    }
    info!("stopped");
    ended
}

/// What ends an exporter of traces, and the exporter.
type Exporting = (oneshot::Sender<()>, JoinHandle<()>);

/// Begins to send traces, if they are wanted.
fn trace(config: &ServerConfig) -> (Arc<Tracer>, Option<Exporting>) {
    let Some(traces) = config.traces.clone() else { return Default::default() };
    let (tracer, spans) = Tracer::new();
    let tracer = Arc::new(tracer);
    let exporter = Exporter::new(traces, &config.delivery, tracer.clone(), spans);
    let (stop, stopping) = oneshot::channel::<()>();
    let exporting = tokio::spawn(exporter.run(async {
        let _ = stopping.await;
    }));
    (tracer, Some((stop, exporting)))
}

/// Accepts connections for ever.
async fn accept(
    listener: &TcpListener,
    api: &Api,
    places: &Arc<Semaphore>,
    ending: &watch::Sender<bool>,
    events: &Arc<Events>,
    tls: Option<&Arc<Certificate>>,
) {
    // Of a few places none is kept.
    let reserved = places.available_permits() / RESERVED_PARTS;
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let is_reserved = places.available_permits() < reserved;
                let api = api.clone().heard_from(peer, is_reserved);
                let events = events.clone();
                let (tls, ending) = (tls.cloned(), ending.subscribe());
                tokio::spawn(begin(stream, tls, api, ending, events, place));
            }
            Err(error) => {
                warn!(%error, "no connection could be accepted");
                tokio::time::sleep(ACCEPT_BACKOFF).await;
            }
        }
    }
}

/// Serves one connection from its beginning to its end.
async fn begin(
    stream: TcpStream,
    tls: Option<Arc<Certificate>>,
    api: Api,
    ending: watch::Receiver<bool>,
    events: Arc<Events>,
    _place: OwnedSemaphorePermit,
) {
    if let Err(error) = set_up(&stream) {
        debug!(%error, "a connection was gone at once");
        return;
    }
    match tls {
        None => serve(stream, api, ending, events).await,
        Some(tls) => {
            if let Some(stream) = tls.encrypt(stream).await {
                serve(stream, api, ending, events).await;
            }
        }
    }
}

/// Serves what comes over a connection.
async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    api: Api,
    ending: watch::Receiver<bool>,
    events: Arc<Events>,
) {
    let mut builder = Builder::new(TokioExecutor::new());
    let patience = Patience::new(SILENCE_MAX);
    builder.http1().timer(patience.clone()).header_read_timeout(SILENCE_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_INTERVAL)
        .max_concurrent_streams(STREAMS_MAX);
    let heard = patience.clone();
    let listening = Listening::default();
    let listens = listening.clone();
    let line = api.line();
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        heard.heard();
        if request.uri().path() == EVENTS {
            request.extensions_mut().insert(listens.clone());
        }
        api.clone().answer(request).map(Ok::<_, Infallible>)
    });
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    // Each is looked at when it has something to say, not whenever the connection moves.
    let mut cues = FuturesUnordered::<BoxFuture<'_, Cue>>::from_iter([
        end(ending).map(|()| Cue::End).boxed(),
        patience.ended().map(|()| Cue::Silence).boxed(),
        deafness(&events, &listening).map(|()| Cue::Deafness).boxed(),
        line.is_cut().map(|()| Cue::Unread).boxed(),
    ]);
    loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    debug!(%error, "a connection ended badly");
                }
                return;
            }
            Some(cue) = cues.next() => match cue {
                Cue::End => connection.as_mut().graceful_shutdown(),
                Cue::Silence => return debug!("a connection was silent for too long"),
                Cue::Deafness => return debug!("one who listened did not hear of the end"),
                Cue::Unread => return debug!("a connection left its answer unread for too long"),
            },
        }
    }
}

/// What ends a connection if its peer does not.
enum Cue {
    /// The server ends: requests under way are finished, and no more are taken.
    End,
    /// The peer sends nothing.
    Silence,
    /// The peer reads nothing.
    Deafness,
    /// The peer leaves an answer unread.
    Unread,
}

/// Resolves when the server ends.
async fn end(mut ending: watch::Receiver<bool>) {
    // With whoever would tell gone, it has.
    let _ = ending.wait_for(|is_ending| *is_ending).await;
}

/// What every connection has: it sends at once, and does not wait for ever for a peer that reads nothing.
fn set_up(stream: &TcpStream) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::net::sockopt::set_tcp_user_timeout(stream, UNREAD_MAX_MS)?;
    stream.set_nodelay(true)
}

/// Resolves if the server ends and one who listens here has not taken in all that was sent: it reads too
/// slowly, and nobody waits for that.
async fn deafness(events: &Events, listening: &Listening) {
    events.closed().await;
    tokio::time::sleep(LISTENERS_MAX).await;
    if !listening.has_begun() {
        std::future::pending::<()>().await;
    }
}
