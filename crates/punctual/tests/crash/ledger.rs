//! The ledger: every task that was ever sent, and what was acknowledged about it.
//!
//! At most one request about a task is under way at a time, besides takes, which may hand out any
//! task that is ready. So after a crash there is at most one request per task of which nobody knows
//! whether it was carried out, and what may be found is a small set.

use std::collections::{HashMap, HashSet};

use punctual_client::{NewTask, State, Taken, Task};
use serde::{Deserialize, Serialize};

use crate::random::Random;
use crate::rules::{Limits, Op, Standing};

/// Finished tasks stay readable, holds are long.
pub(crate) const KEPT: &str = "kept";
/// Done and cancelled tasks vanish, holds are long.
pub(crate) const GONE: &str = "gone";
/// Holds are so short that they end all the time.
pub(crate) const BRIEF: &str = "brief";
/// Filled, emptied and deleted.
pub(crate) const SCRATCH: &str = "scratch";
/// Where callbacks go.
pub(crate) const AFTER: &str = "after";
/// Its settings change all the time.
pub(crate) const SETTINGS: &str = "settings";
/// Where tasks are worked on.
pub(crate) const WORKED: [&str; 3] = [KEPT, GONE, BRIEF];
/// Attempts of every task.
pub(crate) const ATTEMPTS_MAX: u32 = 3;

/// What a task carries, so that it is known wherever it turns up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Payload {
    pub(crate) n: u64,
    pub(crate) version: u32,
    pub(crate) filler: String,
}

/// What an answer says about a task.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Left {
    /// It is as before.
    Same,
    /// In this state, with so many attempts.
    At(State, u32),
    /// Not there any more.
    Gone,
}

/// A task.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) queue: &'static str,
    /// None: the server chose it and has not told.
    pub(crate) id: Option<String>,
    pub(crate) at: Standing,
    /// The token of its hold, if that is ours.
    pub(crate) token: Option<String>,
    /// The token it was committed with.
    pub(crate) committed: Option<String>,
    /// What was sent and is not answered.
    pub(crate) sent: Option<Op>,
    /// Whether it was handed out since that was sent.
    overtaken: bool,
    pub(crate) is_unique: bool,
    pub(crate) calls_back: bool,
    /// Its Idempotency-Key and what was pushed under it.
    pub(crate) keyed: Option<(String, NewTask)>,
    /// Whether that was answered for certain.
    pub(crate) is_pushed: bool,
    pub(crate) version: u32,
    /// Requests that may have granted one more attempt.
    grants: u32,
    story: Vec<String>,
}

/// All tasks.
pub(crate) struct Ledger {
    pub(crate) records: HashMap<u64, Record>,
    /// Tokens ever handed out.
    tokens: HashSet<String>,
    /// Tokens that must not be good for anything any more, with their queue and id.
    pub(crate) stale: Vec<(&'static str, String, String)>,
    /// Takes that were sent and not answered, by queue.
    pub(crate) takes: HashMap<&'static str, u32>,
    /// The value of a setting that was acknowledged, and one that was sent.
    pub(crate) setting: (u32, Option<u32>),
    pub(crate) paused: (bool, Option<bool>),
    pub(crate) answers: u64,
    last: u64,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            records: HashMap::new(),
            tokens: HashSet::new(),
            stale: Vec::new(),
            takes: HashMap::new(),
            setting: (1, None),
            paused: (false, None),
            answers: 0,
            last: 0,
        }
    }
}

impl Ledger {
    /// Enters a task that is about to be pushed.
    pub(crate) fn enter(&mut self, queue: &'static str) -> u64 {
        self.last += 1;
        let record = Record {
            queue,
            id: None,
            at: Standing::ABSENT,
            token: None,
            committed: None,
            sent: Some(Op::Push),
            overtaken: false,
            is_unique: false,
            calls_back: false,
            keyed: None,
            is_pushed: false,
            version: 0,
            grants: 0,
            story: Vec::new(),
        };
        self.records.insert(self.last, record);
        self.last
    }

    pub(crate) fn record(&mut self, n: u64) -> &mut Record {
        self.records.get_mut(&n).unwrap()
    }

