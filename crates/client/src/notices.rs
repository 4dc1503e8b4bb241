//! Notices: webhooks that are repeated until the receiver confirms them.

use std::collections::BTreeMap;

use http::Method;
use punctual_core::notice::{ContentType, NoticeMethod, NoticeState};
use punctual_core::{RawJson, Span, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::tasks::Page;
use crate::transport::{Call, Client, path, query};

const NOTICES: &str = "/v1/notices";

/// A notice to send. All but the URL may be left out.
///
/// ```
/// use punctual_client::{NewNotice, Span};
/// use serde_json::json;
///
/// let notice = NewNotice::new("https://example.com/hook")
///     .form("order=7")
///     .success_flag("ok")
///     .intervals([Span::from_secs(10), Span::from_secs(60)]);
/// assert_eq!(
///     serde_json::to_value(&notice).unwrap(),
///     json!({"url": "https://example.com/hook", "content_type": "form", "data": "order=7",
///         "success_flag": "ok", "notice_interval": [10, 60]}),
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewNotice {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    http_method: Option<NoticeMethod>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<ContentType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<RawJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callback_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    success_flag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice_interval: Option<Vec<Span>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_notices: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enforce_repeat_notice: Option<bool>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<Span>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    follow_redirects: bool,
}

impl NewNotice {
    /// A notice to a URL, without data.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }

    /// Its id; generated if none is given.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// GET instead of POST.
    #[must_use]
    pub fn method(mut self, method: NoticeMethod) -> Self {
        self.http_method = Some(method);
        self
    }

    /// Data, and how it is written.
    #[must_use]
    pub fn data(mut self, content_type: ContentType, data: RawJson) -> Self {
        self.content_type = Some(content_type);
        self.data = Some(data);
        self
    }

    /// Names and values as a form sends them, like `a=1&b=2`.
    #[must_use]
    pub fn form(self, data: &str) -> Self {
        self.data(ContentType::Form, RawJson::of(data))
    }

    /// Any value as JSON.
    #[must_use]
    pub fn json(self, value: &(impl Serialize + ?Sized)) -> Self {
        let json = RawJson::of(value);
        // A text stands for the JSON it holds, so one that is meant as it is, is held by another.
        let is_text = json.as_str().starts_with('"');
        self.data(ContentType::Json, if is_text { RawJson::of(json.as_str()) } else { json })
    }

    /// The URL to call after a success.
    #[must_use]
    pub fn callback_url(mut self, url: impl Into<String>) -> Self {
        self.callback_url = Some(url.into());
        self
    }

    /// Sets the text that a successful answer contains; empty: any 2xx is a success.
    #[must_use]
    pub fn success_flag(mut self, flag: impl Into<String>) -> Self {
        self.success_flag = Some(flag.into());
        self
    }

    /// The waits between notices.
    #[must_use]
    pub fn intervals(mut self, intervals: impl Into<Vec<Span>>) -> Self {
        self.notice_interval = Some(intervals.into());
        self
    }

    /// Most notices; one more than there are waits if none is given.
    #[must_use]
    pub fn max_notices(mut self, max: u32) -> Self {
        self.max_notices = Some(max);
        self
    }

    /// All notices are sent, also after one has succeeded.
    #[must_use]
    pub fn enforce_repeat(mut self) -> Self {
        self.enforce_repeat_notice = Some(true);
        self
    }

    /// One more header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// The time one notice may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Span) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Redirects are followed.
    #[must_use]
    pub fn follow_redirects(mut self) -> Self {
        self.follow_redirects = true;
        self
    }
}

/// A notice as it reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Notice {
    /// Its id.
    pub id: String,
    /// The state.
    pub state: NoticeState,
    /// The URL that is called.
    pub url: String,
    /// The HTTP method.
    pub http_method: NoticeMethod,
    /// How the data is written.
    pub content_type: ContentType,
    /// The data to send, as it was given.
    #[serde(default)]
    pub data: RawJson,
    /// The parsed data.
    #[serde(default)]
    pub notice_data: RawJson,
    /// The URL that is called after a success.
    pub callback_url: Option<String>,
    /// The text that a successful answer contains.
    pub success_flag: String,
    /// Most notices.
    pub max_notices: Option<u32>,
    /// Whether all notices are sent, also after one has succeeded.
    pub enforce_repeat_notice: bool,
    /// Headers that are sent; secret values read as `***`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The time one notice may take.
    pub timeout: Span,
    /// Whether redirects are followed.
    pub follow_redirects: bool,
    /// Notices that were sent.
    pub notice_count: u32,
    /// When the next notice is due.
    pub notice_time: Option<Timestamp>,
    /// The waits that are left between notices.
    pub notice_interval: Vec<Span>,
    /// The number of the first notice that succeeded; 0: none did.
    pub success_id: u32,
    /// The last error.
    pub error: Option<String>,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// The last notices, oldest first.
    #[serde(default)]
    pub history: Vec<SentNotice>,
}

/// A notice that was sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SentNotice {
    /// When it began.
    pub at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// The HTTP status that was answered.
    pub status: Option<u16>,
    /// The error; none: it was a success.
    pub error: Option<String>,
    /// The beginning of the answer.
    pub answer: Option<String>,
}

impl Client {
    /// Makes a notice. The server then sends it until it succeeds or is exhausted.
    pub async fn send_notice(&self, notice: &NewNotice) -> Result<Notice, Error> {
        self.send(Call::post(NOTICES.to_owned()).body(notice)).await
    }

    /// Lists a page of notices: those in one of the states, or all.
    pub async fn notices(
        &self,
        states: &[NoticeState],
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<Notice>, Error> {
        let states: Vec<_> = states.iter().map(|state| state.name()).collect();
        let query = query(&[
            ("state", Some(states.join(",")).filter(|states| !states.is_empty())),
            ("limit", Some(limit.to_string())),
            ("cursor", cursor.map(str::to_owned)),
        ]);
        self.send(Call::get(format!("{NOTICES}{query}"))).await
    }

    /// Reads a notice.
    pub async fn notice(&self, id: &str) -> Result<Notice, Error> {
        self.send(Call::get(path(NOTICES, &[id]))).await
    }

    /// Cancels a notice, also during an attempt. It stays readable for a day.
    pub async fn cancel_notice(&self, id: &str) -> Result<(), Error> {
        let call = Call::new(Method::DELETE, path(NOTICES, &[id]));
        self.send_unread(call).await.map(drop)
    }

    /// Sends the next attempt now, or one more if the notice is exhausted.
    pub async fn retry_notice(&self, id: &str) -> Result<Notice, Error> {
        self.send(Call::post(path(NOTICES, &[id, "retry"]))).await
    }
}
