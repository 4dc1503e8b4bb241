//! How a notice reads.

use std::collections::BTreeMap;

use punctual_core::http::{Exchange, HttpTarget, Method};
use punctual_core::notice::{ContentType, Notice, NoticeMethod, NoticeState};
use punctual_core::task::Attempt;
use punctual_core::{RawJson, Settings, Span, Task, TaskId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::Viewing;
use crate::api::schema::http::ExchangeSchema;
use crate::api::schema::notice::{ContentTypeSchema, NoticeMethodSchema, NoticeStateSchema};
use crate::api::schema::{AnyJson, DurationSeconds, Time};

/// A notice: the message, and what has become of it.
#[derive(Serialize, ToSchema)]
#[schema(as = Notice)]
pub(crate) struct NoticeView<'a> {
    /// Its id.
    #[schema(value_type = String)]
    id: &'a TaskId,
    /// Where it stands.
    #[schema(value_type = NoticeStateSchema)]
    state: NoticeState,
    /// The URL that is called.
    url: &'a str,
    /// How.
    #[schema(value_type = NoticeMethodSchema)]
    http_method: NoticeMethod,
    /// How the data is written.
    #[schema(value_type = ContentTypeSchema)]
    content_type: ContentType,
    /// What is sent, as it was given.
    #[schema(value_type = AnyJson)]
    data: &'a RawJson,
    /// The same as it was understood: names and values of a form, a JSON value, an XML text.
    #[schema(value_type = AnyJson)]
    notice_data: RawJson,
    /// The URL that is called after a success.
    #[schema(required = true)]
    callback_url: Option<&'a str>,
    /// What an answer must contain to be a success; empty: nothing.
    success_flag: &'a str,
    /// Most notices.
    #[schema(required = true)]
    max_notices: Option<u32>,
    /// Whether all notices are sent, also after one has succeeded.
    enforce_repeat_notice: bool,
    /// Headers that are sent; values of secret ones read as `***`.
    headers: BTreeMap<&'a str, &'a str>,
    /// The time one notice may take.
    #[schema(value_type = DurationSeconds)]
    timeout: Span,
    /// Whether redirects are followed.
    follow_redirects: bool,
    /// Notices that were sent.
    notice_count: u32,
    /// When the next notice is due; null if there is none.
    #[schema(value_type = Option<Time>, required = true)]
    notice_time: Option<Timestamp>,
    /// The waits that are left between notices.
    #[schema(value_type = Vec<DurationSeconds>)]
    notice_interval: Vec<Span>,
    /// The number of the first notice that succeeded; 0: none did.
    success_id: u32,
    /// What went wrong last.
    #[schema(required = true)]
    error: Option<&'a str>,
    /// When it was taken.
    #[schema(value_type = Time)]
    created_at: Timestamp,
    /// When it ended.
    #[schema(value_type = Option<Time>, required = true)]
    finished_at: Option<Timestamp>,
    /// The last 20 notices, oldest first.
    history: Vec<SentView<'a>>,
}

/// A notice that was sent.
#[derive(Serialize, ToSchema)]
#[schema(as = SentNotice)]
pub(crate) struct SentView<'a> {
    /// When.
    #[schema(value_type = Time)]
    at: Timestamp,
    /// When that came to an end.
    #[schema(value_type = Time)]
    ended_at: Timestamp,
    /// The HTTP status that was answered.
    #[schema(required = true)]
    status: Option<u16>,
    /// What went wrong; null for a success.
    #[schema(required = true)]
    error: Option<&'a str>,
    /// The first 4 KiB of the answer.
    #[schema(required = true)]
    answer: Option<&'a str>,
    /// What was sent, where to, and how long each phase took; null if nothing was.
    #[schema(value_type = Option<ExchangeSchema>, required = true)]
    http: Option<&'a Exchange>,
}

impl<'a> From<&'a Attempt> for SentView<'a> {
    fn from(attempt: &'a Attempt) -> Self {
        let answer = attempt.http.as_ref().and_then(|http| http.answer.as_deref());
        Self {
            at: attempt.at,
            ended_at: attempt.ended_at,
            status: attempt.status,
            error: attempt.error.as_deref(),
            answer,
            http: attempt.http.as_ref(),
        }
    }
}

impl<'a> NoticeView<'a> {
    /// A task as it reads as a notice; none, if it is none.
    pub(crate) fn new(task: &'a Task, queue: &Settings, viewing: Viewing<'_>) -> Option<Self> {
        let Task { spec, status } = task;
        let (notice, http): (&Notice, &HttpTarget) = (spec.notice.as_ref()?, spec.http.as_ref()?);
        let state = NoticeState::of(status.state_at(viewing.now));
        let is_over = status.state.is_finished();
        Some(Self {
            id: &spec.id,
            state,
            url: http.url.as_deref().unwrap_or_default(),
            http_method: match http.method {
                Some(Method::Get) => NoticeMethod::Get,
                _ => NoticeMethod::Post,
            },
            content_type: notice.content_type,
            data: &spec.payload,
            notice_data: notice.data(&spec.payload),
            callback_url: notice.callback.as_ref().map(|callback| callback.url.as_str()),
            success_flag: http.success.as_ref().and_then(|it| it.contains.as_deref()).unwrap_or(""),
            max_notices: task.max_notices(queue),
            enforce_repeat_notice: notice.enforce_repeat,
            headers: http.headers.shown(viewing.secret_headers),
            timeout: http.timeout.unwrap_or(queue.timeout),
            follow_redirects: http.follow_redirects,
            notice_count: task.notice_count(),
            notice_time: (!is_over).then(|| task.due_at()),
            notice_interval: task.waits_left(queue),
            success_id: task.success_id(),
            error: status.error.as_deref(),
            created_at: spec.created_at,
            finished_at: status.finished_at,
            history: status.history.iter().map(SentView::from).collect(),
        })
    }
}
