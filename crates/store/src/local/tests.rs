//! The shard under a journal that runs out of space: whatever a group had begun, memory and disk
//! must agree afterwards, and both must be as they were before it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;
use punctual_core::bundle::BundleKey;
use punctual_core::queue::{Mode, SettingsPatch};
use punctual_core::task::{Acknowledgement, Context, Edit, Settlement};
use punctual_core::{
    Event, NewTask, OwnerKey, OwnerRef, Patch, Queue, QueueName, RawJson, Seed, Settings, Span,
    Spec, State, Task, TaskId, Timestamp, Token, WorkerName,
};

use super::holdings::NOBODY;
use super::index::Entry;
use super::journal::{Journal, JournalError, ReadRows, Table, Visit};
use super::moves::Moved;
use super::owners::stored_owner;
use super::rows::{Body, packed};
use super::shard::Shard;
use super::sqlite::SqliteJournal;
use crate::clock::ManualClock;
use crate::conformance::owners::{a_bundle, a_plan, bundle, changed, made, plan, removed};
use crate::port::{
    self, Change, Classes, Keyed, KeyedItem, Listing, OwnerChange, Push, PutQueue, Revision,
    StoreError, Take, Taker,
};

/// A journal whose disk is full after a number of writes.
struct Cramped {
    inner: SqliteJournal,
    writes_left: Arc<AtomicI64>,
}

impl Cramped {
    fn spend(&self) -> Result<(), JournalError> {
        let left = self.writes_left.fetch_sub(1, Ordering::SeqCst);
        if left > 0 { Ok(()) } else { Err(JournalError::Full) }
    }
}

impl ReadRows for Cramped {
    fn get(&mut self, table: Table, key: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.get(table, key)
    }

    fn scan(&mut self, table: Table, visit: &mut Visit<'_>) -> Result<(), StoreError> {
        self.inner.scan(table, visit)
    }
}

impl Journal for Cramped {
    fn put(&mut self, table: Table, key: u64, row: &[u8]) -> Result<(), JournalError> {
        self.spend()?;
        self.inner.put(table, key, row)
    }

    fn remove(&mut self, table: Table, key: u64) -> Result<(), JournalError> {
        self.spend()?;
        self.inner.remove(table, key)
    }

    fn commit(&mut self) -> Result<(), JournalError> {
        self.spend()?;
        self.inner.commit()
    }

    fn roll_back(&mut self) {
        self.inner.roll_back();
    }

    fn reader(&self) -> Result<Box<dyn ReadRows>, StoreError> {
        self.inner.reader()
    }

    fn free_bytes(&self) -> Option<u64> {
        None
    }

    fn close(&mut self) {
        self.inner.close();
    }

    fn tidy(&mut self) -> Result<bool, JournalError> {
        Ok(false)
    }
}

/// Something that may happen to a shard.
#[derive(Debug, Clone)]
enum Step {
    Push { queue: u8, id: u8, delay: u8, priority: i8, unique: bool, keyed: bool },
    Take { queue: u8, n: u8, confirm: bool, worker: u8 },
    Settle { queue: u8, id: u8, how: u8 },
    Control { queue: u8, id: u8, how: u8 },
    Remove { queue: u8, id: u8 },
    Settings { queue: u8, how: u8 },
    Reset { queue: u8 },
    Delete { queue: u8 },
    Owner { queue: u8, key: u8, how: u8, drop_first: usize, append: usize, spawn: bool },
    Advance { seconds: u8 },
    Sweep,
}

fn step() -> impl Strategy<Value = Step> {
    let (queue, id) = (0..4u8, 0..8u8);
    prop_oneof![
        6 => (queue.clone(), id.clone(), 0..20u8, -1..=1i8, any::<bool>(), any::<bool>()).prop_map(
            |(queue, id, delay, priority, unique, keyed)| {
                let delay = delay.saturating_sub(12);
                Step::Push { queue, id, delay, priority, unique, keyed }
            }
        ),
        4 => (queue.clone(), 1..4u8, any::<bool>(), 0..2u8)
            .prop_map(|(queue, n, confirm, worker)| Step::Take { queue, n, confirm, worker }),
        4 => (queue.clone(), id.clone(), 0..5u8)
            .prop_map(|(queue, id, how)| Step::Settle { queue, id, how }),
        3 => (queue.clone(), id.clone(), 0..7u8)
            .prop_map(|(queue, id, how)| Step::Control { queue, id, how }),
        1 => (queue.clone(), id).prop_map(|(queue, id)| Step::Remove { queue, id }),
        1 => (queue.clone(), 0..5u8).prop_map(|(queue, how)| Step::Settings { queue, how }),
        1 => queue.clone().prop_map(|queue| Step::Reset { queue }),
        1 => queue.prop_map(|queue| Step::Delete { queue }),
        8 => (0..2u8, 0..3u8, 0..6u8, some_items(), some_items(), any::<bool>()).prop_map(
            |(queue, key, how, drop_first, append, spawn)| {
                Step::Owner { queue, key, how, drop_first, append, spawn }
            }
        ),
        3 => (0..40u8).prop_map(|seconds| Step::Advance { seconds }),
        1 => Just(Step::Sweep),
    ]
}

