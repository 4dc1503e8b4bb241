//! Random lives: whatever happens to a task, in whatever order, the invariants hold.

use proptest::prelude::*;
use punctual_core::queue::Keep;
use punctual_core::retry::MaxAttempts;
use punctual_core::task::{Edge, Edit, Event, Extension, Settlement, edge};
use punctual_core::{
    Decision, Fate, NewTask, Patch, Refusal, Settings, Span, State, Task, Timestamp, Token, Verb,
};

use crate::scene::*;

/// Something that happens in a life.
#[derive(Debug, Clone)]
enum Turn {
    Take { confirm: bool },
    Happen { event: Event, token: Whose },
    Pass { secs: i64 },
    LowerLimit(i32),
}

#[derive(Debug, Clone, Copy)]
enum Whose {
    Holders,
    Former,
    Nobodys,
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let whose = prop_oneof![
        6 => Just(Whose::Holders),
        2 => Just(Whose::Former),
        1 => Just(Whose::Nobodys),
    ];
    let turn = prop_oneof![
        4 => any::<bool>().prop_map(|confirm| Turn::Take { confirm }),
        8 => (events(), whose).prop_map(|(event, token)| Turn::Happen { event, token }),
        2 => prop_oneof![Just(0), Just(5), Just(10), Just(60)].prop_map(|secs| Turn::Pass { secs }),
        1 => (1..4).prop_map(Turn::LowerLimit),
    ];
    prop::collection::vec(turn, 1..60)
}

fn events() -> impl Strategy<Value = Event> {
    let token = Token::NOBODY;
    let retry_in = prop::option::of((0..20i64).prop_map(Span::from_secs));
    let fail = (retry_in, any::<bool>()).prop_map(move |(retry_in, permanent)| {
        settle(token, Settlement::Fail { error: None, retry_in, permanent })
    });
    let later = Settlement::Release { delay: Some(Span::from_secs(7)), checkpoint: None };
    let due = prop_oneof![
        Just(Patch::Keep),
        Just(Patch::Reset),
        (0..100i64).prop_map(|secs| Patch::Set(after(secs)))
    ];
    prop_oneof![
        Just(Event::Confirm { token }),
        Just(Event::Extend { token, extension: Extension::default() }),
        Just(commit(token)),
        fail,
        Just(release(token)),
        Just(settle(token, later)),
        Just(cancelled(token)),
        Just(paused(token)),
        Just(Event::Cancel),
        Just(Event::Pause),
        Just(Event::Resume),
        any::<bool>().prop_map(|force| Event::Retry { force }),
        Just(Event::Reset),
        due.prop_map(|due| Event::Edit(Edit { due, ..Edit::default() })),
        Just(Event::HoldEnd),
        Just(Event::Expire),
    ]
}

struct Life {
    task: Task,
    now: Timestamp,
    settings: Settings,
    tokens: Vec<Token>,
}

type Check = Result<(), TestCaseError>;

impl Life {
    fn live(&mut self, turn: Turn) -> Check {
        match turn {
            Turn::Pass { secs } => self.now = self.now + Span::from_secs(secs),
            Turn::LowerLimit(n) => self.settings.max_attempts = MaxAttempts::new(n).unwrap(),
            Turn::Take { confirm } if self.task.status.state_at(self.now) == State::Ready => {
                let token = token(self.tokens.len() as u128 + 1);
                let within = confirm.then_some(Span::from_secs(10));
                self.task = taken(&self.task, token, self.now, within);
                self.tokens.push(token);
            }
            Turn::Take { .. } => {}
            Turn::Happen { event, token } => self.happen(event, token)?,
        }
        self.sound()
    }

    fn happen(&mut self, mut event: Event, whose: Whose) -> Check {
        let right = match whose {
            Whose::Holders => self.task.status.hold.map(|hold| hold.token),
            Whose::Former => self.tokens.last().copied(),
            Whose::Nobodys => None,
        };
        if let Event::Confirm { token }
        | Event::Extend { token, .. }
        | Event::Settle { token, .. } = &mut event
        {
            *token = right.unwrap_or(Token::NOBODY);
        }
        let (verb, state) = (event.verb(), self.task.status.state_at(self.now));
        match decide_in(&self.settings, &self.task, event, self.now) {
            Err(Refusal::WrongState { verb: v, state: s }) => {
                prop_assert_eq!((v, s), (verb, state));
            }
            Err(refusal) => prop_assert_eq!(refusal, Refusal::StaleToken),
            Ok(decision) => self.follow(decision, verb, state)?,
        }
        Ok(())
    }

    /// Checks a decision against what was before it, and goes on from there.
    fn follow(&mut self, decision: Decision, verb: Verb, state: State) -> Check {
        let after = decision.task.status.state;
        if decision.fate == Fate::Same {
            let mut as_it_reads = self.task.clone();
            as_it_reads.status.state = state;
            prop_assert!([&self.task, &as_it_reads].contains(&&decision.task), "{:?}", decision);
            prop_assert!(decision.spawn.is_empty() && decision.receipt.is_none());
            return Ok(());
        }
        let Edge::To(allowed) = edge(state, verb) else {
            return Err(TestCaseError::fail(format!("{verb} of a task that is {state}")));
        };
        prop_assert!(allowed.contains(&after), "{} of a task that is {}: {}", verb, state, after);
        if state.is_finished() {
            let explicit = matches!(verb, Verb::Retry | Verb::ForceRetry | Verb::Reset);
            prop_assert!(explicit, "{} changed a task that was {}", verb, state);
        }
        let gone = matches!(decision.fate, Fate::Remove | Fate::Reserve(_));
        prop_assert!(!gone || after.is_finished(), "only an end removes");
        prop_assert_eq!(decision.fate == Fate::Rewrite, verb == Verb::Edit);
        if after == State::Waiting {
            prop_assert!(decision.task.status.ready_at > self.now);
        }
        self.task = decision.task;
        Ok(())
    }

    fn sound(&self) -> Check {
        let status = &self.task.status;
        prop_assert_eq!(status.hold.is_some(), status.state.is_held());
        prop_assert_eq!(status.finished_at.is_some(), status.state.is_finished());
        prop_assert_eq!(status.keep_until.is_some(), status.state.is_finished());
        prop_assert!(status.history.len() <= 20);
        if let Some(limit) = self.task.spec.max_attempts.and_then(|max| max.limit()) {
            prop_assert!(status.attempt <= limit + status.granted, "{:?}", status);
            let open = matches!(status.state, State::Waiting | State::Ready | State::Paused);
            let left = status.attempt < limit + status.granted;
            prop_assert!(!open || left, "no attempt is left for a task that is {}", status.state);
        }
        if let (Some(hold), Some(last)) = (status.hold, self.tokens.last()) {
            prop_assert_eq!(hold.token, *last, "only the last token is good");
        }
        prop_assert!(status.hold.is_none() || status.settled.is_none());
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_invariants_hold_in_every_life(
        turns in turns(),
        limit in prop::option::of(1..4),
        delay in prop::option::of((0..30i64).prop_map(Span::from_secs)),
        keep in 0..2i64,
    ) {
        let max_attempts = limit.map(|n| MaxAttempts::new(n).unwrap());
        let span = Span::from_secs(keep * 60);
        let settings =
            Settings { keep: Keep { done: span, failed: span, cancelled: span }, ..settings() };
        let task = pushed(NewTask { delay, max_attempts, ..NewTask::default() });
        let mut life = Life { task, now: start(), settings, tokens: Vec::new() };
        for turn in turns {
            life.live(turn)?;
        }
    }
}
