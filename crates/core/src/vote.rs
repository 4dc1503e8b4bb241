//! Votes: one task, an answer from every worker that was registered when it started.
//!
//! A vote lies beside its task, which the server holds as long as a ballot is open. Each voter has a
//! ballot with its own token, time to confirm and hold. Answers are the vote's items, so that one more
//! does not rewrite the others; the last one ends the task.
//!
//! ```text
//!   open ──▶ Vote ──▶ happen, give_up, time_out ──▶ Turn ──▶ Event::Vote: the task runs on
//!                                                      └───▶ Event::Tally: it ends, the vote goes
//! ```
//!
//! Every turn changes the task too, so that a decision from an old version of either is refused.

use serde::{Deserialize, Serialize};

use crate::error::{Refusal, check_size};
use crate::json::RawJson;
use crate::limits::VOTE_RESULT_BYTES_MAX;
use crate::name::{QueueName, TaskId, WorkerName};
use crate::queue::Settings;
use crate::task::{Edge, Event, Hold, MAX_RUNTIME, Settlement, State, Task, Verb, edge};
use crate::time::{Span, Timestamp};
use crate::token::{Seed, Token};

/// A vote under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// The task's queue.
    pub queue: QueueName,
    /// The task.
    pub task: TaskId,
    /// One per voter.
    pub ballots: Vec<Ballot>,
}

/// What one voter has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ballot {
    /// The voter.
    pub worker: WorkerName,
    /// Its token.
    pub token: Token,
    /// The length of its hold once it has confirmed.
    pub hold: Span,
    /// The longest that hold may last, however often it is extended.
    pub max_runtime: Option<Span>,
    /// When it was confirmed.
    pub started: Option<Timestamp>,
    /// Where it stands.
    pub state: BallotState,
}

/// Where a ballot stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BallotState {
    /// Handed out, not confirmed.
    Assigned {
        /// When the time to confirm ends.
        until: Timestamp,
    },
    /// Confirmed.
    Running {
        /// When the hold ends.
        until: Timestamp,
    },
    /// Answered, or given up: then it counts null.
    Over {
        /// How its voter settled it, if it did.
        by: Option<Verb>,
    },
}

/// What one voter said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The voter.
    pub worker: WorkerName,
    /// What it answered; null if it did not.
    pub result: RawJson,
    /// Why it did not answer.
    pub error: Option<String>,
}

impl Answer {
    /// Whether it counts.
    pub fn is_vote(&self) -> bool {
        self.error.is_none()
    }
}

/// What something makes of a vote.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The vote after it.
    pub vote: Vote,
    /// Answers that came of it; none: nothing was settled.
    pub answers: Vec<Answer>,
    /// How a voter settled its ballot.
    pub settled: Option<(Token, Verb)>,
    /// Whether anything changed.
    pub is_changed: bool,
}

impl Ballot {
    fn until(&self) -> Option<Timestamp> {
        match self.state {
            BallotState::Assigned { until } | BallotState::Running { until } => Some(until),
            BallotState::Over { .. } => None,
        }
    }

    /// Ends it without an answer.
    fn give_up(&mut self, error: &str) -> Answer {
        self.state = BallotState::Over { by: None };
        let worker = self.worker.clone();
        Answer { worker, result: RawJson::null(), error: Some(error.to_owned()) }
    }

    /// Ends it because its time is over.
    fn time_out(&mut self) -> Answer {
        let error = match self.state {
            BallotState::Assigned { .. } => "not confirmed in time",
            BallotState::Running { until } if self.latest().is_some_and(|at| until >= at) => {
                MAX_RUNTIME
            }
            _ => "its hold ended before its worker was heard of",
        };
        self.give_up(error)
    }

    /// When its hold ends at the latest.
    fn latest(&self) -> Option<Timestamp> {
        Some(self.started? + self.max_runtime?)
    }

    /// Its hold goes on from now.
    fn hold_on(&mut self, now: Timestamp) {
        let until = now + self.hold;
        self.state =
            BallotState::Running { until: self.latest().map_or(until, |at| until.min(at)) };
    }
}

impl Vote {
    /// A vote on a task by these workers, and the event that makes its task run.
    pub fn open(
        task: &Task,
        voters: Vec<WorkerName>,
        seed: Seed,
        queue: &Settings,
        now: Timestamp,
    ) -> (Self, Event) {
        let until = now + queue.confirm_within;
        let ballot = |(index, worker)| Ballot {
            worker,
            token: seed.token(index),
            hold: task.spec.hold.unwrap_or(queue.hold),
            max_runtime: task.max_runtime(queue),
            started: None,
            state: BallotState::Assigned { until },
        };
        let ballots = voters.into_iter().enumerate().map(ballot).collect();
        let vote = Self { queue: task.spec.queue.clone(), task: task.spec.id.clone(), ballots };
        (vote, Event::Vote { until, settled: None })
    }

