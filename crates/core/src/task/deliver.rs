//! What the end of an attempt to deliver makes of a task.

use super::decide::{Context, Decision};
use super::event::Settlement;
use super::{Attempt, Status, Task, shortened};
use crate::http::{Delivery, Exchange, Verdict};
use crate::limits::{ANSWER_BYTES_MAX, ANSWERS_BYTES_MAX};
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
        let Delivery { exchange, status, verdict } = delivery;
        let mut detail = None;
        let settlement = match verdict {
            Verdict::Accepted { result } => Settlement::Commit { result: Some(result) },
            Verdict::Failed { error, detail: more, retry_after, permanent } => {
                detail = more;
                let retry_in = retry_after.map(|span| span.max(self.retry_wait(context)));
                Settlement::Fail { error: Some(error), retry_in, permanent }
            }
        };
        let mut decision = self.settle(token, settlement, context);
        // Nobody outside knows the token, so nobody repeats the verb.
        decision.receipt = None;
        decision.task.status.settled = None;
        decision.task.status.annotate(exchange, status, detail.as_deref());
        decision
    }
}

impl Status {
    /// Notes what was sent and answered with the attempt that just ended. Of earlier answers the
    /// oldest go when all together take too much room.
    fn annotate(&mut self, mut exchange: Exchange, status: Option<u16>, detail: Option<&str>) {
        let Some(last) = self.history.last_mut() else { return };
        exchange.url = shortened(&exchange.url, TEXT_BYTES_MAX);
        exchange.answer = exchange.answer.map(|text| shortened(&text, ANSWER_BYTES_MAX));
        last.status = status;
        last.error = detail.map(|text| shortened(text, TEXT_BYTES_MAX)).or(last.error.take());
        last.http = Some(exchange);
        let mut bytes = 0;
        for Attempt { http, .. } in self.history.iter_mut().rev() {
            let Some(exchange) = http else { continue };
            bytes += exchange.answer.as_ref().map_or(0, String::len);
            if bytes > ANSWERS_BYTES_MAX {
                exchange.answer = None;
            }
        }
    }
}
