//! What an HTTP target is made of: URL, headers, what counts as success.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Invalid, Refusal, check_size};
use crate::json::RawJson;
use crate::limits::{HEADERS_BYTES_MAX, HEADERS_MAX, URL_BYTES_MAX};
use crate::time::Span;

/// What a secret value reads as; written back, it changes nothing.
pub const HIDDEN: &str = "***";

/// Headers whose values are never read back.
const SECRET_HEADERS: [&str; 4] = ["authorization", "cookie", "proxy-authorization", "x-api-key"];

/// Headers the server sets itself.
const RESERVED_HEADERS: [&str; 4] = ["host", "content-length", "transfer-encoding", "connection"];

/// Header names and values, names in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Headers(BTreeMap<String, String>);

impl Headers {
    /// Checks every name and value, and takes hidden values from what stood there before.
    pub fn checked(self, before: &Self) -> Result<Self, Refusal> {
        if self.0.len() > HEADERS_MAX {
            return Err(Invalid::new("headers", "at most 64 headers").into());
        }
        let mut checked = BTreeMap::new();
        let mut bytes = 0;
        for (name, value) in self.0 {
            let name = name.to_ascii_lowercase();
            let token = !name.is_empty()
                && name
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b));
            if !token {
                return Err(Invalid::new("headers", format!("{name:?} is no header name")).into());
            }
            if RESERVED_HEADERS.contains(&name.as_str()) || name.starts_with("webhook-") {
                return Err(Invalid::new("headers", format!("{name} is set by the server")).into());
            }
            if value.chars().any(|c| c.is_control() && c != '\t') {
                let rule = format!("the value of {name} has a control character");
                return Err(Invalid::new("headers", rule).into());
            }
            bytes += name.len() + value.len();
            let value = match before.0.get(&name) {
                Some(kept) if value == HIDDEN => kept.clone(),
                _ => value,
            };
            checked.insert(name, value);
        }
        check_size("headers", bytes, HEADERS_BYTES_MAX)?;
        Ok(Self(checked))
    }

    /// The headers as they may be read: secret values hidden.
    pub fn shown(&self) -> BTreeMap<&str, &str> {
        self.0
            .iter()
            .map(|(name, value)| {
                let secret = SECRET_HEADERS.contains(&name.as_str());
                (name.as_str(), if secret { HIDDEN } else { value.as_str() })
            })
            .collect()
    }
}

/// Checks that a URL can be a target at all. Where it may point is the connector's business.
pub fn check_url(field: &'static str, url: &str) -> Result<(), Refusal> {
    check_size(field, url.len(), URL_BYTES_MAX)?;
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let plain = url.chars().all(|c| c.is_ascii_graphic());
    match host {
        Some(host) if plain && !host.is_empty() && !host.contains('@') => Ok(()),
        _ => Err(Invalid::new(field, "an http:// or https:// URL without user information").into()),
    }
}

/// Where and how a task is delivered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpTarget {
    /// The target; a queue may have one for all its tasks.
    #[serde(default)]
    pub url: Option<String>,
    /// The HTTP method; POST if none is given.
    #[serde(default)]
    pub method: Option<String>,
    /// Headers to send.
    #[serde(default)]
    pub headers: Headers,
    /// The body to send instead of the payload.
    #[serde(default)]
    pub body: Option<RawJson>,
    /// The type of the body; JSON if none is given.
    #[serde(default)]
    pub content_type: Option<String>,
    /// The time one attempt may take.
    #[serde(default)]
    pub timeout: Option<Span>,
    /// What counts as success.
    #[serde(default)]
    pub success: Option<Success>,
    /// Whether redirects are followed.
    #[serde(default)]
    pub follow_redirects: bool,
}

/// What counts as a successful delivery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Success {
    /// A status like `204`, or a class like `2xx`.
    #[serde(default)]
    pub status: Option<String>,
    /// A text the answer must contain.
    #[serde(default)]
    pub contains: Option<String>,
}
