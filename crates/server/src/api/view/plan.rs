//! How a plan reads.

use punctual_core::calendar::RuleFields;
use punctual_core::plan::{LastState, OnError, PlanState};
use punctual_core::retry::MaxAttempts;
use punctual_core::{
    Callback, Plan, PlanId, QueueName, RawJson, RetryPolicy, Span, TaskId, Timestamp,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{HttpView, Viewing};
use crate::api::schema::plan::{LastStateSchema, OnErrorSchema, PlanStateSchema, PlanTypeSchema};
use crate::api::schema::{AnyJson, CallbackSchema, DurationSeconds, RetrySchema, Time};

/// A plan: all it was given, and how it stands.
#[derive(Serialize, ToSchema)]
#[schema(as = Plan)]
pub(crate) struct PlanView<'a> {
    /// Its id.
    #[schema(value_type = String)]
    plan_id: &'a PlanId,
    /// The caller's own id for it.
    request_id: Option<&'a str>,
    /// Who made it.
    caller: Option<&'a str>,
    /// What it is for.
    description: Option<&'a str>,
    /// The queue its runs are pushed to.
    #[schema(value_type = String)]
    queue: &'a QueueName,
    /// Another name of `queue`.
    #[schema(value_type = String)]
    station: &'a QueueName,
    /// The payload of its runs.
    #[schema(value_type = AnyJson)]
    message: &'a RawJson,
    /// Where they are delivered.
    http: Option<HttpView<'a>>,
    /// The bundle of the station that it pushes into instead.
    bundle_key: Option<&'a str>,
    #[serde(flatten)]
    rule: RuleView<'a>,
    /// The hold of its runs.
    #[schema(value_type = Option<DurationSeconds>)]
    hold: Option<Span>,
    /// Their limit of attempts; -1 for none.
    #[schema(value_type = Option<i64>)]
    max_attempts: Option<MaxAttempts>,
    /// Their waits between attempts.
    #[schema(value_type = Option<RetrySchema>)]
    retry: Option<&'a RetryPolicy>,
    /// Their priority.
    priority: i32,
    /// Capabilities their worker must have.
    requires: &'a [String],
    /// Their labels.
    tags: &'a [String],
    /// What to make when one ends.
    #[schema(value_type = Option<CallbackSchema>)]
    callback: Option<Callback>,
    /// How many results are kept.
    keep_results: u32,
    /// What a run that fails for good makes of it.
    #[schema(value_type = OnErrorSchema)]
    on_error: OnError,
    /// Where it stands.
    #[schema(value_type = PlanStateSchema)]
    state: PlanState,
    /// When it is due next.
    #[schema(value_type = Option<Time>)]
    next_at: Option<Timestamp>,
    /// Runs that were done, and those that failed while the plan went on.
    real_repet: u64,
    /// Runs that failed in a row.
    failures: u32,
    /// Occurrences that were skipped.
    skipped: u64,
    /// When it last pushed a run.
    #[schema(value_type = Option<Time>)]
    exec_time: Option<Timestamp>,
    /// How its last run stands or ended.
    #[schema(value_type = Option<LastStateSchema>)]
    last_state: Option<LastState>,
    /// The task of its run that has not ended.
    #[schema(value_type = Option<String>)]
    task: Option<&'a TaskId>,
    /// What went wrong last.
    error: Option<&'a str>,
    /// When it was made.
    #[schema(value_type = Time)]
    created_at: Timestamp,
    /// When it finished.
    #[schema(value_type = Option<Time>)]
    finished_at: Option<Timestamp>,
}

/// A plan's rule.
#[derive(Serialize, ToSchema)]
pub(crate) struct RuleView<'a> {
    /// What kind of rule it is.
    #[schema(value_type = PlanTypeSchema)]
    plan_type: Option<punctual_core::calendar::PlanType>,
    /// How many units lie between two runs, or on which day they are.
    plan_value: Option<i64>,
    /// When it is due, from when it repeats, or at which time of day; 0: not given.
    #[schema(value_type = AnyJson)]
    plan_time: Option<punctual_core::calendar::PlanTime>,
    /// How often it runs; -1 for ever.
    repeat: Option<i64>,
    /// Another name of `repeat`.
    plan_repet: Option<i64>,
    /// Whether occurrences that are past are kept instead of skipped.
    no_keep: Option<bool>,
    /// The zone of its local times.
    timezone: Option<&'a str>,
    /// The pattern of a rule of type cron.
    cron: Option<&'a str>,
}

/// A plan that is gone.
#[derive(Serialize)]
pub(crate) struct GonePlanView<'a> {
    plan_id: &'a str,
    station: &'a QueueName,
    // The names that whatever is gone has.
    id: &'a str,
    queue: &'a QueueName,
}

impl<'a> GonePlanView<'a> {
    /// What is left to say of a plan.
    pub(crate) fn new(station: &'a QueueName, id: &'a str) -> Self {
        Self { plan_id: id, station, id, queue: station }
    }
}

impl<'a> PlanView<'a> {
    /// The fields that no request sets; a PUT ignores them.
    pub(crate) const READ_ONLY: &'static [&'static str] = &[
        "state",
        "next_at",
        "real_repet",
        "failures",
        "skipped",
        "exec_time",
        "last_state",
        "task",
        "error",
        "created_at",
        "finished_at",
    ];

    /// A plan as it reads.
    pub(crate) fn new(plan: &'a Plan, viewing: Viewing<'_>) -> Self {
        let order = &plan.order;
        Self {
            plan_id: &plan.id,
            request_id: order.request_id.as_deref(),
            caller: order.caller.as_deref(),
            description: order.description.as_deref(),
            queue: &plan.station,
            station: &plan.station,
            message: &order.message,
            http: order.http.as_ref().map(|http| HttpView::new(http, viewing)),
            bundle_key: order.bundle_key.as_ref().map(|key| key.as_str()),
            rule: RuleView::new(plan.rule.fields()),
            hold: order.hold,
            max_attempts: order.max_attempts,
            retry: order.retry.as_ref(),
            priority: order.priority,
            requires: &order.requires,
            tags: &order.tags,
            callback: order
                .callback
                .clone()
                .map(|callback| callback.hidden(viewing.secret_headers)),
            keep_results: order.keep_results,
            on_error: order.on_error(),
            state: plan.state(),
            next_at: plan.next_at,
            real_repet: plan.real_repet,
            failures: plan.failures(),
            skipped: plan.skipped,
            exec_time: plan.exec_time,
            last_state: plan.last_state,
            task: plan.unended_runs().next().map(|run| &run.task),
            error: plan.error.as_deref(),
            created_at: plan.created_at,
            finished_at: plan.finished_at,
        }
    }
}

impl<'a> RuleView<'a> {
    fn new(fields: &'a RuleFields) -> Self {
        Self {
            plan_type: fields.plan_type,
            plan_value: fields.plan_value,
            plan_time: fields.plan_time,
            repeat: fields.plan_repet,
            plan_repet: fields.plan_repet,
            no_keep: fields.no_keep,
            timezone: fields.timezone.as_deref(),
            cron: fields.cron.as_deref(),
        }
    }
}
