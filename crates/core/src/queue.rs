//! A queue's record: its settings, whether it is paused.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::error::{Invalid, Refusal, check_size};
use crate::http::{
    HIDDEN, Headers, Reach, Secret, TargetUrl, check_timeout, give_again, is_same_origin,
};
use crate::limits::{TAG_BYTES_MAX, TEXT_BYTES_MAX};
use crate::name::QueueName;
use crate::object::objects_only;
use crate::patch::Patch;
use crate::retry::{MaxAttempts, RetryPolicy};
use crate::task::State;
use crate::time::{Span, Timestamp};

const SECRETS_MAX: usize = 5;

/// A queue as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Queue {
    /// Its name.
    pub name: QueueName,
    /// Its settings.
    pub settings: Settings,
    /// Whether nothing is handed out.
    pub paused: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Who carries out a queue's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Mode {
    /// Workers take tasks.
    Pull,
    /// The server assigns tasks to registered workers.
    Dispatch,
    /// The server calls a URL.
    Http,
    /// Every registered worker answers.
    Vote,
    /// Broadcast to whoever listens.
    Pub,
}

impl Mode {
    /// Its name in the interface.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The order among ready tasks of one priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// By the moment they became ready, then in push order.
    Fifo,
    /// At random.
    Random,
}

/// A token bucket: bursts of `limit`, refilled evenly over `per`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Rate {
    /// Tasks handed out at most.
    pub limit: u32,
    /// In this time.
    pub per: Span,
}

/// How long finished tasks stay readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keep {
    /// Those that are done.
    pub done: Span,
    /// Those that failed.
    pub failed: Span,
    /// Those that were cancelled.
    pub cancelled: Span,
}

impl Default for Keep {
    fn default() -> Self {
        Self { done: Span::ZERO, failed: Span::from_secs(7 * 86_400), cancelled: Span::ZERO }
    }
}

impl Keep {
    /// How long a task that ended in `state` stays readable.
    pub fn of(&self, state: State) -> Span {
        match state {
            State::Done => self.done,
            State::Failed => self.failed,
            _ => self.cancelled,
        }
    }
}

/// What becomes of a bundle that was scheduled but never got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Abandoned {
    /// It is kept as failed.
    Fail,
    /// It is dropped.
    Drop,
}

/// A queue's settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Who carries out its tasks.
    pub mode: Mode,
    /// A label to tell queues apart.
    pub tag: Option<String>,
    /// Most live tasks.
    pub max: Option<u64>,
    /// How long a taken task is held before it counts as lost.
    pub hold: Span,
    /// How long a worker has to confirm.
    pub confirm_within: Span,
    /// Takes before a task is failed.
    pub max_attempts: MaxAttempts,
    /// The longest a task may be held in one attempt, however often its holder extends.
    #[serde(default)]
    pub max_runtime: Option<Span>,
    /// When to try again.
    pub retry: RetryPolicy,
    /// The order among ready tasks of one priority.
    pub order: Order,
    /// Most tasks held at once.
    pub concurrency: Option<u32>,
    /// Most tasks handed out in a time.
    pub rate: Option<Rate>,
    /// How long finished tasks stay readable.
    pub keep: Keep,
    /// Target of tasks that name none.
    pub url: Option<String>,
    /// Headers sent to that target.
    pub headers: Headers,
    /// Secrets that sign what is sent there.
    pub secret: Vec<String>,
    /// The time one delivery may take.
    pub timeout: Span,
    /// After how long a scheduled bundle counts as abandoned.
    pub abandon_after: Option<Span>,
    /// What becomes of it then.
    pub abandoned: Abandoned,
    /// The access token whose request made the queue, by its hash; no request changes it. None: there
    /// were no tokens, or the server made it.
    pub made_by: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: Mode::Pull,
            tag: None,
            max: None,
            hold: Span::from_secs(30),
            confirm_within: Span::from_secs(10),
            max_attempts: MaxAttempts::default(),
            max_runtime: None,
            retry: RetryPolicy::default(),
            order: Order::Fifo,
            concurrency: None,
            rate: None,
            keep: Keep::default(),
            url: None,
            headers: Headers::default(),
            secret: Vec::new(),
            timeout: Span::from_secs(30),
            abandon_after: None,
            abandoned: Abandoned::Fail,
            made_by: None,
        }
    }
}

impl Settings {
    /// The settings a queue of this name starts with, and `null` resets to.
    pub fn initial(name: &QueueName) -> Self {
        let mut settings = Self::default();
        if name.is_built_in() {
            settings.mode = Mode::Http;
        }
        if name.as_str() == "notices" {
            // Whoever sends a notice reads what became of it.
            let day = Span::from_secs(86_400);
            settings.keep = Keep { done: day, cancelled: day, ..settings.keep };
            settings.retry = RetryPolicy::Intervals(vec![Span::from_secs(600); 4]);
        }
        settings
    }
}

