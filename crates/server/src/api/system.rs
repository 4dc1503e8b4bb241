//! `/v1/system`: the server itself, the servers beside it, its settings and tokens.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use punctual_core::Timestamp;
use punctual_store::{AuditEntry, NodeCard};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::openapi::Reads;
use super::schema::{RightSchema, Time};
use super::target::{NoParams, Params, given, page_limit};
use super::view::Page;
use super::{App, Problem, answer};
use crate::access::{AccessToken, Right, Scope};
use crate::settings::Setting;

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(get_system))
        .routes(routes!(get_config))
        .routes(routes!(get_tokens))
        .routes(routes!(get_audit))
}

/// The server, its store, and the servers it shares that with.
#[derive(Serialize, ToSchema)]
#[schema(as = System)]
struct SystemView {
    /// The version of this server.
    version: &'static str,
    /// When it began to serve.
    #[schema(value_type = Time)]
    started_at: Timestamp,
    /// What time it is by the store's clock.
    #[schema(value_type = Time)]
    now: Timestamp,
    /// Whether that clock can be moved.
    dev: bool,
    /// The store.
    store: StoreView,
    /// The servers that share it, by when they started. One that ended without a word stays for an hour.
    nodes: Vec<NodeView>,
}

/// The store of a server.
#[derive(Serialize, ToSchema)]
#[schema(as = StoreState)]
struct StoreView {
    /// Its kind.
    #[schema(example = "embedded")]
    kind: &'static str,
    /// What an acknowledgement is worth.
    durability: String,
    /// Whether it can be read and written now.
    available: bool,
    /// Why it cannot.
    #[schema(required = true)]
    problem: Option<String>,
    /// About how many bytes it takes: its files, or what Redis says it uses; null if that is not known.
    #[schema(required = true)]
    bytes: Option<u64>,
    /// How many queues it has; null while it cannot be read.
    #[schema(required = true)]
    queues: Option<usize>,
}

/// A server.
#[derive(Serialize, ToSchema)]
#[schema(as = Node)]
struct NodeView {
    /// Its name, new with every start.
    id: String,
    /// Where it listens.
    address: String,
    /// Its version.
    version: String,
    /// When it began to serve.
    #[schema(value_type = Time)]
    started_at: Timestamp,
    /// When it was last heard of: every ten seconds, if it is well.
    #[schema(value_type = Time)]
    seen_at: Timestamp,
    /// Whether it is the one that answers.
    this: bool,
}

/// Read how the server, its store and the servers beside it are.
#[utoipa::path(get, path = "/v1/system", tag = "operations",
    responses((status = 200, description = "The system", body = SystemView), Reads))]
async fn get_system(State(app): State<Arc<App>>, _: Params<NoParams>) -> Response {
    let own = app.presence.card();
    let view = |card: NodeCard| NodeView {
        this: card.id == own.id,
        id: card.id,
        address: card.address,
        version: card.version,
        started_at: card.started_at,
        seen_at: card.seen_at,
    };
    let (store, nodes) = tokio::join!(store(&app), app.presence.nodes());
    let view = SystemView {
        version: env!("CARGO_PKG_VERSION"),
        started_at: own.started_at,
        now: app.engine.now(),
        dev: app.dev_clock.is_some(),
        store,
        nodes: nodes.into_iter().map(view).collect(),
    };
    answer(StatusCode::OK, &view)
}

async fn store(app: &App) -> StoreView {
    let store = app.engine.store();
    let health = store.health().await;
    let (bytes, queues) = match &health {
        Ok(()) => (store.bytes().await.ok().flatten(), store.queues().await.ok()),
        Err(_) => (None, None),
    };
    StoreView {
        kind: store.kind(),
        durability: store.durability(),
        available: health.is_ok(),
        problem: health.err().map(|error| error.to_string()),
        bytes,
        queues: queues.map(|queues| queues.len()),
    }
}

