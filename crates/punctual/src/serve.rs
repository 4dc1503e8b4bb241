//! `punctual serve`: opens the store, listens, says that it is ready, and drains when told to stop.

use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use anyhow::{Context, anyhow, bail};
use clap::{ArgMatches, Args};
use punctual_server::{
    Certificate, DeliveryConfig, ServeError, Server, ServerConfig, Setting, has_tokens,
};
use punctual_store::{Inbox, Store};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpSocket, lookup_host};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::{error, info, warn};

use crate::config::{Config, Flags, TlsFiles};
use crate::effective;
use crate::log::Log;
use crate::notify::Notifier;
use crate::place::{OpenStore, StorePlace};

/// Start a server
#[derive(Args)]
#[command(after_help = "\
When it is ready it prints one line with its address. SIGTERM or Ctrl-C lets requests under way
finish; a second one ends it at once.

Examples:
  punctual serve
  punctual serve --listen 127.0.0.1:0 --store memory:
  punctual serve --store redis://127.0.0.1:6379/0
  punctual serve --config punctual.toml --log-format json
  punctual serve --allow-private-targets=10.0.0.0/8,127.0.0.1
  PUNCTUAL_LOG=debug punctual serve")]
pub(crate) struct Serve {
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    log: Log,
}

impl Serve {
    /// Serves. The matches say where each setting comes from.
    pub(crate) async fn run(self, matches: &ArgMatches) -> anyhow::Result<()> {
        let signature = Arc::new(OnceLock::new());
        self.log.start(Arc::clone(&signature))?;
        let mut config = self.flags.settle()?;
        let node = random_name()?;
        if matches!(config.store, StorePlace::Redis(_)) {
            // There may be others, whose lines are read together with its own.
            signature.get_or_init(|| node.clone());
        }
        let command = Self::augment_args(clap::Command::new("serve"));
        let settings = effective::settings(&command, matches)?;
        raise_file_limit();
        let tls = config.tls.take().map(|TlsFiles { cert, key }| Certificate::read(cert, key));
        let tls = tls.transpose()?.map(Arc::new);
        let mut signals = Signals::new()?;
        if let Some(tls) = &tls {
            tokio::spawn(read_again(tls.clone(), signal(SignalKind::hangup())?));
        }
        let address = address(&config).await?;
        let OpenStore { store, dev_clock } = open(&config, &mut signals).await?;
        if let Some(open) = address.open {
            check_open(&config, &*store, open).await?;
        }
        let address = address.address;
        let inbox = config.inbox.take().map(|lists| store.inbox(lists)).transpose()?;
        let listener = bind(address)?;
        let address = listener.local_addr()?;
        info!(%address, store = store.kind(), durability = store.durability(), "ready");
        announce(address, tls.is_some());
        let notifier = Notifier::from_env();
        notifier.ready(address);
        let open = OpenStore { store, dev_clock };
        let config = (config, settings, tls, node);
        tokio::select! {
            ended = serve(open, inbox, listener, config, &mut signals, &notifier) => ended,
            never = notifier.live() => match never {},
        }
    }
}

/// A name that no other server has.
fn random_name() -> anyhow::Result<String> {
    Ok(format!("{:016x}", getrandom::u64().context("no random numbers")?))
}

/// Lets the server open as many files as the system lets it: every connection is one.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        warn!(%error, limit = limit.current, "the limit of open files stays as it is");
    }
}

/// Where to listen.
struct Listen {
    address: SocketAddr,
    /// An address that other machines can reach, although the settings have no access tokens.
    open: Option<SocketAddr>,
}

/// The address to listen on.
async fn address(config: &Config) -> anyhow::Result<Listen> {
    let listen = &config.listen;
    let addresses: Vec<_> = lookup_host(listen)
        .await
        .map_err(|_| anyhow!("listen: {listen} is no address; it looks like 127.0.0.1:23334"))?
        .collect();
    let reached = addresses.iter().find(|address| !address.ip().is_loopback());
    let open = reached.filter(|_| config.tokens.is_empty()).copied();
    let address = addresses.first().copied();
    let address = address.with_context(|| format!("listen: {listen} has no address"))?;
    Ok(Listen { address, open })
}

