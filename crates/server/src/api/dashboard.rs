//! `/`, `/docs` and `/assets/…`: the dashboard and the API reference, packed into the binary by
//! `build.rs`.
//!
//! Their files are open to everybody: they hold nothing but programs, which ask for a token where the
//! server has some. Everything but the pages themselves lies under a path that changes with its content,
//! so a browser need never ask for it again.

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;

use super::encoding::AcceptsGzip;
use super::{App, no_route};

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// A file that is sent as it is.
struct Asset {
    name: &'static str,
    kind: &'static str,
    plain: &'static [u8],
    gzip: &'static [u8],
}

/// Nothing runs and nothing is loaded that does not come from this server, and no other page may show this
/// one.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The routes of this file. They are for browsers and no part of the API.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(index))
        .route("/docs", get(reference))
        .route("/docs/", get(Redirect::permanent("../docs")))
        .route("/assets/{version}/{*name}", get(asset))
}

async fn index(headers: HeaderMap) -> Response {
    send(&INDEX, &headers, "no-cache")
}

async fn reference(headers: HeaderMap) -> Response {
    send(&REFERENCE, &headers, "no-cache")
}

async fn asset(
    Path((version, name)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    match FILES.iter().find(|file| version == VERSION && file.name == name) {
        Some(file) => send(file, &headers, "public, max-age=31536000, immutable"),
        None => no_route(uri).await.into_response(),
    }
}

fn send(file: &Asset, headers: &HeaderMap, caching: &'static str) -> Response {
    let tag = format!("\"{VERSION}\"");
    let fixed = [
        (CONTENT_TYPE, file.kind),
        (CACHE_CONTROL, caching),
        (VARY, "accept-encoding"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    let listed = |name| {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|value| value.split(',')).map(str::trim)
    };
    let is_known = listed(IF_NONE_MATCH).any(|known| known == "*" || known.ends_with(&tag));
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else if AcceptsGzip::of(headers).is_accepted() {
        ([(CONTENT_ENCODING, "gzip")], file.gzip).into_response()
    } else {
        file.plain.into_response()
    };
    let sent = response.headers_mut();
    for (name, value) in fixed {
        // The body has brought a type of its own, which goes.
        sent.insert(name, HeaderValue::from_static(value));
    }
    sent.insert(ETAG, HeaderValue::from_str(&tag).expect("hex digits in quotes"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dashboard_is_under_150_kb_over_the_wire() {
        let files = FILES.iter().filter(|file| !file.name.starts_with("reference/"));
        let size: usize = files.chain([&INDEX]).map(|file| file.gzip.len()).sum();
        assert!(size < 150_000, "{size} bytes");
    }

    #[test]
    fn pages_name_no_file_that_is_not_there_and_hold_no_script_or_style() {
        for (page, files, scripts) in [(INDEX, 20, 1), (REFERENCE, 4, 2)] {
            let page = std::str::from_utf8(page.plain).unwrap();
            let named: Vec<&str> =
                page.split('"').filter(|text| text.contains("assets/")).collect();
            assert!(named.len() >= files, "{named:?}");
            for path in named {
                let name = path.strip_prefix(&format!("assets/{VERSION}/")).unwrap();
                assert!(FILES.iter().any(|file| file.name == name), "{path}");
            }
            let foreign = ["http:", "https:", "\"//", "<style", "style=", "onload"];
            assert!(!foreign.iter().any(|foreign| page.contains(foreign)), "{page}");
            assert_eq!(page.matches("<script").count(), scripts);
            assert_eq!(page.matches("\"></script>").count(), scripts, "none has a body");
        }
    }
}
