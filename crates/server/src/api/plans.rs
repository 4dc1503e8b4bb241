//! `/v1/plans`: work that a calendar makes due.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use punctual_core::calendar::{PlanTime, PlanType, Position, RuleFields};
use punctual_core::limits::PAGE_ITEMS_MAX;
use punctual_core::plan::{PlanPatch, PlanState, PlanVerb, same_repeat};
use punctual_core::{Patch, Plan, PlanId, QueueName, Timestamp};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::conditions::{Condition, tagged};
use super::marks::{Marks, replayed};
use super::openapi::{Changes, Conditional, Pushes, Reads};
use super::rights::Caller;
use super::schema::Time;
use super::schema::plan::{PlanResultSchema, PlanSchema, PlanStateSchema, PreviewSchema};
use super::target::{OnPlan, Params, given, page_limit};
use super::view::{GonePlanView, Page, PlanView};
use super::{App, Nothing, Problem, answer};
use crate::engine::{Failure, PlanAnswer, PlanFilter, PlanOrder};

/// Times told when nobody says how many.
const TIMES: usize = 10;

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(create_plan, list_plans))
        .routes(routes!(preview_plan))
        .routes(routes!(put_plan, get_plan, delete_plan))
        .routes(routes!(pause_plan))
        .routes(routes!(resume_plan))
        .routes(routes!(run_plan))
        .routes(routes!(skip_plan))
        .routes(routes!(plan_results))
        .routes(routes!(plan_occurrences))
        // A plan may be called `preview`, which is also a route.
        .route("/v1/plans/preview", get(get_plan).put(put_plan).delete(delete_plan))
}

/// A plan, if every queue it names is the caller's. Any other is to the caller as if it were not there.
async fn seen(app: &App, caller: &Caller, id: &PlanId) -> Result<Plan, Failure> {
    let plan = app.engine.plan(id).await?;
    caller.check_all(&plan.queues()).map_err(|_| Failure::NoPlan(id.clone()))?;
    Ok(plan)
}

/// The same where nothing else of the plan is wanted.
async fn check(app: &App, caller: &Caller, id: &PlanId) -> Result<(), Failure> {
    if caller.scope().is_all() {
        return Ok(());
    }
    seen(app, caller, id).await.map(drop)
}

/// What a request says about a plan, every field under one name.
fn given_plan(patch: PlanPatch) -> Result<PlanPatch, Failure> {
    patch.resolved().map_err(|invalid| Failure::Refused(invalid.into()))
}

fn view(app: &App, status: StatusCode, plan: &Plan) -> Response {
    tagged(answer(status, &PlanView::new(plan, app.viewing())), &plan.etag(&app.secret_headers))
}

/// Make a plan.
///
/// A rule that is wrong, or that names a target that is refused, is answered with the field at fault.
#[utoipa::path(post, path = "/v1/plans", tag = "plans",
    params(("Idempotency-Key" = Option<String>, Header,
        description = "1 to 255 ASCII characters; a repeat under the same key has no second effect")),
    request_body(content = PlanSchema, example = json!({
        "plan_id": "nightly", "queue": "reports", "message": {"report": "sales"},
        "plan_type": "day", "plan_value": 1, "repeat": -1,
        "plan_time": "2026-11-15T02:00:00Z", "timezone": "Europe/Berlin"
    })),
    responses((status = 201, description = "Made", body = PlanView), Pushes))]
async fn create_plan(
    State(app): State<Arc<App>>,
    caller: Caller,
    marks: Marks,
    body: JsonBody,
) -> Result<Response, Problem> {
    let patch = given_plan(body.read()?)?;
    caller.check_all(&patch.queues())?;
    let key = marks.key(&caller, &["POST plans"], body.bytes(), StatusCode::CREATED, true)?;
    match app.engine.create_plan(patch, key).await? {
        PlanAnswer::Made(plan) => Ok(view(&app, StatusCode::CREATED, &plan)),
        PlanAnswer::Replayed { status, plan, id, station } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::CREATED);
            Ok(replayed(match plan {
                Some(plan) => view(&app, status, &plan),
                None => {
                    let id = id.as_ref().map_or("", |id| id.as_str());
                    answer(status, &GonePlanView::new(&station, id))
                }
            }))
        }
    }
}

