//! Descriptions of values that `core` reads and writes, for `/openapi.json`.
//!
//! `core` knows nothing of HTTP, so its types are described here. Tests compare every field with what
//! `core` takes.

#![expect(dead_code, reason = "these types describe and are never built")]

pub(crate) mod flow;
pub(crate) mod http;
pub(crate) mod notice;
pub(crate) mod plan;

use std::collections::BTreeMap;

use utoipa::openapi::schema::{
    ObjectBuilder, OneOfBuilder, Schema, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{KnownFormat, RefOr};
use utoipa::{PartialSchema, ToSchema};

use self::http::{ExchangeSchema, HttpSchema};

/// A point in time as it is answered.
pub(crate) struct Time;

/// A point in time as it is given.
pub(crate) struct When;

/// A length of time as it is given.
pub(crate) struct Duration;

/// A length of time as it is answered.
pub(crate) struct DurationSeconds;

/// Any JSON value.
pub(crate) struct AnyJson;

fn number(description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Number).description(Some(description)).minimum(Some(0.0))
}

fn date_time(description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .description(Some(description))
        .examples(["2026-11-15T06:50:28.123Z"])
}

impl ToSchema for Time {}
impl PartialSchema for Time {
    fn schema() -> RefOr<Schema> {
        date_time("RFC 3339, in UTC, with milliseconds").into()
    }
}

impl ToSchema for When {}
impl PartialSchema for When {
    fn schema() -> RefOr<Schema> {
        OneOfBuilder::new()
            .description(Some("A point in time, at most in the year 9999"))
            .item(date_time("RFC 3339"))
            .item(number("Unix seconds, whole or not"))
            .into()
    }
}

impl ToSchema for Duration {}
impl PartialSchema for Duration {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("Numbers with units: ms, s, m, h, d; a number alone is seconds"))
            .pattern(Some(r"^([0-9]+(\.[0-9]+)?|([0-9]+(\.[0-9]+)?(ms|s|m|h|d))+)$"));
        OneOfBuilder::new()
            .description(Some("A length of time, at most 100 years"))
            .examples(["1h30m"])
            .item(number("Seconds, whole or not"))
            .item(text)
            .into()
    }
}

impl ToSchema for DurationSeconds {}
impl PartialSchema for DurationSeconds {
    fn schema() -> RefOr<Schema> {
        number("Seconds, whole or not").into()
    }
}

impl ToSchema for AnyJson {}
impl PartialSchema for AnyJson {
    fn schema() -> RefOr<Schema> {
        let any = ObjectBuilder::new().schema_type(SchemaType::AnyValue);
        any.description(Some("Any JSON value, at most 1 MiB, kept as it was sent")).into()
    }
}

/// What a token may be good for.
#[derive(ToSchema)]
#[schema(as = Right, rename_all = "lowercase")]
#[expect(dead_code, reason = "describes the rights of `core`")]
pub(crate) enum RightSchema {
    /// Reading.
    Read,
    /// Bringing work in, and controlling it.
    Produce,
    /// Carrying work out.
    Consume,
    /// Settings of queues, and the server itself.
    Admin,
}

/// Where a task stands.
#[derive(ToSchema)]
#[schema(as = State, rename_all = "lowercase")]
pub(crate) enum StateSchema {
    Waiting,
    Ready,
    Assigned,
    Running,
    Pausing,
    Cancelling,
    Paused,
    Done,
    Failed,
    Cancelled,
}

/// Who carries out a queue's tasks.
#[derive(ToSchema)]
#[schema(as = Mode, rename_all = "lowercase")]
pub(crate) enum ModeSchema {
    Pull,
    Dispatch,
    Http,
    Vote,
    Pub,
}

/// The order among ready tasks of one priority.
#[derive(ToSchema)]
#[schema(as = Order, rename_all = "lowercase")]
pub(crate) enum OrderSchema {
    Fifo,
    Random,
}

