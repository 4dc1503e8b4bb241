//! The request a task becomes.

use super::{Headers, HttpTarget, Method, Secret, Success, TargetUrl};
use crate::json::RawJson;
use crate::notice::Encoded;
use crate::queue::Settings;
use crate::task::Spec;
use crate::time::Span;

const CONTENT_TYPE: &str = "content-type";

/// Neither the task nor its queue names a URL, or it is none any more: a notice whose data was edited
/// may not fit into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoUrl;

/// What a request carries.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// JSON, as it was pushed.
    Json(RawJson),
    /// A text as it is.
    Text(String),
}

/// A request to be sent.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// Where it goes.
    pub url: TargetUrl,
    /// Its method.
    pub method: Method,
    /// Headers of the task.
    pub headers: Headers,
    /// Headers of the queue, for the queue's own origin only. Those of the task come before them.
    pub origin_headers: Headers,
    /// What signs it, for the queue's own origin only.
    pub secrets: Vec<Secret>,
    /// Its body.
    pub content: Option<Content>,
    /// The type of its body, where no header says so.
    pub content_type: Option<String>,
    /// The time all of it may take.
    pub timeout: Span,
    /// What counts as success.
    pub success: Success,
    /// Whether redirects are followed.
    pub follow_redirects: bool,
}

impl Content {
    /// Its type, where nothing else is said.
    fn kind(&self) -> &'static str {
        match self {
            Self::Json(_) => "application/json",
            Self::Text(_) => "text/plain; charset=utf-8",
        }
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Json(json) => json.as_str().as_bytes(),
            Self::Text(text) => text.as_bytes(),
        }
    }
}

impl AsRef<[u8]> for Content {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Outgoing {
    /// The request that delivers a task of a queue, whose [`Settings::target`] is read once for many.
    pub fn new(spec: &Spec, queue: &Settings, of_queue: Option<&TargetUrl>) -> Result<Self, NoUrl> {
        let none = HttpTarget::default();
        let target = spec.http.as_deref().unwrap_or(&none);
        let (url, is_queues_origin) = match &target.url {
            Some(url) => {
                let url = TargetUrl::parse("url", url).map_err(|_| NoUrl)?;
                let is_queues_origin = of_queue.is_some_and(|other| url.is_same_origin(other));
                (url, is_queues_origin)
            }
            None => (of_queue.ok_or(NoUrl)?.clone(), true),
        };
        let method = target.method.unwrap_or_default();
        let (url, content, kind) = match &spec.notice {
            Some(notice) => match notice.content_type.encode(method, &spec.payload) {
                Ok(Encoded::Query(query)) => (url.with_query(&query).ok_or(NoUrl)?, None, None),
                Ok(Encoded::Body(content, kind)) => (url, Some(content), Some(kind)),
                Err(_) => return Err(NoUrl),
            },
            None => {
                let content = content(target, &spec.payload, method);
                let kind = content.as_ref().map(Content::kind);
                (url, content, kind)
            }
        };
        let mut headers = target.headers.clone();
        let mut origin_headers =
            if is_queues_origin { queue.headers.clone() } else { Headers::default() };
        if target.content_type.is_some() {
            headers.remove(CONTENT_TYPE);
            origin_headers.remove(CONTENT_TYPE);
        }
        let is_typed =
            headers.get(CONTENT_TYPE).is_some() || origin_headers.get(CONTENT_TYPE).is_some();
        let kind = kind.filter(|_| !is_typed).map(str::to_owned);
        let content_type = target.content_type.clone().or(kind);
        let parse = |secret: &String| Secret::parse(secret).ok();
        Ok(Self {
            url,
            method,
            headers,
            origin_headers,
            secrets: queue.secret.iter().filter(|_| is_queues_origin).filter_map(parse).collect(),
            content,
            content_type,
            timeout: target.timeout.unwrap_or(queue.timeout),
            success: target.success.clone().unwrap_or_default(),
            follow_redirects: target.follow_redirects,
        })
    }

    /// The same request with another body, whatever its method.
    #[must_use]
    pub fn carrying(mut self, json: RawJson) -> Self {
        let is_typed = self.all_headers().any(|(name, _)| name.eq_ignore_ascii_case(CONTENT_TYPE));
        if self.content_type.is_none() && !is_typed {
            self.content_type = Some("application/json".to_owned());
        }
        self.content = Some(Content::Json(json));
        self
    }

    /// All headers it is sent with, those of the task instead of the queue's.
    pub fn all_headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let of_queue = self.origin_headers.iter();
        let left = of_queue.filter(|(name, _)| self.headers.get(name).is_none());
        left.chain(self.headers.iter())
    }