/// Which plans to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PlanParams {
    /// Only those whose runs go to this queue.
    queue: Option<String>,
    /// Another name of `queue`.
    station: Option<String>,
    /// Only those in these states, separated by commas.
    #[param(value_type = Option<PlanStateSchema>)]
    state: Option<String>,
    /// `next`: by the time they wait for, the soonest first, those without left out; `name`: by station
    /// and id, as if left out.
    #[param(example = "next")]
    order: Option<String>,
    /// Most items on the page, 1 to 1000.
    #[param(default = 50, minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

impl PlanParams {
    fn filter(&self) -> Result<PlanFilter, Failure> {
        let named = |field: &'static str, name: &Option<String>| {
            let named = given(name.clone()).map(|name| QueueName::parse(&name)).transpose();
            named.map_err(|invalid| Failure::invalid(field, invalid.rule))
        };
        let station = match (named("queue", &self.queue)?, named("station", &self.station)?) {
            (Some(queue), Some(station)) if queue != station => {
                let rule = "the same as station, or only one of them";
                return Err(Failure::invalid("queue", rule));
            }
            (queue, station) => queue.or(station),
        };
        let mut states = Vec::new();
        for name in self.state.iter().flat_map(|list| list.split(',')).filter(|n| !n.is_empty()) {
            let state = PlanState::ALL.into_iter().find(|state| state.name() == name);
            let rule = "any of scheduled, running, paused, error, finished, separated by commas";
            states.push(state.ok_or_else(|| Failure::invalid("state", rule))?);
        }
        let order = match self.order.as_deref() {
            None | Some("" | "name") => PlanOrder::Name,
            Some("next") => PlanOrder::Next,
            Some(_) => return Err(Failure::invalid("order", "name or next")),
        };
        Ok(PlanFilter { station, states, order, ..PlanFilter::default() })
    }
}

/// List plans, by station and id or by the time they wait for.
#[utoipa::path(get, path = "/v1/plans", tag = "plans", params(PlanParams),
    responses((status = 200, description = "A page of plans", body = Page<PlanView>), Reads))]
async fn list_plans(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<PlanParams>,
) -> Result<Response, Problem> {
    let limit = page_limit(params.limit)?;
    let filter = PlanFilter { scope: caller.scope(), ..params.filter()? };
    let (plans, next) = app.engine.list_plans(&filter, limit, given(params.cursor)).await?;
    let viewing = app.viewing();
    let items = plans.iter().map(|plan| PlanView::new(plan, viewing)).collect();
    Ok(answer(StatusCode::OK, &Page { items, next }))
}

/// Make a plan under an id, or give the one there another rule; what it has counted stays.
///
/// What is left out stays; `null` resets it. A `plan_type` that is given begins a rule of its own. What can
/// only be read is ignored, so that what was read can be changed and written back.
#[utoipa::path(put, path = "/v1/plans/{id}", tag = "plans", params(OnPlan, Condition),
    request_body = PlanSchema,
    responses((status = 201, description = "Made", body = PlanView),
        (status = 200, description = "Changed", body = PlanView), Changes, Conditional))]
async fn put_plan(
    State(app): State<Arc<App>>,
    caller: Caller,
    OnPlan { id }: OnPlan,
    condition: Condition,
    body: JsonBody,
) -> Result<Response, Problem> {
    let patch = given_plan(body.read_back(PlanView::READ_ONLY)?)?;
    caller.check_all(&patch.queues())?;
    if !caller.scope().is_all() {
        match app.engine.plan(&id).await {
            Ok(plan) => caller.check_all(&plan.queues())?,
            Err(Failure::NoPlan(_)) => {}
            Err(failure) => return Err(failure.into()),
        }
    }
    let is_met =
        |plan: Option<&Plan>| condition.check(|| plan.map(|plan| plan.etag(&app.secret_headers)));
    let (plan, created) = app.engine.put_plan(&id, &patch, is_met).await?;
    Ok(view(&app, if created { StatusCode::CREATED } else { StatusCode::OK }, &plan))
}