/// Few items, or more than are removed at once.
fn some_items() -> impl Strategy<Value = usize> {
    prop_oneof![2 => 0..4usize, 1 => 280..320usize]
}

fn queue_name(queue: u8) -> QueueName {
    QueueName::parse(&format!("q{queue}")).unwrap()
}

fn task_id(id: u8) -> TaskId {
    TaskId::parse(&format!("t{id}")).unwrap()
}

struct World {
    shard: Shard,
    clock: ManualClock,
    seed: u128,
}

impl World {
    fn open(path: &Path, clock: &ManualClock, writes_left: &Arc<AtomicI64>) -> Self {
        writes_left.store(i64::MAX, Ordering::SeqCst);
        let inner = SqliteJournal::open(path).unwrap();
        let journal = Box::new(Cramped { inner, writes_left: Arc::clone(writes_left) });
        let shard = Shard::load(journal, Arc::new(clock.clone()), [1, 2]).unwrap();
        Self { shard, clock: clock.clone(), seed: 1 }
    }

    fn apply(&mut self, step: &Step) -> Result<(), JournalError> {
        match *step {
            Step::Push { queue, id, delay, priority, unique, keyed } => {
                let new = NewTask {
                    payload: Some(RawJson::of(&"p")),
                    delay: Some(Span::from_secs(delay.into())),
                    priority: Some(priority.into()),
                    unique_for: unique.then_some(Span::from_secs(20)),
                    expires: (id == 7).then_some(self.shard.now.wall + Span::from_secs(15)),
                    ..NewTask::default()
                };
                let spec = Spec::new(queue_name(queue), new, task_id(id), self.shard.now.wall);
                let item = KeyedItem { id: Some(spec.id.clone()), code: None };
                let keyed = keyed.then(|| Keyed {
                    key: id.into(),
                    request: priority.unsigned_abs().into(),
                    status: 201,
                    single: true,
                    items: vec![item],
                    positions: vec![0],
                });
                let mut specs = [packed(&spec)];
                let (queue, tasks) = (spec.queue.clone(), vec![Arc::new(spec)]);
                let mut push = Push { queue, tasks, keyed };
                self.shard.push(&mut push, &mut specs)?;
            }
            Step::Take { queue, n, confirm, worker } => {
                let worker = WorkerName::parse(&format!("w{worker}")).unwrap();
                self.seed += 1_000;
                let seed = Seed::new(self.seed);
                let (worker, n) = (Some(worker), n.into());
                let taker = Taker { seed, worker, n, hold: None, confirm, capacity: Some(3) };
                let queue = queue_name(queue);
                self.shard.take(&Take { queue, classes: Classes::all(), takers: vec![taker] })?;
            }
            Step::Settle { queue, id, how } => {
                let settlement = match how {
                    0 => Settlement::Commit { result: None },
                    1 => Settlement::Fail { error: None, retry_in: None, permanent: false },
                    2 => Settlement::Release { delay: None, checkpoint: None },
                    3 => Settlement::Cancelled(Acknowledgement::default()),
                    _ => Settlement::Paused(Acknowledgement::default()),
                };
                self.decide(queue, id, |token| Event::Settle { token, settlement })?;
            }
            Step::Control { queue, id, how } => {
                let event = match how {
                    0 => Event::Cancel,
                    1 => Event::Pause,
                    2 => Event::Resume,
                    3 => Event::Retry { force: true },
                    4 => Event::Reset,
                    5 => Event::HoldEnd,
                    _ => Event::Expire,
                };
                self.decide(queue, id, |_| event)?;
            }
            Step::Remove { queue, id } => {
                self.shard.remove_tasks(&queue_name(queue), &[task_id(id)])?;
            }
            Step::Settings { queue, how } => self.put_queue(queue, how)?,
            Step::Reset { queue } => {
                self.shard.reset_queue(&queue_name(queue))?;
            }
            Step::Delete { queue } => {
                self.shard.remove_queue(&queue_name(queue))?;
            }
            Step::Owner { queue, key, how, drop_first, append, spawn } => {
                self.change_owner(queue, key, how, drop_first, append, spawn)?;
            }
            Step::Advance { seconds } => self.clock.advance(Span::from_secs(seconds.into())),
            Step::Sweep => {
                self.shard.sweep(3)?;
            }
        }
        Ok(())
    }

