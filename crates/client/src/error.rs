//! Errors of requests, and whether a failed request may have taken effect.

use serde::Deserialize;

/// A request that did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server's address cannot be used. Nothing was sent.
    #[error("the server's address {url:?} cannot be used: {reason}")]
    Address {
        /// The address as it was given.
        url: String,
        /// The reason, in a few words.
        reason: String,
    },
    /// A header would not be a valid one. Nothing was sent.
    #[error("{field}: only visible ASCII characters")]
    Header {
        /// Which value: `token` or `idempotency key`.
        field: &'static str,
    },
    /// No connection could be made. Nothing was sent.
    #[error("cannot reach {url}: {reason}")]
    Unreachable {
        /// The server's address.
        url: String,
        /// The reason, in a few words.
        reason: String,
        /// The error of the connection.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server did not prove who it is. Nothing was sent.
    #[error("{url} is not trusted: {reason}")]
    Untrusted {
        /// The server's address.
        url: String,
        /// The problem with its certificate.
        reason: String,
    },
    /// Certificates to trust cannot be read. Nothing was sent.
    #[error("the certificates to trust cannot be read: {reason}")]
    Certificates {
        /// The problem with the certificates.
        reason: String,
    },
    /// The connection broke, or no answer came in time. The request may have taken effect.
    #[error("no answer from {url}: {reason}; the request may have taken effect")]
    NoAnswer {
        /// The server's address.
        url: String,
        /// The reason, in a few words.
        reason: String,
    },
    /// A stream broke off. It can be opened again where it ended.
    #[error("the stream broke off: {reason}")]
    Stream {
        /// The reason, in a few words.
        reason: String,
    },
    /// The server refused the request.
    #[error(transparent)]
    Refused(#[from] Problem),
    /// The answer is not what the interface promises: perhaps this is no Punctual server.
    #[error("{url} answered {status} with something that cannot be read: {reason}")]
    Unreadable {
        /// The server's address.
        url: String,
        /// The HTTP status.
        status: u16,
        /// The problem with the answer.
        reason: String,
    },
}

/// The server's own account of a refusal (RFC 9457).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, thiserror::Error)]
#[error("{}", self.sentence())]
#[non_exhaustive]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// The stable code: `not_found`, `stale_token`, …
    pub code: String,
    /// The kind of problem in a few words.
    #[serde(default)]
    pub title: String,
    /// The problem with this request.
    #[serde(default)]
    pub detail: Option<String>,
    /// With `unavailable`: whether the request may have taken effect.
    #[serde(default)]
    pub effect: Option<Effect>,
    /// Seconds after which to try again, if the server named any.
    #[serde(skip)]
    pub retry_after_secs: Option<u64>,
}

/// Whether a request that failed may have taken effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// It changed nothing.
    None,
    /// It may have been carried out. Repeating it with the same id or Idempotency-Key is safe.
    Unknown,
}

impl Problem {
    fn sentence(&self) -> String {
        let text = self.detail.as_ref().unwrap_or(&self.title);
        format!("{text} ({})", self.code)
    }
}

impl Error {
    /// The stable code of a refusal, `stale_token` for instance.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(problem) => Some(&problem.code),
            _ => None,
        }
    }

    /// The HTTP status of a refusal.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused(problem) => Some(problem.status),
            Self::Unreadable { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Whether the request may have taken effect although it failed.
    pub fn effect(&self) -> Effect {
        match self {
            Self::NoAnswer { .. } | Self::Unreadable { .. } => Effect::Unknown,
            Self::Refused(problem) => problem.effect.unwrap_or(Effect::None),
            _ => Effect::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_reads_as_its_detail_and_code() {
        let json = r#"{"type":"about:blank","title":"unavailable","status":503,
            "detail":"the disk is full","code":"unavailable","effect":"unknown","extra":1}"#;
        let error = Error::from(serde_json::from_str::<Problem>(json).unwrap());
        assert_eq!(error.to_string(), "the disk is full (unavailable)");
        assert_eq!((error.code(), error.status()), (Some("unavailable"), Some(503)));
        assert_eq!(error.effect(), Effect::Unknown);
    }
}
