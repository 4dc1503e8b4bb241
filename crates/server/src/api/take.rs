//! `POST …/take`: tasks for a worker, and perhaps the commit of those it had before.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::poll_immediate;
use http_body::{Frame, SizeHint};
use punctual_core::{Span, WorkerName};
use punctual_store::Stored;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::encoding::{self, AcceptsGzip};
use super::json::Items;
use super::openapi::Changes;
use super::schema::Duration;
use super::settle::CommitItem;
use super::target::{InQueue, new_name};
use super::view::{ItemView, TaskView};
use super::{App, Problem, answer, batch, to_json};
use crate::engine::{Failure, Handout, TakeAsk};

/// How much of an answer is handed to the connection at once.
const CHUNK_BYTES: usize = 64 << 10;

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(take))
}

/// What a worker asks for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Take)]
struct TakeBody<'a> {
    /// Its name.
    #[schema(value_type = Option<String>)]
    worker: Option<WorkerName>,
    /// How many tasks at most, 1 to 1000.
    #[schema(default = 1)]
    n: Option<usize>,
    /// The hold it asks for, instead of the task's or queue's.
    #[schema(value_type = Option<Duration>)]
    hold: Option<Span>,
    /// How long to wait for the first task, at most 60 seconds; not at all if left out.
    #[schema(value_type = Option<Duration>)]
    wait: Option<Span>,
    /// Whether it will confirm what it gets.
    #[schema(default = false)]
    confirm: Option<bool>,
    /// Tasks it is done with; these commits stand whatever becomes of the take.
    #[serde(borrow)]
    #[schema(value_type = Option<Vec<CommitItem>>)]
    commit: Option<Items<'a>>,
}

/// What a worker gets.
#[derive(Serialize, ToSchema)]
#[schema(as = Taken)]
struct TakeView<'a> {
    /// The tasks, each with its token.
    tasks: Vec<TaskView<'a>>,
    /// The answers to `commit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    committed: Option<Vec<ItemView<'a>>>,
}

/// Take tasks.
///
/// Each is held for its taker until it settles it, or the hold ends. With `wait` the answer comes as
/// soon as there is a task.
#[utoipa::path(post, path = "/v1/queues/{queue}/take", tag = "holders", params(InQueue),
    request_body(content = TakeBody, example = json!({"worker": "w1", "n": 10, "wait": "30s"})),
    responses((status = 200, description = "What there is", body = TakeView), Changes))]
async fn take(
    State(app): State<Arc<App>>,
    InQueue { queue, .. }: InQueue,
    accepts: AcceptsGzip,
    body: JsonBody,
) -> Result<Response, Problem> {
    let TakeBody { worker, n, hold, wait, confirm, commit } = body.read()?;
    worker.as_ref().map_or(Ok(()), |worker| new_name(worker.check_new()))?;
    let n = n.unwrap_or(1);
    let ask = TakeAsk {
        worker,
        n,
        hold,
        confirm: confirm.unwrap_or_default(),
        wait: wait.unwrap_or_default(),
    };
    ask.check()?;
    let commit = commit.map(|items| batch::read_items::<CommitItem>(&items));
    drop(body);
    let record = match app.engine.pull_queue(&queue).await {
        // Commits that came through before the queue went are answered all the same.
        Err(Failure::NoQueue(_)) if commit.is_some() => None,
        record => Some(record?),
    };
    let committed = match commit {
        // On the heap, as most takes commit nothing.
        Some(items) => Some(Box::pin(batch::settle(&app.engine, &queue, items)).await?),
        None => None,
    };
    let Some(record) = record else {
        let committed = committed.as_ref().map(batch::Answers::results);
        return Ok(answer(StatusCode::OK, &TakeView { tasks: Vec::new(), committed }));
    };
    let handout = match not_at_once(app.engine.take(&queue, ask)).await {
        // What was committed stands, and its committer must hear of it.
        Err(failure) if committed.is_some() => {
            tracing::warn!(%queue, %failure, "nothing could be taken after a commit");
            Handout::default()
        }
        taken => taken?,
    };
    let viewing = app.viewing();
    let tasks = handout
        .tasks()
        .iter()
        .map(|Stored { task, .. }| TaskView::new(task, &record.settings, viewing).with_token(task));
    let view = TakeView {
        tasks: tasks.collect(),
        committed: committed.as_ref().map(batch::Answers::results),
    };
    let mut json = to_json(&view);
    drop(view);
    // Compressed here, as the tasks count as handed over once the connection has this very body.
    let is_packed = accepts.pays_for(json.len() as u64);
    if is_packed {
        json = encoding::gzip(&json);
    }
    let mut response = Response::new(Body::new(HandoutBody { rest: json.into(), handout }));
    *response.status_mut() = StatusCode::OK;
    if is_packed {
        encoding::mark_gzip(response.headers_mut());
    }
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    Ok(response)
}

/// Lets the connection be looked at before an answer is there: whether its peer has hung up is
/// noticed between two polls, and a take that is ready at the first would be written to nobody.
async fn not_at_once<F: Future>(take: F) -> F::Output {
    let mut take = pin!(take);
    match poll_immediate(&mut take).await {
        Some(taken) => {
            tokio::task::yield_now().await;
            taken
        }
        None => take.await,
    }
}

/// An answer with tasks in it. If it is dropped before all of it went to the connection, its taker is
/// gone, and the tasks go back.
struct HandoutBody {
    rest: Bytes,
    handout: Handout,
}

impl http_body::Body for HandoutBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let bytes = self.rest.len().min(CHUNK_BYTES);
        let chunk = self.rest.split_to(bytes);
        if self.rest.is_empty() {
            self.handout.written();
        }
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}