    /// Makes, changes or removes an owner; the last key is a plan's.
    fn change_owner(
        &mut self,
        queue: u8,
        key: u8,
        how: u8,
        drop_first: usize,
        append: usize,
        spawn: bool,
    ) -> Result<(), JournalError> {
        let queue = queue_name(queue);
        let at = self.shard.now.wall + Span::from_secs(i64::from(how) * 10 - 20);
        let owner = if key == 2 {
            a_plan(plan(queue.as_str(), "plan", at))
        } else {
            let mut bundle = bundle(queue.as_str(), &format!("k{key}"), at);
            bundle.abandoned_at = (how == 1).then_some(at);
            bundle.task = (how == 2).then(|| task_id(key));
            a_bundle(bundle)
        };
        let row = self.shard.owner_rows(&[owner.key()]).unwrap().remove(0);
        let change = match row.map(|row| stored_owner(row).unwrap()) {
            Some(before) if how == 0 => removed(&before),
            Some(before) => changed(&before, owner),
            None => made(owner),
        };
        let append = (0..append).map(|n| RawJson::of(&n)).collect();
        let new = NewTask { id: Some(task_id(key)), ..NewTask::default() };
        let spec = Spec::new(queue, new, task_id(0), self.shard.now.wall);
        let OwnerKey { queue, .. } = &change.key;
        let spec =
            Spec { owner: OwnerRef::Bundle(BundleKey::composed(queue.to_string())).into(), ..spec };
        let step = port::Changes {
            owners: vec![OwnerChange { drop_first, append, ..change }],
            births: spawn.then_some(spec).into_iter().collect(),
            ..port::Changes::default()
        };
        self.shard.write(step.into())?;
        Ok(())
    }

    fn put_queue(&mut self, queue: u8, how: u8) -> Result<(), JournalError> {
        let name = queue_name(queue);
        let number = self.shard.numbers.get(&name);
        let before = number.map(|number| Arc::clone(&self.shard.index(*number).queue));
        let patch = match how {
            0 => r#"{"order":"random"}"#,
            1 => r#"{"order":"fifo","concurrency":2}"#,
            2 => r#"{"max":4,"keep":{"done":10}}"#,
            3 => r#"{"rate":{"limit":3,"per":10}}"#,
            _ => r#"{"max":null,"concurrency":null,"rate":null}"#,
        };
        let patch: SettingsPatch = serde_json::from_str(patch).unwrap();
        let current =
            before.as_ref().map_or_else(Settings::default, |queue| queue.settings.clone());
        let mut settings = patch.apply(&current, &name).unwrap();
        settings.mode = if queue < 2 { Mode::Pull } else { Mode::Dispatch };
        let created_at = self.shard.now.wall;
        let queue = Queue { name, settings, paused: false, created_at };
        self.shard.put_queue(&PutQueue { queue, before })?.unwrap();
        Ok(())
    }

    /// Lets something happen to a task, if there is one and it may.
    fn decide(
        &mut self,
        queue: u8,
        id: u8,
        event: impl FnOnce(Token) -> Event,
    ) -> Result<(), JournalError> {
        let Some((number, slot)) = self.shard.find_task(&queue_name(queue), &task_id(id)) else {
            return Ok(());
        };
        let row = self.shard.row(number, slot)?;
        let birth = self.shard.index(number).entry(slot).birth;
        let Body::Task(task) = row.body else { return Ok(()) };
        let spec = self.shard.journal.get(Table::Spec, birth).unwrap().unwrap();
        let spec: Spec = super::rows::unpack(Table::Spec, birth, &spec).unwrap();
        let task = Task { spec: Arc::new(spec), status: task.status };
        let token = task.status.hold.map_or(Token::NOBODY, |hold| hold.token);
        let settings = Arc::clone(&self.shard.index(number).queue);
        let callback_id = task_id(0);
        let context = Context {
            now: self.shard.now.wall,
            queue: &settings.settings,
            roll: 0.5,
            callback_id: &callback_id,
        };
        if let Ok(decision) = task.decide(event(token), &context) {
            let expected = Revision { birth, change: row.change };
            self.shard.commit_one(Change { expected, decision })?.ok();
        }
        Ok(())
    }