/// What becomes of a bundle that was scheduled but never got.
#[derive(ToSchema)]
#[schema(as = Abandoned, rename_all = "lowercase")]
pub(crate) enum AbandonedSchema {
    Fail,
    Drop,
}

/// When to try again: either `intervals`, or the rest.
#[derive(ToSchema)]
#[schema(as = Retry, example = json!({"first": "5s", "factor": 2, "max": "1h", "jitter": 0.1}))]
#[serde(deny_unknown_fields)]
pub(crate) struct RetrySchema {
    /// One wait after another; the last repeats.
    intervals: Option<Vec<Duration>>,
    /// The wait after the first failure.
    first: Option<Duration>,
    /// By how much each wait is longer than the one before, 1 to 1000.
    factor: Option<f64>,
    /// The longest wait.
    max: Option<Duration>,
    /// Each wait is up to this share shorter or longer, at random, 0 to 1.
    jitter: Option<f64>,
}

/// A token bucket: bursts of `limit`, refilled evenly over `per`.
#[derive(ToSchema)]
#[schema(as = Rate)]
#[serde(deny_unknown_fields)]
pub(crate) struct RateSchema {
    /// Tasks handed out at most.
    #[schema(value_type = u64, minimum = 1, maximum = 4294967295u32)]
    limit: u32,
    /// In this time.
    per: Duration,
}

/// How long finished tasks stay readable.
#[derive(ToSchema)]
#[schema(as = Keep)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeepSchema {
    /// Those that are done.
    done: Option<Duration>,
    /// Those that failed.
    failed: Option<Duration>,
    /// Those that were cancelled.
    cancelled: Option<Duration>,
}

/// What can be set about a queue. What is left out stays, `null` sets it back.
#[derive(ToSchema)]
#[schema(as = Settings)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingsSchema {
    /// Who carries out its tasks; not to be changed while it holds any.
    mode: Option<ModeSchema>,
    /// A label to tell queues apart.
    tag: Option<String>,
    /// Most live tasks; unlimited.
    #[schema(minimum = 1, maximum = 9223372036854775807i64)]
    max: Option<u64>,
    /// How long a taken task is held before it counts as lost; 30 s.
    hold: Option<Duration>,
    /// How long a worker has to confirm; 10 s.
    confirm_within: Option<Duration>,
    /// Takes before a task is failed, -1 for no limit; 5.
    max_attempts: Option<i32>,
    /// The longest a task may be held in one attempt, however often its holder extends; unlimited. Without
    /// effect in queues of mode http.
    max_runtime: Option<Duration>,
    /// When to try again.
    retry: Option<RetrySchema>,
    /// The order among ready tasks of one priority; `fifo`.
    order: Option<OrderSchema>,
    /// Most tasks held at once; unlimited.
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 4294967295u32)]
    concurrency: Option<u32>,
    /// Most tasks handed out in a time; unlimited.
    rate: Option<RateSchema>,
    /// How long finished tasks stay readable; failed ones 7 d, others not at all.
    keep: Option<KeepSchema>,
    /// Target of tasks that name none.
    url: Option<String>,
    /// Headers sent to that target.
    headers: Option<BTreeMap<String, String>>,
    /// A secret that signs what is sent there, or up to 5. Never read back.
    secret: Option<SecretSchema>,
    /// The time one delivery may take; 30 s.
    timeout: Option<Duration>,
    /// After how long a scheduled bundle counts as abandoned; never.
    abandon_after: Option<Duration>,
    /// What becomes of it then; `fail`.
    abandoned: Option<AbandonedSchema>,
}

/// One secret, or several.
#[derive(ToSchema)]
#[schema(as = Secret)]
#[serde(untagged)]
pub(crate) enum SecretSchema {
    /// One.
    One(String),
    /// Several, the newest first.
    Many(Vec<String>),
}

