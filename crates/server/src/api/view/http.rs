//! How the target of a task reads.

use std::collections::BTreeMap;

use punctual_core::http::{HttpTarget, Method, Success};
use punctual_core::{RawJson, Span};
use serde::Serialize;
use utoipa::ToSchema;

use super::Viewing;
use crate::api::schema::http::{MethodSchema, SuccessSchema};
use crate::api::schema::{AnyJson, DurationSeconds};

/// Where and how a task is delivered, as it was pushed.
#[derive(Serialize, ToSchema)]
#[schema(as = TaskHttp)]
pub(crate) struct HttpView<'a> {
    /// The target; null: the queue's.
    #[schema(value_type = Option<String>, required = true)]
    url: Option<&'a str>,
    /// The HTTP method; null: POST.
    #[schema(value_type = Option<MethodSchema>, required = true)]
    method: Option<Method>,
    /// Headers it is sent with; values of secret ones read as `***`.
    headers: BTreeMap<&'a str, &'a str>,
    /// What is sent instead of the payload.
    #[schema(value_type = AnyJson)]
    body: Option<&'a RawJson>,
    /// The type of what is sent.
    #[schema(value_type = Option<String>, required = true)]
    content_type: Option<&'a str>,
    /// The time one attempt may take; null: the queue's.
    #[schema(value_type = Option<DurationSeconds>, required = true)]
    timeout: Option<Span>,
    /// What counts as success; null: any status 2xx.
    #[schema(value_type = Option<SuccessSchema>, required = true)]
    success: Option<&'a Success>,
    /// Whether redirects are followed.
    follow_redirects: bool,
}

impl<'a> HttpView<'a> {
    /// A target as it may be read.
    pub(super) fn new(target: &'a HttpTarget, viewing: Viewing<'_>) -> Self {
        Self {
            url: target.url.as_deref(),
            method: target.method,
            headers: target.headers.shown(viewing.secret_headers),
            body: target.body.as_ref(),
            content_type: target.content_type.as_deref(),
            timeout: target.timeout,
            success: target.success.as_ref(),
            follow_redirects: target.follow_redirects,
        }
    }
}
