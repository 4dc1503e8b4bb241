//! Descriptions of what `core` reads and writes about notices.

use std::collections::BTreeMap;

use utoipa::ToSchema;

use super::{AnyJson, Duration};

/// A notice to be sent. `callbak_url` and `enforce_repeate_notice` are taken as well.
#[derive(ToSchema)]
#[schema(as = Message)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessageSchema {
    /// Its id, 1 to 200 characters of `A-Z a-z 0-9 . _ : @ ~ -`; generated if left out.
    id: Option<String>,
    /// The URL to call, at most 8 KiB. Private addresses are refused unless the server allows them.
    #[schema(example = "https://example.com/hook")]
    url: String,
    /// How; `post` if left out.
    http_method: Option<NoticeMethodSchema>,
    /// How the data is written; `form` if left out. `xml` goes with `post` only.
    content_type: Option<ContentTypeSchema>,
    /// What to send. For `form` a text like `a=1&b=2` or an object, for `json` a value or a text that
    /// holds one, for `xml` a well-formed text or an object that is written as XML.
    #[schema(required = false)]
    data: AnyJson,
    /// The URL to call after a success: GET, without data, with notices of its own.
    callback_url: Option<String>,
    /// What an answer must contain to be a success; empty: any 2xx will do. `success` if left out.
    success_flag: Option<String>,
    /// The waits between notices; four of 600 s if left out.
    notice_interval: Option<Vec<Duration>>,
    /// Most notices, 1 to 1000; one more than there are waits if left out. The last wait repeats.
    #[schema(minimum = 1, maximum = 1000)]
    max_notices: Option<u32>,
    /// Whether all notices are sent, also after one has succeeded.
    enforce_repeat_notice: Option<bool>,
    /// Headers to send, at most 64 and 16 KiB. Not Host, Content-Length, Transfer-Encoding,
    /// Connection, nor `webhook-*`.
    headers: Option<BTreeMap<String, String>>,
    /// The time one notice may take, at most 1 h; the queue's if left out.
    timeout: Option<Duration>,
    /// Whether redirects are followed; they are not if left out.
    follow_redirects: Option<bool>,
}

/// How a notice calls its URL.
#[derive(ToSchema)]
#[schema(as = NoticeMethod, rename_all = "lowercase")]
pub(crate) enum NoticeMethodSchema {
    Post,
    Get,
}

/// How the data of a notice is written.
#[derive(ToSchema)]
#[schema(as = ContentType, rename_all = "lowercase")]
pub(crate) enum ContentTypeSchema {
    Form,
    Json,
    Xml,
}

/// Where a notice stands.
#[derive(ToSchema)]
#[schema(as = NoticeState, rename_all = "lowercase")]
pub(crate) enum NoticeStateSchema {
    Waiting,
    Delivering,
    Succeeded,
    Exhausted,
    Cancelled,
}

#[cfg(test)]
mod tests {
    use punctual_core::notice::{Message, NoticeState};
    use utoipa::PartialSchema;

    use super::super::tests::{described, taken};
    use super::*;

    #[test]
    fn every_field_is_described() {
        let mut taken = taken::<Message>();
        // Spelled right only; and a new message carries nothing the server counts.
        for field in [
            "callbak_url",
            "enforce_repeate_notice",
            "notice_count",
            "notice_time",
            "notice_data",
            "success_id",
        ] {
            assert!(taken.remove(field), "{field}");
        }
        assert_eq!(described::<MessageSchema>(), taken);
        let schema = serde_json::to_value(NoticeStateSchema::schema()).unwrap();
        assert_eq!(schema["enum"], serde_json::json!(NoticeState::ALL.map(NoticeState::name)));
    }
}
