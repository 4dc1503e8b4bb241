//! What a request is about: the queue and task its path names, the parameters of its query.

use std::borrow::Cow;
use std::time::Duration;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use axum::http::{Request, Uri};
use percent_encoding::percent_decode_str;
use punctual_core::bundle::BundleKey;
use punctual_core::limits::{PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX};
use punctual_core::{FlowId, Invalid, PlanId, QueueName, Span, TaskId, TokenName, WorkerName};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::Problem;
use super::json::{in_words, shortened};
use crate::engine::{Failure, check_wait};

/// The same request without a slash at the end of its path, which says nothing. The paths of `/v3` end in
/// base64, where a slash is a letter.
pub(super) fn without_slash<B>(mut request: Request<B>) -> Request<B> {
    let uri = request.uri();
    let Some(path) = uri.path().strip_suffix('/').filter(|path| path.starts_with("/v1/")) else {
        return request;
    };
    let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = format!("{path}{query}").parse().ok();
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
    request
}

/// The queue of `/v1/queues/{queue}…`, and the parameters of the query.
pub(crate) struct InQueue<P = NoParams> {
    pub(crate) queue: QueueName,
    pub(crate) params: P,
}

/// The task of `/v1/queues/{queue}/tasks/{id}…`, and the parameters of the query.
pub(crate) struct OnTask<P = NoParams> {
    pub(crate) queue: QueueName,
    pub(crate) id: TaskId,
    pub(crate) params: P,
}

/// The bundle of `/v1/queues/{queue}/bundles/{key}…`.
pub(crate) struct OnBundle {
    pub(crate) queue: QueueName,
    pub(crate) key: BundleKey,
}

/// The notice of `/v1/notices/{id}…`.
pub(crate) struct OnNotice {
    pub(crate) id: TaskId,
}

/// The plan of `/v1/plans/{id}…`.
pub(crate) struct OnPlan {
    pub(crate) id: PlanId,
}

/// The worker of `/v1/workers/{worker}…`, and the parameters of the query.
pub(crate) struct OnWorker<P = NoParams> {
    pub(crate) worker: WorkerName,
    pub(crate) params: P,
}

/// The access token of `/v1/tokens/{name}`.
pub(crate) struct OnToken {
    pub(crate) name: TokenName,
}

/// The flow of `/v1/flows/{id}…`.
pub(crate) struct OnFlow {
    pub(crate) id: FlowId,
}

/// The parameters of a query.
pub(crate) struct Params<P>(pub(crate) P);

/// No parameters at all.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParams {}

/// A part of the path, counted from 0. Parts are counted, not named, because a task may be called
/// like a route.
pub(crate) fn part<'a>(
    uri: &'a Uri,
    index: usize,
    field: &'static str,
) -> Result<Cow<'a, str>, Failure> {
    decoded(uri.path().split('/').nth(index + 1).unwrap_or_default(), field)
}

/// A part of a path as it reads.
pub(crate) fn decoded<'a>(raw: &'a str, field: &'static str) -> Result<Cow<'a, str>, Failure> {
    let decoded = percent_decode_str(raw).decode_utf8();
    decoded.map_err(|_| Failure::invalid(field, "percent-encoded UTF-8"))
}

fn named<T>(parsed: Result<T, Invalid>) -> Result<T, Failure> {
    parsed.map_err(|invalid| Failure::Refused(invalid.into()))
}

/// What the check of a new name says, as a refusal.
pub(crate) fn new_name(checked: Result<(), Invalid>) -> Result<(), Failure> {
    named(checked)
}

/// The parameters of a query.
pub(crate) fn params<P: DeserializeOwned>(uri: &Uri) -> Result<P, Failure> {
    let refused = match Query::try_from_uri(uri) {
        Ok(Query(params)) => return Ok(params),
        Err(refused) => refused.body_text(),
    };
    let rule = refused.rsplit_once("query string: ").map_or(&*refused, |(_, rule)| rule);
    let (field, rule) = rule.split_once(": ").unwrap_or(("query", rule));
    Err(Failure::invalid(shortened(field.to_owned()), shortened(in_words(rule))))
}

impl<S: Sync, P: DeserializeOwned> FromRequestParts<S> for InQueue<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let queue = named(QueueName::parse(&part(&parts.uri, 2, "queue")?))?;
        Ok(Self { queue, params: params(&parts.uri)? })
    }
}

