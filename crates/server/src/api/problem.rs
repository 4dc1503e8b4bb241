//! Errors as they are answered: `application/problem+json`, RFC 9457.

use std::borrow::Cow;

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use punctual_store::{Effect, StoreError};
use serde::Serialize;
use utoipa::ToSchema;

use crate::code::Code;
use crate::engine::Failure;

/// After how many seconds a request that was not possible is worth repeating.
const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("1");

/// An error on its way to the client.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) code: Code,
    pub(crate) detail: Cow<'static, str>,
    effect: Effect,
    /// After how many seconds it is worth repeating, if that is known.
    retry_after: Option<u64>,
}

/// What a client is told when a request was refused.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemView<'a> {
    /// A URI for the kind of problem: `urn:punctual:` and the code.
    #[serde(rename = "type")]
    #[schema(value_type = String, example = "urn:punctual:wrong_state")]
    kind: Cow<'a, str>,
    /// What the code means, in a few words.
    title: &'a str,
    /// The HTTP status.
    #[schema(example = 409)]
    status: u16,
    /// What is wrong with this request, and what to do about it.
    #[schema(value_type = String)]
    detail: &'a str,
    /// A stable word for programs.
    #[schema(example = "wrong_state")]
    code: &'a str,
    /// With status 503: whether the request may have taken effect all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "none")]
    effect: Option<&'a str>,
}

impl Problem {
    /// A problem that changed nothing.
    pub(crate) fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { code, detail: detail.into(), effect: Effect::None, retry_after: None }
    }

    /// The same that is worth repeating after so many seconds.
    pub(crate) fn after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let (code, effect) = (failure.code(), failure.effect());
        if code == Code::Internal {
            tracing::error!(%failure, "a request could not be answered");
        }
        Self { code, detail: failure.to_string().into(), effect, retry_after: None }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Failure::from(error).into()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let unavailable = self.code == Code::Unavailable;
        let effect = match self.effect {
            Effect::None => "none",
            Effect::Unknown => "unknown",
        };
        let view = ProblemView {
            kind: format!("urn:punctual:{}", self.code.name()).into(),
            title: self.code.title(),
            status: self.code.status(),
            detail: &self.detail,
            code: self.code.name(),
            effect: unavailable.then_some(effect),
        };
        let body = serde_json::to_vec(&view).expect("a problem is plain text and numbers");
        let status = StatusCode::from_u16(self.code.status()).expect("the table has HTTP statuses");
        let json = HeaderValue::from_static("application/problem+json");
        let mut response = (status, [(CONTENT_TYPE, json)], body).into_response();
        if self.code == Code::Unauthorized {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
        }
        if unavailable || self.code == Code::Limited {
            let seconds = self.retry_after.map_or(RETRY_AFTER_SECONDS, HeaderValue::from);
            response.headers_mut().insert(RETRY_AFTER, seconds);
        }
        // The guard counts what a token was refused.
        response.extensions_mut().insert(self.code);
        response
    }
}
