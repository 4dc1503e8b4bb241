//! Descriptions of what `core` reads and writes about deliveries.

use std::collections::BTreeMap;

use utoipa::ToSchema;

use super::{AnyJson, Duration, DurationSeconds};

/// Where and how a task is delivered.
#[derive(ToSchema)]
#[schema(as = Http)]
#[serde(deny_unknown_fields)]
pub(crate) struct HttpSchema {
    /// The target, at most 8 KiB; the queue's if left out. Private addresses are refused unless the
    /// server allows them.
    #[schema(example = "https://example.com/hook")]
    url: Option<String>,
    /// The HTTP method; POST if left out.
    method: Option<MethodSchema>,
    /// Headers to send, at most 64 and 16 KiB. Not Host, Content-Length, Transfer-Encoding,
    /// Connection, nor `webhook-*`.
    headers: Option<BTreeMap<String, String>>,
    /// What to send instead of the payload: a text as it is, any other value as JSON.
    body: Option<AnyJson>,
    /// The type of what is sent; `application/json` if left out, `text/plain` for a text.
    content_type: Option<String>,
    /// The time one attempt may take, at most 1 h; the queue's if left out.
    timeout: Option<Duration>,
    /// What counts as success; any status 2xx if left out.
    success: Option<SuccessSchema>,
    /// Whether redirects are followed; they are not if left out.
    follow_redirects: Option<bool>,
}

/// A method of HTTP; small letters will do.
#[derive(ToSchema)]
#[schema(as = Method, rename_all = "UPPERCASE")]
pub(crate) enum MethodSchema {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

/// What counts as success. Both must hold.
#[derive(ToSchema)]
#[schema(as = Success)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuccessSchema {
    /// A status like `204`, a class like `2xx`, or several of these; `2xx` if left out.
    status: Option<StatusesSchema>,
    /// A text the answer must contain, in its first MiB.
    contains: Option<String>,
}

/// Statuses of answers.
#[derive(ToSchema)]
#[schema(as = Statuses)]
#[serde(untagged)]
pub(crate) enum StatusesSchema {
    /// A code.
    Code(u16),
    /// Codes and classes, separated by commas. Always reads like this.
    #[schema(example = "2xx,304")]
    Text(String),
    /// Several of these.
    Many(Vec<AnyJson>),
}

/// What was sent and what came back.
#[derive(ToSchema)]
#[schema(as = Exchange)]
pub(crate) struct ExchangeSchema {
    /// The method of the last request.
    method: MethodSchema,
    /// The URL of the last request, shortened.
    url: String,
    /// The address that was connected to.
    address: Option<String>,
    /// Redirects that were followed.
    redirects: u8,
    /// The size of the body that was sent.
    sent_bytes: u32,
    /// How long the look-up of the name took, for a new connection.
    dns: Option<DurationSeconds>,
    /// How long connecting took, for a new connection.
    connect: Option<DurationSeconds>,
    /// How long it took to agree on encryption, for a new connection.
    tls: Option<DurationSeconds>,
    /// From the beginning to the head of the answer.
    first_byte: Option<DurationSeconds>,
    /// From the beginning to the end.
    total: DurationSeconds,
    /// How much of the answer's body was read.
    answer_bytes: u32,
    /// The first 4 KiB of the answer's body, while there is room for it.
    answer: Option<String>,
}
