//! One verb for all tasks that match a filter, a thousand at a time.

use punctual_core::limits::BULK_ITEMS_MAX;
use punctual_core::{Event, Queue, State, TaskId};
use serde::Deserialize;

use super::apply::{Ask, Known, Outcome};
use super::{Engine, Failure, Filter};

/// What to do with all tasks that match.
#[derive(Debug)]
pub(crate) struct Bulk {
    /// The verb.
    pub(crate) verb: BulkVerb,
    /// Which tasks.
    pub(crate) filter: Filter,
    /// Whether to count only.
    pub(crate) dry_run: bool,
    /// Where the last call ended.
    pub(crate) cursor: Option<String>,
}

/// A verb for many tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BulkVerb {
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

/// How many there were.
#[derive(Debug)]
pub(crate) struct BulkAnswer {
    /// Tasks that match the filter.
    pub(crate) matched: usize,
    /// Tasks that are other than before.
    pub(crate) changed: usize,
    /// Where the next call begins; none: this was the last.
    pub(crate) next: Option<String>,
}

impl BulkVerb {
    /// What happens to each task; nothing, if it is to be removed.
    fn event(self) -> Option<Event> {
        Some(match self {
            Self::Cancel => Event::Cancel,
            Self::Pause => Event::Pause,
            Self::Resume => Event::Resume,
            Self::Retry => Event::Retry { force: false },
            Self::Reset => Event::Reset,
            Self::Clean => return None,
        })
    }

    /// The states it leads to.
    fn leads_to(self) -> &'static [State] {
        match self {
            Self::Cancel => &[State::Cancelling, State::Cancelled],
            Self::Pause => &[State::Pausing, State::Paused],
            Self::Resume => &[State::Running, State::Waiting, State::Ready],
            Self::Retry => &[State::Ready],
            Self::Reset => &[State::Waiting, State::Ready],
            Self::Clean => &[],
        }
    }
}

impl Engine {
    /// Carries out one call of a bulk verb.
    pub(crate) async fn bulk(&self, queue: &Queue, bulk: Bulk) -> Result<BulkAnswer, Failure> {
        let Bulk { verb, mut filter, dry_run, cursor } = bulk;
        // Where the verb leads to comes first, so that no later call meets a task again that an
        // earlier one has changed.
        filter.states = filter.states();
        filter.states.sort_by_key(|state| !verb.leads_to().contains(state));
        let page = self.list(&queue.name, &filter, BULK_ITEMS_MAX, cursor).await?;
        let matched = page.items.len();
        let changed = match verb.event() {
            _ if dry_run => 0,
            None => {
                let id = |stored: &punctual_store::Stored| stored.task.spec.id.clone();
                let ids: Vec<TaskId> = page.items.iter().map(id).collect();
                let removed = self.store.remove(&queue.name, &ids).await?;
                removed.into_iter().filter(|removed| *removed).count()
            }
            Some(event) => {
                let ask = |stored: &punctual_store::Stored| Ask {
                    id: stored.task.spec.id.clone(),
                    event: event.clone(),
                };
                let asks: Vec<Ask> = page.items.iter().map(ask).collect();
                let known = page.items.into_iter().map(Known::Read).collect();
                let answers = self.apply(queue, &asks, known, Some(&filter)).await?;
                let changed =
                    |answer: &_| matches!(answer, Ok(Outcome::Task { changed: true, .. }));
                answers.iter().filter(|answer| changed(answer)).count()
            }
        };
        Ok(BulkAnswer { matched, changed, next: page.next })
    }
}
