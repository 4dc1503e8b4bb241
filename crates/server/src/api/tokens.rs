//! `/v1/tokens`: access tokens that are made and revoked at run time.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use punctual_core::access::NewToken;
use punctual_core::{AccessToken, Span, Timestamp, TokenLimits};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::openapi::{Changes, Reads};
use super::rights::Caller;
use super::schema::{Duration, RightSchema, Time};
use super::target::{OnToken, Params, given, page_limit};
use super::view::Page;
use super::{App, Problem, answer};
use crate::access::{Right, Scope};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list_tokens, create_token))
        .routes(routes!(get_token, delete_token))
}

/// A token to make.
#[derive(ToSchema)]
#[schema(as = NewAccessToken)]
#[expect(dead_code, reason = "describes `core`'s request")]
struct NewTokenSchema {
    /// What it is called: 1 to 200 characters of A-Z a-z 0-9 . _ : @ ~ -
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = "^[A-Za-z0-9._:@~-]+$",
        example = "mail-worker"
    )]
    name: String,
    /// What it may do. No right implies another.
    #[schema(min_items = 1)]
    rights: Vec<RightSchema>,
    /// The queues it is good for, `*` at the end for any ending; left out: all.
    #[schema(max_items = 1_000)]
    queues: Option<Vec<String>>,
    /// From when on it is good no more; left out: never.
    expires: Option<Time>,
    /// What it may take of a server at most.
    limits: Option<LimitsSchema>,
}

/// What a token may take of each server at most; over it: 429 `limited`. A token limited to queues has
/// 100 queues, 1,000 connections, 100 streams and a quarter of the bytes unless told otherwise.
#[derive(ToSchema)]
#[schema(as = AccessTokenLimits)]
#[expect(dead_code, reason = "describes `core`'s request")]
struct LimitsSchema {
    /// Queues that exist and that its requests made, over all servers.
    queues: Option<u64>,
    /// Connections whose last request carried it.
    #[schema(minimum = 1)]
    connections: Option<u64>,
    /// Open streams of events.
    streams: Option<u64>,
    /// Bytes of its requests that are worked on.
    #[schema(minimum = 1)]
    bytes_in_flight: Option<u64>,
    /// Requests in a time: a token bucket.
    requests: Option<RequestsSchema>,
}

/// So many requests in a time.
#[derive(ToSchema)]
#[schema(as = AccessTokenRequests)]
#[expect(dead_code, reason = "describes `core`'s request")]
struct RequestsSchema {
    /// Requests at most, also at once.
    #[schema(minimum = 1)]
    limit: u32,
    /// In this time.
    per: Duration,
}

/// A token, without what it is.
#[derive(Serialize, ToSchema)]
#[schema(as = AccessToken)]
struct TokenView {
    /// What it is called.
    #[schema(example = "mail-worker")]
    name: String,
    /// What it may do.
    #[schema(value_type = Vec<RightSchema>)]
    rights: Vec<Right>,
    /// The queues it is good for, `*` at the end for any ending; null: all.
    #[schema(value_type = Option<Vec<String>>, required = true)]
    queues: Scope,
    /// From when on it is good no more; null: never.
    #[schema(value_type = Option<Time>, required = true)]
    expires: Option<Timestamp>,
    /// The limits that hold; null: none.
    limits: LimitsView,
    /// When it was made.
    #[schema(value_type = Time)]
    created_at: Timestamp,
    /// When it was last used; null: never.
    #[schema(value_type = Option<Time>, required = true)]
    last_used: Option<Timestamp>,
    /// Requests that carried it.
    requests: u64,
    /// Those of them that it was refused.
    refusals: u64,
}

/// The limits of a token.
#[derive(Serialize, ToSchema)]
#[schema(as = AccessTokenLimitsRead)]
struct LimitsView {
    /// Queues that exist and that its requests made.
    #[schema(required = true)]
    queues: Option<u64>,
    /// Connections whose last request carried it.
    #[schema(required = true)]
    connections: Option<u64>,
    /// Open streams of events.
    #[schema(required = true)]
    streams: Option<u64>,
    /// Bytes of its requests that are worked on.
    #[schema(required = true)]
    bytes_in_flight: Option<u64>,
    /// Requests in a time.
    #[schema(required = true)]
    requests: Option<RequestsView>,
}