    /// Finds, if it can soon, a task that nothing is under way for and that there is something to do
    /// about, and enters that as sent.
    pub(crate) fn claim(
        &mut self,
        random: &mut Random,
        choose: impl Fn(&Record) -> Option<Op>,
    ) -> Option<(u64, Op)> {
        let tries = 50.min(self.last as usize);
        // Mostly among the latest: the others have ended long since.
        let recent = 2_000.min(self.last as usize);
        let (n, op) = (0..tries).find_map(|_| {
            let n = self.last - random.below(recent) as u64;
            let record = self.records.get(&n).filter(|record| record.sent.is_none())?;
            Some((n, choose(record)?))
        })?;
        self.send(n, op);
        Some((n, op))
    }

    /// All tasks that are in a queue, as far as we know.
    pub(crate) fn present_in(&self, queue: &str) -> Vec<u64> {
        let is_there = |record: &Record| record.queue == queue && record.state().is_some();
        self.records.iter().filter(|(_, record)| is_there(record)).map(|(n, _)| *n).collect()
    }

    /// How many requests about tasks are in doubt.
    pub(crate) fn unanswered(&self) -> usize {
        let takes: u32 = self.takes.values().sum();
        self.records.values().filter(|record| record.sent.is_some()).count() + takes as usize
    }

    /// An operation is on its way.
    pub(crate) fn send(&mut self, n: u64, op: Op) {
        let record = self.record(n);
        assert_eq!(record.sent, None, "one request about a task at a time");
        record.sent = Some(op);
        record.overtaken = false;
        record.grants += u32::from(matches!(op, Op::Retry | Op::Pause));
        record.tell(format!("sent {op:?}"));
    }

    /// It was acknowledged, with what it left behind.
    pub(crate) fn answered(&mut self, n: u64, left: Left) {
        self.answers += 1;
        let record = self.records.get_mut(&n).unwrap();
        let op = record.sent.take().unwrap();
        record.tell(format!("answered {op:?}: {left:?}"));
        if let Op::Edit { version } = op {
            record.version = version;
        }
        let (state, attempt) = match left {
            Left::Same => return,
            Left::Gone => (None, 0),
            Left::At(state, attempt) => (Some(state), attempt),
        };
        let is_possible = |at: &Standing| at.state == state && at.attempt == attempt;
        let by_itself = [record.by_itself(), &[Op::Take]].concat();
        let mut possible = record.at.possible(Some(op), &by_itself, record.limits()).into_iter();
        assert!(
            record.overtaken || possible.any(|at| is_possible(&at)),
            "answered {op:?}: {left:?} {record:#?}"
        );
        // Somebody took it meanwhile, and we heard of that first.
        if record.overtaken && matches!(state, Some(State::Ready | State::Waiting)) {
            return;
        }
        assert!(
            !(record.overtaken && op == Op::Commit),
            "committed with a token that was not good any more: {record:#?}"
        );
        let is_held = state.is_some_and(State::is_held);
        let is_ours = record.at.is_ours && is_held && attempt == record.at.attempt;
        record.at = Standing { state, attempt, is_ours };
        if let Some(token) = record.token.take_if(|_| !is_ours) {
            if op == Op::Commit {
                record.committed = Some(token);
            } else if let Some(id) = record.id.clone() {
                self.stale.push((record.queue, id, token));
            }
        }
    }

    /// It was refused, or not even sent: nothing changed.
    pub(crate) fn refused(&mut self, n: u64, code: Option<&str>) {
        let record = self.records.get_mut(&n).unwrap();
        let op = record.sent.take().unwrap();
        record.tell(format!("refused {op:?}: {code:?}"));
        if op == Op::Push {
            // Nothing is remembered under its key.
            record.keyed = None;
        }
        let Some(code) = code else { return };
        self.answers += 1;
        let is_late = record.queue == BRIEF && matches!(code, "stale_token" | "wrong_state");
        let is_taken = matches!(op, Op::Edit { .. }) && code == "wrong_state";
        let is_again = op == Op::PushAgain && code == "duplicate";
        assert!(is_late || is_taken || is_again, "{op:?} was refused with {code}: {record:#?}");
        if code == "stale_token" && !record.overtaken {
            record.at.is_ours = false;
            record.token = None;
        }
    }

