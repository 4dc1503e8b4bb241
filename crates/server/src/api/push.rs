//! `POST …/tasks`: one task, or many.

use std::hash::Hasher;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use punctual_core::limits::IDEMPOTENCY_KEY_BYTES_MAX;
use punctual_core::{NewTask, QueueName, Settings, TaskId, TraceParent};
use punctual_store::KeyedItem;
use siphasher::sip128::{Hasher128, SipHasher13};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::json::{self, Batch};
use super::openapi::Pushes;
use super::rights::Caller;
use super::schema::PushSchema;
use super::target::InQueue;
use super::view::{AnswerView, GoneView, ItemView, Results, TaskView};
use super::{App, Problem, answer};
use crate::engine::{Failure, ItemId, Key, PushAnswer, PushItem};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

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
    headers: HeaderMap,
    body: JsonBody,
) -> Result<Response, Problem> {
    let object = body.object()?;
    let trace = traceparent(&headers);
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
    items.iter_mut().flatten().for_each(|new: &mut NewTask| new.trace = trace);
    let status = if single { StatusCode::CREATED } else { StatusCode::OK };
    let route = ["POST tasks", queue.as_str()];
    let key = key(&caller, &headers, &route, body.bytes(), status, single)?;
    // Read before, so that what was pushed is answered even if the store goes away in that moment.
    let before = match app.engine.queue(&queue).await {
        Ok(record) => Some(record),
        Err(Failure::NoQueue(_)) => None,
        Err(failure) => return Err(failure.into()),
    };
    match app.engine.push(&queue, items, key).await? {
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

/// The span a request is made in, as far as its header says so in the right form.
pub(super) fn traceparent(headers: &HeaderMap) -> Option<TraceParent> {
    headers.get("traceparent")?.to_str().ok().and_then(TraceParent::parse)
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

/// Marks an answer as one that was given before.
pub(super) fn replayed(mut response: Response) -> Response {
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response
}

/// The identity of a request to a route that carries an `Idempotency-Key`, and how it is answered.
pub(super) fn key(
    caller: &Caller,
    headers: &HeaderMap,
    route: &[&str],
    body: &[u8],
    status: StatusCode,
    single: bool,
) -> Result<Option<Key>, Failure> {
    let Some(value) = headers.get(KEY) else { return Ok(None) };
    let value = value.as_bytes();
    if !(1..=IDEMPOTENCY_KEY_BYTES_MAX).contains(&value.len()) || !value.is_ascii() {
        return Err(Failure::invalid("Idempotency-Key", "1 to 255 ASCII characters"));
    }
    // Keys of one access token are not those of another.
    let mut parts = vec![caller.0.identity()];
    parts.extend(route.iter().map(|part| part.as_bytes()));
    parts.push(value);
    let key = hash(&parts);
    Ok(Some(Key { key, request: hash(&[body]), status: status.as_u16(), single }))
}

/// A hash that is the same on every node and after every start.
fn hash(parts: &[&[u8]]) -> u128 {
    let mut hasher = SipHasher13::new();
    for part in parts {
        hasher.write_usize(part.len());
        hasher.write(part);
    }
    hasher.finish128().as_u128()
}
