//! `POST …/tasks`: one task, or many.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use punctual_core::{NewTask, QueueName, Settings, TaskId};
use punctual_store::KeyedItem;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::json::{self, Batch};
use super::marks::{Marks, replayed};
use super::openapi::Pushes;
use super::rights::Caller;
use super::schema::PushSchema;
use super::target::InQueue;
use super::view::{AnswerView, GoneView, ItemView, Results, TaskView};
use super::{App, Problem, answer};
use crate::engine::{Failure, ItemId, PushAnswer, PushItem};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(push))
}

/// Push one task, or many.
///
/// A push to a queue that does not exist makes it. In a batch each item answers for itself.
#[utoipa::path(post, path = "/v1/queues/{queue}/tasks", tag = "tasks", operation_id = "push_task",
    params(InQueue, ("Idempotency-Key" = Option<String>, Header,
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
    InQueue { queue, .. }: InQueue,
    marks: Marks,
    body: JsonBody,
) -> Result<Response, Problem> {
    let object = body.object()?;
    let single = !json::is_batch(object);
    let mut items = if single {
        let new: NewTask = json::read(object)?;
        new.check().map_err(Failure::from)?;
        caller.check_all(&new.makes_tasks_in())?;
        vec![Ok(new)]
    } else {
        let Batch { tasks } = json::read(object)?;
        tasks.0.into_iter().map(|one| item(&caller, one)).collect()
    };
    items.iter_mut().flatten().for_each(|new: &mut NewTask| new.trace = marks.trace);
    let status = if single { StatusCode::CREATED } else { StatusCode::OK };
    let route = ["POST tasks", queue.as_str()];
    let key = marks.key(&caller, &route, body.bytes(), status, single)?;
    let _share = body.into_share();
    let before = match app.engine.queue(&queue).await {
        Ok(record) => Some(record),
        Err(Failure::NoQueue(_)) => None,
        Err(failure) => return Err(failure.into()),
    };
    match app.engine.push(&queue, before.as_deref(), items, key).await? {
        PushAnswer::Fresh(mut answers) if single => match answers.pop() {
            Some((_, Ok(task))) => {
                let made = before.is_none().then(|| Settings::initial(&queue));
                let settings = before.as_ref().map(|record| &record.settings).or(made.as_ref());
                let settings = settings.expect("it was there, or was made");
                let view = TaskView::new(&task, settings, app.viewing());
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
            replay(&app, &queue, single, status, &items).await
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
) -> Result<Response, Problem> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let response = match items {
        [KeyedItem { id: Some(id), .. }] if single => match app.engine.task(queue, id).await {
            Ok(task) => {
                let record = app.engine.queue(queue).await?;
                answer(status, &TaskView::new(&task, &record.settings, app.viewing()))
            }
            Err(Failure::NoTask { .. }) => answer(status, &GoneView::new(queue, id)),
            Err(failure) => return Err(failure.into()),
        },
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
