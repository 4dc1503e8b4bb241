//! `/v1/flows`: steps that become tasks when the steps before them are done.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use punctual_core::flow::{FlowState, FlowVerb, NewFlow};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::marks::{Marks, replayed};
use super::openapi::{Changes, Pushes, Reads};
use super::rights::Caller;
use super::schema::flow::{FlowSchema, FlowStateSchema};
use super::target::{OnFlow, Params, given, new_name, page_limit};
use super::view::{FlowSummaryView, FlowView, GoneFlowView, Page};
use super::{App, Nothing, Problem, answer};
use crate::engine::{Failure, FlowAnswer, FlowFilter};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(create_flow, list_flows))
        .routes(routes!(get_flow))
        .routes(routes!(cancel_flow))
        .routes(routes!(pause_flow))
        .routes(routes!(resume_flow))
        .routes(routes!(retry_flow))
}

/// Make a flow.
///
/// A step becomes a task, with the id `{flow}~{step}`, when all steps it names in `after` are done.
/// Their results are the `inputs` in its payload.
#[utoipa::path(post, path = "/v1/flows", tag = "flows",
    params(("Idempotency-Key" = Option<String>, Header,
        description = "1 to 255 ASCII characters; a repeat under the same key has no second effect"),
        ("traceparent" = Option<String>, Header,
            description = "The span it is made in, as W3C Trace Context says; its tasks carry it on")),
    request_body(content = FlowSchema, example = json!({
        "id": "order-7", "on_failure": "stop", "steps": [
            {"name": "charge", "queue": "payments", "payload": {"order": 7}},
            {"name": "pack", "queue": "warehouse", "payload": {"order": 7}},
            {"name": "ship", "queue": "warehouse", "after": ["charge", "pack"], "payload": {}}
        ]
    })),
    responses((status = 201, description = "Made", body = FlowView), Pushes))]
async fn create_flow(
    State(app): State<Arc<App>>,
    caller: Caller,
    marks: Marks,
    body: JsonBody,
) -> Result<Response, Problem> {
    let new: NewFlow = body.read()?;
    new.id.as_ref().map_or(Ok(()), |id| new_name(id.check_new()))?;
    caller.check_all(&new.queues())?;
    let key = marks.key(&caller, &["POST flows"], body.bytes(), StatusCode::CREATED, true)?;
    match app.engine.create_flow(new, key, marks.trace).await? {
        FlowAnswer::Made(flow) => Ok(answer(StatusCode::CREATED, &FlowView::new(&flow))),
        FlowAnswer::Replayed { status, flow, id } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::CREATED);
            Ok(replayed(match flow {
                Some(flow) => answer(status, &FlowView::new(&flow)),
                None => {
                    let id = id.as_ref().map_or("", |id| id.as_str());
                    answer(status, &GoneFlowView::new(id))
                }
            }))
        }
    }
}

/// Which flows to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct FlowParams {
    /// Only those in these states, separated by commas.
    #[param(value_type = Option<FlowStateSchema>)]
    state: Option<String>,
    /// Most items on the page, 1 to 1000.
    #[param(default = 50, minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

impl FlowParams {
    fn filter(&self) -> Result<FlowFilter, Failure> {
        let mut states = Vec::new();
        let names = self.state.iter().flat_map(|list| list.split(',')).map(str::trim);
        for name in names.filter(|name| !name.is_empty()) {
            let state = FlowState::ALL.into_iter().find(|state| state.name() == name);
            let rule =
                "any of running, paused, cancelling, done, failed, cancelled, separated by commas";
            states.push(state.ok_or_else(|| Failure::invalid("state", rule))?);
        }
        Ok(FlowFilter { states, ..FlowFilter::default() })
    }
}

/// List flows by id, without their steps.
#[utoipa::path(get, path = "/v1/flows", tag = "flows", params(FlowParams),
    responses((status = 200, description = "A page of flows", body = Page<FlowSummaryView>), Reads))]
async fn list_flows(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<FlowParams>,
) -> Result<Response, Problem> {
    let limit = page_limit(params.limit)?;
    let filter = FlowFilter { scope: caller.scope(), ..params.filter()? };
    let (flows, next) = app.engine.list_flows(&filter, limit, given(params.cursor)).await?;
    let items = flows.iter().map(FlowSummaryView::new).collect();
    Ok(answer(StatusCode::OK, &Page { items, next }))
}

/// Read a flow with all its steps.
#[utoipa::path(get, path = "/v1/flows/{id}", tag = "flows", params(OnFlow),
    responses((status = 200, description = "The flow", body = FlowView), Reads))]
async fn get_flow(
    State(app): State<Arc<App>>,
    caller: Caller,
    OnFlow { id }: OnFlow,
) -> Result<Response, Problem> {
    let flow = app.engine.flow(&id).await?;
    caller.check_all(flow.queues()).map_err(|_| Failure::NoFlow(id))?;
    Ok(answer(StatusCode::OK, &FlowView::new(&flow)))
}

/// End a flow: no step is started any more, and tasks that have not ended are cancelled.
#[utoipa::path(post, path = "/v1/flows/{id}/cancel", tag = "flows", params(OnFlow),
    request_body = Nothing,
    responses((status = 200, description = "The flow", body = FlowView), Changes))]
async fn cancel_flow(
    State(app): State<Arc<App>>,
    caller: Caller,
    on: OnFlow,
    body: JsonBody,
) -> Result<Response, Problem> {
    act(&app, &caller, &on, &body, FlowVerb::Cancel).await
}

/// Set a flow aside: no step is started, tasks that nobody began are paused, running ones finish.
#[utoipa::path(post, path = "/v1/flows/{id}/pause", tag = "flows", params(OnFlow),
    request_body = Nothing,
    responses((status = 200, description = "The flow", body = FlowView), Changes))]
async fn pause_flow(
    State(app): State<Arc<App>>,
    caller: Caller,
    on: OnFlow,
    body: JsonBody,
) -> Result<Response, Problem> {
    act(&app, &caller, &on, &body, FlowVerb::Pause).await
}

/// Let a paused flow go on.
#[utoipa::path(post, path = "/v1/flows/{id}/resume", tag = "flows", params(OnFlow),
    request_body = Nothing,
    responses((status = 200, description = "The flow", body = FlowView), Changes))]
async fn resume_flow(
    State(app): State<Arc<App>>,
    caller: Caller,
    on: OnFlow,
    body: JsonBody,
) -> Result<Response, Problem> {
    act(&app, &caller, &on, &body, FlowVerb::Resume).await
}

/// Make the failed and cancelled steps of a flow again; those that are done stay done.
#[utoipa::path(post, path = "/v1/flows/{id}/retry", tag = "flows", params(OnFlow),
    request_body = Nothing,
    responses((status = 200, description = "The flow", body = FlowView), Changes))]
async fn retry_flow(
    State(app): State<Arc<App>>,
    caller: Caller,
    on: OnFlow,
    body: JsonBody,
) -> Result<Response, Problem> {
    act(&app, &caller, &on, &body, FlowVerb::Retry).await
}

async fn act(
    app: &App,
    caller: &Caller,
    on: &OnFlow,
    body: &JsonBody,
    verb: FlowVerb,
) -> Result<Response, Problem> {
    let Nothing {} = body.read()?;
    if !caller.scope().is_all() {
        let flow = app.engine.flow(&on.id).await?;
        caller.check_all(flow.queues()).map_err(|_| Failure::NoFlow(on.id.clone()))?;
    }
    let flow = app.engine.act_on_flow(&on.id, verb).await?;
    Ok(answer(StatusCode::OK, &FlowView::new(&flow)))
}
