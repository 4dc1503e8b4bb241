//! What a request says about a plan, and the rules for it.

use serde::{Deserialize, Deserializer};

use super::{OnError, Order};
use crate::bundle::BundleKey;
use crate::calendar::{PlanTime, PlanType, Rule, RuleFields};
use crate::callback::Callback;
use crate::error::{Invalid, Refusal, check_size};
use crate::http::{HttpTarget, Reach};
use crate::json::RawJson;
use crate::limits::TEXT_BYTES_MAX;
use crate::name::{PlanId, QueueName};
use crate::object::objects_only;
use crate::patch::Patch;
use crate::retry::{MaxAttempts, RetryPolicy};
use crate::task::{NewTask, SettingsOf};
use crate::time::Span;

/// Results kept unless a plan says otherwise, and the most that can be.
const KEEP_RESULTS: u32 = 100;
const KEEP_RESULTS_MAX: u32 = 10_000;

/// A plan as a request gives it: what is left out stays, or has its default in a new plan.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub struct PlanPatch {
    /// Its id; generated if left out.
    pub plan_id: Option<GivenId>,
    /// The queue its runs are pushed to; required in a new plan.
    pub station: Option<QueueName>,
    /// Another name of `station`.
    pub queue: Option<QueueName>,
    /// See [`Order::request_id`].
    pub request_id: Patch<String>,
    /// See [`Order::caller`].
    pub caller: Patch<String>,
    /// See [`Order::description`].
    pub description: Patch<String>,
    /// See [`Order::message`].
    pub message: Patch<RawJson>,
    /// Another name of `message`.
    pub messages: Patch<RawJson>,
    /// See [`Order::http`].
    pub http: Patch<HttpTarget>,
    /// See [`Order::bundle_key`].
    pub bundle_key: Patch<String>,
    /// See [`Order::hold`].
    pub hold: Patch<Span>,
    /// See [`Order::max_attempts`].
    pub max_attempts: Patch<MaxAttempts>,
    /// See [`Order::retry`].
    pub retry: Patch<RetryPolicy>,
    /// See [`Order::priority`].
    pub priority: Patch<i32>,
    /// See [`Order::requires`].
    pub requires: Patch<Vec<String>>,
    /// See [`Order::tags`].
    pub tags: Patch<Vec<String>>,
    /// See [`Order::callback`].
    pub callback: Patch<Callback>,
    /// See [`Order::keep_results`].
    pub keep_results: Patch<u32>,
    /// See [`Order::on_error`].
    pub on_error: Patch<OnError>,
    /// See [`RuleFields::plan_type`].
    pub plan_type: Patch<PlanType>,
    /// See [`RuleFields::plan_value`].
    pub plan_value: Patch<i64>,
    /// See [`RuleFields::plan_time`].
    pub plan_time: Patch<PlanTime>,
    /// See [`RuleFields::plan_repet`].
    pub plan_repet: Patch<i64>,
    /// Another name of `plan_repet`.
    pub repeat: Patch<i64>,
    /// See [`RuleFields::no_keep`].
    pub no_keep: Patch<bool>,
    /// See [`RuleFields::timezone`].
    pub timezone: Patch<String>,
    /// See [`RuleFields::cron`].
    pub cron: Patch<String>,
}

objects_only! { PlanPatch }

/// An id as a request gives it: a text, or a whole number that is written in hex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenId(pub PlanId);

impl<'de> Deserialize<'de> for GivenId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrNumber;

        impl serde::de::Visitor<'_> for TextOrNumber {
            type Value = GivenId;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(
                    "1 to 90 characters of A-Z a-z 0-9 . _ : @ ~ -, or a whole number from 0",
                )
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<GivenId, E> {
                Ok(GivenId(PlanId::numbered(number)))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<GivenId, E> {
                let id = PlanId::parse(text).and_then(|id| id.check_new().map(|()| id));
                id.map(GivenId).map_err(|invalid| E::custom(invalid.rule))
            }
        }

        deserializer.deserialize_any(TextOrNumber)
    }
}

