//! Votes: opened for all who serve a queue, and what voters say by the tokens of their ballots.

use std::sync::Arc;

use punctual_core::limits::VOTERS_MAX;
use punctual_core::vote::{Answer, Turn};
use punctual_core::{
    Event, Owner, OwnerKey, Queue, QueueName, Refusal, TaskId, Timestamp, Vote, WorkerName,
};
use punctual_store::{
    Change, Changes, OwnerChange, OwnerListing, Revision, StoreError, Stored, StoredOwner, Written,
};
use tokio::sync::mpsc::UnboundedReceiver;

use super::apply::{Ask, Outcome};
use super::loops::ROUND_MAX;
use super::owned::{Decided, Undone};
use super::{Engine, Failure, complain, random};

/// How often records are read again before a request is given up.
const ROUNDS_MAX: usize = 16;

/// A vote, its task, and the versions that were read.
struct Ballots {
    vote: Vote,
    revision: Revision,
    task: Stored,
}

/// What came of a turn.
enum Turned {
    /// It happened: the task after it, and the vote if it goes on.
    Done(Box<Stored>, Option<Vote>),
    /// Something else happened first.
    Lost,
}

impl Engine {
    /// Opens votes on tasks that were taken for it, by all who serve their queue.
    pub(crate) async fn open_votes(
        &self,
        queue: &Queue,
        tasks: Vec<Stored>,
        mut voters: Vec<WorkerName>,
    ) -> Result<(), StoreError> {
        voters.truncate(VOTERS_MAX);
        let (mut steps, mut votes) = (Vec::new(), Vec::new());
        let now = self.now();
        for Stored { task, revision } in tasks {
            let settings = &queue.settings;
            let (vote, event) = Vote::open(&task, voters.clone(), random::seed(), settings, now);
            let Ok(decision) = self.decide(queue, &task, event, now) else { continue };
            let change = OwnerChange {
                key: OwnerKey::vote(&vote.queue, &vote.task),
                expected: None,
                after: Some(Owner::Vote(Box::new(vote.clone()))),
                drop_first: 0,
                append: Vec::new(),
            };
            let tasks = vec![Change { expected: revision, decision }];
            steps.push(Changes { owners: vec![change], tasks, ..Changes::default() }.into());
            votes.push(vote);
        }
        let stepped = self.store.write(steps).await;
        for (vote, stepped) in votes.iter().zip(stepped) {
            if stepped?.is_done() {
                self.roster.vote(vote);
            }
        }
        Ok(())
    }

    /// A voter says something about a task, by the token of its ballot.
    pub(super) async fn cast(&self, queue: &Arc<Queue>, ask: &Ask) -> Result<Outcome, Failure> {
        let cast = self.cast_ballot(queue, ask).await;
        if let Err(Failure::NoTask { .. } | Failure::Refused(Refusal::StaleToken)) = &cast
            && let Some(receipt) = ask.receipt(&queue.name)
            && self.store.settled(std::slice::from_ref(&receipt)).await? == [true]
        {
            return Ok(Outcome::Before { verb: receipt.verb });
        }
        cast
    }

    async fn cast_ballot(&self, queue: &Arc<Queue>, ask: &Ask) -> Result<Outcome, Failure> {
        let key = OwnerKey::vote(&queue.name, &ask.id);
        let token = ask.token().ok_or(Refusal::StaleToken)?;
        let _lock = self.vote_locks.lock([&key]).await;
        for _ in 0..ROUNDS_MAX {
            let Some(ballots) = self.ballots(&key, &ask.id).await? else {
                // The task may be there without a vote: then nobody has a token.
                self.task(&queue.name, &ask.id).await?;
                return Err(Refusal::StaleToken.into());
            };
            let now = self.now();
            let voter = ballots.vote.voter(token).cloned();
            let turn = ballots.vote.clone().happen(&ask.event, now)?;
            if let Some(voter) = &voter {
                self.roster.hear(voter, now);
            }
            if !turn.is_changed {
                let task = seen(Some(&turn.vote), voter.as_ref(), ballots.task);
                return Ok(Outcome::Task { task, queue: queue.clone(), changed: false });
            }
            if let Turned::Done(stored, vote) = self.turn(queue, &key, ballots, turn, now).await? {
                if let (None, Some(since)) = (&vote, stored.task.status.taken_at) {
                    self.paces.served(&queue.name, &[since], now);
                }
                let task = seen(vote.as_ref(), voter.as_ref(), *stored);
                return Ok(Outcome::Task { task, queue: queue.clone(), changed: true });
            }
        }
        Err(Failure::Contended)
    }

