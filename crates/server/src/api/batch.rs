//! What holders say about many tasks at once: one write for all, each item answered by itself.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use punctual_core::{Queue, QueueName, TaskId};
use serde::de::DeserializeOwned;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::json::{self, Batch, Items};
use super::openapi::Changes;
use super::schema::BatchSchema;
use super::settle::{CommitItem, ExtendItem, FailItem, ReleaseItem};
use super::target::InQueue;
use super::view::{ItemView, Results};
use super::{App, Problem, answer};
use crate::engine::{Ask, Engine, Failure, Outcome};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(commit_many))
        .routes(routes!(extend_many))
        .routes(routes!(fail_many))
        .routes(routes!(release_many))
}

/// An item of a batch that can be carried out; or why it cannot be, and its id if it has one.
pub(super) type Item = Result<Ask, (Option<TaskId>, Failure)>;

/// The answers to a batch, in its order.
pub(super) struct Answers(Vec<(Option<TaskId>, Result<Outcome, Failure>)>);

/// Reads and checks every item.
pub(super) fn read_items<T: DeserializeOwned + Into<Ask>>(items: &Items<'_>) -> Vec<Item> {
    let read = |item: &&_| {
        let ask: Ask = json::read_item::<T>(item)?.into();
        match ask.check() {
            Ok(()) => Ok(ask),
            Err(failure) => Err((Some(ask.id), failure)),
        }
    };
    items.0.iter().map(read).collect()
}

/// Carries out the items that can be.
pub(super) async fn settle(
    engine: &Engine,
    queue: &Queue,
    items: Vec<Item>,
) -> Result<Answers, Failure> {
    let mut asks = Vec::with_capacity(items.len());
    let mut refused = Vec::with_capacity(items.len());
    for item in items {
        refused.push(item.map(|ask| asks.push(ask)).err());
    }
    let outcomes = engine.settle(queue, &asks).await?;
    let mut settled = asks.into_iter().map(|ask| Some(ask.id)).zip(outcomes);
    let answer = |refused: Option<(Option<TaskId>, Failure)>| match refused {
        Some((id, failure)) => (id, Err(failure)),
        None => settled.next().unwrap_or((None, Err(Failure::Contended))),
    };
    Ok(Answers(refused.into_iter().map(answer).collect()))
}

impl Answers {
    /// How they read.
    pub(super) fn results(&self) -> Vec<ItemView<'_>> {
        self.view(|id, _| ItemView::ok(id))
    }

    /// How they read after an extend.
    fn extended(&self) -> Vec<ItemView<'_>> {
        self.view(|id, outcome| match outcome {
            Outcome::Task { task, .. } => ItemView::extended(id, task),
            Outcome::Before { .. } => ItemView::ok(id),
        })
    }

    fn view<'a>(
        &'a self,
        ok: impl Fn(Option<&'a TaskId>, &'a Outcome) -> ItemView<'a>,
    ) -> Vec<ItemView<'a>> {
        let view = |(id, answer): &'a (Option<TaskId>, Result<Outcome, Failure>)| match answer {
            Ok(outcome) => ok(id.as_ref(), outcome),
            Err(failure) => ItemView::refused(id.as_ref(), failure),
        };
        self.0.iter().map(view).collect()
    }
}

async fn carry_out<T: DeserializeOwned + Into<Ask>>(
    app: &App,
    queue: &QueueName,
    body: &JsonBody,
) -> Result<Answers, Problem> {
    let Batch { tasks } = body.read()?;
    let items = read_items::<T>(&tasks);
    let record = app.engine.queue(queue).await?;
    Ok(settle(&app.engine, &record, items).await?)
}

/// Say that tasks are done.
#[utoipa::path(post, path = "/v1/queues/{queue}/commit", tag = "holders", params(InQueue),
    request_body(content = BatchSchema<CommitItem>,
        example = json!({"tasks": [{"id": "a", "token": "…", "result": 1}]})),
    responses((status = 200, description = "One answer per item", body = Results), Changes))]
async fn commit_many(
    State(app): State<Arc<App>>,
    InQueue { queue, .. }: InQueue,
    body: JsonBody,
) -> Result<Response, Problem> {
    let answers = carry_out::<CommitItem>(&app, &queue, &body).await?;
    Ok(answer(StatusCode::OK, &Results { results: answers.results() }))
}

/// Hold tasks longer, and report.
#[utoipa::path(post, path = "/v1/queues/{queue}/extend", tag = "holders", params(InQueue),
    request_body(content = BatchSchema<ExtendItem>,
        example = json!({"tasks": [{"id": "a", "token": "…", "progress": 0.5}]})),
    responses((status = 200, description = "One answer per item", body = Results), Changes))]
async fn extend_many(
    State(app): State<Arc<App>>,
    InQueue { queue, .. }: InQueue,
    body: JsonBody,
) -> Result<Response, Problem> {
    let answers = carry_out::<ExtendItem>(&app, &queue, &body).await?;
    Ok(answer(StatusCode::OK, &Results { results: answers.extended() }))
}

/// Say that attempts failed.
#[utoipa::path(post, path = "/v1/queues/{queue}/fail", tag = "holders", params(InQueue),
    request_body(content = BatchSchema<FailItem>,
        example = json!({"tasks": [{"id": "a", "token": "…", "error": "refused"}]})),
    responses((status = 200, description = "One answer per item", body = Results), Changes))]
async fn fail_many(
    State(app): State<Arc<App>>,
    InQueue { queue, .. }: InQueue,
    body: JsonBody,
) -> Result<Response, Problem> {
    let answers = carry_out::<FailItem>(&app, &queue, &body).await?;
    Ok(answer(StatusCode::OK, &Results { results: answers.results() }))
}

/// Give tasks back; the takes do not count.
#[utoipa::path(post, path = "/v1/queues/{queue}/release", tag = "holders", params(InQueue),
    request_body(content = BatchSchema<ReleaseItem>,
        example = json!({"tasks": [{"id": "a", "token": "…", "delay": "1m"}]})),
    responses((status = 200, description = "One answer per item", body = Results), Changes))]
async fn release_many(
    State(app): State<Arc<App>>,
    InQueue { queue, .. }: InQueue,
    body: JsonBody,
) -> Result<Response, Problem> {
    let answers = carry_out::<ReleaseItem>(&app, &queue, &body).await?;
    Ok(answer(StatusCode::OK, &Results { results: answers.results() }))
}
