//! Conditional changes: `ETag` on what can be changed, `If-Match` on the change.

use axum::extract::FromRequestParts;
use axum::http::HeaderValue;
use axum::http::header::{ETAG, IF_MATCH};
use axum::http::request::Parts;
use axum::response::Response;
use punctual_core::{ETag, IfMatch, Refusal};
use utoipa::IntoParams;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::Problem;
use crate::engine::Failure;

/// The condition of a change; none, if its request names none.
pub(crate) struct Condition(pub(super) Option<IfMatch>);

impl Condition {
    /// Refuses the change of a thing that has another tag than asked for, or that is not there.
    pub(super) fn check(&self, current: impl FnOnce() -> Option<ETag>) -> Result<(), Refusal> {
        self.0.as_ref().map_or(Ok(()), |asked| asked.check(current().as_ref()))
    }
}

impl<S: Sync> FromRequestParts<S> for Condition {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let values = parts.headers.get_all(IF_MATCH).iter();
        let values: Vec<&str> = values.map(|value| value.to_str().unwrap_or("?")).collect();
        if values.is_empty() {
            return Ok(Self(None));
        }
        let asked = IfMatch::parse(&values.join(","));
        Ok(Self(Some(asked.map_err(|invalid| Failure::Refused(invalid.into()))?)))
    }
}

/// The same answer with the tag of what it shows.
pub(super) fn tagged(mut response: Response, tag: &ETag) -> Response {
    let tag = HeaderValue::from_str(&tag.to_string()).expect("a tag is hex digits in quotes");
    response.headers_mut().insert(ETAG, tag);
    response
}

impl IntoParams for Condition {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let text = ObjectBuilder::new().schema_type(Type::String);
        let parameter = ParameterBuilder::new()
            .name("If-Match")
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some("The ETag of a GET: change it only if nobody else has since"))
            .schema(Some(text.examples(["\"0123456789abcdef0123\""]).build()));
        vec![parameter.build()]
    }
}