/// A request to change settings: what is left out stays, `null` resets.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SettingsPatch {
    /// See [`Settings::mode`].
    pub mode: Patch<Mode>,
    /// See [`Settings::tag`].
    pub tag: Patch<String>,
    /// See [`Settings::max`].
    pub max: Patch<u64>,
    /// See [`Settings::hold`].
    pub hold: Patch<Span>,
    /// See [`Settings::confirm_within`].
    pub confirm_within: Patch<Span>,
    /// See [`Settings::max_attempts`].
    pub max_attempts: Patch<MaxAttempts>,
    /// See [`Settings::max_runtime`].
    pub max_runtime: Patch<Span>,
    /// See [`Settings::retry`].
    pub retry: Patch<RetryPolicy>,
    /// See [`Settings::order`].
    pub order: Patch<Order>,
    /// See [`Settings::concurrency`].
    pub concurrency: Patch<u32>,
    /// See [`Settings::rate`].
    pub rate: Patch<Rate>,
    /// See [`Settings::keep`].
    pub keep: Patch<KeepPatch>,
    /// See [`Settings::url`].
    pub url: Patch<String>,
    /// See [`Settings::headers`].
    pub headers: Patch<Headers>,
    /// See [`Settings::secret`].
    pub secret: Patch<Secrets>,
    /// See [`Settings::timeout`].
    pub timeout: Patch<Span>,
    /// See [`Settings::abandon_after`].
    pub abandon_after: Patch<Span>,
    /// See [`Settings::abandoned`].
    pub abandoned: Patch<Abandoned>,
}

/// A change of [`Keep`]: what is left out stays.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub struct KeepPatch {
    /// See [`Keep::done`].
    pub done: Patch<Span>,
    /// See [`Keep::failed`].
    pub failed: Patch<Span>,
    /// See [`Keep::cancelled`].
    pub cancelled: Patch<Span>,
}

objects_only! { Rate with serialize }
objects_only! { KeepPatch }

/// One secret or several.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Secrets {
    /// One.
    One(String),
    /// Several, the newest first.
    Many(Vec<String>),
}

impl SettingsPatch {
    /// Refuses to keep secrets for a URL of another origin than before, or somebody who cannot read
    /// them could have them sent to himself. `also`: names of secret headers besides those that always
    /// are. A URL may be removed: what is kept then goes nowhere, until it is given again.
    pub fn check_origin(
        &self,
        before: &Settings,
        after: &Settings,
        also: &[String],
    ) -> Result<(), Invalid> {
        let Some(url) = &after.url else { return Ok(()) };
        if before.url.as_ref().is_some_and(|before| is_same_origin(url, before)) {
            return Ok(());
        }
        let header = match &self.headers {
            Patch::Keep => before.headers.first_secret(also),
            Patch::Reset => None,
            Patch::Set(headers) => headers.first_hidden_of(&before.headers),
        };
        if let Some(name) = header {
            return Err(give_again("headers", name));
        }
        let is_kept = match &self.secret {
            Patch::Keep => true,
            Patch::Reset => false,
            Patch::Set(Secrets::One(secret)) => secret == HIDDEN,
            Patch::Set(Secrets::Many(secrets)) => secrets.iter().any(|secret| secret == HIDDEN),
        };
        if is_kept && !before.secret.is_empty() {
            return Err(give_again("secret", "secret"));
        }
        Ok(())
    }

    /// The settings after the patch, every field checked.
    pub fn apply(self, current: &Settings, name: &QueueName) -> Result<Settings, Refusal> {
        let initial = Settings::initial(name);
        let now = current.clone();
        let settings = Settings {
            mode: self.mode.apply(now.mode, initial.mode),
            tag: self.tag.apply_optional(now.tag),
            max: self.max.apply_optional(now.max),
            hold: self.hold.apply(now.hold, initial.hold),
            confirm_within: self.confirm_within.apply(now.confirm_within, initial.confirm_within),
            max_attempts: self.max_attempts.apply(now.max_attempts, initial.max_attempts),
            max_runtime: self.max_runtime.apply_optional(now.max_runtime),
            retry: self.retry.apply(now.retry, initial.retry),
            order: self.order.apply(now.order, initial.order),
            concurrency: self.concurrency.apply_optional(now.concurrency),
            rate: self.rate.apply_optional(now.rate),
            keep: match self.keep {
                Patch::Keep => now.keep,
                Patch::Reset => initial.keep,
                Patch::Set(keep) => Keep {
                    done: keep.done.apply(now.keep.done, initial.keep.done),
                    failed: keep.failed.apply(now.keep.failed, initial.keep.failed),
                    cancelled: keep.cancelled.apply(now.keep.cancelled, initial.keep.cancelled),
                },
            },
            url: self.url.apply_optional(now.url),
            headers: match self.headers {
                Patch::Set(headers) => headers.unhidden(&now.headers),
                other => other.apply(now.headers, initial.headers),
            },
            secret: match self.secret {
                Patch::Keep => now.secret,
                Patch::Reset => Vec::new(),
                Patch::Set(Secrets::One(secret)) => unhidden(vec![secret], &now.secret),
                Patch::Set(Secrets::Many(secrets)) => unhidden(secrets, &now.secret),
            },
            timeout: self.timeout.apply(now.timeout, initial.timeout),
            abandon_after: self.abandon_after.apply_optional(now.abandon_after),
            abandoned: self.abandoned.apply(now.abandoned, initial.abandoned),
            made_by: now.made_by,
        };
        settings.check(current, name)?;
        Ok(settings)
    }
}

