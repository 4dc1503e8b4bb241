//! `POST …/tasks/bulk`: one verb for all tasks that match a filter.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use punctual_core::{Event, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::openapi::Changes;
use super::schema::When;
use super::target::{InQueue, given};
use super::tasks::state;
use super::{App, Problem, answer};
use crate::engine::{Bulk, BulkAnswer, Failure, Filter};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(bulk))
}

/// One verb for many tasks.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Bulk)]
struct BulkBody {
    /// What to do with them.
    verb: BulkVerb,
    /// Which tasks; `{}` for all of them.
    #[schema(value_type = FilterBody)]
    filter: Option<FilterBody>,
    /// Count those that match and change nothing.
    #[schema(default = false)]
    dry_run: Option<bool>,
    /// The `next` of the call before.
    cursor: Option<String>,
}

/// A verb for many tasks.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum BulkVerb {
    /// Cancelled, or asked to stop if running.
    Cancel,
    /// Set aside, or asked to pause if running.
    Pause,
    /// Paused ones go on.
    Resume,
    /// Failed ones, and those waiting for their retry, are ready now.
    Retry,
    /// Like new.
    Reset,
    /// Gone.
    Clean,
}

impl From<BulkVerb> for Event {
    fn from(verb: BulkVerb) -> Self {
        match verb {
            BulkVerb::Cancel => Self::Cancel,
            BulkVerb::Pause => Self::Pause,
            BulkVerb::Resume => Self::Resume,
            BulkVerb::Retry => Self::Retry { force: false },
            BulkVerb::Reset => Self::Reset,
            BulkVerb::Clean => Self::Clean,
        }
    }
}

/// Which tasks; what is left out does not restrict.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Filter)]
struct FilterBody {
    /// One state, or several.
    state: Option<States>,
    /// Those with this tag.
    tag: Option<String>,
    /// Those whose id begins so.
    id: Option<String>,
    /// Those whose error contains this.
    error: Option<String>,
    /// Those whose payload contains this.
    q: Option<String>,
    /// Those that finished, or last failed, at this time or later: what an outage has left behind.
    #[schema(value_type = Option<When>)]
    since: Option<Timestamp>,
    /// Those that this worker holds, or held when they ended.
    worker: Option<String>,
}

/// One state, or several.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
enum States {
    /// One, or several separated by commas.
    One(String),
    /// Several.
    Many(Vec<String>),
}

/// What one call has done.
#[derive(Serialize, ToSchema)]
#[schema(as = Bulked)]
struct BulkView {
    /// Tasks that match.
    matched: usize,
    /// Tasks that are other than before.
    changed: usize,
    /// The cursor of the next call; null: this was the last.
    #[schema(required = true)]
    next: Option<String>,
}

impl FilterBody {
    fn filter(self) -> Result<Filter, Failure> {
        let names = match self.state {
            None => Vec::new(),
            Some(States::One(list)) => list.split(',').map(|name| name.trim().to_owned()).collect(),
            Some(States::Many(names)) => names,
        };
        let states: Result<_, Failure> = names.iter().map(|name| state(name)).collect();
        let states = states.map_err(|failure| match failure {
            Failure::Refused(punctual_core::Refusal::Invalid(invalid)) => {
                Failure::Refused(invalid.within("filter").into())
            }
            other => other,
        })?;
        Ok(Filter {
            states,
            tag: given(self.tag),
            id: given(self.id),
            error: given(self.error),
            text: given(self.q),
            since: self.since,
            worker: given(self.worker),
            ..Filter::default()
        })
    }
}

/// Do the same to all tasks that match, at most 1000 per call.
#[utoipa::path(post, path = "/v1/queues/{queue}/tasks/bulk", tag = "tasks", params(InQueue),
    operation_id = "bulk_tasks",
    request_body(content = BulkBody,
        example = json!({"verb": "retry", "filter": {"state": "failed", "tag": "mail"}})),
    responses((status = 200, description = "How many there were", body = BulkView), Changes))]
async fn bulk(
    State(app): State<Arc<App>>,
    InQueue { queue, .. }: InQueue,
    body: JsonBody,
) -> Result<Response, Problem> {
    let BulkBody { verb, filter, dry_run, cursor } = body.read()?;
    // What concerns everything has to be said: a filter that was forgotten must not clean a queue.
    let filter = filter.ok_or_else(|| Failure::invalid("filter", "required; {} for all tasks"))?;
    let filter = filter.filter()?;
    let record = app.engine.queue(&queue).await?;
    let dry_run = dry_run.unwrap_or_default();
    let bulk = Bulk { event: verb.into(), filter, dry_run, cursor: given(cursor) };
    let BulkAnswer { matched, changed, next } = app.engine.bulk(&record, bulk).await?;
    Ok(answer(StatusCode::OK, &BulkView { matched, changed, next }))
}
