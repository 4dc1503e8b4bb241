//! The load, continued: what workers do with the tasks they hold, and others with all of them.

use punctual_client::{
    Client, Commit, Effect, Error, Extend, Fail, Held, RawJson, Release, Span, State, Stopped,
    Take, Task, TaskChanges,
};

use crate::ledger::{BRIEF, GONE, Left, Payload, Record};
use crate::load::{Hand, ServerGone, is_gone, lock, wait};
use crate::rules::Op;

/// What a request about a task needs.
struct Target {
    queue: &'static str,
    id: String,
    /// Empty if nobody holds it.
    token: String,
    /// How long "later" is there.
    delay: Span,
}

impl Target {
    fn held(&self) -> Held<'_> {
        Held { queue: self.queue, id: &self.id, token: &self.token }
    }
}

impl Hand {
    /// Takes tasks, sometimes waiting for them, sometimes with the commit of one it has.
    pub(crate) async fn take(&mut self, queue: &'static str) -> Result<(), ServerGone> {
        let mut take = Take::new().worker("w").n(1 + self.random.below(4));
        if self.random.percent(20) {
            take = take.confirm();
        }
        if self.random.percent(30) {
            take = take.wait(Span::from_millis(100));
        }
        let mut committing = Vec::new();
        if self.random.percent(20)
            && let Some((n, _)) = self.claim_held(queue, committable)
        {
            let target = self.target(n);
            take = take.commit(vec![target.held().with(Commit { result: Some(RawJson::of(&n)) })]);
            committing.push((n, Left::At(State::Done, self.ledger().record(n).at.attempt)));
        }
        *self.ledger().takes.entry(queue).or_default() += 1;
        match self.client.take(queue, &take).await {
            Ok(answer) => {
                *self.ledger().takes.entry(queue).or_default() -= 1;
                answer.tasks.iter().for_each(|taken| self.ledger().taken(taken));
                self.note_many(&committing, Ok(answer.committed))
            }
            Err(error) if error.effect() == Effect::Unknown => Err(ServerGone),
            Err(error) => {
                assert!(is_gone(&error), "{error}");
                *self.ledger().takes.entry(queue).or_default() -= 1;
                self.note_many(&committing, Err(error))
            }
        }
    }

    /// Settles, confirms or extends one task somebody holds.
    pub(crate) async fn settle_one(&mut self, queue: &'static str) -> Result<(), ServerGone> {
        let (permanent, later) = (self.random.percent(20), self.random.percent(50));
        let roll = self.random.below(10);
        let choose = |state| match (state, roll) {
            (State::Assigned, 0..7) => Some(Op::Confirm),
            (State::Assigned, 7) => Some(Op::Release { later }),
            (State::Assigned, _) => Some(Op::Fail { permanent, later }),
            (State::Pausing | State::Cancelling, 0..5) => Some(Op::Stop),
            (_, 0..5) => Some(Op::Commit),
            (_, 5..7) => Some(Op::Fail { permanent, later }),
            (_, 7) => Some(Op::Release { later }),
            _ => Some(Op::Extend),
        };
        match self.claim_held(queue, choose) {
            Some((n, op)) => self.carry_out(n, op).await,
            None => self.take(queue).await,
        }
    }

    /// Commits many at once.
    pub(crate) async fn settle_many(&mut self, queue: &'static str) -> Result<(), ServerGone> {
        let (mut tasks, mut items) = (Vec::new(), Vec::new());
        for _ in 0..self.random.below(12) {
            let Some((n, _)) = self.claim_held(queue, committable) else { break };
            let target = self.target(n);
            tasks.push((n, Left::At(State::Done, self.ledger().record(n).at.attempt)));
            items.push(target.held().with(Commit { result: Some(RawJson::of(&n)) }));
        }
        if items.is_empty() {
            return self.take(queue).await;
        }
        let answers = self.client.commit_batch(queue, &items).await;
        self.note_many(&tasks, answers)
    }

    /// Does something that anybody may do to any task.
    pub(crate) async fn control(&mut self, queue: &'static str) -> Result<(), ServerGone> {
        let op = match self.random.below(16) {
            0..2 => Op::Cancel,
            2..5 => Op::Pause,
            5..9 => Op::Resume,
            9..11 => Op::Retry,
            11 => Op::Reset,
            12..14 => Op::Edit { version: 0 },
            14 => Op::Clean,
            _ => Op::PushAgain,
        };
        let choose = |record: &Record| {
            let is_meant = record.queue == queue && record.id.is_some() && may(record, op);
            is_meant.then_some(match op {
                Op::Edit { .. } => Op::Edit { version: record.version + 1 },
                op => op,
            })
        };
        let claimed = lock(&self.ledger).claim(&mut self.random, choose);
        match claimed {
            Some((n, op)) => self.carry_out(n, op).await,
            None => self.push_one(queue).await,
        }
    }

