//! Requests that wait for the end of a task.
//!
//! A waiter is woken by what this server announces, and by what it hears of other servers over the same
//! store. Being woken means that it is time to read the task. The end that was announced is kept, for
//! tasks that are removed as soon as they have ended. While nobody waits, an event costs one comparison.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use punctual_core::announce::GAP;
use punctual_core::announce::task::end_of;
use punctual_core::{Announcement, QueueName, State, TaskId, Timestamp};
use punctual_store::Announced;
use serde::Deserialize;
use tokio::sync::watch;

/// The event after which none of a queue's tasks may be there any more.
const QUEUE_CHANGED: &str = "queue.changed";

/// The end of a task, as it was announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// The state it ended in.
    pub(crate) state: State,
    /// When.
    pub(crate) at: Timestamp,
}

/// What a waiter was told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// The end that was announced last.
    pub(crate) end: Option<End>,
    /// Whether the task was removed on request, of which nothing is announced.
    pub(crate) is_removed: bool,
}

/// The waiters of one queue, by the ids of their tasks.
type OfQueue = HashMap<Arc<str>, Vec<watch::Sender<Told>>>;

/// All who wait for the ends of tasks.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    count: AtomicUsize,
    waiting: Mutex<HashMap<QueueName, OfQueue>>,
}

/// One who waits, until it is dropped.
pub(crate) struct Waiter {
    waiters: Arc<Waiters>,
    queue: QueueName,
    id: Arc<str>,
    woken: watch::Receiver<Told>,
}

impl Waiters {
    /// Begins to wait for the end of a task: nothing that is announced from now on is missed.
    pub(crate) fn wait_for(self: &Arc<Self>, queue: &QueueName, id: &TaskId) -> Waiter {
        let (queue, id) = (queue.clone(), id.shared());
        let (sender, woken) = watch::channel(Told::default());
        // Counted first, so that no event is taken for one that nobody waits for.
        self.count.fetch_add(1, Ordering::SeqCst);
        self.waiting()
            .entry(queue.clone())
            .or_default()
            .entry(id.clone())
            .or_default()
            .push(sender);
        Waiter { waiters: self.clone(), queue, id, woken }
    }

    /// Wakes those who wait for what this server announces.
    pub(super) fn announced(&self, news: &Announcement) {
        if self.is_empty() {
            return;
        }
        let [queue] = news.queues() else { return };
        if news.kind() == QUEUE_CHANGED {
            return self.look_in(queue);
        }
        let Some(state) = end_of(news.kind()) else { return };
        self.ended(queue, news.ids(), End { state, at: news.at() });
    }

    /// Wakes those who wait for what any server announced.
    pub(super) fn heard(&self, event: &Announced) {
        #[derive(Deserialize)]
        struct Data {
            at: Timestamp,
            id: Option<Arc<str>>,
            #[serde(default)]
            ids: Vec<Arc<str>>,
        }
        if self.is_empty() {
            return;
        }
        if &*event.kind == GAP {
            return self.look();
        }
        let [queue] = &*event.queues else { return };
        if &*event.kind == QUEUE_CHANGED {
            return self.look_in(queue);
        }
        let Some(state) = end_of(&event.kind) else { return };
        if !self.waiting().contains_key(queue) {
            return;
        }
        let Ok(Data { at, id, mut ids }) = serde_json::from_str(&event.data) else { return };
        ids.extend(id);
        self.ended(queue, &ids, End { state, at });
    }

    /// Wakes all, because events are missing.
    pub(super) fn look(&self) {
        self.waiting().values().flat_map(HashMap::values).flatten().for_each(wake);
    }

