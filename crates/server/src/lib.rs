//! Punctual's server: the HTTP API over the engine, and the engine over a store.
//!
//! - `access`: tokens, and what they are good for.
//! - `audit`: what is noted of what people do.
//! - `api`: one file per resource; short handlers that read a request, call the engine and write
//!   what it says.
//! - `engine`: the verbs and the loops. See its own page.
//! - `events`: what happens, for whoever listens.
//! - `delivery`: the server calls URLs itself, for queues of mode `http`.
//! - `dispatch`: the server hands tasks to registered workers, opens votes and broadcasts, for queues of
//!   the other modes. `calls`: how it and deliveries hear of work.
//! - `metrics`: what is measured, and how it reads at `/metrics`.
//! - `inbox`: messages that lie beside the store become notices.
//! - `traces`: the spans of tasks, for a collector.
//! - `presence`: that this server is there, told to those beside it. `settings`: what it was set to.
//! - `serve`: connections, and how they end. `tls`: their encryption.
//! - `code`: the one table of error codes.

mod access;
mod alarms;
mod api;
mod audit;
mod calls;
mod code;
mod delivery;
mod dispatch;
mod engine;
mod events;
mod inbox;
mod memory;
mod metrics;
mod patience;
mod presence;
mod serve;
mod settings;
mod tls;
mod traces;

use std::sync::Arc;

use punctual_core::Span;
use punctual_core::limits::QUEUES_MAX;
use punctual_core::notice::NoticeSettings;
use punctual_store::{DevClock, Inbox, Store, StoreError};
use tokio::net::TcpListener;

pub use self::access::{AccessToken, Right, Scope, TokenHash, TokenLimits};
pub use self::delivery::{DeliveryConfig, DeliveryLimits, Resolve};
pub use self::serve::ServeError;
pub use self::settings::{Setting, Source};
pub use self::tls::{Certificate, CertificateError};
pub use self::traces::TraceConfig;

/// What can be set about a server.
#[derive(Clone)]
pub struct ServerConfig {
    /// Whether a push to a queue that does not exist makes it.
    pub auto_create: bool,
    /// Most queues, besides the built-in ones.
    pub max_queues: usize,
    /// The hold of runs of plans that name none; the queue's if there is none.
    pub plan_exec_timeout: Option<Span>,
    /// Names under which the server may be called, besides IP addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Who may do what; without any everybody may do everything.
    pub tokens: Vec<AccessToken>,
    /// Headers whose values are never read back, besides those that always are.
    pub secret_headers: Vec<String>,
    /// The store's clock, if users may move it.
    pub dev_clock: Option<Arc<dyn DevClock>>,
    /// How the server calls URLs.
    pub delivery: DeliveryConfig,
    /// What holds for notices that do not say otherwise.
    pub notices: NoticeSettings,
    /// Where traces go; nowhere, if there is none.
    pub traces: Option<TraceConfig>,
    /// The certificate that connections are encrypted with; none: they are not.
    pub tls: Option<Arc<Certificate>>,
    /// All settings as people may read them, without secrets.
    pub settings: Vec<Setting>,
    /// Most connections at once; further ones wait until one has ended.
    pub connections_max: usize,
    /// The name by which those that share its store know it, new with every start; none: one is made up.
    pub node: Option<String>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            auto_create: true,
            max_queues: QUEUES_MAX,
            plan_exec_timeout: None,
            hosts: Vec::new(),
            tokens: Vec::new(),
            secret_headers: Vec::new(),
            dev_clock: None,
            delivery: DeliveryConfig::default(),
            notices: NoticeSettings::default(),
            traces: None,
            tls: None,
            settings: Vec::new(),
            connections_max: 16_384,
            node: None,
        }
    }
}

/// Whether a store has access tokens, so that requests need one.
///
/// # Errors
/// If the store cannot be read.
pub async fn has_tokens(store: &dyn Store) -> Result<bool, StoreError> {
    access::exists(store).await
}

/// A server over a store.
pub struct Server {
    store: Arc<dyn Store>,
    config: ServerConfig,
    inbox: Option<Arc<dyn Inbox>>,
}

impl Server {
    /// A server that is not running yet.
    pub fn new(store: Arc<dyn Store>, config: ServerConfig) -> Self {
        Self { store, config, inbox: None }
    }

    /// The same with an inbox, whose messages become notices.
    #[must_use]
    pub fn with_inbox(self, inbox: Arc<dyn Inbox>) -> Self {
        Self { inbox: Some(inbox), ..self }
    }

    /// Serves until `shutdown` resolves, then finishes what is under way and returns.
    ///
    /// # Errors
    /// If the store has stopped for good.
    pub async fn run(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), ServeError> {
        serve::run(self, listener, shutdown).await
    }
}
