//! Sends requests and reads answers, over one pool of kept-alive connections.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as Pool;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rustls::ClientConfig;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::connect::{Connector, connector, trust, trust_nobody, trust_one};
use crate::error::{Error, Problem};

/// The request timeout: long enough for a busy disk, short enough to notice a server that hangs.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// Characters that need no escaping in a path segment or a query value.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A connection to one Punctual server. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Client {
    pool: Pool<Connector, Full<Bytes>>,
    /// Trusted certificates, if connections use TLS.
    tls: ClientConfig,
    url: Arc<str>,
    authorization: Option<HeaderValue>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("url", &self.url).finish_non_exhaustive()
    }
}

/// One request.
pub(crate) struct Call {
    method: Method,
    path: String,
    body: Bytes,
    idempotency_key: Option<String>,
    header: Option<(&'static str, HeaderValue)>,
    /// The time the request itself waits at the server, added to the timeout.
    wait: Duration,
}

impl Call {
    pub(crate) fn new(method: Method, path: String) -> Self {
        let (body, wait) = (Bytes::new(), Duration::ZERO);
        Self { method, path, body, idempotency_key: None, header: None, wait }
    }

    pub(crate) fn get(path: String) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn post(path: String) -> Self {
        Self::new(Method::POST, path)
    }

    pub(crate) fn body(mut self, body: &impl Serialize) -> Self {
        let json = serde_json::to_vec(body).expect("requests have string keys only");
        self.body = json.into();
        self
    }

    pub(crate) fn idempotency_key(mut self, key: Option<&str>) -> Self {
        self.idempotency_key = key.map(str::to_owned);
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: HeaderValue) -> Self {
        self.header = Some((name, value));
        self
    }

    pub(crate) fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }
}

/// The answer of the server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Joins `{base}/{segment}/{segment}…`, with every segment escaped.
pub(crate) fn path(base: &str, segments: &[&str]) -> String {
    segments.iter().fold(base.to_owned(), |path, segment| {
        format!("{path}/{}", utf8_percent_encode(segment, PLAIN))
    })
}

/// Builds a query string with its `?` from the values that are set; empty if none is.
pub(crate) fn query(values: &[(&str, Option<String>)]) -> String {
    values
        .iter()
        .filter_map(|(name, value)| Some((name, value.as_ref()?)))
        .enumerate()
        .map(|(index, (name, value))| {
            let mark = if index == 0 { '?' } else { '&' };
            format!("{mark}{name}={}", utf8_percent_encode(value, PLAIN))
        })
        .collect()
}

impl Client {
    /// Makes a client for the server at `url`, for example `http://127.0.0.1:23334`, with an access token if
    /// the server needs one. The first request connects. The certificate of an `https://` server must be
    /// trusted by the Mozilla roots or by [`Client::trusting`].
    ///
    /// ```
    /// use punctual_client::Client;
    ///
    /// let client = Client::new("http://127.0.0.1:23334", None)?;
    /// assert_eq!(client.url(), "http://127.0.0.1:23334");
    /// assert!(Client::new("https://queue.example:23334", None).is_ok());
    /// # Ok::<(), punctual_client::Error>(())
    /// ```
    pub fn new(url: impl Into<String>, token: Option<String>) -> Result<Self, Error> {
        let url = checked_url(url.into())?;
        let authorization = token
            .map(|token| {
                let mut value = HeaderValue::try_from(format!("Bearer {token}"))
                    .map_err(|_| Error::Header { field: "token" })?;
                value.set_sensitive(true);
                Ok::<_, Error>(value)
            })
            .transpose()?;
        let tls = if url.starts_with("https:") { trust(&[]) } else { trust_nobody() }?;
        Ok(Self { pool: pool(tls.clone()), tls, url: url.into(), authorization })
    }

    /// Makes a client for the server that `PUNCTUAL_URL` names, with the access token in `PUNCTUAL_TOKEN`. Without
    /// them, it is the server at `http://127.0.0.1:23334`, and no token.
    pub fn from_env() -> Result<Self, Error> {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let url = set("PUNCTUAL_URL").unwrap_or("http://127.0.0.1:23334".to_owned());
        Self::new(url, set("PUNCTUAL_TOKEN"))
    }