    /// Wakes those who wait for these tasks: they were removed.
    pub(crate) fn removed<'a>(&self, queue: &QueueName, ids: impl IntoIterator<Item = &'a TaskId>) {
        if self.is_empty() {
            return;
        }
        let waiting = self.waiting();
        let Some(of_queue) = waiting.get(queue) else { return };
        for sender in ids.into_iter().filter_map(|id| of_queue.get(id.as_str())).flatten() {
            sender.send_modify(|told| told.is_removed = true);
        }
    }

    fn look_in(&self, queue: &QueueName) {
        self.waiting().get(queue).into_iter().flat_map(HashMap::values).flatten().for_each(wake);
    }

    fn ended(&self, queue: &QueueName, ids: &[Arc<str>], end: End) {
        let waiting = self.waiting();
        let Some(of_queue) = waiting.get(queue) else { return };
        for sender in ids.iter().filter_map(|id| of_queue.get(id)).flatten() {
            sender.send_modify(|told| told.end = Some(end));
        }
    }

    fn is_empty(&self) -> bool {
        self.count.load(Ordering::SeqCst) == 0
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<QueueName, OfQueue>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wake(sender: &watch::Sender<Told>) {
    sender.send_modify(|_| {});
}

impl Waiter {
    /// What it was told so far. What comes later wakes the waiter again.
    pub(crate) fn told(&mut self) -> Told {
        *self.woken.borrow_and_update()
    }

    /// Waits until something is announced that was not looked at yet.
    pub(crate) async fn woken(&mut self) {
        // The sender stays among the waiters as long as this is there.
        let _ = self.woken.changed().await;
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiting = self.waiters.waiting();
        if let Some(of_queue) = waiting.get_mut(&self.queue) {
            if let Some(senders) = of_queue.get_mut(&self.id) {
                senders.retain(|sender| !sender.subscribe().same_channel(&self.woken));
                if senders.is_empty() {
                    of_queue.remove(&self.id);
                }
            }
            if of_queue.is_empty() {
                waiting.remove(&self.queue);
            }
        }
        drop(waiting);
        self.waiters.count.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use punctual_store::EventId;

    use super::*;

    fn named(queue: &str, id: &str) -> (QueueName, TaskId) {
        (QueueName::parse(queue).unwrap(), TaskId::parse(id).unwrap())
    }

    fn is_woken(waiter: &mut Waiter) -> bool {
        waiter.woken().now_or_never().is_some()
    }

    #[test]
    fn ends_wake_those_who_wait_for_them() {
        let waiters = Arc::<Waiters>::default();
        let (queue, id) = named("q", "a");
        let at = Timestamp::from_millis(5);
        let told = |kind: &'static str, id: &TaskId| {
            Announcement::new(kind, at).in_queue(&queue).about(id.shared())
        };
        waiters.announced(&told("task.committed", &id));
        let mut waiter = waiters.wait_for(&queue, &id);
        assert!(!is_woken(&mut waiter), "it ended before");
        waiters.announced(&told("task.taken", &id));
        waiters.announced(&told("task.committed", &named("q", "b").1));
        assert!(!is_woken(&mut waiter));
        waiters.announced(&told("task.cancelled", &id));
        assert!(is_woken(&mut waiter));
        assert_eq!(waiter.told().end, Some(End { state: State::Cancelled, at }));
        waiters.announced(&told("queue.changed", &id));
        assert!(is_woken(&mut waiter));
        assert!(!waiter.told().is_removed);
        waiters.removed(&queue, [&id]);
        assert!(is_woken(&mut waiter) && waiter.told().is_removed);
        drop(waiter);
        assert!(waiters.is_empty() && waiters.waiting().is_empty());
    }

    #[test]
    fn what_other_servers_announce_is_heard_and_so_is_a_gap() {
        let waiters = Arc::<Waiters>::default();
        let (queue, id) = named("q", "a");
        let mut waiters_of = [waiters.wait_for(&queue, &id), waiters.wait_for(&queue, &id)];
        let event = |kind: &str, data: &str| Announced {
            id: EventId::default(),
            kind: kind.into(),
            queues: vec![queue.clone()],
            data: data.into(),
        };
        let data = r#"{"type":"task.expired","at":"1970-01-01T00:00:05.000Z","queue":"q","ids":["b","a"]}"#;
        waiters.heard(&event("task.expired", data));
        for waiter in &mut waiters_of {
            assert!(is_woken(waiter));
            assert_eq!(waiter.told().end.unwrap().state, State::Failed);
        }
        let [one, two] = &mut waiters_of;
        waiters.heard(&event("task.committed", r#"{"at":"1970-01-01T00:00:05.000Z","id":"aa"}"#));
        assert!(!is_woken(one));
        waiters.heard(&Announced { queues: Vec::new(), ..event(GAP, "{}") });
        assert!(is_woken(one) && is_woken(two));
    }
}