    /// A take handed a task out.
    pub(crate) fn taken(&mut self, taken: &Taken) {
        self.answers += 1;
        let task = &taken.task;
        assert!(self.tokens.insert(taken.token.clone()), "a token was seen before: {taken:?}");
        assert!(task.taken_at.is_none_or(|at| at >= task.due_at), "early: {task:?}");
        let n = task.payload_as::<Payload>().unwrap().n;
        let Some(record) = self.records.get_mut(&n) else {
            panic!("a task that nobody pushed, or that was removed: {task:?}")
        };
        record.tell(format!("taken: {:?} {}", task.state, task.attempt));
        record.id = Some(task.id.clone());
        let possible = record.at.possible(record.sent, record.by_itself(), record.limits());
        // A cancel or pause that came after the take may be heard of before it.
        let is_told = matches!(record.at.state, Some(State::Pausing | State::Cancelling))
            && !record.at.is_ours
            && record.at.attempt == task.attempt;
        let is_ready = possible.contains(&Standing::new(State::Ready, task.attempt - 1));
        // Holds are so short that a take may be heard of after the next one.
        let is_late = record.queue == BRIEF && record.at.attempt >= task.attempt;
        // What was not confirmed yet is paused or cancelled at once, which may be heard of before it, too.
        let is_over = task.state == State::Assigned
            && matches!(record.at.state, Some(State::Paused | State::Cancelled))
            && record.at.attempt == task.attempt;
        assert!(is_told || is_ready || is_late || is_over, "handed out: {task:?} {record:#?}");
        let attempts_max = record.limits().most;
        assert!(task.attempt <= attempts_max, "too many attempts: {task:?} {record:#?}");
        if (is_late || is_over) && !is_told && !is_ready {
            self.stale.push((record.queue, task.id.clone(), taken.token.clone()));
            return;
        }
        if let Some(token) = record.token.replace(taken.token.clone()) {
            self.stale.push((record.queue, task.id.clone(), token));
        }
        record.overtaken = record.sent.is_some();
        let state = if is_told { record.at.state } else { Some(task.state) };
        record.at = Standing { state, attempt: task.attempt, is_ours: true };
    }

    /// Says that a take may hand out more than its taker hears of: one that waits only so long, or
    /// that also commits, is answered even if the store goes away in the middle. Such a hold ends by itself.
    pub(crate) fn doubt_takes(&mut self) {
        for queue in WORKED {
            *self.takes.entry(queue).or_default() += 1;
        }
    }

    /// What may be found of a task after a crash.
    pub(crate) fn possible(&self, record: &Record) -> HashSet<Standing> {
        let mut by_itself = record.by_itself().to_vec();
        if self.takes.get(record.queue).is_some_and(|takes| *takes > 0) {
            by_itself.push(Op::Take);
        }
        record.at.possible(record.sent, &by_itself, record.limits())
    }
}

impl Record {
    fn tell(&mut self, line: String) {
        self.story.push(line);
    }

    fn limits(&self) -> Limits {
        Limits { least: ATTEMPTS_MAX, most: ATTEMPTS_MAX + self.grants }
    }

    /// What happens to it without being asked for.
    fn by_itself(&self) -> &'static [Op] {
        if self.queue == BRIEF { &[Op::HoldEnd, Op::Due] } else { &[] }
    }

    /// Settles what was in doubt by what was found.
    pub(crate) fn settle(&mut self, found: Option<&Task>, at: Standing) {
        self.tell(format!("found {at:?}"));
        if let (Some(Op::Edit { version }), Some(task)) = (self.sent, found) {
            let found = task.payload_as::<Payload>().unwrap().version;
            assert!([self.version, version].contains(&found), "{self:#?}");
            self.version = found;
        }
        if self.sent == Some(Op::Commit) && at.state == Some(State::Done) {
            self.committed = self.token.take();
        }
        self.sent = None;
        self.id = self.id.take().or_else(|| found.map(|task| task.id.clone()));
        if !at.is_ours {
            self.token = None;
        }
        self.at = at;
    }

    pub(crate) fn state(&self) -> Option<State> {
        self.at.state
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.at.state.is_some_and(State::is_finished)
    }
}
