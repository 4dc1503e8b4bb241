//! A notice as its sender puts it, and the task it becomes.

use serde::Deserialize;

use super::settings::{check_max, check_repeats, check_way};
use super::{ContentType, NOTICES_MAX, Notice, NoticeCallback, NoticeMethod, NoticeSettings};
use crate::error::{Invalid, Refusal, check_size};
use crate::http::{Headers, HttpTarget, Reach, Success, TargetUrl, check_timeout};
use crate::json::{RawJson, is_deeper_than};
use crate::limits::{JSON_DEPTH_MAX, PAYLOAD_BYTES_MAX, TEXT_BYTES_MAX};
use crate::name::TaskId;
use crate::object::{objects_only, or_default};
use crate::retry::{MaxAttempts, RetryPolicy};
use crate::task::NewTask;
use crate::time::{Span, Timestamp};

/// A notice to be sent. Two of its names are also taken in a spelling that is in use.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub struct Message {
    /// Its id; generated if left out.
    pub id: Option<TaskId>,
    /// The URL to call.
    pub url: Option<String>,
    /// How.
    pub http_method: Option<NoticeMethod>,
    /// How the data is written.
    pub content_type: Option<ContentType>,
    /// What to send.
    pub data: Option<RawJson>,
    /// The URL to call after a success.
    #[serde(alias = "callbak_url")]
    pub callback_url: Option<String>,
    /// What an answer must contain to be a success; empty: nothing.
    pub success_flag: Option<String>,
    /// The waits between notices.
    pub notice_interval: Option<Vec<Span>>,
    /// Most notices.
    pub max_notices: Option<u32>,
    /// Whether all notices are sent, also after one has succeeded.
    #[serde(alias = "enforce_repeate_notice")]
    pub enforce_repeat_notice: Option<bool>,
    /// Headers to send.
    #[serde(deserialize_with = "or_default")]
    pub headers: Headers,
    /// The time one notice may take.
    pub timeout: Option<Span>,
    /// Whether redirects are followed.
    #[serde(deserialize_with = "or_default")]
    pub follow_redirects: bool,
    /// Notices that were sent before it came here.
    pub notice_count: Option<u32>,
    /// When the next notice is due.
    pub notice_time: Option<Timestamp>,
    /// The data as it was understood when the first notice was sent; comes before `data`.
    pub notice_data: Option<RawJson>,
    /// The number of the first notice that succeeded; 0: none did.
    pub success_id: Option<u32>,
}

objects_only! { Message }

/// The waits between notices, and how many notices there are.
struct Repeats {
    retry: Option<RetryPolicy>,
    max: MaxAttempts,
}

impl Repeats {
    fn new(intervals: &[Span], max: Option<u32>) -> Result<Self, Refusal> {
        check_repeats(intervals, max)?;
        let max = i32::try_from(max.unwrap_or(count(intervals))).unwrap_or(i32::MAX);
        let retry = (!intervals.is_empty()).then(|| RetryPolicy::Intervals(intervals.to_vec()));
        Ok(Self { retry, max: MaxAttempts::new(max)? })
    }
}

impl Message {
    /// Refuses what only a message that others began to send may carry.
    pub fn check_new(&self) -> Result<(), Refusal> {
        let carried = [
            ("notice_count", self.notice_count.is_some()),
            ("notice_time", self.notice_time.is_some()),
            ("notice_data", self.notice_data.is_some()),
            ("success_id", self.success_id.is_some()),
        ];
        match carried.into_iter().find(|(_, is_carried)| *is_carried) {
            Some((field, _)) => Err(Invalid::new(field, "leave it out; the server counts").into()),
            None => Ok(()),
        }
    }