/// Secrets with the hidden form standing for all there were, so that a new one can be added to them.
fn unhidden(secrets: Vec<String>, before: &[String]) -> Vec<String> {
    let secret = |secret| if secret == HIDDEN { before.to_vec() } else { vec![secret] };
    secrets.into_iter().flat_map(secret).collect()
}

impl Settings {
    /// The longest an attempt at a task may hold it, where the task asks for a limit of its own or not. Calls
    /// of a URL are limited by their time-out instead.
    pub fn max_runtime_of(&self, task: Option<Span>) -> Option<Span> {
        task.or(self.max_runtime).filter(|_| self.mode != Mode::Http)
    }

    /// Where its tasks go that name no URL of their own.
    pub fn target(&self) -> Option<TargetUrl> {
        TargetUrl::parse("url", self.url.as_ref()?).ok()
    }

    /// Refuses a URL with an address that deliveries may not go to.
    pub fn check_reach(&self, reach: &Reach) -> Result<(), Refusal> {
        match &self.url {
            Some(url) => Ok(TargetUrl::parse("url", url)?.check_reach("url", reach)?),
            None => Ok(()),
        }
    }

    fn check(&self, before: &Self, name: &QueueName) -> Result<(), Refusal> {
        if self.mode != before.mode && name.is_built_in() {
            return Err(Invalid::new("mode", "a built-in queue is of mode http").into());
        }
        if let Some(tag) = &self.tag {
            check_size("tag", tag.len(), TAG_BYTES_MAX)?;
        }
        for (field, span) in [
            ("hold", self.hold),
            ("confirm_within", self.confirm_within),
            ("max_runtime", self.max_runtime.unwrap_or(Span::MAX)),
            ("abandon_after", self.abandon_after.unwrap_or(Span::MAX)),
            ("rate", self.rate.map_or(Span::MAX, |rate| rate.per)),
        ] {
            if span.is_zero() {
                return Err(Invalid::new(field, "longer than 0").into());
            }
        }
        for (field, count) in [
            ("max", self.max),
            ("concurrency", self.concurrency.map(u64::from)),
            ("rate", self.rate.map(|rate| u64::from(rate.limit))),
        ] {
            if count.is_some_and(|count| count == 0 || i64::try_from(count).is_err()) {
                return Err(Invalid::new(field, "a whole number from 1 to 2^63 - 1").into());
            }
        }
        check_timeout(self.timeout)?;
        if let Some(url) = &self.url {
            TargetUrl::parse("url", url)?;
        }
        self.headers.check()?;
        if self.secret.len() > SECRETS_MAX {
            return Err(Invalid::new("secret", "at most 5 secrets").into());
        }
        for secret in &self.secret {
            check_size("secret", secret.len(), TEXT_BYTES_MAX)?;
            Secret::parse(secret)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(json: &str) -> SettingsPatch {
        serde_json::from_str(json).unwrap()
    }

    fn name() -> QueueName {
        QueueName::parse("q").unwrap()
    }

    #[test]
    fn what_is_left_out_stays_and_null_resets() {
        let first = patch(r#"{"hold":5,"tag":"a","keep":{"done":"1h"},"max":3}"#)
            .apply(&Settings::default(), &name())
            .unwrap();
        let second = patch(r#"{"hold":null,"keep":{"failed":0},"max":null}"#)
            .apply(&first, &name())
            .unwrap();
        assert_eq!(second.hold, Span::from_secs(30));
        assert_eq!(second.tag.as_deref(), Some("a"));
        assert_eq!((second.keep.done, second.keep.failed), (Span::from_secs(3_600), Span::ZERO));
        assert_eq!(second.max, None);
    }

    #[test]
    fn bad_settings_name_their_field() {
        for (json, field) in [
            (r#"{"hold":0}"#, "hold"),
            (r#"{"max":0}"#, "max"),
            (r#"{"max":9223372036854775808}"#, "max"),
            (r#"{"concurrency":0}"#, "concurrency"),
            (r#"{"rate":{"limit":0,"per":1}}"#, "rate"),
            (r#"{"rate":{"limit":1,"per":0}}"#, "rate"),
            (r#"{"url":"ftp://x"}"#, "url"),
            (r#"{"url":"http://u:p@x/"}"#, "url"),
            (r#"{"url":"http://x/\r\n"}"#, "url"),
            (r#"{"headers":{"Host":"x"}}"#, "headers"),
            (r#"{"headers":{"a":"x\r\ny: z"}}"#, "headers"),
            (r#"{"headers":{"a b":"x"}}"#, "headers"),
            (r#"{"secret":["1","2","3","4","5","6"]}"#, "secret"),
            (r#"{"secret":""}"#, "secret"),
            (r#"{"secret":"whsk_abc"}"#, "secret"),
            (r#"{"timeout":0}"#, "timeout"),
            (r#"{"timeout":"61m"}"#, "timeout"),
            (r#"{"headers":{"webhook-id":"x"}}"#, "headers"),
        ] {
            let refusal = patch(json).apply(&Settings::default(), &name()).unwrap_err();
            assert!(refusal.to_string().starts_with(field), "{json}: {refusal}");
        }
    }

    #[test]
    fn secrets_are_not_overwritten_by_their_hidden_form() {
        let first = patch(r#"{"secret":"s","headers":{"Authorization":"b","x":"1"}}"#)
            .apply(&Settings::default(), &name())
            .unwrap();
        assert_eq!(first.headers.shown(&[])["authorization"], HIDDEN);
        let second = patch(r#"{"secret":"***","headers":{"authorization":"***","x":"2"}}"#)
            .apply(&first, &name())
            .unwrap();
        assert_eq!(second.secret, first.secret);
        assert_eq!(second.headers.shown(&[])["x"], "2");
        assert_ne!(second.headers, first.headers);
        let third = patch(r#"{"secret":["new","***"]}"#).apply(&second, &name()).unwrap();
        assert_eq!(third.secret, ["new", "s"]);
    }

    #[test]
    fn secrets_are_kept_for_their_origin_only() {
        let also = ["X-Mine".to_owned()];
        let start = patch(
            r#"{"url":"https://a.example/","secret":"s",
                "headers":{"authorization":"b","x-mine":"c","x":"1"}}"#,
        );
        let before = start.apply(&Settings::default(), &name()).unwrap();
        let verdict = |before: &Settings, json: &str| {
            let patch = patch(json);
            let after = patch.clone().apply(before, &name()).unwrap();
            patch.check_origin(before, &after, &also).map_err(|invalid| invalid.field)
        };
        for (json, expected) in [
            (r#"{"url":"https://a.example/other"}"#, Ok(())),
            (r#"{"url":null}"#, Ok(())),
            (r#"{"url":"https://b.example/"}"#, Err("headers")),
            (r#"{"url":"http://a.example/","secret":"t"}"#, Err("headers")),
            (
                r#"{"url":"https://b.example/","headers":{"x-mine":"***"},"secret":"t"}"#,
                Err("headers"),
            ),
            (r#"{"url":"https://b.example/","headers":null}"#, Err("secret")),
            (r#"{"url":"https://b.example/","headers":{},"secret":"***"}"#, Err("secret")),
            (r#"{"url":"https://b.example/","headers":{},"secret":["t","***"]}"#, Err("secret")),
            (r#"{"url":"https://b.example/","headers":null,"secret":null}"#, Ok(())),
            (
                r#"{"url":"https://b.example/","headers":{"authorization":"d"},"secret":"t"}"#,
                Ok(()),
            ),
        ] {
            let found = verdict(&before, json);
            assert_eq!(
                found.as_ref().map_err(|field| &**field),
                expected.as_ref().map_err(|it| *it),
                "{json}"
            );
        }
        // Removing the URL first is no way around it.
        let bare = patch(r#"{"url":null}"#).apply(&before, &name()).unwrap();
        assert!(verdict(&bare, r#"{"url":"https://b.example/"}"#).is_err());
        let plain = patch(r#"{"url":"https://a.example/","headers":{"x":"1"}}"#);
        let plain = plain.apply(&Settings::default(), &name()).unwrap();
        assert_eq!(verdict(&plain, r#"{"url":"https://b.example/"}"#), Ok(()));
    }

    #[test]
    fn a_private_url_is_refused_where_it_is_not_reached() {
        let private = patch(r#"{"url":"http://10.1/"}"#).apply(&Settings::default(), &name());
        let private = private.unwrap();
        assert!(private.check_reach(&Reach::public()).is_err());
        assert_eq!(private.check_reach(&Reach::everywhere()), Ok(()));
        assert_eq!(Settings::default().check_reach(&Reach::public()), Ok(()));
    }
}