impl PlanId {
    /// The id that a number stands for: 16 hex digits.
    ///
    /// # Panics
    /// Never: digits follow the rule.
    pub fn numbered(number: u64) -> Self {
        Self::parse(&format!("{number:016x}")).expect("digits follow the rule for names")
    }
}

impl Default for Order {
    fn default() -> Self {
        Self {
            request_id: None,
            caller: None,
            description: None,
            message: RawJson::null(),
            http: None,
            bundle_key: None,
            hold: None,
            max_attempts: None,
            retry: None,
            priority: 0,
            requires: Vec::new(),
            tags: Vec::new(),
            callback: None,
            keep_results: KEEP_RESULTS,
            on_error: None,
        }
    }
}

impl PlanPatch {
    /// The same with every field under its first name. Both names of a field may be given, as a plan
    /// reads both, but not with different values.
    pub fn resolved(mut self) -> Result<Self, Invalid> {
        match (&self.station, self.queue.take()) {
            (Some(station), Some(queue)) if *station != queue => {
                return Err(Invalid::new("queue", "the same as station, or only one of them"));
            }
            (None, Some(queue)) => self.station = Some(queue),
            _ => {}
        }
        self.plan_repet = same_repeat(self.plan_repet, std::mem::take(&mut self.repeat))?;
        Ok(self)
    }

    /// The queues it names, those of callbacks among them.
    pub fn queues(&self) -> Vec<QueueName> {
        let callback = match &self.callback {
            Patch::Set(callback) => Some(Box::new(callback.clone())),
            Patch::Keep | Patch::Reset => None,
        };
        let task = NewTask { callback, ..NewTask::default() };
        self.station.iter().cloned().chain(task.makes_tasks_in()).collect()
    }

    /// What the plan is to do after the patch.
    pub fn order(&self, before: &Order) -> Result<Order, Refusal> {
        let patch = self.clone();
        let none = Order::default();
        let now = before.clone();
        let message = match (patch.message, patch.messages) {
            (message, Patch::Keep) => message,
            (Patch::Keep, messages) => messages,
            _ => return Err(Invalid::new("messages", "not together with message").into()),
        };
        let order = Order {
            request_id: patch.request_id.apply_optional(now.request_id),
            caller: patch.caller.apply_optional(now.caller),
            description: patch.description.apply_optional(now.description),
            message: message.apply(now.message, none.message),
            http: match patch.http {
                Patch::Set(http) => {
                    let http = http.unhidden(now.http.as_ref(), false);
                    Some(http.map_err(|invalid| invalid.within("http"))?)
                }
                patch => patch.apply_optional(now.http),
            },
            bundle_key: match patch.bundle_key {
                Patch::Keep => now.bundle_key,
                Patch::Reset => None,
                Patch::Set(key) => Some(bundle_key(&key)?),
            },
            hold: patch.hold.apply_optional(now.hold),
            max_attempts: patch.max_attempts.apply_optional(now.max_attempts),
            retry: patch.retry.apply_optional(now.retry),
            priority: patch.priority.apply(now.priority, none.priority),
            requires: patch.requires.apply(now.requires, none.requires),
            tags: patch.tags.apply(now.tags, none.tags),
            callback: match patch.callback {
                Patch::Set(callback) => {
                    let callback = callback.unhidden(now.callback.as_ref());
                    Some(callback.map_err(|invalid| invalid.within("callback"))?)
                }
                patch => patch.apply_optional(now.callback),
            },
            keep_results: patch.keep_results.apply(now.keep_results, none.keep_results),
            // A plan that is written back as it was read is the same plan.
            on_error: patch
                .on_error
                .apply_optional(now.on_error)
                .filter(|on_error| *on_error != OnError::Stop),
        };
        order.check()?;
        Ok(order)
    }

