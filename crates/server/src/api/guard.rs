//! What every request must pass: it comes for this server, not from a foreign web page, and from
//! somebody who may make it.
//!
//! A page in somebody's browser can send requests to a server on the same machine, by its address or
//! by a name it makes point there. It cannot choose the `Host` and `Origin` the browser sends.

use std::borrow::Cow;
use std::convert::Infallible;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, Method, Request, Uri, Version};
use axum::response::{IntoResponse, Response};
use futures_util::{FutureExt, StreamExt};

use super::json::shortened;
use super::rights::{self, Needs};
use super::{App, Problem};
use crate::access::{self, Access, Bearer, Claim, Line, Seat, Tokens};
use crate::audit::Deed;
use crate::code::Code;

/// Says of a request that a browser sends from which page it comes.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses foreign requests and those that are not allowed, has the others answered, and turns a
/// panic into an answer.
pub(super) async fn guard<B, F>(
    app: &App,
    (peer, line): (Option<SocketAddr>, &Line),
    mut request: Request<B>,
    answer: impl FnOnce(Request<B>) -> F,
) -> Response
where
    F: Future<Output = Result<Response, Infallible>> + Send + 'static,
{
    let deed = Deed::of(request.method(), request.uri().path());
    let needs = rights::needs(request.method(), request.uri().path());
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let claim = bearer(request.headers()).filter(|_| needs != Needs::Nothing).map(Claim::of);
    let (is_open, access) = match standing(&app.engine.tokens, needs, reads, claim).await {
        Ok(standing) => standing,
        Err(problem) => return problem.into_response(),
    };
    // Whoever has a token is not a page that was led here.
    let hosts = is_open.then_some(&app.hosts[..]);
    let checked =
        check(hosts, request.method(), request.version(), request.uri(), request.headers());
    let asks = !is_open && needs != Needs::Nothing;
    let admitted = checked.and_then(|()| match &access {
        Some(access) => admit(&app.engine.tokens, line, access, needs, request.uri()),
        None if asks => {
            let detail = "send a token of this server as Authorization: Bearer";
            Err(Problem::new(Code::Unauthorized, detail))
        }
        None => Ok(()),
    });
    let bearer = access.as_ref().and_then(|access| access.bearer().cloned());
    if let Err(problem) = admitted {
        let status = problem.code.status();
        let refused = || Deed::refused(request.method(), request.uri().path());
        let deed = if status == 401 { Some(refused()) } else { deed };
        if let Some(deed) = deed {
            let who = access.map_or_else(|| "unknown".to_owned(), |access| access.name());
            app.audit.note(deed, who, peer, status).await;
        }
        return finish(app, problem.into_response(), bearer);
    }
    let who = access.as_ref().filter(|_| deed.is_some()).map(Access::name);
    // One that waits must hear that its token is good no more.
    let waiting = bearer.clone().filter(|bearer| {
        bearer.name.is_some() && rights::may_wait(request.method(), request.uri().path())
    });
    if let Some(access) = access {
        request.extensions_mut().insert(access);
    }
    let answer = access::answering(bearer.clone(), answer(request));
    let answering = AssertUnwindSafe(answer).catch_unwind();
    let Some(deed) = deed else {
        let response = match waiting {
            None => answered(answering.await),
            Some(waiting) => tokio::select! {
                biased;
                answer = answering => answered(answer),
                () = app.engine.tokens.ended(&waiting) => {
                    let detail = "the token was revoked or has expired";
                    Problem::new(Code::Unauthorized, detail).into_response()
                }
            },
        };
        return finish(app, response, bearer);
    };
    // What is noted is carried out to its end, also if whoever asked for it is gone by then.
    let response = match tokio::spawn(answering).await {
        Ok(answer) => answered(answer),
        Err(_) => failed(),
    };
    let who = who.unwrap_or_else(|| "open".to_owned());
    app.audit.note(deed, who, peer, response.status().as_u16()).await;
    finish(app, response, bearer)
}

/// Whether the server is open to everybody, and else what the bearer of a token may do, if it is one of
/// the server's. Reading goes on with what was known if the store is away: it is of no use without it.
async fn standing(
    tokens: &Tokens,
    needs: Needs,
    reads: bool,
    claim: Option<Claim>,
) -> Result<(bool, Option<Access>), Problem> {
    if needs == Needs::Nothing {
        return Ok((tokens.may_be_open(), None));
    }
    let is_open = match tokens.is_open().await {
        Err(_) if reads && tokens.was_open() => true,
        is_open => is_open?,
    };
    if is_open {
        return Ok((true, None));
    }
    let Some(claim) = claim else { return Ok((false, None)) };
    Ok((false, tokens.find(claim).await?))
}

