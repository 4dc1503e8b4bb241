//! What the vote on a task makes of it: it runs as long as a ballot is open, and ends with the last.

use std::fmt::Write;

use super::{Context, Decision, Fate, Outcome, State, Task, Verb};
use crate::json::RawJson;
use crate::time::Timestamp;
use crate::token::Token;
use crate::vote::Answer;

/// The error of a task that nobody voted on.
const NO_VOTES: &str = "no_votes";

impl Task {
    /// Its vote begins, or goes on until another time. The server holds it for all voters.
    pub(super) fn vote(
        mut self,
        until: Timestamp,
        settled: Option<(Token, Verb)>,
        now: Timestamp,
    ) -> Decision {
        if self.status.state != State::Running {
            self.status.state = State::Running;
            self.status.start(now);
        }
        if let Some(hold) = &mut self.status.hold {
            hold.until = until;
            hold.length = until.since(now);
        }
        Decision { receipt: settled, ..self.kept(Fate::Keep) }
    }

    /// All have voted: what they said is its result.
    pub(super) fn tally(
        mut self,
        answers: Vec<Answer>,
        settled: Option<(Token, Verb)>,
        context: &Context<'_>,
    ) -> Decision {
        let is_heard = answers.iter().any(Answer::is_vote);
        self.status.result = Some(in_one(&answers));
        for answer in answers {
            let outcome = if answer.is_vote() { Outcome::Done } else { Outcome::Failed };
            self.status.worker = Some(answer.worker);
            self.status.untake(context.now, outcome, answer.error.as_deref());
        }
        self.status.hold = None;
        self.status.worker = None;
        self.status.settled = settled;
        self.status.error = (!is_heard).then(|| NO_VOTES.to_owned());
        self.end(if is_heard { State::Done } else { State::Failed }, context)
    }
}

/// All answers as one object, each as its voter wrote it.
fn in_one(answers: &[Answer]) -> RawJson {
    let mut text = String::from("{");
    for answer in answers {
        let comma = if text.len() > 1 { "," } else { "" };
        // The name of a worker needs no escapes.
        let _ = write!(text, "{comma}\"{}\":{}", answer.worker, answer.result.as_str());
    }
    text.push('}');
    RawJson::stored(&text)
}
