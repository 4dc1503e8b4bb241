//! Descriptions of plans, for `/openapi.json`.

use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use super::http::HttpSchema;
use super::{AnyJson, CallbackSchema, Duration, RetrySchema};

/// A plan as it is made or changed.
#[derive(ToSchema)]
#[schema(as = NewPlan)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanSchema {
    /// Its id, 1 to 90 characters of `A-Z a-z 0-9 . _ : @ ~ -`, or a whole number, which is written as
    /// 16 hex digits; generated if left out.
    #[schema(required = false)]
    plan_id: AnyJson,
    /// The queue its runs are pushed to; required in a new plan, and the same for ever.
    queue: Option<String>,
    /// Another name of `queue`.
    station: Option<String>,
    /// The caller's own id for it.
    request_id: Option<String>,
    /// Who made it.
    caller: Option<String>,
    /// What it is for.
    description: Option<String>,
    /// The payload of its runs.
    #[schema(required = false)]
    message: AnyJson,
    /// Another name of `message`.
    #[schema(required = false)]
    messages: AnyJson,
    /// Where its runs are delivered; for queues of mode http.
    http: Option<HttpSchema>,
    /// The bundle of the queue to push into instead of making tasks.
    bundle_key: Option<String>,
    /// The hold of its runs.
    hold: Option<Duration>,
    /// Their limit of attempts; -1 for none.
    max_attempts: Option<i32>,
    /// Their waits between attempts.
    retry: Option<RetrySchema>,
    /// Their priority, -100 to 100.
    #[schema(minimum = -100, maximum = 100, default = 0)]
    priority: Option<i32>,
    /// Capabilities their worker must have; for queues of mode dispatch.
    requires: Option<Vec<String>>,
    /// Their labels.
    tags: Option<Vec<String>>,
    /// What to make when one ends.
    callback: Option<CallbackSchema>,
    /// How many results are kept.
    #[schema(minimum = 0, maximum = 10000, default = 100)]
    keep_results: Option<u32>,
    /// What a run that fails for good makes of the plan; `stop` if left out.
    on_error: Option<OnErrorSchema>,
    /// What kind of rule it is; required in a new plan.
    plan_type: Option<RuleType>,
    /// How many units lie between two runs (1 to 32767), or on which day they are.
    plan_value: Option<i64>,
    /// When it is due, from when it repeats, or at which time of day.
    #[schema(required = false)]
    plan_time: AnyJson,
    /// How often it runs, -1 for ever; required if it repeats.
    repeat: Option<i64>,
    /// Another name of `repeat`.
    plan_repet: Option<i64>,
    /// Whether occurrences that are past are kept instead of skipped.
    #[schema(default = false)]
    no_keep: Option<bool>,
    /// The IANA zone of its local times.
    #[schema(default = "UTC")]
    timezone: Option<String>,
    /// The pattern of a rule of type cron: five fields, or six with seconds first.
    cron: Option<String>,
}

/// A rule, and how many of its times are wanted.
#[derive(ToSchema)]
#[schema(as = Preview)]
#[serde(deny_unknown_fields)]
pub(crate) struct PreviewSchema {
    /// How many times at most, 1 to 1000.
    #[schema(default = 10, minimum = 1, maximum = 1000)]
    n: Option<usize>,
    /// What kind of rule it is.
    plan_type: RuleType,
    /// How many units lie between two runs (1 to 32767), or on which day they are.
    plan_value: Option<i64>,
    /// When it is due, from when it repeats, or at which time of day.
    #[schema(required = false)]
    plan_time: AnyJson,
    /// How often it runs, -1 for ever; required if it repeats.
    repeat: Option<i64>,
    /// Another name of `repeat`.
    plan_repet: Option<i64>,
    /// Whether occurrences that are past are kept instead of skipped.
    no_keep: Option<bool>,
    /// The IANA zone of its local times.
    timezone: Option<String>,
    /// The pattern of a rule of type cron.
    cron: Option<String>,
}

/// What a run that fails for good makes of its plan: `stop`, `continue`, or `{"stop_after":n}`, which goes on
/// until n runs in a row have failed.
#[derive(ToSchema)]
#[schema(as = OnError)]
#[serde(untagged)]
pub(crate) enum OnErrorSchema {
    /// It stops at the first failure, or at none.
    Word(OnErrorWord),
    /// It stops after so many.
    After(StopAfterSchema),
}

/// The policies without a number.
#[derive(ToSchema)]
#[schema(as = OnErrorWord, rename_all = "lowercase")]
pub(crate) enum OnErrorWord {
    Stop,
    Continue,
}

/// The policy with a number.
#[derive(ToSchema)]
#[schema(as = StopAfter)]
#[serde(deny_unknown_fields)]
pub(crate) struct StopAfterSchema {
    /// How many runs have to fail in a row.
    #[schema(minimum = 1, maximum = 1000000)]
    stop_after: u32,
}

/// The kind of a rule as it is given.
pub(crate) struct RuleType;

impl ToSchema for RuleType {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((PlanTypeSchema::name().into_owned(), PlanTypeSchema::schema()));
    }
}

impl PartialSchema for RuleType {
    fn schema() -> RefOr<Schema> {
        let number = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .description(Some("Its number: 0 to 7, in the order of the names"))
            .minimum(Some(0.0))
            .maximum(Some(7.0));
        OneOfBuilder::new().item(Ref::from_schema_name(PlanTypeSchema::name())).item(number).into()
    }
}

/// The kind of a rule.
#[derive(ToSchema)]
#[schema(as = PlanType, rename_all = "lowercase")]
pub(crate) enum PlanTypeSchema {
    None,
    Time,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Cron,
}

/// Where a plan stands.
#[derive(ToSchema)]
#[schema(as = PlanState, rename_all = "lowercase")]
pub(crate) enum PlanStateSchema {
    Scheduled,
    Running,
    Paused,
    Error,
    Finished,
}

/// How a plan's last run stands or ended.
#[derive(ToSchema)]
#[schema(as = LastState, rename_all = "snake_case")]
pub(crate) enum LastStateSchema {
    Ok,
    Running,
    Error,
    NoWorker,
    Skipped,
}

/// What is kept of a run.
#[derive(ToSchema)]
#[schema(as = PlanResult)]
pub(crate) struct PlanResultSchema {
    /// Which run: its number, or a text like `3.1` for one besides the rule.
    run: AnyJson,
    /// The time it was due.
    plan_time: super::Time,
    /// Who made it.
    worker: Option<String>,
    /// What it came to.
    result: AnyJson,
    /// What went wrong.
    error: Option<String>,
    /// When it ended.
    at: super::Time,
}
