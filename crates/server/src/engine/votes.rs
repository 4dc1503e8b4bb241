//! Votes: opened for all who serve a queue, and what voters say by the tokens of their ballots.

use std::sync::Arc;

use punctual_core::limits::VOTERS_MAX;
use punctual_core::vote::{Answer, Turn};
use punctual_core::{
    Announcements, Change, Changes, Event, Owner, OwnerChange, OwnerKey, Queue, QueueName, RawJson,
    Refusal, Revision, Stored, StoredOwner, Task, TaskId, Timestamp, Vote, WorkerName,
};
use punctual_store::{OwnerListing, StoreError};
use tokio::sync::mpsc::UnboundedReceiver;

use super::apply::{Ask, Outcome};
use super::loops::ROUND_MAX;
use super::owned::{Decided, Undone};
use super::records::{Ballots, Found, Records};
use super::transact::{ROUNDS_MAX, Verdict};
use super::write::Draft;
use super::{Engine, Failure, complain, random};

/// The outcome of a turn.
enum Turned {
    /// It happened: the task after it, and the vote if it goes on.
    Done(Box<Stored>, Option<Vote>),
    /// The task ends by this event, with all that was answered.
    Over { before: Box<Stored>, event: Event },
    /// Nothing has changed: the task as its voter sees it.
    Same(Box<Task>),
    /// There is no such vote, or nothing is to be done about it.
    Nothing,
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
        let (mut drafts, mut votes) = (Vec::new(), Vec::new());
        let now = self.now();
        for Stored { task, revision } in tasks {
            let settings = &queue.settings;
            let (vote, event) = Vote::open(&task, voters.clone(), random::seed(), settings, now);
            let Ok(decision) = self.decide(queue, &task, event, now) else { continue };
            let changes = Changes {
                owners: vec![OwnerChange::put(Owner::Vote(Box::new(vote.clone())), None)],
                tasks: vec![Change { expected: revision, decision }],
                ..Changes::default()
            };
            drafts.push(Draft::quiet(changes));
            votes.push(vote);
        }
        for (vote, written) in votes.iter().zip(self.writer.write(drafts).await) {
            if written?.is_done() {
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
        let mut voter = None;
        let turned = self.turn(queue, &ask.id, |ballots, now| {
            let turn = ballots.vote.clone().happen(&ask.event, now)?;
            voter = ballots.vote.voter(token).cloned();
            Ok(Some(turn))
        });
        let turned = turned.await;
        let now = self.now();
        if let Some(voter) = &voter {
            self.roster.hear(voter, now);
        }
        let (task, changed) = match turned? {
            Turned::Done(stored, vote) => {
                if let (None, Some(since)) = (&vote, stored.task.status.taken_at) {
                    self.paces.served(&queue.name, &[since], now);
                }
                (seen(vote.as_ref(), voter.as_ref(), *stored), true)
            }
            Turned::Same(task) => {
                let vote = self.owner(&key).await?.and_then(vote_of);
                let stored = Stored { task: *task, revision: Revision::NEVER };
                (seen(vote.as_ref(), voter.as_ref(), stored), false)
            }
            Turned::Over { .. } | Turned::Nothing => {
                // The task may be there without a vote: then nobody has a token.
                self.task(&queue.name, &ask.id).await?;
                return Err(Refusal::StaleToken.into());
            }
        };
        Ok(Outcome::Task { task, queue: queue.clone(), changed })
    }

    /// Carries out a turn of a vote: it goes on, or its task ends with all that was answered.
    async fn turn(
        &self,
        queue: &Queue,
        id: &TaskId,
        mut turn: impl FnMut(&Ballots<'_>, Timestamp) -> Result<Option<Turn>, Refusal>,
    ) -> Result<Turned, Failure> {
        let key = OwnerKey::vote(&queue.name, id);
        let _lock = self.vote_locks.lock([&key]).await;
        for round in 0..ROUNDS_MAX {
            self.pause(round).await;
            let turned = self.transact_locked(|records, now| {
                let Some(ballots) = records.vote(&key, id)? else {
                    return Ok(Verdict::Answer(Turned::Nothing));
                };
                let Some(turn) = turn(&ballots, now)? else {
                    return Ok(Verdict::Answer(Turned::Nothing));
                };
                self.turned(records, queue, &key, &ballots, turn, now)
            });
            let (before, event) = match turned.await?.answer()? {
                Turned::Over { before, event } => (before, event),
                turned => return Ok(turned),
            };
            let now = self.now();
            let decision = self.decide(queue, &before.task, event.clone(), now)?;
            let decided = Decided { queue, event: &event, before: &before, decision };
            // The vote goes in the same transaction, as with every end of its task.
            match self.commit(vec![decided], now).await?.pop() {
                Some(Ok(stored)) => return Ok(Turned::Done(Box::new(stored), None)),
                Some(Err(Undone::Refused(refusal))) => return Err(refusal.into()),
                Some(Err(Undone::Store(failure))) => return Err(failure.into()),
                Some(Err(Undone::Lost)) | None => {}
            }
        }
        Err(Failure::Contended)
    }

    /// Decides a turn.
    fn turned(
        &self,
        records: &Records,
        queue: &Queue,
        key: &OwnerKey,
        ballots: &Ballots<'_>,
        turn: Turn,
        now: Timestamp,
    ) -> Found<Verdict<Turned>> {
        let Ballots { revision, task: before, .. } = ballots;
        let Turn { vote, answers, settled, is_changed } = turn;
        if !is_changed {
            return Ok(Verdict::Answer(Turned::Same(Box::new(before.task.clone()))));
        }
        let Some(until) = vote.until() else {
            let mut all = answered(records, key)?;
            all.extend(answers);
            all.sort_by(|a, b| a.worker.cmp(&b.worker));
            let event = Event::Tally { answers: all, settled };
            return Ok(Verdict::Answer(Turned::Over {
                before: Box::new((*before).clone()),
                event,
            }));
        };
        let decision = self.decide(queue, &before.task, Event::Vote { until, settled }, now)?;
        // The version after the change: every store counts on by one.
        let Revision { birth, change } = before.revision;
        let after = Revision { birth, change: change + 1 };
        let stored = Stored { task: decision.task.clone(), revision: after };
        let owner = Owner::Vote(Box::new(vote.clone()));
        let mut owner = OwnerChange::put(owner, Some(*revision));
        owner.append = answers.iter().map(RawJson::of).collect();
        let changes = Changes {
            owners: vec![owner],
            tasks: vec![Change { expected: before.revision, decision }],
            ..Changes::default()
        };
        let turned = Turned::Done(Box::new(stored), Some(vote));
        Ok(Verdict::Write(changes, Announcements::default(), turned))
    }

    /// The last ballot on a task has run out. False: there is no vote on it.
    pub(super) async fn time_out_vote(
        &self,
        queue: &Queue,
        id: &TaskId,
        expired: Revision,
    ) -> Result<bool, StoreError> {
        self.turn_over(queue, id, |ballots| {
            (ballots.task.revision == expired).then(|| ballots.vote.clone().time_out())
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
                let give_up = |ballots: &Ballots<'_>| {
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
        turn: impl Fn(&Ballots<'_>) -> Option<Turn>,
    ) -> Result<bool, StoreError> {
        let mut is_there = false;
        let turned = self.turn(queue, id, |ballots, _| {
            is_there = true;
            Ok(turn(ballots))
        });
        match turned.await {
            Err(Failure::Store(failure)) => Err(failure),
            // If it was refused, the task does not run any more and its vote is gone.
            _ => Ok(is_there),
        }
    }

    /// Reads a vote and its task; none: there is no such vote.
    async fn ballots(
        &self,
        key: &OwnerKey,
        id: &TaskId,
    ) -> Result<Option<(Vote, Stored)>, StoreError> {
        let Some(vote) = self.owner(key).await?.and_then(vote_of) else { return Ok(None) };
        let task = self.store.read(&key.queue, std::slice::from_ref(id)).await?.pop().flatten();
        Ok(task.map(|task| (vote, task)))
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
            let (Some(queue), Some((vote, task))) = (queue, self.ballots(&key, &id).await?) else {
                self.roster.has_voted(worker, &name, &id);
                continue;
            };
            match vote.seen_by(worker, &task.task) {
                Some(seen_task) if seen_task.status.hold.is_some_and(|hold| hold.until > now) => {
                    seen.push((queue, Stored { task: seen_task, revision: task.revision }));
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
        let names = |(vote, _): (Vote, Stored)| vote.awaited().map(ToString::to_string).collect();
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
        if let Some(vote) = vote_of(stored) {
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

fn vote_of(stored: StoredOwner) -> Option<Vote> {
    match stored.owner {
        Owner::Vote(vote) => Some(*vote),
        _ => None,
    }
}

/// The answers of voters so far.
fn answered(records: &Records, key: &OwnerKey) -> Found<Vec<Answer>> {
    let mut answers: Vec<Answer> = Vec::new();
    loop {
        let items = records.items(key, answers.len(), VOTERS_MAX)?;
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
