//! What the end of an attempt to deliver makes of a task.

use super::decide::{Context, Decision};
use super::event::Settlement;
use super::state::State;
use super::{Attempt, Status, Task, shortened};
use crate::http::{Delivery, Exchange, Verdict};
use crate::limits::{ANSWER_BYTES_MAX, ANSWERS_BYTES_MAX, HISTORY_MAX};
use crate::time::Timestamp;
use crate::token::Token;

/// How much of an attempt's URL and error is kept.
const TEXT_BYTES_MAX: usize = 512;

impl Task {
    /// Delivered: done. Not delivered: as if a worker had failed, but the target may ask for a
    /// longer wait than the task's own.
    pub(super) fn deliver(
        self,
        token: Token,
        delivery: Delivery,
        context: &Context<'_>,
    ) -> Decision {
        let Delivery { exchange, status, mut verdict, sent: _ } = delivery;
        let (detail, retry_after) = match &mut verdict {
            Verdict::Accepted { .. } => (None, None),
            Verdict::Failed { detail, retry_after, .. } => (detail.take(), *retry_after),
        };
        let mut decision = match self.spec.notice.clone() {
            Some(notice) => self.notify(&notice, verdict, context),
            None => self.settle(token, settlement(verdict), context),
        };
        if let Some(span) = retry_after {
            decision.task.put_off(context.now + span, context.now);
        }
        // Nobody outside knows the token, so nobody repeats the verb.
        decision.receipt = None;
        decision.task.status.settled = None;
        let room = match decision.task.spec.notice {
            // Its sender may read every answer.
            Some(_) => HISTORY_MAX * ANSWER_BYTES_MAX,
            None => ANSWERS_BYTES_MAX,
        };
        decision.task.status.annotate(exchange, status, detail.as_deref(), room);
        decision
    }

    /// Makes it wait until `due`, if it waits for its retry and not for that long.
    fn put_off(&mut self, due: Timestamp, now: Timestamp) {
        if matches!(self.status.state, State::Waiting | State::Ready) && due > self.due_at() {
            self.wait_until(due, now);
        }
    }

    /// Makes it due at another time than that of its retry.
    pub(crate) fn wait_until(&mut self, due: Timestamp, now: Timestamp) {
        self.status.due_at = Some(due);
        if self.status.state != State::Paused {
            self.status.queue(due, now);
        }
    }
}

/// What a worker would say that had delivered it.
fn settlement(verdict: Verdict) -> Settlement {
    match verdict {
        Verdict::Accepted { result } => Settlement::Commit { result: Some(result) },
        Verdict::Failed { error, permanent, .. } => {
            Settlement::Fail { error: Some(error), retry_in: None, permanent }
        }
    }
}

impl Status {
    /// Notes what was sent and answered with the attempt that just ended. Of earlier answers the
    /// oldest go when all together take too much room.
    fn annotate(
        &mut self,
        mut exchange: Exchange,
        status: Option<u16>,
        detail: Option<&str>,
        room_bytes: usize,
    ) {
        let Some(last) = self.history.last_mut() else { return };
        exchange.url.truncate(exchange.url.floor_char_boundary(TEXT_BYTES_MAX));
        if let Some(answer) = &mut exchange.answer {
            answer.truncate(answer.floor_char_boundary(ANSWER_BYTES_MAX));
        }
        last.status = status;
        last.error = detail.map(|text| shortened(text, TEXT_BYTES_MAX)).or(last.error.take());
        last.http = Some(exchange);
        let mut bytes = 0;
        for Attempt { http, .. } in self.history.iter_mut().rev() {
            let Some(exchange) = http else { continue };
            bytes += exchange.answer.as_ref().map_or(0, String::len);
            if bytes > room_bytes {
                exchange.answer = None;
            }
        }
    }
}