    /// Follows a redirect, or says why not. Another origin gets neither a signature nor any header of
    /// the task's or queue's but the content type; an encrypted delivery is never continued in the clear.
    pub fn redirect(&mut self, status: u16, location: &str) -> Result<(), String> {
        let Some(url) = self.url.join(location) else {
            return Err("it redirects to what is no http:// or https:// URL".to_owned());
        };
        if self.url.is_https() && !url.is_https() {
            return Err("it redirects from https to http".to_owned());
        }
        if !self.url.is_same_origin(&url) {
            self.headers.keep_for_strangers();
            self.origin_headers = Headers::default();
            self.secrets.clear();
        }
        // As browsers do: only 307 and 308 keep a method that changes things.
        let becomes_get = match status {
            303 => self.method != Method::Head,
            301 | 302 => self.method == Method::Post,
            _ => false,
        };
        if becomes_get {
            self.method = Method::Get;
            self.content = None;
            self.content_type = None;
            self.headers.remove(CONTENT_TYPE);
            self.origin_headers.remove(CONTENT_TYPE);
        }
        self.url = url;
        Ok(())
    }
}

/// What to send: the body if there is one, else the payload where the method carries one.
fn content(target: &HttpTarget, payload: &RawJson, method: Method) -> Option<Content> {
    match &target.body {
        Some(body) => Some(match serde_json::from_str::<String>(body.as_str()) {
            Ok(text) => Content::Text(text),
            Err(_) => Content::Json(body.clone()),
        }),
        None if matches!(method, Method::Get | Method::Head) => None,
        None => Some(Content::Json(payload.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::{QueueName, TaskId};
    use crate::queue::SettingsPatch;
    use crate::task::NewTask;
    use crate::time::Timestamp;

    fn outgoing(task: &str, queue: &str) -> Result<Outgoing, NoUrl> {
        let name = QueueName::parse("q").unwrap();
        let patch: SettingsPatch = serde_json::from_str(queue).unwrap();
        let settings = patch.apply(&Settings::default(), &name).unwrap();
        let new: NewTask = serde_json::from_str(task).unwrap();
        let id = TaskId::parse("t").unwrap();
        let spec = Spec::new(name, new, id, Timestamp::default());
        Outgoing::new(&spec, &settings, settings.target().as_ref())
    }

    fn sent(outgoing: &Outgoing) -> Vec<(&str, &str)> {
        outgoing.all_headers().collect()
    }

    const QUEUE: &str = r#"{"url":"https://a.example/hook","secret":["s","t"],"timeout":7,
        "headers":{"authorization":"queue","x-queue":"1"}}"#;

    #[test]
    fn a_task_goes_to_its_own_url_or_the_queues() {
        assert_eq!(outgoing("{}", "{}").unwrap_err(), NoUrl);
        assert_eq!(outgoing(r#"{"http":{"method":"PUT"}}"#, "{}").unwrap_err(), NoUrl);
        let out = outgoing(r#"{"payload":[1, 2]}"#, QUEUE).unwrap();
        assert_eq!(out.url.as_str(), "https://a.example/hook");
        assert_eq!((out.method, out.timeout), (Method::Post, Span::from_secs(7)));
        assert_eq!(out.content.unwrap().as_bytes(), b"[1, 2]");
        assert_eq!(out.content_type.as_deref(), Some("application/json"));
        let own = r#"{"http":{"url":"http://b.example/","timeout":"1s"}}"#;
        let out = outgoing(own, QUEUE).unwrap();
        assert_eq!((out.url.host(), out.timeout), ("b.example", Span::from_secs(1)));
    }

    #[test]
    fn headers_and_secrets_of_the_queue_go_to_its_origin_only() {
        for (url, ours) in [
            ("https://a.example/other?x", true),
            ("https://A.example:443/", true),
            ("http://a.example/hook", false),
            ("https://a.example:8443/hook", false),
            ("https://b.example/hook", false),
            ("https://a.example.b.example/", false),
        ] {
            let task = format!(r#"{{"http":{{"url":"{url}","headers":{{"x-own":"2"}}}}}}"#);
            let out = outgoing(&task, QUEUE).unwrap();
            assert_eq!(out.secrets.len(), if ours { 2 } else { 0 }, "{url}");
            assert_eq!(sent(&out).len(), if ours { 3 } else { 1 }, "{url}");
        }
        let own = r#"{"http":{"headers":{"Authorization":"task"}}}"#;
        let out = outgoing(own, QUEUE).unwrap();
        assert_eq!(sent(&out), [("x-queue", "1"), ("authorization", "task")]);
        let unaimed = r#"{"secret":"s","headers":{"x":"1"}}"#;
        let out = outgoing(r#"{"http":{"url":"http://b.example/"}}"#, unaimed).unwrap();
        assert!(out.secrets.is_empty() && sent(&out).is_empty(), "a queue without url sends none");
    }

    #[test]
    fn the_body_may_be_a_text_or_any_json() {
        for (http, bytes, kind) in [
            (r#""body":{"a": 1}"#, Some(r#"{"a": 1}"#), Some("application/json")),
            (r#""body":"a=1\u0026b=2""#, Some("a=1&b=2"), Some("text/plain; charset=utf-8")),
            (
                r#""body":"a=1","content_type":"application/x-www-form-urlencoded""#,
                Some("a=1"),
                Some("application/x-www-form-urlencoded"),
            ),
            (r#""headers":{"Content-Type":"a/b"},"content_type":"c/d""#, Some("7"), Some("c/d")),
            (r#""headers":{"Content-Type":"a/b"}"#, Some("7"), None),
            (r#""method":"GET""#, None, None),
            (r#""method":"GET","body":[]"#, Some("[]"), Some("application/json")),
            (r#""method":"DELETE""#, Some("7"), Some("application/json")),
            (r#""body":null"#, Some("7"), Some("application/json")),
        ] {
            let task = format!(r#"{{"payload":7,"http":{{"url":"http://x/",{http}}}}}"#);
            let out = outgoing(&task, "{}").unwrap();
            let sent = out.content.as_ref().map(|content| content.as_bytes());
            assert_eq!(sent, bytes.map(str::as_bytes), "{http}");
            assert_eq!(out.content_type.as_deref(), kind, "{http}");
        }
    }

    #[test]
    fn what_is_carried_instead_is_json_whatever_the_method() {
        for (http, kind) in [
            (r#""method":"GET""#, Some("application/json")),
            (r#""method":"DELETE""#, Some("application/json")),
            (r#""method":"GET","headers":{"Content-Type":"a/b"}"#, None),
            (r#""content_type":"c/d""#, Some("c/d")),
        ] {
            let task = format!(r#"{{"http":{{"url":"http://x/",{http}}}}}"#);
            let out = outgoing(&task, "{}").unwrap().carrying(RawJson::parse("[1]").unwrap());
            assert_eq!(out.content.unwrap().as_bytes(), b"[1]", "{http}");
            assert_eq!(out.content_type.as_deref(), kind, "{http}");
        }
    }

    #[test]
    fn a_redirect_carries_no_secrets_to_another_origin() {
        let task = r#"{"payload":1,"http":{"headers":{"cookie":"c","content-type":"a/b"}}}"#;
        let start = outgoing(task, QUEUE).unwrap();
        let mut near = start.clone();
        near.redirect(307, "/elsewhere").unwrap();
        assert_eq!(near.url.as_str(), "https://a.example/elsewhere");
        assert_eq!((near.method, near.secrets.len(), sent(&near).len()), (Method::Post, 2, 4));
        let mut far = start.clone();
        far.redirect(308, "https://b.example/").unwrap();
        assert_eq!(sent(&far), [("content-type", "a/b")]);
        assert!(far.secrets.is_empty() && far.content.is_some());
        far.redirect(307, "https://a.example/hook").unwrap();
        assert!(far.secrets.is_empty(), "what was dropped stays dropped");
    }

    #[test]
    fn a_redirect_may_change_the_method_as_browsers_do() {
        for (method, status, after) in [
            ("POST", 301, "GET"),
            ("POST", 302, "GET"),
            ("POST", 303, "GET"),
            ("POST", 307, "POST"),
            ("PUT", 302, "PUT"),
            ("PUT", 303, "GET"),
            ("PUT", 308, "PUT"),
            ("HEAD", 303, "HEAD"),
            ("GET", 302, "GET"),
        ] {
            let http = format!(r#"{{"url":"http://x/","method":"{method}","content_type":"a/b"}}"#);
            let task = format!(r#"{{"payload":1,"http":{http}}}"#);
            let mut out = outgoing(&task, "{}").unwrap();
            out.redirect(status, "y").unwrap();
            assert_eq!(out.method.name(), after, "{method} {status}");
            let is_kept = method == after && !matches!(method, "GET" | "HEAD");
            assert_eq!(out.content.is_some(), is_kept, "{method} {status}");
        }
    }

    #[test]
    fn some_redirects_are_refused() {
        let start = outgoing(r#"{"http":{"url":"https://a.example/"}}"#, "{}").unwrap();
        for location in [
            "http://a.example/",
            "ftp://a.example/",
            "https://u:p@a.example/",
            "https://",
            "javascript:alert(1)",
        ] {
            assert!(start.clone().redirect(302, location).is_err(), "{location}");
        }
    }
}
