//! What the end of an attempt makes of a notice.

use super::decide::{Context, Decision, Fate};
use super::state::State;
use super::{Outcome, Task};
use crate::http::Verdict;
use crate::notice::Notice;

impl Task {
    /// A success ends it, unless all its notices are to be sent; a failure ends it when none is left.
    /// Each success makes the notice that follows one.
    pub(super) fn notify(
        mut self,
        notice: &Notice,
        verdict: Verdict,
        context: &Context<'_>,
    ) -> Decision {
        let now = context.now;
        let state = self.status.state;
        self.status.notified.count += 1;
        let (is_success, is_hopeless) = match verdict {
            Verdict::Accepted { result } => {
                self.status.untake(now, Outcome::Done, None);
                self.status.result = Some(result);
                self.status.error = None;
                if self.success_id() == 0 {
                    self.status.notified.success_id = self.notice_count();
                }
                (true, false)
            }
            Verdict::Failed { error, permanent, .. } => {
                self.status.untake(now, Outcome::Failed, Some(&error));
                self.status.error = Some(error);
                self.status.failures += 1;
                (false, permanent)
            }
        };
        let is_enough = is_success && !notice.enforce_repeat;
        let mut decision = if is_enough || is_hopeless || self.is_used_up(context.queue) {
            let end = if self.success_id() == 0 { State::Failed } else { State::Done };
            self.end(end, context)
        } else if state == State::Pausing {
            // What was sent counts, whatever the pause.
            self.pause(true)
        } else {
            self.wait_for_next(context);
            self.kept(Fate::Keep)
        };
        let callback = notice.callback.as_ref().filter(|_| is_success);
        let callback = callback.map(|callback| callback.spawn(context.callback_id.clone(), now));
        decision.spawn.extend(callback);
        decision
    }

    /// Makes it wait for its next notice.
    fn wait_for_next(&mut self, context: &Context<'_>) {
        let policy = self.spec.retry.as_ref().unwrap_or(&context.queue.retry);
        let due = context.now + policy.wait(self.status.notified.count, context.roll);
        self.status.due_at = Some(due);
        self.status.queue(due, context.now);
    }
}
