//! `POST …/tasks`: one task, or many.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use punctual_core::{NewTask, QueueName, Settings, TaskId};
use punctual_store::KeyedItem;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::json::{self, Batch};
use super::marks::{Marks, replayed};
use super::openapi::Pushes;
use super::rights::Caller;
use super::schema::{Duration, PushSchema};
use super::target::{InQueue, wait_of};
use super::view::{AnswerView, GoneView, ItemView, Results, TaskView};
use super::{App, Problem, answer};
use crate::engine::{Failure, ItemId, PushAnswer, PushItem, Waited};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(push))
}

/// How a push is answered.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PushParams {
    /// How long to wait for the task's end, at most 60 seconds; not at all if left out. Not for a batch.
    #[param(value_type = Option<Duration>, example = "30s")]
    wait: Option<String>,
}

/// Push one task, or many.
///
/// A push to a queue that does not exist makes it. In a batch each item answers for itself. With `wait` the
/// answer comes when the task has ended, or after that time with the task as it is then; one that ended and is
/// not kept answers its `queue`, `id` and `state`.
#[utoipa::path(post, path = "/v1/queues/{queue}/tasks", tag = "tasks", operation_id = "push_task",
    params(InQueue, PushParams, ("Idempotency-Key" = Option<String>, Header,
        description = "1 to 255 ASCII characters; a repeat under the same key has no second effect"),
        ("traceparent" = Option<String>, Header,
            description = "The span it is pushed in, as W3C Trace Context says; what follows from the task \
                carries it on")),
    request_body(content = PushSchema, examples(
        ("one" = (summary = "One task", value = json!({"payload": {"to": "ann"}, "delay": "10m"}))),
        ("many" = (summary = "A batch",
            value = json!({"tasks": [{"id": "a", "payload": 1}, {"id": "b", "priority": 5}]})))
    )),
    responses((status = 201, description = "One task was pushed", body = AnswerView),
        (status = 200, description = "A batch was answered", body = Results), Pushes))]
async fn push(
    State(app): State<Arc<App>>,
    caller: Caller,
    InQueue { queue, params }: InQueue<PushParams>,
    marks: Marks,
    body: JsonBody,
) -> Result<Response, Problem> {
    let object = body.object()?;
    let single = !json::is_batch(object);
    let wait = wait_of(params.wait)?;
    if wait.is_some() && !single {
        return Err(Failure::invalid("wait", "for one task, not for a batch").into());
    }
    let mut items = if single {
        let mut new: NewTask = json::read(object)?;
        new.check().map_err(Failure::from)?;
        caller.check_all(&new.makes_tasks_in())?;
        if wait.is_some() {
            new.id.get_or_insert_with(|| app.engine.new_id());
        }
        vec![Ok(new)]
    } else {
        let Batch { tasks } = json::read(object)?;
        tasks.0.into_iter().map(|one| item(&caller, one)).collect()
    };
    items.iter_mut().flatten().for_each(|new: &mut NewTask| new.trace = marks.trace);
    let status = if single { StatusCode::CREATED } else { StatusCode::OK };
    let route = ["POST tasks", queue.as_str()];
    let key = marks.key(&caller, &route, body.bytes(), status, single)?;
    let share = body.into_share();
    // Begins before the push: the task may end at once.
    let waiter = match (wait, &items[..]) {
        (Some(wait), [Ok(NewTask { id: Some(id), .. })]) => {
            Some((app.engine.waiter(&queue, id), wait))
        }
        _ => None,
    };
    let before = match app.engine.queue(&queue).await {
        Ok(record) => Some(record),
        Err(Failure::NoQueue(_)) => None,
        Err(failure) => return Err(failure.into()),
    };
    let pushed = app.engine.push(&queue, before.as_deref(), items, key).await?;
    drop(share);
    match pushed {
        PushAnswer::Fresh(mut answers) if single => match answers.pop() {
            Some((_, Ok(mut stored))) => {
                if let Some((waiter, wait)) = waiter {
                    // On the heap, as most requests do not wait.
                    let waiting = app.engine.wait_for_end(waiter, stored.clone(), wait);
                    match Box::pin(waiting).await {
                        Ok(Waited::Task(ended)) => stored = *ended,
                        Ok(Waited::Gone(end)) => {
                            let gone = GoneView::new(&queue, &stored.task.spec.id).ended(end);
                            return Ok(answer(StatusCode::CREATED, &gone));
                        }
                        // It was pushed all the same.
                        Err(_) => {}
                    }
                }
                let made = before.is_none().then(|| Settings::initial(&queue));
                let settings = before.as_ref().map(|record| &record.settings).or(made.as_ref());
                let settings = settings.expect("it was there, or was made");
                let view = TaskView::new(&stored.task, settings, app.viewing());
                Ok(answer(StatusCode::CREATED, &view))
            }
            Some((_, Err(failure))) => Err(failure.into()),
            None => Err(Failure::Contended.into()),
        },
        PushAnswer::Fresh(answers) => {
            let results = answers.iter().map(|(id, answer)| match answer {
                Ok(_) => ItemView::ok(id.as_ref().map(ItemId::as_str)),
                Err(failure) => ItemView::refused(id.as_ref().map(ItemId::as_str), failure),
            });
            Ok(answer(StatusCode::OK, &Results { results: results.collect() }))
        }
        PushAnswer::Replayed { status, items } => {
            Box::pin(replay(&app, &queue, single, status, &items, wait)).await
        }
    }
}

fn item(caller: &Caller, item: &serde_json::value::RawValue) -> PushItem {
    let new: NewTask = json::read_item(item)?;
    let checked = new.check().map_err(Failure::from);
    match checked.and_then(|()| caller.check_all(&new.makes_tasks_in())) {
        Ok(()) => Ok(new),
        Err(failure) => Err((new.id.map(ItemId::from), failure)),
    }
}

/// The answer of the first request, with the objects as they read now.
async fn replay(
    app: &App,
    queue: &QueueName,
    single: bool,
    status: u16,
    items: &[KeyedItem],
    wait: Option<std::time::Duration>,
) -> Result<Response, Problem> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let response = match items {
        [KeyedItem { id: Some(id), .. }] if single => {
            let waiter = app.engine.waiter(queue, id);
            let waited = match app.engine.stored(queue, id).await {
                Ok(stored) => {
                    let wait = wait.unwrap_or_default();
                    app.engine.wait_for_end(waiter, stored, wait).await?
                }
                Err(Failure::NoTask { .. }) => Waited::Gone(None),
                Err(failure) => return Err(failure.into()),
            };
            match waited {
                Waited::Task(stored) => {
                    let record = app.engine.queue(queue).await?;
                    answer(status, &TaskView::new(&stored.task, &record.settings, app.viewing()))
                }
                Waited::Gone(end) => answer(status, &GoneView::new(queue, id).ended(end)),
            }
        }
        items => {
            let results = items
                .iter()
                .map(|item| {
                    ItemView::replayed(item.id.as_ref().map(TaskId::as_str), item.code.as_deref())
                })
                .collect();
            answer(status, &Results { results })
        }
    };
    Ok(replayed(response))
}
