//! The outcome of an attempt to deliver a task: kept for people, and used for the decision.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Method, Success};
use crate::bundle::Sent;
use crate::json::{RawJson, is_deeper_than};
use crate::limits::{JSON_DEPTH_MAX, RESULT_BYTES_MAX, RETRY_AFTER_MS_MAX};
use crate::time::Span;

/// An attempt that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// The request and the answer.
    pub exchange: Exchange,
    /// The status that was answered.
    pub status: Option<u16>,
    /// The effect on the task.
    pub verdict: Verdict,
    /// The payloads of a bundle that it carried.
    pub sent: Option<Sent>,
}

/// The effect of an attempt on the task.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Delivered.
    Accepted {
        /// The answer.
        result: RawJson,
    },
    /// Not delivered.
    Failed {
        /// The error, for the task and for programs.
        error: String,
        /// The same in detail, for people; the error itself if there is nothing to add.
        detail: Option<String>,
        /// How long the target asked to be left alone.
        retry_after: Option<Span>,
        /// Whether trying again is no use.
        permanent: bool,
    },
}

/// An answer as far as it was read.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// How long it asks to be left alone.
    pub retry_after: Option<Span>,
    /// The beginning of its body.
    pub body: Vec<u8>,
    /// Whether that is all of it.
    pub is_whole: bool,
    /// Whether the text that means success is in it.
    pub is_found: bool,
}

impl Verdict {
    /// A failure that another attempt may mend.
    pub fn failed(error: impl Into<String>) -> Self {
        Self::Failed { error: error.into(), detail: None, retry_after: None, permanent: false }
    }

    /// A failure that no attempt can mend: a word for programs, and the reason.
    pub fn hopeless(error: &str, reason: impl Into<String>) -> Self {
        let detail = Some(format!("{error}: {}", reason.into()));
        Self::Failed { error: error.to_owned(), detail, retry_after: None, permanent: true }
    }
}

impl Success {
    /// Whether a status counts.
    pub fn accepts(&self, status: u16) -> bool {
        match &self.status {
            Some(statuses) => statuses.contains(status),
            None => status / 100 == 2,
        }
    }

    /// The text an answer must contain, if one is asked for.
    pub fn needle(&self) -> Option<&str> {
        self.contains.as_deref().filter(|text| !text.is_empty())
    }
}

impl Answer {
    /// Judges an answer.
    pub fn judge(&self, success: &Success) -> Verdict {
        let error = if !success.accepts(self.status) {
            format!("the target answered with status {}", self.status)
        } else if success.needle().is_some() && !self.is_found {
            "the answer does not contain the text that means success".to_owned()
        } else {
            return Verdict::Accepted { result: self.result() };
        };
        let longest = Span::from_millis(RETRY_AFTER_MS_MAX);
        let retry_after = self.retry_after.map(|span| span.min(longest));
        Verdict::Failed { error, detail: None, retry_after, permanent: false }
    }

    /// The answer as a task's result: the value if it is JSON a client will read, else a text.
    fn result(&self) -> RawJson {
        let body = &self.body[..self.body.len().min(RESULT_BYTES_MAX)];
        let text = String::from_utf8_lossy(body);
        let is_whole = self.is_whole && body.len() == self.body.len();
        let json = if is_whole && !is_deeper_than(body, JSON_DEPTH_MAX - 1) {
            RawJson::parse(text.trim()).ok()
        } else {
            None
        };
        json.unwrap_or_else(|| RawJson::of(&*text))
    }
}

/// The request and the answer, for people to look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The method of the last request.
    pub method: Method,
    /// The URL of the last request, shortened.
    pub url: String,
    /// The address that was connected to.
    pub address: Option<SocketAddr>,
    /// Redirects that were followed.
    pub redirects: u8,
    /// The size of the body that was sent.
    pub sent_bytes: u32,
    /// How long the look-up of the name took, for a new connection.
    pub dns: Option<Lapse>,
    /// How long connecting took, for a new connection.
    pub connect: Option<Lapse>,
    /// How long it took to agree on encryption, for a new connection.
    pub tls: Option<Lapse>,
    /// From the beginning to the head of the answer.
    pub first_byte: Option<Lapse>,
    /// From the beginning to the end.
    pub total: Lapse,
    /// How much of the answer's body was read.
    pub answer_bytes: u32,
    /// The beginning of the answer's body, while there is room for it.
    pub answer: Option<String>,
}

