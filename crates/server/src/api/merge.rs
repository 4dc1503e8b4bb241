//! `/v3/queue/{merge_key}/{method}/{service}`: what is pushed under the same three parts is delivered in
//! one request.

use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use axum::routing::post;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, URL_SAFE_NO_PAD};
use base64::engine::{DecodePaddingMode, Engine as _};
use punctual_core::bundle::{BundleKey, BundlePush, Overwrite};
use punctual_core::http::{HttpTarget, Method, TargetUrl};
use punctual_core::limits::PAYLOAD_BYTES_MAX;
use punctual_core::{QueueName, Refusal, Span, TaskId, Timestamp};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::bundles::PushedView;
use super::marks::{Marks, replayed};
use super::openapi::{Changes, Pushes};
use super::rights::Caller;
use super::schema::AnyJson;
use super::target::{decoded, given, params};
use super::{App, Problem, answer};
use crate::engine::{Failure, Pushing};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    // Standard base64 may contain slashes.
    let slashed = || post(push_merged).delete(delete_merged);
    OpenApiRouter::new()
        .routes(routes!(push_merged, delete_merged))
        .route("/v3/queue/{merge_key}/{method}/{service}/", slashed())
        .route("/v3/queue/{merge_key}/{method}/{service}/{*rest}", slashed())
}

/// Base64 with or without padding, whatever its last bits are.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What a path names.
struct Merged {
    /// The key of its bundle; if nothing merges, what the keys of its bundles begin with.
    key: String,
    /// What merges, as the path says it.
    merge_key: BundleKey,
    /// Whether nothing merges.
    alone: bool,
    url: TargetUrl,
    method: Method,
}

impl Merged {
    fn read(uri: &Uri) -> Result<Self, Failure> {
        let mut parts = uri.path().splitn(6, '/').skip(3);
        let mut part = |field| decoded(parts.next().unwrap_or_default(), field);
        let (merge_key, method, service) = (part("merge_key")?, part("method")?, part("service")?);
        if merge_key.is_empty() {
            return Err(Failure::invalid("merge_key", "1 to 2048 bytes"));
        }
        let given_key = BundleKey::parse(&merge_key)?;
        let method = match method.to_ascii_uppercase().as_str() {
            "GET" => Method::Get,
            "POST" => Method::Post,
            "PUT" => Method::Put,
            "PATCH" => Method::Patch,
            "DELETE" => Method::Delete,
            _ => return Err(Failure::invalid("method", "one of GET, POST, PUT, PATCH, DELETE")),
        };
        let url = service_url(&service)?;
        // No service written like this contains a slash, so no two paths have one key.
        let service = URL_SAFE_NO_PAD.encode(url.as_str());
        let key = format!("{merge_key}/{}/{service}", method.name());
        let alone = merge_key.starts_with('-');
        Ok(Self { key, merge_key: given_key, alone, url, method })
    }

    /// The key of a bundle, and what makes it its own where nothing merges.
    fn bundle_key(&self, own: Option<&TaskId>) -> BundleKey {
        BundleKey::composed(match own {
            Some(own) => format!("{}/{own}", self.key),
            None => self.key.clone(),
        })
    }
}

fn service_url(service: &str) -> Result<TargetUrl, Failure> {
    let rule = "a URL in base64, URL-safe or standard, padded or not";
    let standard = service.replace('-', "+").replace('_', "/");
    let bytes = BASE64.decode(standard).map_err(|_| Failure::invalid("service", rule))?;
    let text = String::from_utf8(bytes).map_err(|_| Failure::invalid("service", rule))?;
    Ok(TargetUrl::parse("service", &text)?)
}

impl<S: Sync> FromRequestParts<S> for Merged {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self::read(&parts.uri)?)
    }
}

/// When it is due.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct MergeParams {
    /// `always`: the due time of a bundle that exists moves to `ontime`; `once`: it stays.
    #[param(default = "once")]
    update: Option<String>,
    /// When it is due, in Unix seconds or RFC 3339; now if left out.
    #[param(example = "1366614150")]
    ontime: Option<String>,
    /// It is due no later than that long after its first payload.
    #[param(example = "1h")]
    max_wait: Option<String>,
}

