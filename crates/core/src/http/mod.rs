//! HTTP targets: what a task says about its delivery, and the rules for every part of it.
//!
//! - `url`, `address`: where a delivery may go. `headers`, `secret`: what it carries.
//! - `outgoing`: the request a task becomes, and what is left of it after a redirect.
//! - `delivery`: what came of an attempt, and whether that is success.

mod address;
mod delivery;
mod headers;
mod outgoing;
mod secret;
mod statuses;
mod url;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

pub use self::address::{Network, Reach};
pub use self::delivery::{Answer, Delivery, Exchange, Lapse, Verdict};
pub use self::headers::Headers;
pub use self::outgoing::{Content, NoUrl, Outgoing};
pub use self::secret::Secret;
pub use self::statuses::Statuses;
pub use self::url::TargetUrl;

use self::headers::check_value;
use crate::error::{Invalid, Refusal, check_size};
use crate::json::RawJson;
use crate::limits::{CONTENT_TYPE_BYTES_MAX, PAYLOAD_BYTES_MAX, TEXT_BYTES_MAX, TIMEOUT_MS_MAX};
use crate::object::{objects_only, or_default};
use crate::time::Span;

/// What a secret value reads as; written back, it changes nothing.
pub const HIDDEN: &str = "***";

/// Where and how a task is delivered.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub struct HttpTarget {
    /// The target; a queue may have one for all its tasks.
    pub url: Option<String>,
    /// The HTTP method; POST if none is given.
    pub method: Option<Method>,
    /// Headers to send.
    #[serde(deserialize_with = "or_default")]
    pub headers: Headers,
    /// What to send instead of the payload: a text as it is, any other value as JSON.
    pub body: Option<RawJson>,
    /// The type of the body; JSON if none is given, plain text if the body is a text.
    pub content_type: Option<String>,
    /// The time one attempt may take; the queue's if none is given.
    pub timeout: Option<Span>,
    /// What counts as success.
    pub success: Option<Success>,
    /// Whether redirects are followed.
    #[serde(deserialize_with = "or_default")]
    pub follow_redirects: bool,
}

/// What counts as a successful delivery. Both must hold.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub struct Success {
    /// The statuses that count; `2xx` if none is given.
    pub status: Option<Statuses>,
    /// A text the answer must contain.
    pub contains: Option<String>,
}

objects_only! { HttpTarget, Success with serialize }

/// A method of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
pub enum Method {
    /// GET.
    #[serde(alias = "get")]
    Get,
    /// HEAD.
    #[serde(alias = "head")]
    Head,
    /// POST.
    #[default]
    #[serde(alias = "post")]
    Post,
    /// PUT.
    #[serde(alias = "put")]
    Put,
    /// PATCH.
    #[serde(alias = "patch")]
    Patch,
    /// DELETE.
    #[serde(alias = "delete")]
    Delete,
    /// OPTIONS.
    #[serde(alias = "options")]
    Options,
}

impl Method {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl HttpTarget {
    /// A target with nothing but its URL.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), ..Self::default() }
    }

    /// Checks every field.
    pub fn check(&self) -> Result<(), Refusal> {
        if let Some(url) = &self.url {
            TargetUrl::parse("url", url)?;
        }
        self.headers.check()?;
        check_size("body", self.body.as_ref().map_or(0, RawJson::len), PAYLOAD_BYTES_MAX)?;
        if let Some(content_type) = &self.content_type {
            check_size("content_type", content_type.len(), CONTENT_TYPE_BYTES_MAX)?;
            check_value("content_type", "it", content_type)?;
        }
        if let Some(timeout) = self.timeout {
            check_timeout(timeout)?;
        }
        let contains = self.success.as_ref().and_then(|success| success.contains.as_ref());
        check_size("contains", contains.map_or(0, String::len), TEXT_BYTES_MAX)
    }

    /// The target with the values that a reader was not shown, as they were before. Refuses to keep one
    /// for another origin, or somebody who cannot read a secret could have it sent to himself. `moved`:
    /// a target without a URL is now sent to the URL of another queue.
    pub(crate) fn unhidden(self, before: Option<&Self>, moved: bool) -> Result<Self, Invalid> {
        let Some(before) = before else { return Ok(self) };
        let stays = match (&self.url, &before.url) {
            (None, None) => !moved,
            (Some(url), Some(before)) => is_same_origin(url, before),
            _ => false,
        };
        match self.headers.first_hidden_of(&before.headers) {
            Some(name) if !stays => Err(give_again("headers", name)),
            _ => Ok(Self { headers: self.headers.unhidden(&before.headers), ..self }),
        }
    }

    /// The target as it may be read.
    #[must_use]
    pub fn hidden(self, also: &[String]) -> Self {
        Self { headers: self.headers.hidden(also), ..self }
    }

    /// Refuses an address that deliveries may not go to.
    pub fn check_reach(&self, reach: &Reach) -> Result<(), Refusal> {
        match &self.url {
            Some(url) => Ok(TargetUrl::parse("url", url)?.check_reach("url", reach)?),
            None => Ok(()),
        }
    }
}