/// Read a plan.
#[utoipa::path(get, path = "/v1/plans/{id}", tag = "plans", params(OnPlan),
    responses((status = 200, description = "The plan", body = PlanView), Reads))]
async fn get_plan(
    State(app): State<Arc<App>>,
    caller: Caller,
    OnPlan { id }: OnPlan,
) -> Result<Response, Problem> {
    Ok(view(&app, StatusCode::OK, &seen(&app, &caller, &id).await?))
}

/// Delete a plan. Its run that has not ended goes on, unheard.
#[utoipa::path(delete, path = "/v1/plans/{id}", tag = "plans", params(OnPlan),
    responses((status = 204, description = "Gone"), Changes))]
async fn delete_plan(
    State(app): State<Arc<App>>,
    caller: Caller,
    OnPlan { id }: OnPlan,
) -> Result<StatusCode, Problem> {
    check(&app, &caller, &id).await?;
    app.engine.delete_plan(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Set a plan aside. Its run that has not ended goes on, and counts.
#[utoipa::path(post, path = "/v1/plans/{id}/pause", tag = "plans", params(OnPlan),
    request_body = Nothing,
    responses((status = 200, description = "The plan", body = PlanView), Changes))]
async fn pause_plan(
    State(app): State<Arc<App>>,
    caller: Caller,
    on: OnPlan,
    body: JsonBody,
) -> Result<Response, Problem> {
    plain(&app, &caller, &on, &body, PlanVerb::Pause).await
}

/// Let a plan go on that was paused, or that stopped because a run failed for good.
#[utoipa::path(post, path = "/v1/plans/{id}/resume", tag = "plans", params(OnPlan),
    request_body = Nothing,
    responses((status = 200, description = "The plan", body = PlanView), Changes))]
async fn resume_plan(
    State(app): State<Arc<App>>,
    caller: Caller,
    on: OnPlan,
    body: JsonBody,
) -> Result<Response, Problem> {
    plain(&app, &caller, &on, &body, PlanVerb::Resume).await
}

/// Run a plan now, besides its rule. The run is not counted.
#[utoipa::path(post, path = "/v1/plans/{id}/run", tag = "plans", params(OnPlan),
    request_body = Nothing,
    responses((status = 200, description = "The plan, running", body = PlanView), Changes))]
async fn run_plan(
    State(app): State<Arc<App>>,
    caller: Caller,
    on: OnPlan,
    body: JsonBody,
) -> Result<Response, Problem> {
    plain(&app, &caller, &on, &body, PlanVerb::Run).await
}

async fn plain(
    app: &App,
    caller: &Caller,
    on: &OnPlan,
    body: &JsonBody,
    verb: PlanVerb,
) -> Result<Response, Problem> {
    let Nothing {} = body.read()?;
    check(app, caller, &on.id).await?;
    Ok(view(app, StatusCode::OK, &app.engine.act_on_plan(&on.id, verb).await?))
}

/// How many occurrences to pass over.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Skip {
    /// How many, 1 to 1000.
    #[schema(default = 1, minimum = 1, maximum = 1000)]
    n: Option<usize>,
}

/// Pass over the next occurrences of a plan.
#[utoipa::path(post, path = "/v1/plans/{id}/skip", tag = "plans", params(OnPlan),
    request_body = Skip,
    responses((status = 200, description = "The plan", body = PlanView), Changes))]
async fn skip_plan(
    State(app): State<Arc<App>>,
    caller: Caller,
    OnPlan { id }: OnPlan,
    body: JsonBody,
) -> Result<Response, Problem> {
    let Skip { n } = body.read()?;
    let n = count(n, 1)? as u32;
    check(&app, &caller, &id).await?;
    Ok(view(&app, StatusCode::OK, &app.engine.act_on_plan(&id, PlanVerb::Skip(n)).await?))
}