impl<S: Sync, P: DeserializeOwned> FromRequestParts<S> for OnTask<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let queue = named(QueueName::parse(&part(&parts.uri, 2, "queue")?))?;
        let params = params(&parts.uri)?;
        Ok(Self { queue, id: named(TaskId::parse(&part(&parts.uri, 4, "id")?))?, params })
    }
}

impl<S: Sync> FromRequestParts<S> for OnBundle {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let InQueue::<NoParams> { queue, .. } = InQueue::from_request_parts(parts, state).await?;
        let key = part(&parts.uri, 4, "key")?;
        // Keys that the server composes of a URL may be longer than those a client may choose.
        let is_composed = queue == QueueName::bundles() && !key.is_empty();
        let parsed = if is_composed {
            BundleKey::composed(key.into_owned())
        } else {
            BundleKey::parse(&key).map_err(Failure::from)?
        };
        Ok(Self { queue, key: parsed })
    }
}

impl<S: Sync> FromRequestParts<S> for OnNotice {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let NoParams {} = params(&parts.uri)?;
        Ok(Self { id: named(TaskId::parse(&part(&parts.uri, 2, "id")?))? })
    }
}

impl<S: Sync> FromRequestParts<S> for OnPlan {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self { id: named(PlanId::parse(&part(&parts.uri, 2, "id")?))? })
    }
}

impl<S: Sync, P: DeserializeOwned> FromRequestParts<S> for OnWorker<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let worker = named(WorkerName::parse(&part(&parts.uri, 2, "worker")?))?;
        Ok(Self { worker, params: params(&parts.uri)? })
    }
}

impl<S: Sync> FromRequestParts<S> for OnToken {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let NoParams {} = params(&parts.uri)?;
        Ok(Self { name: named(TokenName::parse(&part(&parts.uri, 2, "name")?))? })
    }
}

impl<S: Sync> FromRequestParts<S> for OnFlow {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let NoParams {} = params(&parts.uri)?;
        Ok(Self { id: named(FlowId::parse(&part(&parts.uri, 2, "id")?))? })
    }
}

impl<S: Sync, P: DeserializeOwned> FromRequestParts<S> for Params<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self(params(&parts.uri)?))
    }
}

/// How many items a page may have.
pub(crate) fn page_limit(limit: Option<usize>) -> Result<usize, Failure> {
    let limit = limit.unwrap_or(PAGE_ITEMS_DEFAULT);
    if (1..=PAGE_ITEMS_MAX).contains(&limit) {
        return Ok(limit);
    }
    Err(Failure::invalid("limit", "a whole number from 1 to 1000"))
}

/// How long a request waits for the end of a task.
pub(crate) fn wait_of(wait: Option<String>) -> Result<Option<Duration>, Failure> {
    let Some(text) = given(wait) else { return Ok(None) };
    let rule = "seconds, or a text like 30s; at most 60 seconds";
    let span = Span::parse(&text).ok_or_else(|| Failure::invalid("wait", rule))?;
    check_wait(span).map(Some)
}

/// A parameter that was given; an empty one counts as left out.
pub(crate) fn given(param: Option<String>) -> Option<String> {
    param.filter(|text| !text.is_empty())
}

fn in_path(name: &str, description: &str) -> Parameter {
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(200))
        .pattern(Some("^[A-Za-z0-9._:@~-]+$"));
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(description))
        .schema(Some(text.build()))
        .build()
}

impl IntoParams for InQueue {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![in_path("queue", "The queue's name")]
    }
}

impl IntoParams for OnTask {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![in_path("queue", "The queue's name"), in_path("id", "The task's id")]
    }
}

impl IntoParams for OnBundle {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let text = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1));
        let key = ParameterBuilder::new()
            .name("key")
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .description(Some("The bundle's key, percent-encoded"))
            .schema(Some(text.build()));
        vec![in_path("queue", "The queue's name"), key.build()]
    }
}

impl IntoParams for OnNotice {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![in_path("id", "The notice's id")]
    }
}

impl IntoParams for OnPlan {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![in_path("id", "The plan's id")]
    }
}

impl IntoParams for OnWorker {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![in_path("worker", "The worker's name")]
    }
}

impl IntoParams for OnToken {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![in_path("name", "The token's name")]
    }
}

impl IntoParams for OnFlow {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![in_path("id", "The flow's id")]
    }
}