    /// Reads a vote and its task; none: there is no such vote.
    async fn ballots(&self, key: &OwnerKey, id: &TaskId) -> Result<Option<Ballots>, StoreError> {
        let Some(stored) = self.owner(key).await? else { return Ok(None) };
        let task = self.store.read(&key.queue, std::slice::from_ref(id)).await?.pop().flatten();
        Ok(match (stored.owner, task) {
            (Owner::Vote(vote), Some(task)) => {
                Some(Ballots { vote: *vote, revision: stored.revision, task })
            }
            _ => None,
        })
    }

    /// Carries out a turn: the vote goes on, or its task ends with what all have said.
    async fn turn(
        &self,
        queue: &Queue,
        key: &OwnerKey,
        ballots: Ballots,
        turn: Turn,
        now: Timestamp,
    ) -> Result<Turned, Failure> {
        let Ballots { revision, task: before, .. } = ballots;
        let Turn { vote, answers, settled, .. } = turn;
        let Some(until) = vote.until() else {
            let mut all = self.answers(key).await?;
            all.extend(answers);
            all.sort_by(|a, b| a.worker.cmp(&b.worker));
            let event = Event::Tally { answers: all, settled };
            return self.tally(queue, &before, &event, now).await;
        };
        let decision = self.decide(queue, &before.task, Event::Vote { until, settled }, now)?;
        let task = decision.task.clone();
        let change = OwnerChange {
            key: key.clone(),
            expected: Some(revision),
            after: Some(Owner::Vote(Box::new(vote.clone()))),
            drop_first: 0,
            append: answers.iter().map(punctual_core::RawJson::of).collect(),
        };
        let tasks = vec![Change { expected: before.revision, decision }];
        let step = Changes { owners: vec![change], tasks, ..Changes::default() };
        Ok(match self.store.write_one(step.into()).await? {
            Written::Records { tasks, .. } => {
                let revision = tasks.first().copied().unwrap_or(before.revision);
                Turned::Done(Box::new(Stored { task, revision }), Some(vote))
            }
            _ => Turned::Lost,
        })
    }

    /// Ends a task that all have voted on. Its vote goes in the same step, as with every end.
    async fn tally(
        &self,
        queue: &Queue,
        before: &Stored,
        event: &Event,
        now: Timestamp,
    ) -> Result<Turned, Failure> {
        let decision = self.decide(queue, &before.task, event.clone(), now)?;
        let decided = Decided { queue, event, before, decision };
        match self.commit(vec![decided], now).await?.pop() {
            Some(Ok(stored)) => Ok(Turned::Done(Box::new(stored), None)),
            Some(Err(Undone::Refused(refusal))) => Err(refusal.into()),
            Some(Err(Undone::Store(failure))) => Err(failure.into()),
            Some(Err(Undone::Lost)) | None => Ok(Turned::Lost),
        }
    }

    /// What voters have said so far.
    async fn answers(&self, key: &OwnerKey) -> Result<Vec<Answer>, StoreError> {
        let mut answers: Vec<Answer> = Vec::new();
        loop {
            let items = self.store.items(key, answers.len(), VOTERS_MAX).await?;
            if items.is_empty() {
                return Ok(answers);
            }
            for item in items {
                let answer = serde_json::from_str(item.as_str());
                answers.push(answer.map_err(|error| StoreError::Corrupt {
                    place: key.to_string(),
                    reason: error.to_string(),
                })?);
            }
        }
    }

    /// The last ballot on a task has run out. False: there is no vote on it.
    pub(super) async fn time_out_vote(
        &self,
        queue: &Queue,
        id: &TaskId,
        expired: Revision,
    ) -> Result<bool, StoreError> {
        let is_same = |ballots: &Ballots| ballots.task.revision == expired;
        self.turn_over(queue, id, |ballots| {
            is_same(ballots).then(|| ballots.vote.clone().time_out())
        })
        .await
    }

    /// A voter is gone: its open ballots count null.
    pub(super) async fn give_up_ballots(
        &self,
        worker: &WorkerName,
        error: &str,
    ) -> Result<(), StoreError> {
        for (name, id) in self.roster.ballots(worker) {
            if let Some(queue) = self.store.queue(&name).await? {
                let give_up = |ballots: &Ballots| {
                    Some(ballots.vote.clone().give_up(worker, error)).filter(|it| it.is_changed)
                };
                self.turn_over(&queue, &id, give_up).await?;
            }
            self.roster.has_voted(worker, &name, &id);
        }
        Ok(())
    }