    /// Everything that can be told of the shard, except where in memory it lies.
    fn picture(&mut self) -> String {
        self.shard.begin();
        let mut queues = BTreeMap::new();
        for (name, number) in &self.shard.numbers {
            let index = self.shard.index(*number);
            let mut entries = BTreeMap::new();
            let mut lists = Vec::new();
            for state in State::ALL {
                let listed = index.list(state, None, usize::MAX, &Moved::new());
                for (_, slot) in &listed {
                    let mut entry = Entry { position: 0, holder: NOBODY, ..*index.entry(*slot) };
                    if entry.is_held() {
                        // How long ago a hold has ended is not kept over a restart.
                        entry.timer_at = entry.timer_at.max(self.shard.now.steady_ms);
                    }
                    entries.insert(entry.birth, format!("{entry:?}"));
                }
                let births: Vec<u64> = listed.iter().map(|((_, (_, birth)), _)| *birth).collect();
                assert_eq!(births.len() as u64, index.counts[state as usize], "{name} {state}");
                lists.push(births);
            }
            assert!(
                entries.len() <= index.births().len(),
                "{name}: a task is listed that is not there"
            );
            let times = (
                index.next_on_wall(self.shard.now.wall),
                index.next_hold_end(self.shard.now.steady_ms),
                index.passed_on_wall(self.shard.now.wall).count(),
                index.passed_holds(self.shard.now.steady_ms).count(),
            );
            let whole = format!(
                "{:?} {} {} {entries:?} {lists:?} {times:?}",
                index.queue,
                index.births().len(),
                index.counted(),
            );
            queues.insert(name.clone(), whole);
        }
        let mut dead: Vec<_> = self.shard.dead.iter().copied().collect();
        dead.sort_unstable();
        let (owners, holdings) = (self.shard.owners.picture(), self.shard.holdings.picture());
        format!("{queues:#?} {owners} {holdings} {dead:?}")
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Groups of steps, some of which run out of space on the way.
    #[test]
    fn a_group_happens_whole_or_not_at_all(
        groups in proptest::collection::vec((proptest::collection::vec(step(), 1..6), 0..30i64), 1..20),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("db");
        let clock = ManualClock::new(Timestamp::from_millis(1_800_000_000_000));
        let writes_left = Arc::new(AtomicI64::new(0));
        let mut world = World::open(&path, &clock, &writes_left);
        for queue in 0..4 {
            world.put_queue(queue, 4).unwrap();
        }
        world.shard.finish().unwrap();
        world.shard.settle();
        for (steps, writes) in groups {
            let before = world.picture();
            // Every other budget is ample.
            let budget = if writes % 2 == 0 { i64::MAX } else { writes };
            writes_left.store(budget, Ordering::SeqCst);
            let applied = steps
                .iter()
                .filter(|step| !matches!(step, Step::Advance { .. }))
                .try_for_each(|step| world.apply(step))
                .and_then(|()| world.shard.finish());
            match applied {
                Ok(()) => {}
                Err(JournalError::Full) => {
                    world.shard.undo();
                    prop_assert_eq!(&before, &world.picture(), "an undone group left a trace");
                }
                Err(JournalError::Broken(reason)) => prop_assert!(false, "{}", reason),
            }
            world.shard.settle();
            writes_left.store(i64::MAX, Ordering::SeqCst);
            for step in steps.iter().filter(|step| matches!(step, Step::Advance { .. })) {
                world.apply(step).unwrap();
            }
            let live = world.picture();
            let mut reopened = World::open(&path, &clock, &writes_left);
            prop_assert_eq!(live, reopened.picture(), "memory and disk differ");
        }
    }
}

/// A move that was undone is remembered all the same, and changes no list.
#[test]
fn a_list_goes_on_after_a_move_that_was_undone() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new(Timestamp::from_millis(1_800_000_000_000));
    let writes_left = Arc::new(AtomicI64::new(0));
    let mut world = World::open(&dir.path().join("db"), &clock, &writes_left);
    world.put_queue(0, 4).unwrap();
    for id in 0..6 {
        let (delay, priority, unique, keyed) = (0, 0, false, false);
        world.apply(&Step::Push { queue: 0, id, delay, priority, unique, keyed }).unwrap();
    }
    world.shard.finish().unwrap();
    let list = |world: &World, cursor: Option<String>, limit: usize| {
        let (queue, states) = (queue_name(0), vec![State::Ready]);
        let (spots, next) =
            world.shard.list(&Listing { queue, states, cursor, limit, sort: None }).unwrap();
        (spots.iter().map(|spot| spot.birth).collect::<Vec<u64>>(), next)
    };
    let (all, _) = list(&world, None, 9);
    let (first, next) = list(&world, None, 2);
    assert_eq!(first, all[..2]);
    // The third write would be the commit.
    for (id, priority, writes) in [(0, -5, 2), (3, 5, 2), (4, 5, i64::MAX), (3, -5, 2), (5, 5, 2)] {
        writes_left.store(writes, Ordering::SeqCst);
        let edit = Edit { priority: Patch::Set(priority), ..Edit::default() };
        let changed = world.decide(0, id, |_| Event::Edit(edit));
        if changed.and_then(|()| world.shard.finish()).is_err() {
            world.shard.undo();
        }
        world.shard.settle();
    }
    assert_eq!(list(&world, next, 9).0, all[2..]);
    let now: Vec<u64> = [4, 0, 1, 2, 3, 5].map(|place| all[place]).into();
    assert_eq!(list(&world, None, 9).0, now);
}