/// A number of occurrences.
fn count(n: Option<usize>, default: usize) -> Result<usize, Failure> {
    let n = n.unwrap_or(default);
    if (1..=PAGE_ITEMS_MAX).contains(&n) {
        return Ok(n);
    }
    Err(Failure::invalid("n", "a whole number from 1 to 1000"))
}

/// Which results to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ResultParams {
    /// Most items on the page, 1 to 1000.
    #[param(default = 50, minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

/// List what is kept of a plan's runs, the newest first.
#[utoipa::path(get, path = "/v1/plans/{id}/results", tag = "plans", params(OnPlan, ResultParams),
    responses((status = 200, description = "A page of results", body = Page<PlanResultSchema>), Reads))]
async fn plan_results(
    State(app): State<Arc<App>>,
    caller: Caller,
    OnPlan { id }: OnPlan,
    Params(params): Params<ResultParams>,
) -> Result<Response, Problem> {
    let before = given(params.cursor).map(|cursor| cursor.parse()).transpose();
    let before = before.map_err(|_| Failure::invalid("cursor", "not one that a list answered"))?;
    let limit = page_limit(params.limit)?;
    check(&app, &caller, &id).await?;
    let (items, next) = app.engine.plan_results(&id, before, limit).await?;
    Ok(answer(StatusCode::OK, &Page { items, next: next.map(|before| before.to_string()) }))
}

/// How many times to tell.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct TimesParams {
    /// How many at most, 1 to 1000.
    #[param(default = 10)]
    n: Option<usize>,
}

/// Tell when a plan will run next, if every run ends in time.
#[utoipa::path(get, path = "/v1/plans/{id}/occurrences", tag = "plans", params(OnPlan, TimesParams),
    responses((status = 200, description = "Its next times", body = Page<Time>), Reads))]
async fn plan_occurrences(
    State(app): State<Arc<App>>,
    caller: Caller,
    OnPlan { id }: OnPlan,
    Params(params): Params<TimesParams>,
) -> Result<Response, Problem> {
    let n = count(params.n, TIMES)?;
    let plan = seen(&app, &caller, &id).await?;
    Ok(times(plan.occurrences(app.engine.now(), n)))
}

fn times(items: Vec<Timestamp>) -> Response {
    answer(StatusCode::OK, &Page { items, next: None })
}

/// A rule, and how many of its times are wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Preview {
    n: Option<usize>,
    plan_type: Option<PlanType>,
    plan_value: Option<i64>,
    plan_time: Option<PlanTime>,
    plan_repet: Patch<i64>,
    repeat: Patch<i64>,
    no_keep: Option<bool>,
    timezone: Option<String>,
    cron: Option<String>,
}

/// Tell when a plan with such a rule would run. Nothing is stored.
#[utoipa::path(post, path = "/v1/plans/preview", tag = "plans", request_body = PreviewSchema,
    responses((status = 200, description = "Its times", body = Page<Time>), Changes))]
async fn preview_plan(State(app): State<Arc<App>>, body: JsonBody) -> Result<Response, Problem> {
    let Preview {
        n,
        plan_type,
        plan_value,
        plan_time,
        plan_repet,
        repeat,
        no_keep,
        timezone,
        cron,
    } = body.read()?;
    let plan_repet = same_repeat(plan_repet, repeat).map_err(|it| Failure::Refused(it.into()))?;
    let plan_repet = plan_repet.apply_optional(None);
    let n = count(n, TIMES)?;
    let fields =
        RuleFields { plan_type, plan_value, plan_time, plan_repet, no_keep, timezone, cron };
    let rule = fields.check().map_err(|invalid| Failure::Refused(invalid.into()))?;
    let now = app.engine.now();
    Ok(times(rule.occurrences(Position::start(now, 0), now, n)))
}