/// Refuses a token that is over its limits or lacks the right.
fn admit(
    tokens: &Tokens,
    line: &Line,
    access: &Access,
    needs: Needs,
    uri: &Uri,
) -> Result<(), Problem> {
    let Some(bearer) = access.bearer() else { return Ok(()) };
    tokens.note_use(bearer);
    if !line.carries(bearer) {
        return Err(limited("connections: the token has its limit of connections; close one"));
    }
    if let Some(rate) = bearer.limits.requests
        && let Err(wait) = bearer.meter.admit(rate, Instant::now())
    {
        let detail = "requests: the token makes more requests than its limit";
        return Err(limited(detail).after(wait.as_secs() + 1));
    }
    rights::check(access, needs, uri)?;
    Ok(())
}

fn limited(detail: &'static str) -> Problem {
    Problem::new(Code::Limited, detail)
}

/// Counts what a token was refused, and ends its streams with it.
fn finish(app: &App, response: Response, bearer: Option<Arc<Bearer>>) -> Response {
    let Some(bearer) = bearer else { return response };
    let tokens = app.engine.tokens.clone();
    let code = response.extensions().get::<Code>();
    if matches!(code, Some(Code::Forbidden | Code::Limited)) {
        tokens.note_refusal(&bearer);
    }
    let kind = response.headers().get(CONTENT_TYPE);
    if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        return response;
    }
    let Some(seat) = Seat::stream(&bearer) else {
        tokens.note_refusal(&bearer);
        return limited("streams: the token has its limit of open streams").into_response();
    };
    let (parts, body) = response.into_parts();
    let over = async move {
        // Kept as long as the stream.
        let _seat = seat;
        tokens.ended(&bearer).await;
    };
    let stream = body.into_data_stream().take_until(over);
    Response::from_parts(parts, Body::from_stream(stream))
}

/// The answer, or that there is none because of a panic. The engine shares nothing that a panic could
/// leave half changed behind a lock.
fn answered(answer: std::thread::Result<Result<Response, Infallible>>) -> Response {
    match answer {
        Ok(Ok(response)) => response,
        Err(_) => failed(),
    }
}

fn failed() -> Response {
    Problem::new(Code::Internal, "the server failed; its log says how").into_response()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// `hosts` are the names the server may be called by besides its address; none: by any.
fn check(
    hosts: Option<&[String]>,
    method: &Method,
    version: Version,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Problem> {
    let called = uri.authority().map(|authority| authority.as_str());
    let header = || headers.get_all(HOST).iter().map(|host| host.to_str().unwrap_or("?"));
    let names = || called.into_iter().chain(header());
    let hosts = hosts.filter(|_| !matches!(uri.path(), "/livez" | "/readyz"));
    let is_foreign = |name: &&str| {
        let host = host_of(name);
        hosts.is_some_and(|hosts| !host.is_some_and(|host| is_ours(host, hosts)))
    };
    if let Some(foreign) = names().find(is_foreign) {
        let foreign = shortened(foreign.to_owned());
        return Err(forbidden(format!(
            "Host: {foreign} is not this server; call it by its address, or add the name to hosts"
        )));
    }
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(());
    }
    check_form(version, called, headers)?;
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or("?");
    if names().any(|name| is_same(origin, name)) {
        return Ok(());
    }
    let origin = shortened(origin.to_owned());
    Err(forbidden(format!(
        "Origin: {origin} is another site; only this server's own pages may do this"
    )))
}

fn forbidden(detail: impl Into<Cow<'static, str>>) -> Problem {
    Problem::new(Code::Forbidden, detail)
}

/// Refuses a change whose headers say two things, or nothing, about where it comes from and goes to:
/// another program on the way may have understood them differently.
fn check_form(version: Version, called: Option<&str>, headers: &HeaderMap) -> Result<(), Problem> {
    if headers.get_all(SEC_FETCH_SITE).iter().any(|site| site == "cross-site") {
        return Err(forbidden("Sec-Fetch-Site: a page of another site may not do this"));
    }
    if headers.get_all(ORIGIN).iter().count() > 1 {
        return Err(forbidden("Origin: send it once, or not at all"));
    }
    let mut hosts = headers.get_all(HOST).iter().map(|host| host.to_str().unwrap_or("?"));
    let host = hosts.next();
    if hosts.next().is_some() {
        return Err(forbidden("Host: send it once"));
    }
    if host.is_none() && version == Version::HTTP_11 {
        return Err(forbidden("Host: HTTP/1.1 requires it"));
    }
    if called.into_iter().chain(host).any(|name| host_of(name).is_none()) {
        return Err(forbidden("Host: a name or an address, and perhaps a port"));
    }
    Ok(())
}

/// The host of an authority that is a name or an address with an optional port, and nothing else.
fn host_of(authority: &str) -> Option<&str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            host.parse::<Ipv6Addr>().ok()?;
            (host, port)
        }
        None => {
            let end = authority.find(':').unwrap_or(authority.len());
            let (host, port) = authority.split_at(end);
            let is_named = |b: u8| b.is_ascii_alphanumeric() || b"-._".contains(&b);
            if host.is_empty() || !host.bytes().all(is_named) {
                return None;
            }
            (host, port)
        }
    };
    let is_port = |port: &str| {
        port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0)
    };
    (port.is_empty() || port.strip_prefix(':').is_some_and(is_port)).then_some(host)
}

