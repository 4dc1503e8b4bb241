//! Values on the command line, read and checked before anything is sent.

use punctual_client::{
    Callback, FlowState, HttpTarget, NoticeState, OnError, PlanState, RawJson, RetryPolicy, Span,
    State, Timestamp,
};
use punctual_store::{Clock, SystemClock};
use serde::Deserialize;
use serde::de::value::StrDeserializer;

/// A length of time.
pub(crate) fn span(text: &str) -> Result<Span, &'static str> {
    Span::parse(text).ok_or("expected seconds, or a duration like 90s, 10m, 1h30m, 7d")
}

/// A point in time.
pub(crate) fn time(text: &str) -> Result<Timestamp, &'static str> {
    Timestamp::parse(text).ok_or("expected a time like 2026-11-15T06:50:28Z, or Unix seconds")
}

/// A point in time, or how long ago it was.
pub(crate) fn since(text: &str) -> Result<Timestamp, &'static str> {
    let ago = || Some(SystemClock::new().now().wall - Span::parse(text)?);
    Timestamp::parse(text)
        .or_else(ago)
        .ok_or("expected a time like 2026-11-15T06:50:28Z, or how long ago, like 90s, 10m, 2h, 7d")
}

/// Any JSON value, kept to the letter.
pub(crate) fn json(text: &str) -> Result<RawJson, String> {
    RawJson::parse(text)
        .map_err(|error| format!("not JSON: {error}; text needs quotes of its own: '\"text\"'"))
}

/// The waits between attempts.
pub(crate) fn retry(text: &str) -> Result<RetryPolicy, String> {
    serde_json::from_str(text).map_err(|error| {
        format!(
            "{error}; expected '{{\"intervals\":[5,60]}}' or '{{\"first\":\"5s\",\"factor\":2}}'"
        )
    })
}

/// A task's state.
pub(crate) fn state(text: &str) -> Result<State, String> {
    State::parse(text).ok_or_else(|| {
        let names: Vec<_> = State::ALL.iter().map(|state| state.name()).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// A notice's state.
pub(crate) fn notice_state(text: &str) -> Result<NoticeState, String> {
    let names = || NoticeState::ALL.map(NoticeState::name).join(", ");
    NoticeState::parse(text).ok_or_else(|| format!("expected one of {}", names()))
}

/// A plan's state.
pub(crate) fn plan_state(text: &str) -> Result<PlanState, String> {
    let named = PlanState::ALL.into_iter().find(|state| state.name() == text);
    let names = || PlanState::ALL.map(PlanState::name).join(", ");
    named.ok_or_else(|| format!("expected one of {}", names()))
}

/// A plan's policy for failed runs: a word, or a number of failures in a row.
pub(crate) fn on_error(text: &str) -> Result<OnError, &'static str> {
    match text {
        "stop" => Ok(OnError::Stop),
        "continue" => Ok(OnError::Continue),
        number => number.parse().map(OnError::StopAfter).map_err(
            |_| "expected stop, continue, or a number of failures in a row after which it stops",
        ),
    }
}

/// A flow's state.
pub(crate) fn flow_state(text: &str) -> Result<FlowState, String> {
    let named = FlowState::ALL.into_iter().find(|state| state.name() == text);
    let names = || FlowState::ALL.map(FlowState::name).join(", ");
    named.ok_or_else(|| format!("expected one of {}", names()))
}

/// Where something is delivered.
pub(crate) fn http(text: &str) -> Result<HttpTarget, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("{error}; expected '{{\"url\":\"https://example.com/hook\"}}'"))
}

/// A task to make when another ends. What is sent is what was written; here it is only checked.
pub(crate) fn callback(text: &str) -> Result<Callback, String> {
    serde_json::from_str::<punctual_core::Callback>(text)
        .and_then(|_| serde_json::from_str(text))
        .map_err(|error| {
            format!("{error}; expected '{{\"on\":[\"failed\"],\"queue\":\"alerts\"}}'")
        })
}

/// One of a few words.
pub(crate) fn word<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, String> {
    let words = StrDeserializer::<serde::de::value::Error>::new(text);
    T::deserialize(words).map_err(|error| error.to_string())
}

/// `NAME: VALUE`.
pub(crate) fn header(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once(':').ok_or("expected NAME: VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// `FIELD=VALUE`: the value is JSON, or else text; nothing after the `=` means `null`.
pub(crate) fn setting(text: &str) -> Result<(String, RawJson), &'static str> {
    let (field, value) = text
        .split_once('=')
        .filter(|(field, _)| !field.is_empty())
        .ok_or("expected FIELD=VALUE, for instance hold=60s")?;
    let value = match value {
        "" => RawJson::null(),
        value => RawJson::parse(value).unwrap_or_else(|_| RawJson::of(value)),
    };
    Ok((field.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_json_or_else_text() {
        for (text, field, value) in [
            ("hold=60s", "hold", "\"60s\""),
            ("max=10", "max", "10"),
            ("max=", "max", "null"),
            ("retry={\"first\": 1}", "retry", "{\"first\": 1}"),
            ("tag=a=b", "tag", "\"a=b\""),
        ] {
            let (read, json) = setting(text).unwrap();
            assert_eq!((read.as_str(), json.as_str()), (field, value));
        }
        assert!(setting("hold").is_err());
        assert!(since("2h").unwrap() < SystemClock::new().now().wall);
        assert_eq!(since("2026-11-15T06:50:28Z"), time("2026-11-15T06:50:28Z"));
        assert!(since("tomorrow").is_err());
        for bad in ["{\"queu\":\"x\"}", "{\"on\":[\"running\"],\"queue\":\"x\"}", "x", "[]"] {
            assert!(callback(bad).is_err(), "{bad}");
        }
        assert!(setting("=1").is_err());
    }
}