/// A task to push.
#[derive(ToSchema)]
#[schema(as = NewTask)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTaskSchema {
    /// Its id, 1 to 200 characters of `A-Z a-z 0-9 . _ : @ ~ -`; generated if left out.
    id: Option<String>,
    /// What is to be done.
    #[schema(required = false)]
    payload: AnyJson,
    /// When it is due; now if left out.
    due: Option<When>,
    /// How long until it is due, instead of `due`.
    delay: Option<Duration>,
    /// -100 to 100, higher first.
    #[schema(minimum = -100, maximum = 100, default = 0)]
    priority: Option<i32>,
    /// Its own hold, instead of the queue's.
    hold: Option<Duration>,
    /// Its own limit of attempts, instead of the queue's.
    max_attempts: Option<i32>,
    /// The longest one attempt may hold it, instead of the queue's limit.
    max_runtime: Option<Duration>,
    /// Its own waits between attempts, instead of the queue's.
    retry: Option<RetrySchema>,
    /// How long its id stays reserved after its end.
    unique_for: Option<Duration>,
    /// Failed if not first started by then.
    expires: Option<When>,
    /// Capabilities its worker must have; in queues of mode dispatch.
    requires: Option<Vec<String>>,
    /// Where to deliver it; in queues of mode http.
    http: Option<HttpSchema>,
    /// What to make when it ends.
    callback: Option<CallbackSchema>,
    /// Labels, at most 32 of 128 bytes.
    tags: Option<Vec<String>>,
}

/// A task to make when another ends.
#[derive(ToSchema)]
#[schema(as = Callback)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallbackSchema {
    /// The ends it answers to; all of them if left out.
    on: Option<Vec<EndSchema>>,
    /// Call this URL, from the queue `callbacks`.
    http: Option<HttpSchema>,
    /// Push into this queue.
    queue: Option<String>,
    /// The task to push there.
    #[schema(no_recursion)]
    task: Option<Box<NewTaskSchema>>,
}

/// How a task ends.
#[derive(ToSchema)]
#[schema(as = End, rename_all = "lowercase")]
pub(crate) enum EndSchema {
    Done,
    Failed,
    Cancelled,
}

/// One task, or a batch of them.
#[derive(ToSchema)]
#[schema(as = Push)]
#[serde(untagged)]
pub(crate) enum PushSchema {
    /// One task.
    One(Box<NewTaskSchema>),
    /// A batch.
    Many(BatchSchema<NewTaskSchema>),
}

/// Many items, each answered by itself.
#[derive(ToSchema)]
#[schema(as = Batch)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchSchema<T> {
    /// At most 10000 items.
    #[schema(max_items = 10_000)]
    tasks: Vec<T>,
}

/// One attempt.
#[derive(ToSchema)]
#[schema(as = Attempt)]
pub(crate) struct AttemptSchema {
    /// When it began.
    at: Time,
    /// When it ended.
    ended_at: Time,
    /// Who made it.
    worker: Option<String>,
    /// How it ended.
    outcome: OutcomeSchema,
    /// What went wrong, shortened.
    error: Option<String>,
    /// The HTTP status that was answered.
    status: Option<u16>,
    /// What was sent and answered, where the server delivered.
    http: Option<ExchangeSchema>,
}

/// How an attempt ended.
#[derive(ToSchema)]
#[schema(as = Outcome, rename_all = "snake_case")]
pub(crate) enum OutcomeSchema {
    Done,
    Failed,
    Released,
    Unconfirmed,
    Lost,
    Cancelled,
    Paused,
    Freed,
}

/// The tasks of a queue, counted.
#[derive(ToSchema)]
#[schema(as = Counts)]
pub(crate) struct CountsSchema {
    /// Tasks that have not ended.
    total: u64,
    /// Those nobody has: waiting, ready, paused.
    untaken: u64,
    /// Those somebody has.
    taken: u64,
    waiting: u64,
    ready: u64,
    assigned: u64,
    running: u64,
    pausing: u64,
    cancelling: u64,
    paused: u64,
    done: u64,
    failed: u64,
    cancelled: u64,
    /// Bundles.
    bundles: u64,
}