impl MergeParams {
    fn push(self) -> Result<BundlePush, Failure> {
        let overwrite = match given(self.update).as_deref() {
            Some("always") => Overwrite::Always,
            Some("once") | None => Overwrite::Once,
            Some(_) => return Err(Failure::invalid("update", "always or once")),
        };
        let time = |text: String| {
            let rule = "Unix seconds or RFC 3339, at most in the year 9999";
            Timestamp::parse(&text).ok_or_else(|| Failure::invalid("ontime", rule))
        };
        let span = |text: String| {
            let rule = "seconds, or a text like 1h30m";
            Span::parse(&text).ok_or_else(|| Failure::invalid("max_wait", rule))
        };
        let ontime = given(self.ontime).map(time).transpose()?;
        let max_wait = given(self.max_wait).map(span).transpose()?;
        Ok(BundlePush { ontime, overwrite, max_wait, ..BundlePush::default() })
    }
}

/// Push a payload that is delivered with all others under the same merge key, method and service.
///
/// They go to the service in one request when they are due, as a JSON array in the order they were
/// pushed. Under a merge key that begins with `-` nothing merges.
#[utoipa::path(post, path = "/v3/queue/{merge_key}/{method}/{service}", tag = "bundles",
    params(("merge_key" = String, Path, description = "What merges; nothing, if it begins with `-`"),
        ("method" = String, Path, description = "GET, POST, PUT, PATCH or DELETE"),
        ("service" = String, Path, description = "The target's URL in base64"),
        MergeParams, ("Idempotency-Key" = Option<String>, Header,
        description = "1 to 255 ASCII characters; a repeat under the same key has no second effect")),
    request_body(content = AnyJson, content_type = "application/json"),
    responses((status = 202, description = "Pushed", body = PushedView), Pushes))]
async fn push_merged(
    State(app): State<Arc<App>>,
    caller: Caller,
    merged: Merged,
    uri: Uri,
    marks: Marks,
    body: JsonBody,
) -> Result<Response, Problem> {
    let named = merged.merge_key.check_new();
    named.map_err(|invalid| Failure::invalid("merge_key", invalid.rule))?;
    let push = params::<MergeParams>(&uri)?.push()?;
    app.engine.check_reach("service", &merged.url)?;
    let payload = body.any()?;
    if payload.len() > PAYLOAD_BYTES_MAX {
        let refusal = Refusal::TooLarge { field: "body", limit_bytes: PAYLOAD_BYTES_MAX };
        return Err(Failure::from(refusal).into());
    }
    let route = ["POST v3", &merged.key];
    let request = [body.bytes(), uri.query().unwrap_or_default().as_bytes()].concat();
    let keyed = marks.key(&caller, &route, &request, StatusCode::ACCEPTED, true)?;
    let own = merged.alone.then(|| app.engine.new_id());
    let target = HttpTarget {
        method: Some(merged.method),
        ..HttpTarget::new(merged.url.as_str().to_owned())
    };
    let push = BundlePush { payload, target: Some(target), alone: merged.alone, ..push };
    let pushing = Pushing { key: merged.bundle_key(own.as_ref()), own, push, keyed };
    let queue = QueueName::bundles();
    let pushed = app.engine.push_bundle(&queue, &pushing).await?;
    let view = PushedView::new(&queue, &pushed.key, pushed.now);
    let response = answer(StatusCode::ACCEPTED, &PushedView { key: Some(&pushed.key), ..view });
    Ok(if pushed.replayed { replayed(response) } else { response })
}

/// Remove all payloads that wait under a merge key, method and service.
#[utoipa::path(delete, path = "/v3/queue/{merge_key}/{method}/{service}", tag = "bundles",
    params(("merge_key" = String, Path, description = "What merges; nothing, if it begins with `-`"),
        ("method" = String, Path, description = "GET, POST, PUT, PATCH or DELETE"),
        ("service" = String, Path, description = "The target's URL in base64"), MergeParams),
    responses((status = 204, description = "None waits any more"), Changes))]
async fn delete_merged(
    State(app): State<Arc<App>>,
    merged: Merged,
    uri: Uri,
) -> Result<StatusCode, Problem> {
    params::<MergeParams>(&uri)?.push()?;
    let queue = QueueName::bundles();
    if merged.alone {
        app.engine.delete_bundles(&queue, &format!("{}/", merged.key)).await?;
        return Ok(StatusCode::NO_CONTENT);
    }
    match app.engine.delete_bundle(&queue, &merged.bundle_key(None)).await {
        Ok(()) | Err(Failure::NoBundle { .. }) => Ok(StatusCode::NO_CONTENT),
        Err(failure) => Err(failure.into()),
    }
}
