//! Answers as they go over the wire: compressed where the client accepts it and it pays, and with the
//! headers that keep browsers from guessing, storing and sharing them.

use std::convert::Infallible;
use std::io::Write;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body::Body as _;
use http_body_util::BodyExt;

/// The largest answer that is sent as it is in any case: compressing it would save no packet.
const PLAIN_BYTES_MAX: u64 = 1 << 10;
/// The largest answer that is compressed where it is made. Larger ones would keep other requests waiting.
const INLINE_BYTES_MAX: usize = 64 << 10;

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Whether the client reads gzip.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AcceptsGzip(bool);

impl AcceptsGzip {
    /// What a request's headers say.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let values =
            headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        Self(values.flat_map(|value| value.split(',')).any(is_gzip))
    }

    /// Whether it does.
    pub(super) fn is_accepted(self) -> bool {
        self.0
    }

    /// Whether an answer of so many bytes is compressed for it.
    pub(super) fn pays_for(self, bytes: u64) -> bool {
        self.0 && bytes > PLAIN_BYTES_MAX
    }
}

impl<S: Sync> FromRequestParts<S> for AcceptsGzip {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.headers))
    }
}

/// Whether an item of `Accept-Encoding` allows gzip; with a weight of 0 it does not.
fn is_gzip(item: &str) -> bool {
    let (name, weight) = item.split_once(';').unwrap_or((item, "q=1"));
    let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
    name.trim().eq_ignore_ascii_case("gzip") && weight.is_some_and(|weight| weight > 0.0)
}

/// Bytes compressed, cheaply: most of what there is to gain comes at the lowest level.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    // Writing to memory does not fail.
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}

/// Marks an answer whose body is compressed.
pub(super) fn mark_gzip(headers: &mut HeaderMap) {
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
}

/// The answer as it is sent to a client.
pub(super) async fn finish(mut response: Response, accepts: AcceptsGzip) -> Response {
    harden(response.headers_mut());
    let bytes = response.body().size_hint().exact().unwrap_or(0);
    if bytes <= PLAIN_BYTES_MAX || is_stream(response.headers()) {
        return response;
    }
    response.headers_mut().entry(VARY).or_insert(HeaderValue::from_static("accept-encoding"));
    if !accepts.pays_for(bytes) || response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    // On the heap, as most answers are small.
    Box::pin(compress(response)).await
}

async fn compress(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(body) = body.collect().await else {
        // A body of a known size is in memory, and reading it does not fail.
        return Response::from_parts(parts, Body::empty());
    };
    let bytes = body.to_bytes();
    let packed = if bytes.len() <= INLINE_BYTES_MAX {
        gzip(&bytes)
    } else {
        let plain = bytes.clone();
        tokio::task::spawn_blocking(move || gzip(&plain)).await.unwrap_or_default()
    };
    if packed.is_empty() {
        return Response::from_parts(parts, bytes.into());
    }
    parts.headers.remove(CONTENT_LENGTH);
    mark_gzip(&mut parts.headers);
    Response::from_parts(parts, packed.into())
}

fn is_stream(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream")
}

/// Adds what every answer carries, unless its route says otherwise.
fn harden(headers: &mut HeaderMap) {
    let fixed = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-store"),
        (RESOURCE_POLICY, "same-origin"),
    ];
    for (name, value) in fixed {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_accepted_by_name_and_weight() {
        for (value, is_accepted) in [
            ("gzip", true),
            ("deflate, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("identity", false),
            ("br", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, value.parse().unwrap());
            assert_eq!(AcceptsGzip::of(&headers).is_accepted(), is_accepted, "{value}");
        }
    }
}
