//! Lists that are read page by page, while tasks are pushed, edited, taken and come back in between.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::prop_assert_eq;
use proptest::sample::select;
use punctual_core::queue::Order;
use punctual_core::task::{Edit, Event};
use punctual_core::{NewTask, Patch, Span, State};

use super::pair::{Outcome, answered};
use crate::conformance::fixture::{Fixture, id, queue, release, task};
use crate::port::{Listing, Stored};

const QUEUE: &str = "q";

/// More than there are in a sequence.
const ALL: usize = 500;

/// What a list asks for.
const ASKED: [&[State]; 4] = [
    &[State::Ready],
    &[State::Waiting],
    &[State::Waiting, State::Ready],
    &[State::Running, State::Ready, State::Waiting],
];

/// One step. Tasks are given by their place among those it can happen to.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Push a task.
    Push { priority: i32, delay_ms: i64 },
    /// Edit one that is ready or waiting; the time is given from now on, or is now.
    Edit { task: usize, priority: Option<i32>, due_in_ms: Option<i64> },
    /// Take some.
    Take { n: usize },
    /// Give back one that was taken.
    Release { task: usize },
    /// Cancel one that is ready or waiting.
    Cancel { task: usize },
    /// Hand out in another order.
    Order { is_random: bool },
    /// Let time pass.
    Advance { ms: i64 },
    /// Read the next page of one of the lists, or begin it.
    Page { walk: usize, asked: usize, limit: usize },
}

/// A sequence of steps, with enough tasks to begin with.
pub(super) fn sequence() -> impl Strategy<Value = Vec<Step>> {
    (vec(push(), 4..14), vec(step(), 10..60)).prop_map(|(first, then)| [first, then].concat())
}

fn push() -> impl Strategy<Value = Step> {
    (-1..=2i32, select(vec![0, 0, 0, 500, 1_000, 5_000]))
        .prop_map(|(priority, delay_ms)| Step::Push { priority, delay_ms })
}

fn step() -> impl Strategy<Value = Step> {
    let due = select(vec![0, 1, 500, 1_000, 5_000, 9_000]);
    prop_oneof![
        1 => push(),
        8 => (any::<usize>(), option::of(-2..=3i32), option::of(due)).prop_map(
            |(task, priority, due_in_ms)| Step::Edit { task, priority, due_in_ms }
        ),
        1 => (1..3usize).prop_map(|n| Step::Take { n }),
        1 => any::<usize>().prop_map(|task| Step::Release { task }),
        1 => any::<usize>().prop_map(|task| Step::Cancel { task }),
        1 => any::<bool>().prop_map(|is_random| Step::Order { is_random }),
        2 => select(vec![1, 499, 500, 1_000]).prop_map(|ms| Step::Advance { ms }),
        6 => (0..2usize, 0..ASKED.len(), 1..4usize)
            .prop_map(|(walk, asked, limit)| Step::Page { walk, asked, limit }),
    ]
}

/// A store, and the lists that are being read.
pub(super) struct World {
    f: Fixture,
    pushed: usize,
    taken: Vec<Stored>,
    walks: [Option<Walk>; 2],
}

/// A list that is being read.
struct Walk {
    states: Vec<State>,
    cursor: Option<String>,
    seen: Vec<String>,
    /// What was there when it began, in that order, and has been in its state ever since.
    stayed: Vec<(String, State)>,
}

impl Walk {
    /// What stayed was seen once, in its order, as soon as all is seen.
    fn check(&self, is_over: bool) -> Outcome {
        let stayed: Vec<&String> = self.stayed.iter().map(|(text, _)| text).collect();
        let seen: Vec<&String> = self.seen.iter().filter(|text| stayed.contains(text)).collect();
        let due = if is_over { stayed.len() } else { seen.len() };
        prop_assert_eq!(&seen[..], &stayed[..due.min(stayed.len())], "a list of what stayed");
        Ok(())
    }
}

impl World {
    pub(super) fn new(f: Fixture) -> Self {
        Self { f, pushed: 0, taken: Vec::new(), walks: [None, None] }
    }

    pub(super) async fn run(mut self, sequence: &[Step]) -> Outcome {
        self.f.put_queue(QUEUE, |_| ()).await;
        for step in sequence {
            self.step(step).await?;
            self.look().await?;
        }
        for place in 0..self.walks.len() {
            while self.walks[place].is_some() {
                self.turn_page(place, 3).await?;
            }
        }
        Ok(())
    }

