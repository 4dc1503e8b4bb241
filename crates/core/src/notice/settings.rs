//! Defaults of notices.

use serde::{Deserialize, Serialize};

use super::{ContentType, NOTICES_MAX, NoticeMethod};
use crate::error::{Invalid, Refusal, check_size};
use crate::limits::TEXT_BYTES_MAX;
use crate::time::Span;

/// The defaults of notices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NoticeSettings {
    /// How the URL is called.
    pub http_method: NoticeMethod,
    /// How the data is written.
    pub content_type: ContentType,
    /// The text that a successful answer contains; empty: any text.
    pub success_flag: String,
    /// The waits between notices.
    pub notice_interval: Vec<Span>,
    /// Most notices; one more than there are waits if none is given.
    pub max_notices: Option<u32>,
    /// Whether all notices are sent, also after one has succeeded.
    pub enforce_repeat_notice: bool,
}

impl Default for NoticeSettings {
    fn default() -> Self {
        Self {
            http_method: NoticeMethod::Post,
            content_type: ContentType::Form,
            success_flag: "success".to_owned(),
            notice_interval: vec![Span::from_secs(600); 4],
            max_notices: None,
            enforce_repeat_notice: false,
        }
    }
}

impl NoticeSettings {
    /// Checks every field.
    pub fn check(&self) -> Result<(), Refusal> {
        check_size("success_flag", self.success_flag.len(), TEXT_BYTES_MAX)?;
        check_repeats(&self.notice_interval, self.max_notices)?;
        check_way(self.http_method, self.content_type)
    }
}

/// Refuses waits and a number of notices that do not go together, or are too many.
pub(super) fn check_repeats(intervals: &[Span], max: Option<u32>) -> Result<(), Refusal> {
    if intervals.len() >= NOTICES_MAX as usize {
        return Err(Invalid::new("notice_interval", "at most 999 durations").into());
    }
    max.map_or(Ok(()), check_max)?;
    if intervals.is_empty() && max.is_some_and(|max| max > 1) {
        let rule = "more than one needs a notice_interval with the waits between them";
        return Err(Invalid::new("max_notices", rule).into());
    }
    Ok(())
}

/// Refuses a number of notices that is none, or too many.
pub(super) fn check_max(max: u32) -> Result<(), Refusal> {
    if (1..=NOTICES_MAX).contains(&max) {
        return Ok(());
    }
    Err(Invalid::new("max_notices", "a whole number from 1 to 1000").into())
}

/// Refuses a method that cannot carry the data.
pub(super) fn check_way(method: NoticeMethod, content_type: ContentType) -> Result<(), Refusal> {
    if method == NoticeMethod::Get && content_type == ContentType::Xml {
        return Err(Invalid::new("http_method", "post for xml; get has no body").into());
    }
    Ok(())
}