/// So many requests in so many seconds.
#[derive(Serialize, ToSchema)]
#[schema(as = AccessTokenRequestsRead)]
struct RequestsView {
    /// Requests.
    limit: u32,
    /// Seconds.
    #[schema(value_type = f64)]
    per: Span,
}

impl From<TokenLimits> for LimitsView {
    fn from(limits: TokenLimits) -> Self {
        let TokenLimits { queues, connections, streams, bytes_in_flight, requests } = limits;
        let requests = requests.map(|rate| RequestsView { limit: rate.limit, per: rate.per });
        Self { queues, connections, streams, bytes_in_flight, requests }
    }
}

impl TokenView {
    fn new(token: &AccessToken, app: &App) -> Self {
        let queues = token.scope();
        Self {
            name: token.name.as_str().to_owned(),
            rights: token.rights.clone(),
            limits: token.limits.filled(&queues, app.engine.tokens.bytes_max).into(),
            queues,
            expires: token.expires,
            created_at: token.created_at,
            last_used: token.used.last_used,
            requests: token.used.requests,
            refusals: token.used.refusals,
        }
    }
}

/// A token that was made, and what it is.
#[derive(Serialize, ToSchema)]
#[schema(as = MadeAccessToken)]
struct MadeView {
    #[serde(flatten)]
    read: TokenView,
    /// The token: send it as `Authorization: Bearer`. It is shown this once.
    #[schema(example = "pt_0f0e0d0c0b0a09080706050403020100.bWFpbC13b3JrZXI")]
    token: String,
}

/// Which page to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct TokenParams {
    /// Most items on the page, 1 to 1000.
    #[param(default = 50, minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

/// List the access tokens that were made at run time, by name.
///
/// A token limited to queues sees those that are good for no other queues. Tokens of the settings are not
/// among them.
#[utoipa::path(get, path = "/v1/tokens", tag = "operations", params(TokenParams),
    responses((status = 200, description = "A page of tokens", body = Page<TokenView>), Reads))]
async fn list_tokens(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<TokenParams>,
) -> Result<Response, Problem> {
    let limit = page_limit(params.limit)?;
    let listed = app.engine.list_tokens(&caller.scope(), limit, given(params.cursor)).await?;
    let items = listed.0.iter().map(|token| TokenView::new(token, &app)).collect();
    Ok(answer(StatusCode::OK, &Page { items, next: listed.1 }))
}

/// Make an access token.
///
/// The answer shows it once. It is good on every server as soon as that is answered. The first one of all
/// must have the right `admin`; from then on requests need a token. Only an admin without queue limit gives
/// more than it has.
#[utoipa::path(post, path = "/v1/tokens", tag = "operations", request_body = NewTokenSchema,
    responses((status = 201, description = "The token", body = MadeView), Changes))]
async fn create_token(
    State(app): State<Arc<App>>,
    caller: Caller,
    body: JsonBody,
) -> Result<Response, Problem> {
    let new: NewToken = body.read()?;
    let (token, text) = app.engine.create_token(new, caller.0.granter()).await?;
    let made = MadeView { read: TokenView::new(&token, &app), token: text };
    Ok(answer(StatusCode::CREATED, &made))
}

/// Read an access token: what it is good for and how much it was used, not what it is.
#[utoipa::path(get, path = "/v1/tokens/{name}", tag = "operations", params(OnToken),
    responses((status = 200, description = "The token", body = TokenView), Reads))]
async fn get_token(
    State(app): State<Arc<App>>,
    caller: Caller,
    OnToken { name }: OnToken,
) -> Result<Response, Problem> {
    let token = app.engine.token(&name, &caller.scope()).await?;
    Ok(answer(StatusCode::OK, &TokenView::new(&token, &app)))
}

/// Revoke an access token.
///
/// It is good on no server any more as soon as that is answered; its open streams and waiting polls end
/// within a second. The last admin without queue limit and expiry cannot be revoked.
#[utoipa::path(delete, path = "/v1/tokens/{name}", tag = "operations", params(OnToken),
    responses((status = 204, description = "It is revoked"), Changes))]
async fn delete_token(
    State(app): State<Arc<App>>,
    caller: Caller,
    OnToken { name }: OnToken,
) -> Result<Response, Problem> {
    app.engine.revoke_token(&name, &caller.scope()).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