/// The settings of a server.
#[derive(Serialize, ToSchema)]
#[schema(as = Config)]
struct ConfigView<'a> {
    /// One for each setting there is.
    #[schema(value_type = Vec<Setting>)]
    items: &'a [Setting],
}

/// Read the settings that hold, and where each comes from. Secrets read as `***`.
#[utoipa::path(get, path = "/v1/system/config", tag = "operations",
    responses((status = 200, description = "The settings", body = ConfigView), Reads))]
async fn get_config(State(app): State<Arc<App>>, _: Params<NoParams>) -> Response {
    answer(StatusCode::OK, &ConfigView { items: &app.settings })
}

/// The tokens of a server.
#[derive(Serialize, ToSchema)]
#[schema(as = Tokens)]
struct TokensView {
    /// In the order of the settings.
    items: Vec<TokenView>,
}

/// A token, without what it is.
#[derive(Serialize, ToSchema)]
#[schema(as = Token)]
struct TokenView {
    /// The first 8 hexadecimal digits of its SHA-256.
    #[schema(example = "9f9f5111")]
    hash: String,
    /// Its rights.
    #[schema(value_type = Vec<RightSchema>)]
    rights: Vec<Right>,
    /// The queues they hold for; null: for all.
    #[schema(value_type = Option<Vec<String>>, required = true)]
    queues: Scope,
}

impl From<&AccessToken> for TokenView {
    fn from(token: &AccessToken) -> Self {
        let AccessToken { hash, rights, queues, .. } = token.clone();
        Self { hash: hash.short(), rights, queues }
    }
}

/// List the access tokens of the settings: what each is good for, not what it is.
#[utoipa::path(get, path = "/v1/system/tokens", tag = "operations",
    responses((status = 200, description = "The tokens", body = TokensView), Reads))]
async fn get_tokens(State(app): State<Arc<App>>, _: Params<NoParams>) -> Response {
    let items = app.token_list.iter().map(TokenView::from).collect();
    answer(StatusCode::OK, &TokensView { items })
}

/// Which part of the log to read.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AuditParams {
    /// Most items on the page, 1 to 1000.
    #[param(default = 50)]
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

/// Something that was done, or tried.
#[derive(Serialize, ToSchema)]
#[schema(as = Audited)]
struct AuditView {
    /// When.
    #[schema(value_type = Time)]
    at: Timestamp,
    /// Who: the first 8 digits of the token's hash, and its name if it has one; `open` where there are no tokens, `unknown` for none
    /// of the server's.
    #[schema(example = "9f9f5111")]
    who: String,
    /// The address the request came from.
    #[schema(example = "127.0.0.1:40404")]
    from: String,
    /// What was done.
    #[schema(example = "queue.pause")]
    action: String,
    /// To which queue or task; of a refused token, what was asked for.
    target: String,
    /// The HTTP status it was answered with.
    #[schema(example = 200)]
    status: u16,
}

impl From<AuditEntry> for AuditView {
    fn from(entry: AuditEntry) -> Self {
        let AuditEntry { at, who, from, action, target, status } = entry;
        Self { at, who, from, action, target, status }
    }
}

/// Read what was done to queues and to the server, the newest first.
///
/// The last 1000 entries of each token and kind are kept; over Redis those of all servers. What was answered
/// with 404 is not among them.
#[utoipa::path(get, path = "/v1/system/audit", tag = "operations", params(AuditParams),
    responses((status = 200, description = "A page of entries", body = Page<AuditView>), Reads))]
async fn get_audit(
    State(app): State<Arc<App>>,
    Params(params): Params<AuditParams>,
) -> Result<Response, Problem> {
    let limit = page_limit(params.limit)?;
    let page = app.engine.store().audited(given(params.cursor), limit).await?;
    let items = page.items.into_iter().map(AuditView::from).collect();
    Ok(answer(StatusCode::OK, &Page { items, next: page.next }))
}
