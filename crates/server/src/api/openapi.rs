//! `/openapi.json`: made from the attributes the routes are made from.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use bytes::Bytes;
use serde_json::Value;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, Ref, RefOr, Required, Response, Schema};
use utoipa::{IntoResponses, Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::problem::ProblemView;
use super::{
    App, access, backup, batch, bulk, bundles, control, dev, events, failures, flows, health,
    hosts, locks, merge, metrics, notices, plans, push, queues, settle, stats, system, take, tasks,
    tokens, workers,
};
use crate::code::Code;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Punctual",
        description = "A durable task queue over HTTP. Bodies are JSON whatever Content-Type says; \
            an empty body is {}; unknown fields are refused by name. Errors are \
            application/problem+json with a stable code."
    ),
    components(schemas(ProblemView)),
    // A server without tokens asks for none.
    security((), ("token" = [])),
    modifiers(&Bearer),
    tags(
        (name = "queues", description = "Queues and their settings"),
        (name = "tasks", description = "Pushing, reading and controlling tasks"),
        (name = "holders", description = "Taking tasks and settling them"),
        (name = "bundles", description = "Payloads that fall due together"),
        (name = "notices", description = "Calling a URL until it says that it has understood"),
        (name = "plans", description = "Work that a calendar makes due"),
        (name = "flows", description = "Steps that become tasks when the steps before them are done"),
        (name = "workers", description = "Workers that are given tasks"),
        (name = "operations", description = "The server itself")
    )
)]
struct Document;

/// Says how a token is sent.
struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("One of the server's tokens; a server on loopback may have none"))
            .build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// All routes, and with them their description.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(Document::openapi())
        .merge(queues::routes())
        .merge(push::routes())
        .merge(tasks::routes())
        .merge(take::routes())
        .merge(settle::routes())
        .merge(batch::routes())
        .merge(control::routes())
        .merge(bulk::routes())
        .merge(bundles::routes())
        .merge(locks::routes())
        .merge(merge::routes())
        .merge(notices::routes())
        .merge(plans::routes())
        .merge(flows::routes())
        .merge(workers::routes())
        .merge(dev::routes())
        .merge(backup::routes())
        .merge(events::routes())
        .merge(stats::routes())
        .merge(metrics::routes())
        .merge(access::routes())
        .merge(tokens::routes())
        .merge(system::routes())
        .merge(hosts::routes())
        .merge(failures::routes())
        .merge(health::routes())
        .routes(routes!(openapi))
}

/// The paths of all routes, as templates.
pub(super) fn templates() -> Vec<String> {
    let (_, document) = routes().split_for_parts();
    document.paths.paths.into_keys().collect()
}

/// This document.
#[utoipa::path(get, path = "/openapi.json", tag = "operations", security(()),
    responses((status = 200, description = "An OpenAPI 3.1 document", body = Object),
        Foreign))]
async fn openapi() -> impl IntoResponse {
    // Made when first asked for: most servers never are.
    static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| {
        let (_, mut document) = routes().split_for_parts();
        relax(&mut document);
        let mut document = serde_json::to_value(&document).expect("it has string keys only");
        allow_empty(&mut document);
        document.to_string().into()
    });
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], DOCUMENT.clone())
}

/// Marks bodies as optional whose every field is: an empty body is `{}`.
fn relax(document: &mut utoipa::openapi::OpenApi) {
    let schemas = document.components.as_ref().map(|components| &components.schemas);
    let needs_fields = |name: &str| match schemas.and_then(|schemas| schemas.get(name)) {
        Some(RefOr::T(Schema::Object(object))) => !object.required.is_empty(),
        _ => false,
    };
    for item in document.paths.paths.values_mut() {
        let operations = [&mut item.put, &mut item.post, &mut item.patch];
        for operation in operations.into_iter().flatten() {
            let Some(RefOr::T(body)) = &mut operation.request_body else { continue };
            let named = body.content.values().find_map(|content| match content {
                RefOr::T(Content { schema: Some(RefOr::Ref(reference)), .. }) => {
                    reference.ref_location.rsplit('/').next()
                }
                _ => None,
            });
            if !named.is_some_and(needs_fields) {
                body.required = Some(Required::False);
            }
        }
    }
}

/// Says that a text in the query of a list may be empty, which counts as left out.
fn allow_empty(document: &mut Value) {
    let paths = document["paths"].as_object_mut().into_iter().flat_map(|paths| paths.values_mut());
    let lists = paths.filter_map(|item| item.pointer_mut("/get/parameters")?.as_array_mut());
    for parameter in lists.flatten() {
        let is_number = parameter["schema"]["type"].to_string().contains("integer");
        if parameter["in"] == "query" && !is_number {
            parameter["allowEmptyValue"] = true.into();
        }
    }
}

/// What may go wrong with requests that read.
pub(super) struct Reads;

/// What may go wrong with requests that change something.
pub(super) struct Changes;

/// What may go wrong with changes that may be conditional.
pub(super) struct Conditional;

/// What may go wrong with pushes.
pub(super) struct Pushes;

/// What may go wrong with requests that need nothing.
pub(super) struct Foreign;

/// What may be wrong with the server itself.
pub(super) struct Unready;

const READS: &[Code] = &[
    Code::Unauthorized,
    Code::Forbidden,
    Code::NotFound,
    Code::Invalid,
    Code::Limited,
    Code::Internal,
    Code::Unavailable,
];
const CHANGES: &[Code] = &[
    Code::BadJson,
    Code::StaleToken,
    Code::WrongState,
    Code::TooLarge,
    Code::Unsupported,
    Code::Timeout,
];
const PUSHES: &[Code] = &[Code::Duplicate, Code::QueueFull];

impl IntoResponses for Reads {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        problems(READS)
    }
}

impl IntoResponses for Changes {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        problems(&[READS, CHANGES].concat())
    }
}

impl IntoResponses for Conditional {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        problems(&[Code::Changed])
    }
}

impl IntoResponses for Pushes {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        problems(&[READS, CHANGES, PUSHES].concat())
    }
}

impl IntoResponses for Foreign {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        problems(&[Code::Forbidden])
    }
}

impl IntoResponses for Unready {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        problems(&[Code::Unavailable])
    }
}

/// One answer per status, which names the codes it may carry.
fn problems(codes: &[Code]) -> BTreeMap<String, RefOr<Response>> {
    let mut meanings: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for code in codes {
        let meaning = format!("`{}`: {}", code.name(), code.title());
        meanings.entry(code.status()).or_default().push(meaning);
    }
    let response = |(status, meanings): (u16, Vec<String>)| {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let response = ResponseBuilder::new()
            .description(meanings.join("; "))
            .content("application/problem+json", content)
            .build();
        (status.to_string(), response.into())
    };
    meanings.into_iter().map(response).collect()
}