    /// Returns the same client, which also trusts the certificates of a PEM text.
    pub fn trusting(self, pem: &[u8]) -> Result<Self, Error> {
        let tls = trust(pem)?;
        Ok(Self { pool: pool(tls.clone()), tls, ..self })
    }

    /// Returns the same client, which also trusts the first certificate of a PEM text, with any issuer and any
    /// name. Use it with the server's own certificate file.
    pub fn trusting_one(self, pem: &[u8]) -> Result<Self, Error> {
        let tls = trust_one(pem)?;
        Ok(Self { pool: pool(tls.clone()), tls, ..self })
    }

    /// Returns the same client with its own connections. Its requests do not wait for tasks of the runtime
    /// in which the other connections were opened.
    pub(crate) fn apart(&self) -> Self {
        Self { pool: pool(self.tls.clone()), ..self.clone() }
    }

    /// The server's address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sends a request and reads the answer as JSON.
    pub(crate) async fn send<T: DeserializeOwned>(&self, call: Call) -> Result<T, Error> {
        let answer = self.send_unread(call).await?;
        self.read(&answer)
    }

    /// Reads an answer as JSON.
    pub(crate) fn read<T: DeserializeOwned>(&self, answer: &Answer) -> Result<T, Error> {
        serde_json::from_slice(&answer.body)
            .map_err(|error| self.unreadable(answer.status, error.to_string()))
    }

    /// Sends a request and ignores the body of a successful answer.
    pub(crate) async fn send_unread(&self, call: Call) -> Result<Answer, Error> {
        let patience = ANSWER_WITHIN + call.wait;
        let request = self.request(call)?;
        let answer = tokio::time::timeout(patience, self.exchange(request))
            .await
            .map_err(|_| self.no_answer(format!("none within {} s", patience.as_secs())))??;
        if answer.status.is_success() { Ok(answer) } else { Err(self.refused(&answer)) }
    }

    /// Sends a request whose answer is a stream.
    pub(crate) async fn stream(&self, call: Call) -> Result<Incoming, Error> {
        let patience = ANSWER_WITHIN + call.wait;
        let request = self.request(call)?;
        let response = tokio::time::timeout(patience, self.begin(request))
            .await
            .map_err(|_| self.no_answer(format!("none within {} s", patience.as_secs())))??;
        if response.status().is_success() {
            return Ok(response.into_body());
        }
        Err(self.refused(&self.finish(response).await?))
    }

    /// Reads the error of a request that the server refused.
    fn refused(&self, answer: &Answer) -> Error {
        let Ok(mut problem) = serde_json::from_slice::<Problem>(&answer.body) else {
            return self.unreadable(answer.status, "no problem document".to_owned());
        };
        let retry_after = answer.headers.get(RETRY_AFTER);
        problem.retry_after_secs = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
        problem.into()
    }