fn is_ours(host: &str, hosts: &[String]) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<Ipv4Addr>().is_ok()
        || host.parse::<Ipv6Addr>().is_ok()
        || hosts.iter().any(|name| name.eq_ignore_ascii_case(host))
}

/// Whether an origin is the page of the same host and port.
fn is_same(origin: &str, authority: &str) -> bool {
    let (site, port) = match origin.split_once("://") {
        Some(("http", site)) => (site, ":80"),
        Some(("https", site)) => (site, ":443"),
        _ => return false,
    };
    let bare = |text: &str| text.strip_suffix(port).unwrap_or(text).to_ascii_lowercase();
    bare(site) == bare(authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(method: Method, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        let hosts = ["Queue.example".to_owned()];
        let uri = Uri::from_static("/v1/queues");
        check(Some(&hosts), &method, Version::HTTP_11, &uri, &headers).is_ok()
    }

    #[test]
    fn only_addresses_localhost_and_named_hosts_are_ours() {
        for host in [
            "127.0.0.1:23334",
            "127.0.0.1",
            "[::1]:23334",
            "[::1]",
            "localhost",
            "LOCALHOST:1",
            "queue.example",
            "queue.example:80",
            "10.1.2.3",
        ] {
            assert!(verdict(Method::GET, host, None), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "evil.example:23334",
            "",
            "127.1",
            "0x7f.1",
            "[::1]evil.example",
            "[::1",
            "localhost:",
            "localhost:x",
            "localhost:99999",
            "user@localhost",
            "localhost/",
            "localhost,evil.example",
        ] {
            assert!(!verdict(Method::GET, host, None), "{host}");
        }
    }

    #[test]
    fn changes_are_taken_from_our_own_pages_only() {
        let host = "127.0.0.1:23334";
        for (origin, ours) in [
            ("http://127.0.0.1:23334", true),
            ("https://127.0.0.1:23334", true),
            ("http://127.0.0.1", false),
            ("http://localhost:23334", false),
            ("http://evil.example", false),
            ("null", false),
            ("http://127.0.0.1:23334.evil.example", false),
        ] {
            assert_eq!(verdict(Method::POST, host, Some(origin)), ours, "{origin}");
            assert!(verdict(Method::GET, host, Some(origin)), "{origin}");
        }
        assert!(verdict(Method::PUT, "localhost", Some("http://localhost:80")));
        assert!(verdict(Method::PUT, "localhost:443", Some("https://localhost")));
    }

    #[test]
    fn changes_say_once_where_they_come_from_and_go_to() {
        let verdict = |version: Version, sent: &[(HeaderName, &str)], uri: &'static str| {
            let mut headers = HeaderMap::new();
            for (name, value) in sent {
                headers.append(name, value.parse().unwrap());
            }
            let uri = Uri::from_static(uri);
            let is_ok = |method| check(None, &method, version, &uri, &headers).is_ok();
            assert!(is_ok(Method::GET), "{sent:?}");
            is_ok(Method::POST)
        };
        let (path, host) = ("/v1/queues/q/tasks", (HOST, "any.example:80"));
        assert!(verdict(Version::HTTP_11, std::slice::from_ref(&host), path));
        assert!(verdict(Version::HTTP_10, &[], path));
        assert!(verdict(Version::HTTP_2, &[], "http://any.example/v1/queues/q/tasks"));
        for (site, ours) in [("same-origin", true), ("none", true), ("cross-site", false)] {
            assert_eq!(
                verdict(Version::HTTP_11, &[host.clone(), (SEC_FETCH_SITE, site)], path),
                ours
            );
        }
        let origin = (ORIGIN, "http://any.example");
        for refused in [
            vec![],
            vec![host.clone(), host.clone()],
            vec![host.clone(), origin.clone(), origin],
            vec![(HOST, "a b")],
            vec![(HOST, "user@any.example")],
        ] {
            assert!(!verdict(Version::HTTP_11, &refused, path), "{refused:?}");
        }
        assert!(!verdict(Version::HTTP_2, &[], "http://user@any.example/v1/queues/q/tasks"));
    }
}
