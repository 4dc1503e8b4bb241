//! Messages: every field that may be wrong, by name.
#![expect(clippy::unwrap_used, reason = "a test may stop where its story cannot be told")]

use punctual_core::http::Reach;
use punctual_core::notice::{ContentType, Message, NoticeMethod, NoticeSettings};
use punctual_core::{NewTask, Refusal, Span};

fn task(json: &str, reach: &Reach) -> Result<NewTask, Refusal> {
    let message: Message = serde_json::from_str(json).unwrap();
    message.into_task(&NoticeSettings::default(), reach)
}

#[test]
fn bad_messages_name_their_field() {
    let long = "x".repeat(5_000);
    for (json, field) in [
        ("{}", "url"),
        (r#"{"url":"x"}"#, "url"),
        (r#"{"url":"ftp://x/"}"#, "url"),
        (r#"{"url":"http://u:p@x/"}"#, "url"),
        (r#"{"url":"http://x/\r\n"}"#, "url"),
        (r#"{"url":"http://127.1/"}"#, "url"),
        (r#"{"url":"http://x/","callback_url":"x"}"#, "callback_url"),
        (r#"{"url":"http://x/","callbak_url":"http://localhost/"}"#, "callback_url"),
        (r#"{"url":"http://x/","headers":{"a":"b\r\nc"}}"#, "headers"),
        (r#"{"url":"http://x/","headers":{"Host":"y"}}"#, "headers"),
        (r#"{"url":"http://x/","timeout":0}"#, "timeout"),
        (r#"{"url":"http://x/","max_notices":0}"#, "max_notices"),
        (r#"{"url":"http://x/","max_notices":1001}"#, "max_notices"),
        (r#"{"url":"http://x/","max_notices":2,"notice_interval":[]}"#, "max_notices"),
        (r#"{"url":"http://x/","content_type":"xml","data":"<a>"}"#, "data"),
        (r#"{"url":"http://x/","content_type":"xml"}"#, "data"),
        (
            r#"{"url":"http://x/","content_type":"xml","http_method":"get","data":"<a/>"}"#,
            "http_method",
        ),
        (r#"{"url":"http://x/","content_type":"json","data":"no json"}"#, "data"),
        (r#"{"url":"http://x/","content_type":"json","http_method":"get","data":[1]}"#, "data"),
        (r#"{"url":"http://x/","data":7}"#, "data"),
        (r#"{"url":"http://x/","notice_count":5}"#, "notice_count"),
        (r#"{"url":"http://x/","notice_count":1,"success_id":2}"#, "success_id"),
        (&format!(r#"{{"url":"http://x/","success_flag":"{long}"}}"#), "success_flag"),
    ] {
        let refusal = task(json, &Reach::public()).unwrap_err().to_string();
        assert!(refusal.starts_with(&format!("{field}: ")), "{json}: {refusal}");
    }
    let large = format!(r#"{{"url":"http://x/","data":"{}"}}"#, "x".repeat(1 << 20));
    let refusal = task(&large, &Reach::public()).unwrap_err();
    assert!(matches!(refusal, Refusal::TooLarge { field: "data", .. }));
    let many = vec!["1"; 1_000].join(",");
    let many = format!(r#"{{"url":"http://x/","notice_interval":[{many}]}}"#);
    assert!(
        task(&many, &Reach::public()).unwrap_err().to_string().starts_with("notice_interval: ")
    );
}

#[test]
fn what_is_no_message_is_not_read() {
    for (json, part) in [
        (r#"{"url":1}"#, "string"),
        (r#"{"url":"http://x/","colour":1}"#, "colour"),
        (r#"{"http_method":"put"}"#, "put"),
        (r#"{"content_type":"text"}"#, "text"),
        (r#"{"notice_interval":5}"#, "sequence"),
        (r#"{"notice_interval":[-1]}"#, ""),
        (r#"{"max_notices":-1}"#, ""),
        (r#"{"enforce_repeat_notice":"yes"}"#, "boolean"),
        (r#"{"headers":{"a":1}}"#, "string"),
        (r#"{"callback_url":"http://x/","callbak_url":"http://x/"}"#, "callback_url"),
        (
            r#"{"enforce_repeate_notice":true,"enforce_repeat_notice":true}"#,
            "enforce_repeat_notice",
        ),
        (r#"["http://x/"]"#, "object"),
    ] {
        let error = serde_json::from_str::<Message>(json).unwrap_err().to_string();
        assert!(error.contains(part), "{json}: {error}");
    }
    for field in ["notice_count", "notice_time", "success_id", "notice_data"] {
        let message: Message = serde_json::from_str(&format!(r#"{{"{field}":1}}"#)).unwrap();
        let refusal = message.check_new().unwrap_err().to_string();
        assert!(refusal.starts_with(field), "{refusal}");
    }
    assert_eq!(Message::default().check_new(), Ok(()));
}

#[test]
fn defaults_may_be_set() {
    let settings = NoticeSettings {
        http_method: NoticeMethod::Get,
        content_type: ContentType::Json,
        success_flag: "ok".to_owned(),
        notice_interval: vec![Span::from_secs(1)],
        max_notices: Some(4),
        enforce_repeat_notice: true,
    };
    assert_eq!(settings.check(), Ok(()));
    let message: Message = serde_json::from_str(r#"{"url":"http://x/"}"#).unwrap();
    let new = message.into_task(&settings, &Reach::public()).unwrap();
    let (http, notice) = (new.http.unwrap(), new.notice.unwrap());
    assert_eq!(http.method.unwrap().name(), "GET");
    assert_eq!(http.success.unwrap().contains.as_deref(), Some("ok"));
    assert_eq!((notice.content_type, notice.enforce_repeat), (ContentType::Json, true));
    assert_eq!(new.max_attempts.unwrap().limit(), Some(4));
    let empty: Message = serde_json::from_str(r#"{"url":"http://x/","success_flag":""}"#).unwrap();
    let new = empty.into_task(&settings, &Reach::public()).unwrap();
    assert_eq!(new.http.unwrap().success.unwrap().needle(), None, "any 2xx");
    for (bad, field) in [
        (NoticeSettings { content_type: ContentType::Xml, ..settings.clone() }, "http_method"),
        (NoticeSettings { max_notices: Some(0), ..settings.clone() }, "max_notices"),
        (NoticeSettings { notice_interval: Vec::new(), ..settings }, "max_notices"),
    ] {
        assert!(bad.check().unwrap_err().to_string().starts_with(field));
    }
}