    fn request(&self, call: Call) -> Result<Request<Full<Bytes>>, Error> {
        let uri: Uri = format!("{}{}", self.url, call.path).parse().map_err(
            |error: http::uri::InvalidUri| Error::Address {
                url: self.url.to_string(),
                reason: error.to_string(),
            },
        )?;
        let mut request = Request::new(Full::new(call.body));
        *request.method_mut() = call.method;
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        if let Some(key) = call.idempotency_key {
            let key = HeaderValue::try_from(key)
                .map_err(|_| Error::Header { field: "idempotency key" })?;
            headers.insert("idempotency-key", key);
        }
        if let Some((name, value)) = call.header {
            headers.insert(name, value);
        }
        Ok(request)
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Answer, Error> {
        let response = self.begin(request).await?;
        self.finish(response).await
    }

    async fn begin(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Error> {
        self.pool.request(request).await.map_err(|error| {
            if let Some(reason) = untrusted(&error) {
                Error::Untrusted { url: self.url.to_string(), reason }
            } else if error.is_connect() {
                let (url, reason) = (self.url.to_string(), innermost(&error));
                Error::Unreachable { url, reason, source: error.into() }
            } else {
                self.no_answer(innermost(&error))
            }
        })
    }

    async fn finish(&self, response: Response<Incoming>) -> Result<Answer, Error> {
        let (head, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| self.no_answer(innermost(&error)))?;
        Ok(Answer { status: head.status, headers: head.headers, body: body.to_bytes() })
    }

    /// Returns the error for an answer that broke off.
    pub(crate) fn broken_off(&self, error: &dyn std::error::Error) -> Error {
        self.no_answer(innermost(error))
    }

    fn no_answer(&self, reason: String) -> Error {
        Error::NoAnswer { url: self.url.to_string(), reason }
    }

    fn unreadable(&self, status: StatusCode, reason: String) -> Error {
        Error::Unreadable { url: self.url.to_string(), status: status.as_u16(), reason }
    }
}

fn pool(tls: ClientConfig) -> Pool<Connector, Full<Bytes>> {
    Pool::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector(tls))
}

/// Returns the TLS problem behind an error, if there is one.
fn untrusted(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(tls) = error.downcast_ref::<rustls::Error>() {
            return Some(tls.to_string());
        }
        // An I/O error hides its inner error from `source`.
        cause = match error.downcast_ref::<std::io::Error>() {
            Some(error) => error.get_ref().map(|inner| inner as _),
            None => error.source(),
        };
    }
    None
}

/// Returns the URL without a final slash, if it is valid.
fn checked_url(url: String) -> Result<String, Error> {
    let refuse = |reason: &str| Error::Address { url: url.clone(), reason: reason.to_owned() };
    let uri: Uri =
        url.parse().map_err(|error: http::uri::InvalidUri| refuse(&error.to_string()))?;
    match uri.scheme_str() {
        Some("http" | "https") => {}
        _ => return Err(refuse("it must look like http://127.0.0.1:23334")),
    }
    if uri.query().is_some()
        || url.contains('#')
        || uri.authority().is_some_and(|a| a.as_str().contains('@'))
    {
        return Err(refuse("it must have no user, query or fragment"));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

/// Returns the innermost cause of an error, which has the most information.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;

    #[test]
    fn paths_and_queries_are_escaped() {
        assert_eq!(
            path("/v1/queues", &["a b", "../é", "x~-._"]),
            "/v1/queues/a%20b/..%2F%C3%A9/x~-._"
        );
        let values = [("a", None), ("b", Some("x&y".to_owned())), ("c", Some(String::new()))];
        assert_eq!(query(&values), "?b=x%26y&c=");
        assert_eq!(query(&[("a", None)]), "");
    }

    #[test]
    fn addresses_are_checked_before_anything_is_sent() {
        for good in ["http://127.0.0.1:1", "http://[::1]:1/", "http://host/prefix/", "https://x"] {
            assert!(Client::new(good, None).is_ok(), "{good}");
        }
        for bad in
            ["", "127.0.0.1:1", "https://", "ftp://x", "http://", "http://u@x", "http://x/?a=1"]
        {
            let error = Client::new(bad, None).unwrap_err();
            assert!(matches!(error, Error::Address { .. }), "{bad}: {error}");
        }
        let error = Client::new("http://x", Some("a\nb".to_owned())).unwrap_err();
        assert_eq!(error.to_string(), "token: only visible ASCII characters");
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_told_apart_from_one_that_hangs_up() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let client = Client::new(url.as_str(), None).unwrap();

        let hang_up = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            stream.readable().await.unwrap();
        });
        let error = client.send_unread(Call::get("/livez".to_owned())).await.unwrap_err();
        assert!(matches!(error, Error::NoAnswer { .. }), "{error}");
        assert_eq!(error.effect(), Effect::Unknown);
        hang_up.await.unwrap();

        let error = client.send_unread(Call::get("/livez".to_owned())).await.unwrap_err();
        let expected = format!("cannot reach {url}: Connection refused (os error 111)");
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.effect(), Effect::None);
    }
}