    /// Carries out a turn that nobody waits for. False: there is no such vote.
    async fn turn_over(
        &self,
        queue: &Queue,
        id: &TaskId,
        turn: impl Fn(&Ballots) -> Option<Turn>,
    ) -> Result<bool, StoreError> {
        let key = OwnerKey::vote(&queue.name, id);
        let _lock = self.vote_locks.lock([&key]).await;
        for _ in 0..ROUNDS_MAX {
            let Some(ballots) = self.ballots(&key, id).await? else { return Ok(false) };
            let Some(turn) = turn(&ballots) else { return Ok(true) };
            match self.turn(queue, &key, ballots, turn, self.now()).await {
                Ok(Turned::Done(..)) => return Ok(true),
                Ok(Turned::Lost) => {}
                Err(Failure::Store(failure)) => return Err(failure),
                // The task does not run any more, so its vote is gone with the next look.
                Err(_) => {}
            }
        }
        Ok(true)
    }

    /// Those of some tasks that a worker has yet to vote on, as it sees them.
    pub(super) async fn ballots_among(
        &self,
        worker: &WorkerName,
        tasks: Vec<(QueueName, TaskId)>,
    ) -> Result<Vec<(Arc<Queue>, Stored)>, StoreError> {
        let mut seen = Vec::new();
        let now = self.now();
        for (name, id) in tasks {
            let key = OwnerKey::vote(&name, &id);
            let queue = self.store.queue(&name).await?;
            let (Some(queue), Some(ballots)) = (queue, self.ballots(&key, &id).await?) else {
                self.roster.has_voted(worker, &name, &id);
                continue;
            };
            match ballots.vote.seen_by(worker, &ballots.task.task) {
                Some(task) if task.status.hold.is_some_and(|hold| hold.until > now) => {
                    seen.push((queue, Stored { task, revision: ballots.task.revision }));
                }
                _ => self.roster.has_voted(worker, &name, &id),
            }
        }
        Ok(seen)
    }

    /// Who has yet to answer to a task, by name.
    pub(super) async fn awaited(
        &self,
        queue: &QueueName,
        id: &TaskId,
    ) -> Result<Vec<String>, StoreError> {
        let ballots = self.ballots(&OwnerKey::vote(queue, id), id).await?;
        let names = |ballots: Ballots| ballots.vote.awaited().map(ToString::to_string).collect();
        Ok(ballots.map_or_else(Vec::new, names))
    }

    /// Tells who waits here of votes that other servers have opened.
    pub(super) async fn hear_votes(self: Arc<Self>, mut opened: UnboundedReceiver<OwnerKey>) {
        let mut keys = Vec::new();
        while opened.recv_many(&mut keys, ROUND_MAX).await > 0 {
            match self.store.owners(&keys).await {
                Ok(votes) => {
                    votes.into_iter().flatten().for_each(|stored| self.tell_voters(stored))
                }
                // Whoever refreshes the roster finds them.
                Err(failure) => complain("votes of other servers", &failure),
            }
            keys.clear();
        }
    }

    fn tell_voters(&self, stored: StoredOwner) {
        if let Owner::Vote(vote) = stored.owner {
            self.roster.vote(&vote);
        }
    }

    /// Finds out which votes are under way, as far as others or an earlier server opened them.
    pub(crate) async fn find_votes(&self) -> Result<(), StoreError> {
        let mut listing = OwnerListing {
            kind: punctual_core::OwnerKind::Vote,
            queue: None,
            prefix: String::new(),
            cursor: None,
            limit: 1_000,
        };
        loop {
            let page = self.store.list_owners(listing.clone()).await?;
            page.items.into_iter().for_each(|stored| self.tell_voters(stored));
            if page.next.is_none() {
                return Ok(());
            }
            listing.cursor = page.next;
        }
    }
}

/// The task as its voter sees it, as long as its ballot is open.
fn seen(vote: Option<&Vote>, voter: Option<&WorkerName>, stored: Stored) -> punctual_core::Task {
    let seen = vote.zip(voter).and_then(|(vote, voter)| vote.seen_by(voter, &stored.task));
    seen.unwrap_or(stored.task)
}
