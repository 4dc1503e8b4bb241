//! One verb for all tasks that match a filter, a thousand at a time.

use std::sync::Arc;

use punctual_core::limits::BULK_ITEMS_MAX;
use punctual_core::task::{Edge, edge};
use punctual_core::{Event, Queue, State, Verb};
use punctual_store::Stored;

use super::apply::{Ask, Known, Outcome};
use super::{Engine, Failure, Filter};

/// What to do with all tasks that match.
#[derive(Debug)]
pub(crate) struct Bulk {
    /// What happens to each.
    pub(crate) event: Event,
    /// Which tasks.
    pub(crate) filter: Filter,
    /// Whether to count only.
    pub(crate) dry_run: bool,
    /// Where the last call ended.
    pub(crate) cursor: Option<String>,
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

/// The states a verb may lead to.
fn leads_to(verb: Verb) -> Vec<State> {
    let states = State::ALL.into_iter().flat_map(|state| match edge(state, verb) {
        Edge::To(states) => states,
        Edge::Removed | Edge::Refused => &[],
    });
    states.copied().collect()
}

impl Engine {
    /// Carries out one call of a bulk verb.
    pub(crate) async fn bulk(&self, queue: &Arc<Queue>, bulk: Bulk) -> Result<BulkAnswer, Failure> {
        let Bulk { event, mut filter, dry_run, cursor } = bulk;
        // Where the verb leads to comes first, so that no later call meets a task again that an
        // earlier one has changed.
        let leads_to = leads_to(event.verb());
        filter.states = filter.states();
        filter.states.sort_by_key(|state| !leads_to.contains(state));
        let page = self.list(&queue.name, &filter, BULK_ITEMS_MAX, cursor).await?;
        let matched = page.items.len();
        if dry_run {
            return Ok(BulkAnswer { matched, changed: 0, next: page.next });
        }
        let ask = |stored: &Stored| Ask { id: stored.task.spec.id.clone(), event: event.clone() };
        let asks: Vec<Ask> = page.items.iter().map(ask).collect();
        let known = page.items.into_iter().map(Known::Read).collect();
        let answers = self.apply(queue, &asks, known, Some(&filter)).await?;
        let changed = |answer: &_| matches!(answer, Ok(Outcome::Task { changed: true, .. }));
        let changed = answers.iter().filter(|answer| changed(answer)).count();
        Ok(BulkAnswer { matched, changed, next: page.next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_verb_leads_is_what_the_table_says() {
        for state in State::ALL {
            let cancels = matches!(state, State::Cancelling | State::Cancelled);
            assert_eq!(leads_to(Verb::Cancel).contains(&state), cancels, "{state}");
            assert!(!leads_to(Verb::Clean).contains(&state), "{state}");
        }
    }
}