    /// The task that sends it, every field checked.
    pub fn into_task(self, settings: &NoticeSettings, reach: &Reach) -> Result<NewTask, Refusal> {
        if let Some(id) = &self.id {
            id.check_new()?;
        }
        let url = self.url.as_deref().ok_or_else(|| Invalid::new("url", "name the URL to call"))?;
        TargetUrl::parse("url", url)?.check_reach("url", reach)?;
        let callback = match &self.callback_url {
            Some(url) => {
                TargetUrl::parse("callback_url", url)?.check_reach("callback_url", reach)?;
                Some(Box::new(callback(url, settings)?))
            }
            None => None,
        };
        self.headers.check()?;
        self.timeout.map_or(Ok(()), check_timeout)?;
        let flag = self.success_flag.clone().unwrap_or_else(|| settings.success_flag.clone());
        check_size("success_flag", flag.len(), TEXT_BYTES_MAX)?;
        let method = self.http_method.unwrap_or(settings.http_method);
        let content_type = self.content_type.unwrap_or(settings.content_type);
        check_way(method, content_type)?;
        let sent_before = self.sent_before()?;
        let repeats = self.repeats(settings, sent_before)?;
        let enforced = self.enforce_repeat_notice;
        let notice = Notice {
            content_type,
            enforce_repeat: enforced.unwrap_or(settings.enforce_repeat_notice),
            callback,
            sent_before,
            success_before: self.success_id.unwrap_or(0),
        };
        let success = Success { status: None, contains: Some(flag) };
        let http = HttpTarget {
            url: self.url,
            method: Some(method.http()),
            headers: self.headers,
            timeout: self.timeout,
            success: Some(success),
            follow_redirects: self.follow_redirects,
            ..HttpTarget::default()
        };
        let data = self.notice_data.or(self.data).unwrap_or_default();
        check_size("data", data.len(), PAYLOAD_BYTES_MAX)?;
        if is_deeper_than(data.as_str().as_bytes(), JSON_DEPTH_MAX) {
            return Err(Invalid::new("data", "nested at most 128 levels deep").into());
        }
        notice.check(&http, &data)?;
        Ok(NewTask {
            id: self.id,
            payload: Some(data),
            due: self.notice_time,
            max_attempts: Some(repeats.max),
            retry: repeats.retry,
            http: Some(Box::new(http)),
            notice: Some(Box::new(notice)),
            ..NewTask::default()
        })
    }

    /// Notices that were sent before it came here.
    fn sent_before(&self) -> Result<u32, Invalid> {
        let sent = self.notice_count.unwrap_or(0);
        if self.success_id.is_some_and(|first| first > sent) {
            return Err(Invalid::new("success_id", "not over notice_count"));
        }
        Ok(sent)
    }

    /// What is left of its notices. What others began to send carries only the waits that are left.
    fn repeats(&self, settings: &NoticeSettings, sent_before: u32) -> Result<Repeats, Refusal> {
        let all = &settings.notice_interval;
        let (intervals, max) = match &self.notice_interval {
            Some(own) => (own.as_slice(), self.max_notices),
            None => {
                let max = self.max_notices.or(settings.max_notices).unwrap_or(count(all));
                // The last repeats, so one is left to go on with.
                let gone = (sent_before as usize).min(all.len().saturating_sub(1));
                (&all[gone..], Some(max))
            }
        };
        let left = match max {
            Some(max) => {
                check_max(max)?;
                let none = || Invalid::new("notice_count", "below max_notices; none is left");
                Some(max.checked_sub(sent_before).filter(|left| *left > 0).ok_or_else(none)?)
            }
            None => None,
        };
        Repeats::new(intervals, left)
    }
}

/// As many notices as there are waits between them, and one.
fn count(intervals: &[Span]) -> u32 {
    u32::try_from(intervals.len()).unwrap_or(NOTICES_MAX).saturating_add(1)
}

fn callback(url: &str, settings: &NoticeSettings) -> Result<NoticeCallback, Refusal> {
    let repeats = Repeats::new(&settings.notice_interval, settings.max_notices)?;
    Ok(NoticeCallback {
        url: url.to_owned(),
        success_flag: settings.success_flag.clone(),
        retry: repeats.retry,
        max_notices: repeats.max,
        enforce_repeat: settings.enforce_repeat_notice,
    })
}
