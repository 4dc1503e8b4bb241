//! Conditional changes: the tag of a thing as far as requests can change it, and what `If-Match` asks
//! of that.
//!
//! A tag covers what a PUT or PATCH can change, and neither counts nor states, so that it holds while
//! work goes on. It is made of the values themselves: every server over a store makes the same.

use std::fmt;
use std::hash::Hasher;

use serde::Serialize;
use siphasher::sip::SipHasher13;

use crate::error::{Invalid, Refusal};
use crate::http::HIDDEN;
use crate::json::RawJson;
use crate::plan::{Order, Plan};
use crate::queue::Settings;
use crate::retry::RetryPolicy;
use crate::task::Spec;
use crate::time::Timestamp;

const RULE: &str = "the ETag of a GET, in its quotes, or *";

/// The tag of a thing, as it stands in an `ETag` header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ETag(String);

/// The condition of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IfMatch {
    /// The thing exists.
    Any,
    /// The thing has one of these tags.
    OneOf(Vec<ETag>),
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ETag {
    /// The tag of values without secrets.
    fn of(shown: &impl Serialize) -> Self {
        Self(format!("\"{:016x}\"", hash(shown)))
    }

    /// The tag of values with secrets. A reader of the tag could check guesses at a secret against it, so
    /// only 16 bits depend on secrets: enough to notice a change, too few to tell which.
    fn guarded(shown: &impl Serialize, whole: &impl Serialize) -> Self {
        Self(format!("\"{:016x}{:04x}\"", hash(shown), hash(whole) & 0xffff))
    }
}

fn hash(value: &impl Serialize) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(RawJson::of(value).as_str().as_bytes());
    hasher.finish()
}

impl IfMatch {
    /// Reads the value of the header. A weak tag counts as the tag itself: a proxy that compresses makes
    /// one of it.
    pub fn parse(value: &str) -> Result<Self, Invalid> {
        if value.trim() == "*" {
            return Ok(Self::Any);
        }
        let tag = |item: &str| {
            let item = item.trim();
            let quoted = item.strip_prefix("W/").unwrap_or(item);
            let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
            (!inner.contains('"')).then(|| ETag(quoted.to_owned()))
        };
        let tags: Option<Vec<ETag>> = value.split(',').map(tag).collect();
        tags.map(Self::OneOf).ok_or_else(|| Invalid::new("If-Match", RULE))
    }

    /// Refuses a change of a thing that has another tag, or that is not there.
    pub fn check(&self, current: Option<&ETag>) -> Result<(), Refusal> {
        let is_met = match (self, current) {
            (_, None) => false,
            (Self::Any, Some(_)) => true,
            (Self::OneOf(tags), Some(current)) => tags.contains(current),
        };
        if is_met { Ok(()) } else { Err(Refusal::Changed) }
    }
}

impl Settings {
    /// The tag of a queue: all its settings. `also` names secret headers besides those that always are.
    pub fn etag(&self, also: &[String]) -> ETag {
        let secret = if self.secret.is_empty() { vec![] } else { vec![HIDDEN.to_owned()] };
        let headers = self.headers.hidden(also);
        ETag::guarded(&Self { secret, headers, ..self.clone() }, self)
    }
}

impl Plan {
    /// The tag of a plan: its rule, and what it was given besides.
    pub fn etag(&self, also: &[String]) -> ETag {
        let order = &self.order;
        let shown = Order {
            http: order.http.clone().map(|http| http.hidden(also)),
            callback: order.callback.clone().map(|callback| callback.hidden(also)),
            ..order.clone()
        };
        ETag::guarded(&(&shown, self.rule.fields()), &(order, self.rule.fields()))
    }
}

impl Spec {
    /// The tag of a task: what an edit can change.
    pub fn etag(&self) -> ETag {
        #[derive(Serialize)]
        struct Editable<'a> {
            payload: &'a RawJson,
            due_at: Timestamp,
            priority: i8,
            tags: &'a [String],
            retry: &'a Option<RetryPolicy>,
            expires: Option<Timestamp>,
        }
        ETag::of(&Editable {
            payload: &self.payload,
            due_at: self.due_at,
            priority: self.priority,
            tags: &self.tags,
            retry: &self.retry,
            expires: self.expires,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::QueueName;
    use crate::queue::SettingsPatch;

    fn settings(json: &str) -> Settings {
        let patch: SettingsPatch = serde_json::from_str(json).unwrap();
        patch.apply(&Settings::default(), &QueueName::parse("q").unwrap()).unwrap()
    }

    #[test]
    fn a_condition_is_a_star_or_tags_in_quotes() {
        let tag = |text: &str| ETag(text.to_owned());
        assert_eq!(IfMatch::parse(" * "), Ok(IfMatch::Any));
        let two = IfMatch::OneOf(vec![tag("\"a\""), tag("\"b\"")]);
        assert_eq!(IfMatch::parse("\"a\", W/\"b\""), Ok(two.clone()));
        for bad in ["", "a", "\"a", "\"a\",", "\"a\"b\""] {
            assert_eq!(IfMatch::parse(bad).unwrap_err().field, "If-Match", "{bad}");
        }
        assert_eq!(two.check(Some(&tag("\"b\""))), Ok(()));
        assert_eq!(two.check(Some(&tag("\"c\""))), Err(Refusal::Changed));
        assert_eq!(two.check(None), Err(Refusal::Changed));
        assert_eq!(IfMatch::Any.check(Some(&tag("\"c\""))), Ok(()));
        assert_eq!(IfMatch::Any.check(None), Err(Refusal::Changed));
    }

    #[test]
    fn a_tag_changes_with_every_setting_and_tells_little_of_secrets() {
        let first = settings("{}").etag(&[]);
        assert_eq!(first, settings("{}").etag(&[]));
        for other in [r#"{"hold":31}"#, r#"{"tag":"x"}"#, r#"{"keep":{"done":1}}"#] {
            assert_ne!(first, settings(other).etag(&[]), "{other}");
        }
        let [one, two] = ["one", "two"].map(|secret| {
            settings(&format!(r#"{{"secret":"{secret}","headers":{{"x-mine":"{secret}"}}}}"#))
        });
        let also = ["x-mine".to_owned()];
        let [one, two] = [one, two].map(|it| it.etag(&also).to_string());
        assert_ne!(one, two);
        assert_eq!(one[..17], two[..17], "all but the last digits are of what can be read");
    }
}
