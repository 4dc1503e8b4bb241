//! What the headers of a request say of what it makes: the key under which it counts once, and the span
//! it is made in.

use std::convert::Infallible;
use std::hash::Hasher;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use punctual_core::TraceParent;
use punctual_core::limits::IDEMPOTENCY_KEY_BYTES_MAX;
use siphasher::sip128::{Hasher128, SipHasher13};

use super::rights::Caller;
use crate::engine::{Failure, Key};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// What a request is marked with.
pub(crate) struct Marks {
    key: Option<HeaderValue>,
    /// The span it is made in, as far as its header says so in the right form.
    pub(super) trace: Option<TraceParent>,
}

impl<S: Sync> FromRequestParts<S> for Marks {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let trace = parts.headers.get("traceparent").and_then(|value| value.to_str().ok());
        let key = parts.headers.get(KEY).cloned();
        Ok(Self { key, trace: trace.and_then(TraceParent::parse) })
    }
}

impl Marks {
    /// The identity of a request to a route that carries an `Idempotency-Key`, and how it is answered.
    pub(super) fn key(
        &self,
        caller: &Caller,
        route: &[&str],
        body: &[u8],
        status: StatusCode,
        single: bool,
    ) -> Result<Option<Key>, Failure> {
        let Some(value) = &self.key else { return Ok(None) };
        let value = value.as_bytes();
        if !(1..=IDEMPOTENCY_KEY_BYTES_MAX).contains(&value.len()) || !value.is_ascii() {
            return Err(Failure::invalid("Idempotency-Key", "1 to 255 ASCII characters"));
        }
        // Keys of one access token are not those of another.
        let mut parts = vec![caller.0.identity()];
        parts.extend(route.iter().map(|part| part.as_bytes()));
        parts.push(value);
        let key = hash(&parts);
        Ok(Some(Key { key, request: hash(&[body]), status: status.as_u16(), single }))
    }
}

/// Marks an answer as one that was given before.
pub(super) fn replayed(mut response: Response) -> Response {
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response
}

/// A hash that is the same on every node and after every start.
fn hash(parts: &[&[u8]]) -> u128 {
    let mut hasher = SipHasher13::new();
    for part in parts {
        hasher.write_usize(part.len());
        hasher.write(part);
    }
    hasher.finish128().as_u128()
}
