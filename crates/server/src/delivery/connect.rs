//! Connections to targets: the name looked up, every address judged, then connected to.
//!
//! The guard stands here, on the address a connection is made to, because only here no spelling, no
//! name and no redirect can have changed it since.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use hyper::Uri;
use hyper_util::rt::TokioIo;
use punctual_core::http::{Lapse, Reach};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use super::line::Line;
use super::resolve::Resolve;
use super::tls::Tls;

/// How long a connection may take to be made, however long its request may.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// How long one address of a host has before the next is tried beside it.
const STAGGER: Duration = Duration::from_millis(250);
/// Addresses of one host that are tried.
const ADDRESSES_MAX: usize = 8;

/// What connections are made with.
pub(super) struct Network {
    pub(super) resolver: Arc<dyn Resolve>,
    pub(super) reach: Reach,
    pub(super) tls: Tls,
}

/// Makes connections.
#[derive(Clone)]
pub(super) struct Connector(pub(super) Arc<Network>);

/// How a connection came to be.
#[derive(Debug, Clone, Default)]
pub(super) struct Birth {
    pub(super) address: Option<SocketAddr>,
    pub(super) dns: Option<Lapse>,
    pub(super) connect: Option<Lapse>,
    pub(super) tls: Option<Lapse>,
    is_old: Arc<AtomicBool>,
}

impl Birth {
    /// What a request on the connection is told: its first how it came to be, later ones only where
    /// it leads.
    pub(super) fn told(&self) -> Self {
        if self.is_old.swap(true, Ordering::Relaxed) {
            Self { address: self.address, ..Self::default() }
        } else {
            self.clone()
        }
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub(super) struct Unconnected {
    pub(super) why: Why,
    pub(super) birth: Birth,
}

/// What went wrong with a connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum Why {
    /// Deliveries may not go there.
    #[error("{0} is private")]
    Private(SocketAddr),
    /// The connection would lead back to this server.
    #[error("{0} is this server itself")]
    Own(SocketAddr),
    /// The name has no address.
    #[error("the name cannot be looked up: {0}")]
    Name(io::Error),
    /// Nobody answers there.
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    /// The two ends do not agree on encryption, or the other is not whom it should be.
    #[error("no encrypted connection: {0}")]
    Tls(io::Error),
    /// It takes too long.
    #[error("connecting takes longer than {} s", CONNECT_MAX.as_secs())]
    Slow,
}

impl tower::Service<Uri> for Connector {
    type Response = TokioIo<Line>;
    type Error = Unconnected;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Unconnected>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let network = self.0.clone();
        async move {
            let mut birth = Birth::default();
            let made = timeout(CONNECT_MAX, network.connect(&uri, &mut birth)).await;
            match made.unwrap_or(Err(Why::Slow)) {
                Ok(stream) => Ok(TokioIo::new(stream.born(birth))),
                Err(why) => Err(Unconnected { why, birth }),
            }
        }
        .boxed()
    }
}

impl Network {
    async fn connect(&self, uri: &Uri, birth: &mut Birth) -> Result<Line, Why> {
        let is_https = uri.scheme_str() == Some("https");
        let host = uri.host().unwrap_or_default();
        let port = uri.port_u16().unwrap_or(if is_https { 443 } else { 80 });
        let addresses = self.addresses(host, port, birth).await?;
        let looked_up = Instant::now();
        let stream = dial(addresses).await.map_err(Why::Connect)?;
        birth.connect = Some(looked_up.elapsed().into());
        let peer = stream.peer_addr().map_err(Why::Connect)?;
        birth.address = Some(peer);
        if self.reach.leads_back(stream.local_addr().map_err(Why::Connect)?, peer) {
            return Err(Why::Own(peer));
        }
        stream.set_nodelay(true).map_err(Why::Connect)?;
        if !is_https {
            return Ok(Line::plain(stream));
        }
        let connected = Instant::now();
        let stream = self.tls.encrypt(host, stream).await.map_err(Why::Tls)?;
        birth.tls = Some(connected.elapsed().into());
        Ok(Line::encrypted(stream))
    }

    /// All addresses of a host. One that deliveries may not go to spoils them all: a name that
    /// points inside and outside is an attempt to get in.
    async fn addresses(
        &self,
        host: &str,
        port: u16,
        birth: &mut Birth,
    ) -> Result<Vec<SocketAddr>, Why> {
        let literal = host.trim_matches(['[', ']']).parse();
        let ips = match literal {
            Ok(ip) => vec![ip],
            Err(_) => {
                let start = Instant::now();
                let found = self.resolver.resolve(host).await;
                birth.dns = Some(start.elapsed().into());
                found.map_err(Why::Name)?
            }
        };
        let addresses: Vec<_> = ips.into_iter().map(|ip| SocketAddr::new(ip, port)).collect();
        if let Some(private) = addresses.iter().find(|address| !self.reach.permits(**address)) {
            birth.address = Some(*private);
            return Err(Why::Private(*private));
        }
        if addresses.is_empty() {
            return Err(Why::Name(io::Error::new(io::ErrorKind::NotFound, "it has no address")));
        }
        Ok(addresses)
    }
}

/// Connects to the first address that answers. The next one is tried as soon as one fails, or when
/// none has answered for a while.
async fn dial(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    let mut rest = addresses.into_iter().take(ADDRESSES_MAX);
    let mut dialled = FuturesUnordered::new();
    let mut failure = io::Error::from(io::ErrorKind::NotFound);
    let mut next = rest.next();
    while next.is_some() || !dialled.is_empty() {
        if let Some(address) = next.take() {
            dialled.push(TcpStream::connect(address));
        }
        tokio::select! {
            Some(connected) = dialled.next() => match connected {
                Ok(stream) => return Ok(stream),
                Err(error) => {
                    failure = error;
                    next = rest.next();
                }
            },
            () = sleep(STAGGER), if rest.len() > 0 => next = rest.next(),
        }
    }
    Err(failure)
}
