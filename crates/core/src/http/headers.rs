//! Headers of requests to targets.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::HIDDEN;
use crate::error::{Invalid, Refusal, check_size};
use crate::limits::{HEADERS_BYTES_MAX, HEADERS_MAX};

/// Headers whose values are never read back, and that no other origin gets to see.
const SECRET_HEADERS: [&str; 4] = ["authorization", "cookie", "proxy-authorization", "x-api-key"];

/// Headers the server sets itself, and those that are about the connection.
const RESERVED_HEADERS: [&str; 8] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "upgrade",
    "te",
    "trailer",
    "expect",
];

/// The beginnings of names that the server keeps for itself.
const RESERVED_PREFIXES: [&str; 2] = ["webhook-", "punctual-"];

/// The beginning of the headers that say which run of a plan a delivery is.
const PLAN_PREFIX: &str = "punctual-plan-";

/// Header names and values, names in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Headers(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(BTreeMap::<String, String>::deserialize(deserializer)?.into_iter().collect())
    }
}

impl<N: AsRef<str>, V: Into<String>> FromIterator<(N, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(headers: I) -> Self {
        let lower = |(name, value): (N, V)| (name.as_ref().to_ascii_lowercase(), value.into());
        Self(headers.into_iter().map(lower).collect())
    }
}

impl Headers {
    /// Checks every name and value.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.0.len() > HEADERS_MAX {
            return Err(Invalid::new("headers", "at most 64 headers").into());
        }
        let mut bytes = 0;
        for (name, value) in &self.0 {
            let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
            if name.is_empty() || !name.bytes().all(is_token) {
                return Err(Invalid::new("headers", format!("{name:?} is no header name")).into());
            }
            let is_reserved = RESERVED_HEADERS.contains(&name.as_str())
                || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
            if is_reserved {
                return Err(Invalid::new("headers", format!("{name} is set by the server")).into());
            }
            check_value("headers", name, value)?;
            bytes += name.len() + value.len();
        }
        check_size("headers", bytes, HEADERS_BYTES_MAX)
    }

    /// The same with hidden values as they stood before.
    #[must_use]
    pub fn unhidden(mut self, before: &Self) -> Self {
        for (name, value) in &mut self.0 {
            if let Some(kept) = before.0.get(name).filter(|_| value == HIDDEN) {
                value.clone_from(kept);
            }
        }
        self
    }

    /// The name of a header whose hidden value stands for one of `before`.
    pub(crate) fn first_hidden_of(&self, before: &Self) -> Option<&str> {
        self.iter()
            .find(|(name, value)| *value == HIDDEN && before.0.contains_key(*name))
            .map(|(name, _)| name)
    }

    /// The name of a header whose value is never read back, `also` named secret besides those that
    /// always are.
    pub(crate) fn first_secret(&self, also: &[String]) -> Option<&str> {
        let is_hidden =
            |name: &str| is_secret(name) || also.iter().any(|a| a.eq_ignore_ascii_case(name));
        self.0.keys().map(String::as_str).find(|name| is_hidden(name))
    }

    /// The headers as they may be read: values of secret ones hidden, `also` named secret besides
    /// those that always are.
    pub fn shown(&self, also: &[String]) -> BTreeMap<&str, &str> {
        let shown = |(name, value)| {
            let is_hidden = is_secret(name) || also.iter().any(|a| a.eq_ignore_ascii_case(name));
            (name, if is_hidden { HIDDEN } else { value })
        };
        self.iter().map(shown).collect()
    }

    /// The headers with the values nobody may read back as they read.
    #[must_use]
    pub fn hidden(&self, also: &[String]) -> Self {
        self.shown(also).into_iter().collect()
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of a header, by its name in lower case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Sets one header, whatever it was.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    /// Keeps what another origin may see of a redirected request: the type of its body, and which run
    /// of a plan it is. A task may put a secret into any header of its own.
    pub(super) fn keep_for_strangers(&mut self) {
        self.0.retain(|name, _| name == "content-type" || name.starts_with(PLAN_PREFIX));
    }

    /// Drops one header.
    pub(super) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }
}

/// Refuses what cannot stand in the value of a header.
pub(super) fn check_value(field: &'static str, name: &str, value: &str) -> Result<(), Invalid> {
    if value.chars().any(|c| c.is_control() && c != '\t') {
        let rule = format!("the value of {name} has a control character");
        return Err(Invalid::new(field, rule));
    }
    Ok(())
}

fn is_secret(name: &str) -> bool {
    SECRET_HEADERS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(json: &str) -> Headers {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn bad_headers_are_refused() {
        for bad in [
            r#"{"Host":"x"}"#,
            r#"{"CONTENT-length":"1"}"#,
            r#"{"Transfer-Encoding":"chunked"}"#,
            r#"{"connection":"close"}"#,
            r#"{"Webhook-Signature":"v1,x"}"#,
            r#"{"webhook-anything":"x"}"#,
            r#"{"Punctual-Plan-Id":"x"}"#,
            r#"{"punctual-anything":"x"}"#,
            r#"{"Upgrade":"h2c"}"#,
            r#"{"TE":"trailers"}"#,
            r#"{"trailer":"x"}"#,
            r#"{"Expect":"100-continue"}"#,
            r#"{"a":"x\r\ny: z"}"#,
            r#"{"a":"x\u0000"}"#,
            r#"{"a":"x\u007f"}"#,
            r#"{"a\n":"x"}"#,
            r#"{"a b":"x"}"#,
            r#"{"":"x"}"#,
            r#"{"é":"x"}"#,
        ] {
            let refusal = headers(bad).check().unwrap_err().to_string();
            assert!(refusal.starts_with("headers: "), "{bad}: {refusal}");
        }
        let many = (0..65).map(|n| (format!("x-{n}"), String::new())).collect();
        assert!(matches!(Headers(many).check(), Err(Refusal::Invalid(_))));
        let large = Headers([("x".to_owned(), "y".repeat(HEADERS_BYTES_MAX))].into());
        assert!(matches!(large.check(), Err(Refusal::TooLarge { .. })));
        assert_eq!(headers(r#"{"X-A":"é\tb","accept":""}"#).check(), Ok(()));
    }

    #[test]
    fn secrets_are_hidden_and_kept() {
        let first = headers(r#"{"Authorization":"a","X-Api-Key":"b","X-Mine":"c","x":"d"}"#);
        let also = ["X-Mine".to_owned()];
        let shown = first.shown(&also);
        assert_eq!(shown.values().copied().collect::<Vec<_>>(), [HIDDEN, "d", HIDDEN, HIDDEN]);
        let json = serde_json::to_string(&shown).unwrap();
        assert_eq!(headers(&json).unhidden(&first), first);
        assert_eq!(headers(r#"{"cookie":"***"}"#).unhidden(&first).get("cookie"), Some(HIDDEN));
    }
}