    /// Who can still answer.
    pub fn awaited(&self) -> impl Iterator<Item = &WorkerName> {
        let open = self.ballots.iter().filter(|ballot| ballot.until().is_some());
        open.map(|ballot| &ballot.worker)
    }

    /// When the last of its open ballots runs out; none: all are over.
    pub fn until(&self) -> Option<Timestamp> {
        self.ballots.iter().filter_map(Ballot::until).max()
    }

    /// The task as a voter sees it that has an open ballot: with its own token and hold.
    pub fn seen_by(&self, worker: &WorkerName, task: &Task) -> Option<Task> {
        let ballot = self.ballots.iter().find(|ballot| ballot.worker == *worker)?;
        let until = ballot.until()?;
        let mut seen = task.clone();
        let since = seen.status.hold.map_or(until, |hold| hold.since);
        seen.status.hold = Some(Hold { token: ballot.token, since, until, length: ballot.hold });
        seen.status.worker = Some(worker.clone());
        seen.status.taken_at = ballot.started;
        if matches!(ballot.state, BallotState::Assigned { .. }) {
            seen.status.state = State::Assigned;
        }
        Some(seen)
    }

    /// Whose ballot a token is.
    pub fn voter(&self, token: Token) -> Option<&WorkerName> {
        self.ballots.iter().find(|ballot| ballot.token == token).map(|ballot| &ballot.worker)
    }

    /// A voter says something, by its token. Ballots whose time is over by then are over.
    pub fn happen(mut self, event: &Event, now: Timestamp) -> Result<Turn, Refusal> {
        let token = event.token().ok_or(Refusal::StaleToken)?;
        let verb = event.verb();
        let place = self.ballots.iter().position(|ballot| ballot.token == token);
        let place = place.ok_or(Refusal::StaleToken)?;
        let mut answers = Vec::new();
        for ballot in &mut self.ballots {
            if ballot.until().is_some_and(|until| until <= now) {
                answers.push(ballot.time_out());
            }
        }
        let ballot = &mut self.ballots[place];
        let before = ballot.state;
        let state = match before {
            BallotState::Assigned { .. } => State::Assigned,
            BallotState::Running { .. } => State::Running,
            BallotState::Over { by } if by == Some(verb) => return Ok(self.unchanged()),
            BallotState::Over { .. } => return Err(Refusal::StaleToken),
        };
        if edge(state, verb) == Edge::Refused {
            return Err(Refusal::WrongState { verb, state });
        }
        match event {
            Event::Confirm { .. } => {
                if state == State::Running {
                    return Ok(self.unchanged());
                }
                ballot.started = Some(now);
                ballot.hold_on(now);
            }
            Event::Extend { extension, .. } => {
                ballot.hold = extension.hold.unwrap_or(ballot.hold);
                ballot.hold_on(now);
            }
            Event::Settle { settlement, .. } => {
                answers.push(ballot.settle(settlement)?);
                let settled = Some((token, verb));
                return Ok(Turn { vote: self, answers, settled, is_changed: true });
            }
            _ => return Err(Refusal::WrongState { verb, state }),
        }
        Ok(Turn { vote: self, answers, settled: None, is_changed: true })
    }

    fn unchanged(self) -> Turn {
        Turn { vote: self, answers: Vec::new(), settled: None, is_changed: false }
    }

    /// A voter is gone: its ballot counts null.
    #[must_use]
    pub fn give_up(mut self, worker: &WorkerName, error: &str) -> Turn {
        let mine = |ballot: &&mut Ballot| ballot.worker == *worker && ballot.until().is_some();
        let answers: Vec<Answer> =
            self.ballots.iter_mut().find(mine).map(|it| it.give_up(error)).into_iter().collect();
        let is_changed = !answers.is_empty();
        Turn { vote: self, answers, settled: None, is_changed }
    }

    /// Makes the tokens of all open ballots stale.
    pub fn orphan(&mut self, seed: Seed) {
        for (index, ballot) in self.ballots.iter_mut().enumerate() {
            if ballot.until().is_some() {
                ballot.token = seed.token(index);
            }
        }
    }

    /// The time of the last ballot is over, by the store's word.
    #[must_use]
    pub fn time_out(mut self) -> Turn {
        let open = self.ballots.iter_mut().filter(|ballot| ballot.until().is_some());
        let answers = open.map(Ballot::time_out).collect();
        Turn { vote: self, answers, settled: None, is_changed: true }
    }
}

impl Ballot {
    fn settle(&mut self, settlement: &Settlement) -> Result<Answer, Refusal> {
        let answer = match settlement {
            Settlement::Commit { result } => {
                let result = result.clone().unwrap_or_default();
                check_size("result", result.len(), VOTE_RESULT_BYTES_MAX)?;
                Answer { worker: self.worker.clone(), result, error: None }
            }
            Settlement::Fail { error, .. } => self.give_up(error.as_deref().unwrap_or("failed")),
            _ => self.give_up("released"),
        };
        self.state = BallotState::Over { by: Some(settlement.verb()) };
        Ok(answer)
    }
}