/// Why a task is not running now.
#[derive(ToSchema)]
#[schema(as = Why)]
pub(crate) struct WhySchema {
    /// A word for programs.
    reason: ReasonSchema,
    /// One sentence.
    text: String,
    /// Where it stands: a task's state, or `pending` for a step of a flow that is no task yet.
    state: String,
    /// When that changes by itself.
    #[schema(nullable = false)]
    until: Option<Time>,
    /// Who has it.
    #[schema(nullable = false)]
    worker: Option<String>,
    /// What went wrong last.
    #[schema(nullable = false)]
    error: Option<String>,
    /// The limit that keeps it.
    #[schema(nullable = false)]
    limit: Option<u64>,
    /// Ready tasks of the queue, this one among them.
    #[schema(nullable = false)]
    ready: Option<u64>,
    /// The steps of its flow that must be done first.
    #[schema(nullable = false)]
    waiting_for: Option<Vec<String>>,
}

/// Why a task is not running now.
#[derive(ToSchema)]
#[schema(as = Reason, rename_all = "snake_case")]
pub(crate) enum ReasonSchema {
    NotDue,
    RetryWait,
    Paused,
    QueuePaused,
    Concurrency,
    Rate,
    NoTaker,
    NoWorker,
    NoCapableWorker,
    WorkersBusy,
    TargetBusy,
    DeliveriesBusy,
    TargetDown,
    InLine,
    Unconfirmed,
    Running,
    Pausing,
    Cancelling,
    Finished,
    WaitingForSteps,
    FlowPaused,
    FlowStopped,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use punctual_core::flow::{NewFlow, NewStep};
    use punctual_core::plan::PlanPatch;
    use punctual_core::queue::{KeepPatch, Rate, SettingsPatch};
    use punctual_core::worker::WorkerPatch;
    use punctual_core::{Callback, NewTask, RetryPolicy, State};
    use serde::de::DeserializeOwned;

    use super::flow::{FlowSchema, StepSchema};
    use super::plan::PlanSchema;
    use super::*;
    use crate::api::workers::JoinSchema;

    /// The fields a value of `core` takes, as it says itself when it is given another.
    pub(super) fn taken<T: DeserializeOwned>() -> BTreeSet<String> {
        let Err(error) = serde_json::from_str::<T>(r#"{"no such field":1}"#) else {
            panic!("it takes any field");
        };
        let error = error.to_string();
        let names = error.split('`').skip(3).step_by(2);
        names.map(ToOwned::to_owned).collect()
    }

    pub(super) fn described<T: PartialSchema>() -> BTreeSet<String> {
        let schema = serde_json::to_value(T::schema()).unwrap();
        schema["properties"].as_object().unwrap().keys().cloned().collect()
    }

    #[test]
    fn every_field_is_described() {
        assert_eq!(described::<NewTaskSchema>(), taken::<NewTask>());
        assert_eq!(described::<SettingsSchema>(), taken::<SettingsPatch>());
        assert_eq!(described::<KeepSchema>(), taken::<KeepPatch>());
        assert_eq!(described::<RateSchema>(), taken::<Rate>());
        assert_eq!(described::<RetrySchema>(), taken::<RetryPolicy>());
        assert_eq!(described::<CallbackSchema>(), taken::<Callback>());
        assert_eq!(described::<PlanSchema>(), taken::<PlanPatch>());
        assert_eq!(described::<FlowSchema>(), taken::<NewFlow>());
        assert_eq!(described::<StepSchema>(), taken::<NewStep>());
        assert_eq!(described::<JoinSchema>(), taken::<WorkerPatch>());
    }

    #[test]
    fn every_state_is_described() {
        let schema = serde_json::to_value(StateSchema::schema()).unwrap();
        let names: Vec<&str> = State::ALL.iter().map(|state| state.name()).collect();
        assert_eq!(schema["enum"], serde_json::json!(names));
        let counts = described::<CountsSchema>();
        assert!(names.iter().all(|name| counts.contains(*name)));
    }
}