/// A short length of time, in microseconds; reads as seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lapse(u32);

impl From<Duration> for Lapse {
    fn from(duration: Duration) -> Self {
        Self(u32::try_from(duration.as_micros()).unwrap_or(u32::MAX))
    }
}

impl From<Lapse> for Duration {
    fn from(lapse: Lapse) -> Self {
        Self::from_micros(lapse.0.into())
    }
}

impl Serialize for Lapse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_f64(f64::from(self.0) / 1e6)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Lapse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            // A float beyond the range saturates in the cast.
            f64::deserialize(deserializer).map(|seconds| Self((seconds * 1e6).round() as u32))
        } else {
            u32::deserialize(deserializer).map(Self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &[u8]) -> Answer {
        Answer { status, body: body.to_vec(), is_whole: true, ..Answer::default() }
    }

    fn result(answer: Answer) -> String {
        match answer.judge(&Success::default()) {
            Verdict::Accepted { result } => result.as_str().to_owned(),
            failed => panic!("{failed:?}"),
        }
    }

    #[test]
    fn the_result_is_json_where_the_answer_is() {
        for (body, expected) in [
            (&b"{\"a\": 1}\n"[..], "{\"a\": 1}"),
            (b"ok", "\"ok\""),
            (b"", "\"\""),
            (b"17", "17"),
            (b"{\"a\":", r#""{\"a\":""#),
            (b"\xff\x00", "\"\u{fffd}\\u0000\""),
        ] {
            assert_eq!(result(answer(200, body)), expected);
        }
        let deep = "[".repeat(1_000) + &"]".repeat(1_000);
        assert_eq!(result(answer(200, deep.as_bytes())), format!("{deep:?}"));
        let cut = Answer { is_whole: false, ..answer(200, b"17") };
        assert_eq!(result(cut), "\"17\"", "the rest might have been anything");
        let long = result(answer(200, &[b'1'; RESULT_BYTES_MAX + 9]));
        assert_eq!(long.len(), RESULT_BYTES_MAX + 2);
    }

    #[test]
    fn success_is_a_status_and_a_text() {
        let success = |json: &str| serde_json::from_str::<Success>(json).unwrap();
        let found = |status| Answer { is_found: true, ..answer(status, b"") };
        for (rule, answer, accepted) in [
            ("{}", answer(204, b""), true),
            ("{}", answer(302, b""), false),
            ("{}", answer(500, b""), false),
            (r#"{"status":"404"}"#, answer(404, b""), true),
            (r#"{"status":"404"}"#, answer(200, b""), false),
            (r#"{"contains":"ok"}"#, answer(200, b""), false),
            (r#"{"contains":"ok"}"#, found(200), true),
            (r#"{"contains":"ok"}"#, found(500), false),
            (r#"{"contains":""}"#, answer(200, b""), true),
            (r#"{"status":"5xx","contains":"ok"}"#, found(500), true),
        ] {
            let verdict = answer.judge(&success(rule));
            assert_eq!(matches!(verdict, Verdict::Accepted { .. }), accepted, "{rule}");
        }
    }

    #[test]
    fn a_target_is_left_alone_for_a_day_at_most() {
        for (asked, heard) in [(5, 5), (86_400, 86_400), (1_000_000, 86_400)] {
            let retry_after = Some(Span::from_secs(asked));
            let busy = Answer { retry_after, ..answer(503, b"") };
            let Verdict::Failed { retry_after, .. } = busy.judge(&Success::default()) else {
                panic!("503 is no success");
            };
            assert_eq!(retry_after, Some(Span::from_secs(heard)));
        }
    }

    #[test]
    fn lapses_read_as_seconds() {
        let lapse = Lapse::from(Duration::from_micros(1_234_567));
        assert_eq!(serde_json::to_string(&lapse).unwrap(), "1.234567");
        assert_eq!(serde_json::from_str::<Lapse>("1.234567").unwrap(), lapse);
        assert_eq!(Lapse::from(Duration::MAX), Lapse(u32::MAX));
    }
}