/// Without access tokens anybody who can connect may do anything, so the address must be one that only
/// this machine can reach, unless that is what somebody wants, or there are tokens in the store.
async fn check_open(config: &Config, store: &dyn Store, open: SocketAddr) -> anyhow::Result<()> {
    if config.allow_open_access {
        if !has_tokens(store).await.unwrap_or_default() {
            warn!(address = %open, "whoever can connect may do anything: there are no access tokens");
        }
        return Ok(());
    }
    if has_tokens(store).await? {
        return Ok(());
    }
    bail!(
        "listen: {open} can be reached from other machines, and there are no access tokens; \
         add [[tokens]] to the configuration, or listen on 127.0.0.1:{}",
        open.port()
    )
}

/// Opens the store, unless the server is asked to stop first.
async fn open(config: &Config, signals: &mut Signals) -> anyhow::Result<OpenStore> {
    tokio::select! {
        opened = config.store.open(config.dev) => opened,
        name = signals.next() => bail!("{name}: ended before the store was open"),
    }
}

/// Connections that may wait to be accepted. The system may allow fewer.
const BACKLOG: u32 = 4_096;

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn bind(address: SocketAddr) -> anyhow::Result<TcpListener> {
    listen(address).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => anyhow!(
            "port {} on {} is in use; stop what listens there, or choose another with --listen",
            address.port(),
            address.ip()
        ),
        _ => anyhow!("cannot listen on {address}: {error}"),
    })
}

/// Says that connections are accepted. A closed standard output is no reason not to serve.
fn announce(address: SocketAddr, is_encrypted: bool) {
    let mut stdout = std::io::stdout();
    let scheme = if is_encrypted { "https" } else { "http" };
    let said = writeln!(stdout, "punctual is ready on {scheme}://{address}");
    let _ = said.and_then(|()| stdout.flush());
}

/// Reads the certificate again whenever a signal says that it has changed.
async fn read_again(certificate: Arc<Certificate>, mut hangup: Signal) {
    while hangup.recv().await.is_some() {
        match certificate.read_again() {
            Ok(()) => info!("the certificate was read again"),
            Err(error) => error!(%error, "the certificate stays as it was"),
        }
    }
}

async fn serve(
    OpenStore { store, dev_clock }: OpenStore,
    inbox: Option<Arc<dyn Inbox>>,
    listener: TcpListener,
    (config, settings, tls, node): (Config, Vec<Setting>, Option<Arc<Certificate>>, String),
    signals: &mut Signals,
    notifier: &Notifier,
) -> anyhow::Result<()> {
    let mut server = Server::new(
        Arc::clone(&store),
        ServerConfig {
            auto_create: config.auto_create,
            max_queues: config.max_queues,
            hosts: config.hosts,
            tokens: config.tokens,
            secret_headers: config.secret_headers,
            plan_exec_timeout: config.plan_exec_timeout,
            dev_clock,
            notices: config.notices,
            traces: config.traces,
            settings,
            tls,
            node: Some(node),
            delivery: DeliveryConfig {
                reach: config.reach,
                limits: config.delivery,
                ..DeliveryConfig::default()
            },
            ..ServerConfig::default()
        },
    );
    if let Some(inbox) = inbox {
        server = server.with_inbox(inbox);
    }
    let (stop, stopping) = tokio::sync::oneshot::channel::<()>();
    let run = server.run(listener, async {
        // Either way it is time to stop: told to, or whoever could tell is gone.
        let _ = stopping.await;
    });
    tokio::pin!(run);

    let name = tokio::select! {
        ended = &mut run => return conclude(ended),
        name = signals.next() => name,
    };
    info!(signal = name, "finishing requests under way; a second signal ends at once");
    notifier.stopping();
    let _ = stop.send(());
    tokio::select! {
        ended = run => conclude(ended),
        name = signals.next() => bail!("{name} again: ended without finishing requests under way"),
        reason = store.failed() => conclude(Err(ServeError::Store(reason))),
    }
}

/// A server that ended by itself says why in the log as well, where people look for it.
fn conclude(ended: Result<(), ServeError>) -> anyhow::Result<()> {
    if let Err(reason) = &ended {
        error!(%reason, "the server has to end");
    }
    Ok(ended?)
}

/// The signals that ask the server to stop.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next one and names it.
    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