    async fn step(&mut self, step: &Step) -> Outcome {
        match *step {
            Step::Push { priority, delay_ms } => {
                let delay = Some(Span::from_millis(delay_ms));
                let new = task(&format!("t{}", self.pushed));
                self.f.push(QUEUE, NewTask { priority: Some(priority), delay, ..new }).await;
                self.pushed += 1;
            }
            Step::Edit { task, priority, due_in_ms } => {
                let due = due_in_ms.map(|ms| self.f.now() + Span::from_millis(ms));
                let edit = Edit {
                    priority: priority.map_or(Patch::Keep, Patch::Set),
                    due: due.map_or(Patch::Keep, Patch::Set),
                    ..Edit::default()
                };
                self.happen(task, Event::Edit(edit)).await?;
            }
            Step::Take { n } => {
                let taken = self.f.take(QUEUE, n).await;
                self.taken.extend(taken);
            }
            Step::Release { task } if !self.taken.is_empty() => {
                let held = self.taken.remove(task % self.taken.len());
                self.f.settle(&held, release()).await;
            }
            Step::Release { .. } => {}
            Step::Cancel { task } => self.happen(task, Event::Cancel).await?,
            Step::Order { is_random } => {
                let order = if is_random { Order::Random } else { Order::Fifo };
                self.f.put_queue(QUEUE, |queue| queue.settings.order = order).await;
            }
            Step::Advance { ms } => self.f.advance(Span::from_millis(ms)).await,
            Step::Page { walk, asked, limit } => {
                if self.walks[walk].is_none() {
                    self.walks[walk] = Some(self.begin(ASKED[asked]).await?);
                }
                self.turn_page(walk, limit).await?;
            }
        }
        Ok(())
    }

    /// Lets something happen to one that is ready or waiting.
    async fn happen(&self, place: usize, event: Event) -> Outcome {
        let all = self.list(&[State::Ready, State::Waiting]).await?;
        if !all.is_empty() {
            self.f.happen(QUEUE, &all[place % all.len()].0, event).await;
        }
        Ok(())
    }

    /// All in some states, by a list of one page.
    async fn list(&self, states: &[State]) -> Result<Vec<(String, State)>, TestCaseError> {
        let states = states.to_vec();
        let listing = Listing { queue: queue(QUEUE), states, cursor: None, limit: ALL, sort: None };
        let items = answered(self.f.store().list(listing).await)?.items;
        let now = self.f.now();
        let named = |stored: &Stored| {
            (stored.task.spec.id.as_str().to_owned(), stored.task.status.state_at(now))
        };
        Ok(items.iter().map(named).collect())
    }

    async fn begin(&self, states: &[State]) -> Result<Walk, TestCaseError> {
        let stayed = self.list(states).await?;
        Ok(Walk { states: states.to_vec(), cursor: None, seen: Vec::new(), stayed })
    }

    async fn turn_page(&mut self, place: usize, limit: usize) -> Outcome {
        let Some(mut walk) = self.walks[place].take() else { return Ok(()) };
        let Walk { states, cursor, .. } = &walk;
        let (states, cursor) = (states.clone(), cursor.clone());
        let listing = Listing { queue: queue(QUEUE), states, cursor, limit, sort: None };
        let page = answered(self.f.store().list(listing).await)?;
        prop_assert!(page.items.len() <= limit, "a page of at most {limit}");
        walk.seen.extend(page.items.iter().map(|item| item.task.spec.id.as_str().to_owned()));
        walk.cursor = page.next;
        walk.check(walk.cursor.is_none())?;
        if walk.cursor.is_some() {
            self.walks[place] = Some(walk);
        }
        Ok(())
    }

    /// Sees what has left its state.
    async fn look(&mut self) -> Outcome {
        let ids: Vec<_> = (0..self.pushed).map(|n| id(&format!("t{n}"))).collect();
        let read = answered(self.f.store().read(&queue(QUEUE), &ids).await)?;
        let now = self.f.now();
        for walk in self.walks.iter_mut().flatten() {
            walk.stayed.retain(|(text, state)| {
                let is_it = |stored: &&Stored| stored.task.spec.id.as_str() == text;
                let stored = read.iter().flatten().find(is_it);
                stored.is_some_and(|stored| stored.task.status.state_at(now) == *state)
            });
        }
        Ok(())
    }
}
