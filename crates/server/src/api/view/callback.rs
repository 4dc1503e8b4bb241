//! How a task's callback reads.

use std::collections::BTreeMap;

use punctual_core::{Callback, RawJson};
use serde::Serialize;
use serde_json::value::RawValue;

use super::Viewing;

/// The members that are records themselves.
const RECORDS: [&str; 3] = ["callback", "http", "task"];

/// A callback as it was pushed: secret values of headers hidden, fields that were left out not shown.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct CallbackView(BTreeMap<String, RawJson>);

impl CallbackView {
    /// A callback as it may be read.
    pub(super) fn new(callback: &Callback, viewing: Viewing<'_>) -> Self {
        let hidden = RawJson::of(&callback.clone().hidden(viewing.secret_headers));
        Self(members(hidden.as_str()))
    }
}

/// Returns the members of a record that are not null.
fn members(record: &str) -> BTreeMap<String, RawJson> {
    let all: BTreeMap<String, &RawValue> =
        serde_json::from_str(record).expect("a record is written as an object");
    let given = all.into_iter().filter(|(_, value)| value.get() != "null");
    given
        .map(|(name, value)| {
            let value = match RECORDS.contains(&name.as_str()) {
                true => RawJson::of(&members(value.get())),
                false => RawJson::stored(value.get()),
            };
            (name, value)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use punctual_core::Timestamp;

    use super::*;

    #[test]
    fn only_given_fields_are_shown_and_secrets_are_not() {
        let pushed = r#"{"on":["failed"],"queue":"after","task":{"payload":{"a":null,"b":1e400},
            "callback":{"http":{"url":"http://x/","headers":{"Authorization":"hush","x-mine":"hush"}}}}}"#;
        let callback: Callback = serde_json::from_str(pushed).unwrap();
        let viewing = Viewing { now: Timestamp::default(), secret_headers: &["x-mine".to_owned()] };
        let shown = serde_json::to_string(&CallbackView::new(&callback, viewing)).unwrap();
        assert_eq!(
            shown,
            concat!(
                r#"{"on":["failed"],"queue":"after","task":{"callback":{"http":{"follow_redirects":false,"#,
                r#""headers":{"authorization":"***","x-mine":"***"},"url":"http://x/"},"#,
                r#""on":["done","failed","cancelled"]},"payload":{"a":null,"b":1e400}}}"#
            )
        );
    }
}
