//! Lines of takers who wait for tasks, one line per queue, served in the order they came.
//!
//! A line only keeps the waiters and the number of calls for them. One runner per line
//! ([`super::take`]) asks it whom to serve next and gives them what it took. The line lives as long
//! as somebody waits in it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use punctual_core::QueueName;
use tokio::sync::{Notify, oneshot};

use super::take::{Handout, TakeAsk};
use super::{Engine, Failure};

/// Most waiters served by one take.
const SERVED_MAX: usize = 1_000;

/// What a waiter is told.
pub(super) type Told = Result<Handout, Failure>;

/// All lines.
#[derive(Default)]
pub(crate) struct Lines {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    lines: HashMap<QueueName, Line>,
    joined: u64,
    closed: bool,
}

struct Line {
    waiters: BTreeMap<u64, Waiter>,
    /// How many waiters may find something, as far as was heard.
    calls: usize,
    /// Its runner is taking for those up to this one.
    served: Option<u64>,
    wake: Arc<Notify>,
}

struct Waiter {
    ask: TakeAsk,
    answer: oneshot::Sender<Told>,
    /// Whether it has waited long enough, and only hears what came of the take that is being made.
    is_last: bool,
}

/// A place in a line; leaving it gives it up.
pub(super) struct Place {
    engine: Arc<Engine>,
    queue: QueueName,
    pub(super) number: u64,
    /// What the waiter is told. Its sender is gone when there is nothing to tell.
    pub(super) answer: oneshot::Receiver<Told>,
}

/// What a runner does next.
pub(super) enum Next {
    /// Take for these waiters.
    Serve(Vec<(u64, TakeAsk)>),
    /// Wait for a call.
    Wait,
    /// End: nobody waits any more.
    End,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.engine.lines.leave(&self.queue, self.number);
    }
}

impl Lines {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many wait for tasks of a queue.
    pub(super) fn waiting(&self, queue: &QueueName) -> usize {
        self.lock().lines.get(queue).map_or(0, |line| line.waiters.len())
    }

    /// Joins the line of a queue and calls for one waiter. With a new line comes what wakes its
    /// runner. None: the lines are closed.
    pub(super) fn join(
        engine: &Arc<Engine>,
        queue: &QueueName,
        ask: TakeAsk,
    ) -> Option<(Place, Option<Arc<Notify>>)> {
        let mut inner = engine.lines.lock();
        if inner.closed {
            return None;
        }
        let number = inner.joined;
        inner.joined += 1;
        let (sender, answer) = oneshot::channel();
        let mut new = None;
        let line = inner.lines.entry(queue.clone()).or_insert_with(|| {
            let wake = Arc::new(Notify::new());
            new = Some(wake.clone());
            Line { waiters: BTreeMap::new(), calls: 0, served: None, wake }
        });
        line.waiters.insert(number, Waiter { ask, answer: sender, is_last: false });
        line.call(1);
        let place = Place { engine: engine.clone(), queue: queue.clone(), number, answer };
        Some((place, new))
    }

    /// Says that a queue may have tasks for as many waiters.
    pub(super) fn call(&self, queue: &QueueName, count: usize) {
        if let Some(line) = self.lock().lines.get_mut(queue) {
            line.call(count);
        }
    }

    /// Says that every queue may have tasks for all who wait.
    pub(super) fn call_all(&self) {
        for line in self.lock().lines.values_mut() {
            line.call(line.waiters.len());
        }
    }

    /// Whether nobody is called or being served.
    pub(super) fn is_quiet(&self) -> bool {
        self.lock().lines.values().all(|line| line.calls == 0 && line.served.is_none())
    }

    /// Whom the runner of a line serves next.
    pub(super) fn next(&self, queue: &QueueName) -> Next {
        let mut inner = self.lock();
        let Some(line) = inner.lines.get_mut(queue) else { return Next::End };
        line.waiters.retain(|_, waiter| !waiter.is_last);
        if line.waiters.is_empty() {
            inner.lines.remove(queue);
            return Next::End;
        }
        let count = std::mem::take(&mut line.calls).min(SERVED_MAX);
        let first = line.waiters.iter().take(count);
        let served: Vec<_> = first.map(|(number, waiter)| (*number, waiter.ask.clone())).collect();
        line.served = served.last().map(|(number, _)| *number);
        if served.is_empty() { Next::Wait } else { Next::Serve(served) }
    }

    /// Gives a waiter what was taken for it. If it has left, what it was given is dropped.
    pub(super) fn tell(&self, queue: &QueueName, number: u64, told: Told) {
        let waiter = self.lock().lines.get_mut(queue).and_then(|line| line.waiters.remove(&number));
        if let Some(waiter) = waiter {
            let _ = waiter.answer.send(told);
        }
    }

    /// Tells all waiters of a queue that there is nothing to wait for.
    pub(super) fn fail(&self, queue: &QueueName, failure: &Failure) {
        let waiters = match self.lock().lines.get_mut(queue) {
            Some(line) => {
                line.wake.notify_one();
                std::mem::take(&mut line.waiters)
            }
            None => return,
        };
        for waiter in waiters.into_values() {
            let _ = waiter.answer.send(Err(failure.clone()));
        }
    }

    /// Lets all waiters go, those with nothing for whom nothing is being taken, and nobody wait any
    /// more.
    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        inner.closed = true;
        for Line { waiters, served, wake, .. } in inner.lines.values_mut() {
            waiters.retain(|number, waiter| {
                waiter.is_last = true;
                served.is_some_and(|last| *number <= last)
            });
            wake.notify_one();
        }
    }

    /// A waiter has waited long enough. It is answered at once, unless something is being taken for
    /// it: that is still its own.
    pub(super) fn wait_no_longer(&self, queue: &QueueName, number: u64) {
        if let Some(line) = self.lock().lines.get_mut(queue)
            && line.served.is_some_and(|last| number <= last)
            && let Some(waiter) = line.waiters.get_mut(&number)
        {
            waiter.is_last = true;
            return;
        }
        self.leave(queue, number);
    }

    fn leave(&self, queue: &QueueName, number: u64) {
        if let Some(line) = self.lock().lines.get_mut(queue) {
            line.waiters.remove(&number);
            if line.waiters.is_empty() {
                line.wake.notify_one();
            }
        }
    }
}

impl Line {
    fn call(&mut self, count: usize) {
        self.calls = self.calls.saturating_add(count);
        self.wake.notify_one();
    }
}