    /// The rule after the patch. Whoever names a type names a rule of its own.
    pub fn rule(&self, before: Option<&Rule>) -> Result<Rule, Invalid> {
        let patch = self.clone();
        let before = match patch.plan_type {
            Patch::Keep => before.map(|rule| rule.fields().clone()).unwrap_or_default(),
            _ => RuleFields::default(),
        };
        let fields = RuleFields {
            plan_type: patch.plan_type.apply_optional(before.plan_type),
            plan_value: patch.plan_value.apply_optional(before.plan_value),
            plan_time: patch.plan_time.apply_optional(before.plan_time),
            plan_repet: patch.plan_repet.apply_optional(before.plan_repet),
            no_keep: patch.no_keep.apply_optional(before.no_keep),
            timezone: patch.timezone.apply_optional(before.timezone),
            cron: patch.cron.apply_optional(before.cron),
        };
        fields.check()
    }
}

/// How often a rule repeats, given under either of two names or under both.
pub fn same_repeat(plan_repet: Patch<i64>, repeat: Patch<i64>) -> Result<Patch<i64>, Invalid> {
    match (plan_repet, repeat) {
        (Patch::Keep, repeat) => Ok(repeat),
        (plan_repet, Patch::Keep) => Ok(plan_repet),
        (plan_repet, repeat) if plan_repet == repeat => Ok(repeat),
        _ => Err(Invalid::new("repeat", "the same as plan_repet, or only one of them")),
    }
}

fn bundle_key(text: &str) -> Result<BundleKey, Refusal> {
    let key = BundleKey::parse(text).and_then(|key| Ok(key.check_new().map(|()| key)?));
    match key {
        Err(Refusal::Invalid(invalid)) => Err(Invalid::new("bundle_key", invalid.rule).into()),
        Err(Refusal::TooLarge { limit_bytes, .. }) => {
            Err(Refusal::TooLarge { field: "bundle_key", limit_bytes })
        }
        key => key,
    }
}

impl Order {
    /// Its runs as somebody would push them.
    pub(super) fn task(&self) -> NewTask {
        NewTask {
            payload: Some(self.message.clone()),
            priority: Some(self.priority),
            hold: self.hold,
            max_attempts: self.max_attempts,
            retry: self.retry.clone(),
            requires: Some(self.requires.clone()).filter(|requires| !requires.is_empty()),
            http: self.http.clone().map(Box::new),
            callback: self.callback.clone().map(Box::new),
            tags: Some(self.tags.clone()),
            ..NewTask::default()
        }
    }

    fn check(&self) -> Result<(), Refusal> {
        let texts = [
            ("request_id", &self.request_id),
            ("caller", &self.caller),
            ("description", &self.description),
        ];
        for (field, text) in texts {
            check_size(field, text.as_ref().map_or(0, String::len), TEXT_BYTES_MAX)?;
        }
        if self.keep_results > KEEP_RESULTS_MAX {
            return Err(Invalid::new("keep_results", "a whole number from 0 to 10000").into());
        }
        self.on_error().check()?;
        if self.bundle_key.is_some() && (self.http.is_some() || self.callback.is_some()) {
            let field = if self.http.is_some() { "http" } else { "callback" };
            return Err(Invalid::new(field, "not together with bundle_key").into());
        }
        match self.task().check() {
            Err(Refusal::TooLarge { field: "payload", limit_bytes }) => {
                Err(Refusal::TooLarge { field: "message", limit_bytes })
            }
            checked => checked,
        }
    }

    /// Checks what its station asks for, and the queues its callbacks push into.
    pub fn check_queues(
        &self,
        station: &QueueName,
        settings_of: SettingsOf<'_>,
    ) -> Result<(), Refusal> {
        self.task().check_queues(station, settings_of)
    }

    /// The queues that its runs' callbacks make tasks in, that of calls to a URL among them.
    pub fn makes_tasks_in(&self) -> Vec<QueueName> {
        self.task().makes_tasks_in()
    }

    /// The queues its callbacks push into.
    pub fn callback_queues(&self) -> Vec<QueueName> {
        self.task().callback_queues().cloned().collect()
    }

    /// Refuses addresses that deliveries may not go to.
    pub fn check_reach(&self, reach: &Reach) -> Result<(), Refusal> {
        self.task().check_reach(reach)
    }
}