    /// Claims a task that is held under a token we have.
    fn claim_held(
        &mut self,
        queue: &str,
        choose: impl Fn(State) -> Option<Op>,
    ) -> Option<(u64, Op)> {
        let choose = |record: &Record| {
            let is_held = record.queue == queue && record.at.is_ours && record.token.is_some();
            record.state().filter(|_| is_held).and_then(&choose)
        };
        lock(&self.ledger).claim(&mut self.random, choose)
    }

    fn target(&self, n: u64) -> Target {
        let mut ledger = self.ledger();
        let record = ledger.record(n);
        Target {
            queue: record.queue,
            id: record.id.clone().unwrap(),
            token: record.token.clone().unwrap_or_default(),
            delay: wait(record.queue),
        }
    }

    /// Sends an operation that was claimed, and enters what came of it.
    pub(crate) async fn carry_out(&self, n: u64, op: Op) -> Result<(), ServerGone> {
        let target = self.target(n);
        let answer = perform(&self.client, &target, n, op).await;
        self.note(n, answer)
    }
}

fn committable(state: State) -> Option<Op> {
    let is_so = matches!(state, State::Running | State::Pausing | State::Cancelling);
    is_so.then_some(Op::Commit)
}

/// Whether an operation is worth trying on a task, as far as we know.
fn may(record: &Record, op: Op) -> bool {
    let Some(state) = record.state() else { return false };
    // One that calls back ends once, and stays: so its callbacks can be counted.
    let may_end_again = !record.calls_back && record.queue != BRIEF;
    match op {
        Op::Cancel => !state.is_finished(),
        Op::Pause => !state.is_finished() && state != State::Paused && state != State::Cancelling,
        Op::Resume => matches!(state, State::Paused | State::Pausing),
        Op::Retry => {
            let waits = state == State::Waiting && record.at.attempt > 0;
            may_end_again && (waits || state == State::Failed || state.is_held())
        }
        // What has vanished cannot be reset, and of what may be taken at the same time nobody could
        // tell which came first.
        Op::Reset | Op::Clean => {
            let is_gone = record.queue == GONE && record.is_finished();
            may_end_again && !is_gone && state != State::Ready
        }
        Op::Edit { .. } => matches!(state, State::Ready | State::Waiting | State::Paused),
        Op::PushAgain => record.is_unique || (record.queue != BRIEF && !record.is_finished()),
        _ => false,
    }
}

async fn perform(client: &Client, target: &Target, n: u64, op: Op) -> Result<Left, Error> {
    let Target { queue, id, delay, .. } = target;
    let held = target.held();
    let later = |later: bool| Some(if later { *delay } else { Span::ZERO });
    let left = |task: Task| Left::At(task.state, task.attempt);
    let after = match op {
        Op::Commit => client.commit(held, &Commit { result: Some(RawJson::of(&n)) }).await,
        Op::Fail { permanent, later: is_later } => {
            let retry_in = later(is_later);
            let error = Some("no luck".to_owned());
            client.fail(held, &Fail { error, retry_in, permanent }).await
        }
        Op::Release { later: is_later } => {
            client.release(held, &Release { delay: later(is_later), checkpoint: None }).await
        }
        Op::Confirm => return client.confirm(held).await.map(left),
        Op::Extend => {
            let extend = Extend { progress: Some(0.5), ..Extend::default() };
            return client.extend(held, &extend).await.map(|_| Left::Same);
        }
        Op::Cancel => return client.cancel(queue, id).await.map(left),
        Op::Pause => return client.pause(queue, id).await.map(left),
        Op::Resume => return client.resume(queue, id).await.map(left),
        Op::Retry => return client.retry(queue, id, true).await.map(left),
        Op::Reset => return client.reset(queue, id).await.map(left),
        Op::Clean => return client.clean(queue, id).await.map(|()| Left::Gone),
        Op::Edit { version } => {
            let payload = RawJson::of(&Payload { n, version, filler: String::new() });
            let changes = TaskChanges::new().payload(payload);
            return client.edit(queue, id, &changes).await.map(left);
        }
        Op::PushAgain => {
            let again = punctual_client::NewTask::new("again").id(id.as_str());
            return client.push(queue, &again).await.map(|task| panic!("pushed again: {task:?}"));
        }
        Op::Stop => stop(client, held).await,
        Op::Push | Op::Take | Op::Due | Op::HoldEnd => unreachable!("nothing a client asks so"),
    };
    after.map(|after| {
        let task = after.task().unwrap_or_else(|| panic!("nobody settled it before: {after:?}"));
        Left::At(task.state, task.attempt)
    })
}

/// Acknowledges what the holder hears it was asked for.
async fn stop(client: &Client, held: Held<'_>) -> Result<punctual_client::After, Error> {
    let heard = client.extend(held, &Extend::default()).await?;
    if heard.cancel {
        client.cancelled(held, &Stopped::default()).await
    } else {
        client.paused(held, &Stopped::default()).await
    }
}