/// Whether two URLs have the same scheme, host and port. One that cannot be read is like no other.
pub(crate) fn is_same_origin(one: &str, other: &str) -> bool {
    let read = |text: &str| TargetUrl::parse("url", text).ok();
    match (read(one), read(other)) {
        (Some(one), Some(other)) => one.is_same_origin(&other),
        _ => false,
    }
}

/// Refuses a secret that would be kept although its URL now leads to another origin.
pub(crate) fn give_again(field: &'static str, name: &str) -> Invalid {
    let rule = format!(
        "the url has another scheme, host or port than before: give the value of {name} again, or remove it"
    );
    Invalid::new(field, rule)
}

/// Refuses a time for one attempt that is none, or longer than anybody should wait.
pub(crate) fn check_timeout(timeout: Span) -> Result<(), Invalid> {
    if timeout.is_zero() || timeout.as_millis() > TIMEOUT_MS_MAX {
        return Err(Invalid::new("timeout", "longer than 0 and at most 1 hour"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(json: &str) -> HttpTarget {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn bad_targets_name_their_field() {
        let long = "x".repeat(TEXT_BYTES_MAX + 1);
        for (json, field) in [
            (r#"{"url":"ftp://x"}"#.to_owned(), "url"),
            (r#"{"url":"http://x/\r\n"}"#.to_owned(), "url"),
            (r#"{"headers":{"a":"\n"}}"#.to_owned(), "headers"),
            (r#"{"content_type":"a\r\nb: c"}"#.to_owned(), "content_type"),
            (format!(r#"{{"content_type":"{long}"}}"#), "content_type"),
            (r#"{"timeout":0}"#.to_owned(), "timeout"),
            (r#"{"timeout":"2h"}"#.to_owned(), "timeout"),
            (format!(r#"{{"success":{{"contains":"{long}"}}}}"#), "contains"),
            (format!(r#"{{"body":"{}"}}"#, "x".repeat(PAYLOAD_BYTES_MAX)), "body"),
        ] {
            let refusal = target(&json).check().unwrap_err().to_string();
            assert!(refusal.starts_with(field), "{field}: {refusal}");
        }
        for json in [
            r#"{"method":"CONNECT"}"#,
            r#"{"method":"TRACE"}"#,
            r#"{"method":"P OST"}"#,
            r#"{"colour":1}"#,
            r#"{"success":{"body":"x"}}"#,
            r#"{"success":{"status":"6xx"}}"#,
            r#"{"headers":{"a":1}}"#,
            r#"{"follow_redirects":"yes"}"#,
            r#"["http://x"]"#,
        ] {
            assert!(serde_json::from_str::<HttpTarget>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn hidden_values_are_kept_for_their_origin_only() {
        let before = target(r#"{"url":"https://a.example/x","headers":{"authorization":"s"}}"#);
        let kept = |json: &str| target(json).unhidden(Some(&before), false);
        for json in [
            r#"{"url":"https://a.example/y","headers":{"Authorization":"***"}}"#,
            r#"{"url":"https://A.example:443/","headers":{"authorization":"***"}}"#,
        ] {
            assert_eq!(kept(json).unwrap().headers.get("authorization"), Some("s"), "{json}");
        }
        for url in [
            r#""https://b.example/""#,
            r#""http://a.example/x""#,
            r#""https://a.example:8443/x""#,
            r#""https://a.example.b.example/x""#,
            r#""https://a.example@b.example/x""#,
            "null",
        ] {
            let refusal = kept(&format!(r#"{{"url":{url},"headers":{{"authorization":"***"}}}}"#));
            assert_eq!(refusal.unwrap_err().field, "headers", "{url}");
            let given = kept(&format!(r#"{{"url":{url},"headers":{{"authorization":"t"}}}}"#));
            assert_eq!(given.unwrap().headers.get("authorization"), Some("t"), "{url}");
            assert!(kept(&format!(r#"{{"url":{url},"headers":null}}"#)).is_ok(), "{url}");
        }
        let bare = target(r#"{"headers":{"authorization":"***"}}"#);
        assert!(bare.clone().unhidden(Some(&bare), false).is_ok());
        assert!(bare.clone().unhidden(Some(&bare), true).is_err());
    }

    #[test]
    fn a_target_is_stored_as_it_was_read() {
        let json = r#"{"url":"http://x/","method":"put","headers":{"A":"b"},"body":{"c":1},
            "content_type":"x/y","timeout":"5s","success":{"status":[204,"3xx"],"contains":"ok"},
            "follow_redirects":true}"#;
        let target = target(json);
        assert_eq!(target.check(), Ok(()));
        assert_eq!(target.method, Some(Method::Put));
        assert_eq!(target.headers.get("a"), Some("b"));
        let packed = postcard::to_stdvec(&target).unwrap();
        assert_eq!(postcard::from_bytes::<HttpTarget>(&packed).unwrap(), target);
        let text = serde_json::to_string(&target).unwrap();
        assert_eq!(serde_json::from_str::<HttpTarget>(&text).unwrap(), target);
    }
}
