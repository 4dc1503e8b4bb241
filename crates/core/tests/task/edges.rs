//! Every (state, verb) pair: `decide` agrees with the table, whole.

use std::collections::BTreeSet;

use punctual_core::queue::Mode;
use punctual_core::retry::MaxAttempts;
use punctual_core::task::{Edge, Edit, Event, Extension, Fate, Settlement, edge};
use punctual_core::vote::Answer;
use punctual_core::{NewTask, Patch, Refusal, Settings, Span, State, Task, Timestamp, Verb};

use crate::deliver::{answered, hopeless};
use crate::notices::notice_in;
use crate::scene::*;

/// Tasks in a state that differ in what decides where a verb leads.
fn variants(state: State) -> Vec<Task> {
    let plain = in_state(state);
    let mut last_attempt = plain.clone();
    let mut spec = (*plain.spec).clone();
    spec.max_attempts = Some(MaxAttempts::new(1).unwrap());
    last_attempt.spec = spec.clone().into();
    // Somebody moved it: due in an hour, whatever happened to it so far.
    let mut due_later = plain.clone();
    spec.max_attempts = None;
    spec.due_at = after(3_600);
    due_later.spec = spec.into();
    let mut variants = vec![plain, last_attempt, due_later];
    if state == State::Waiting {
        variants.push(pushed(NewTask { delay: Some(Span::from_secs(60)), ..NewTask::default() }));
    }
    if matches!(state, State::Running | State::Pausing) {
        variants.extend([notice_in(state, "[0]"), notice_in(state, "[]")]);
    }
    if state == State::Ready {
        variants.push(happen(&in_state(State::Running), Event::HoldEnd, start()));
    }
    variants
}

/// Events of a verb that differ in what decides where it leads.
fn events(verb: Verb) -> Vec<Event> {
    let token = token(1);
    let minute = Some(Span::from_secs(60));
    let fail =
        |retry_in, permanent| settle(token, Settlement::Fail { error: None, retry_in, permanent });
    let edit = |due| Event::Edit(Edit { due, ..Edit::default() });
    match verb {
        Verb::Take => vec![],
        Verb::Confirm => vec![Event::Confirm { token }],
        Verb::Extend => vec![Event::Extend { token, extension: Extension::default() }],
        Verb::Commit => vec![commit(token)],
        Verb::Fail => vec![fail(None, false), fail(Some(Span::ZERO), false), fail(minute, true)],
        Verb::Release => {
            let later = Settlement::Release { delay: minute, checkpoint: None };
            vec![release(token), settle(token, later)]
        }
        Verb::Cancelled => vec![cancelled(token)],
        Verb::Paused => vec![paused(token)],
        Verb::Deliver => vec![answered(200, None), answered(500, None), hopeless()],
        Verb::Assign => {
            vec![Event::Assign { worker: worker(), token: super::scene::token(2), capacity: 1 }]
        }
        Verb::Vote => vec![Event::Vote { until: after(10), settled: None }],
        Verb::Tally => {
            let tally = |error: Option<&str>| {
                let error = error.map(str::to_owned);
                let answer = Answer { worker: worker(), result: json("null"), error };
                Event::Tally { answers: vec![answer], settled: None }
            };
            vec![tally(None), tally(Some("failed"))]
        }
        Verb::Cancel => vec![Event::Cancel],
        Verb::Pause => vec![Event::Pause],
        Verb::Resume => vec![Event::Resume],
        Verb::Retry => vec![Event::Retry { force: false }],
        Verb::ForceRetry => vec![Event::Retry { force: true }],
        Verb::Reset => vec![Event::Reset],
        Verb::Edit => vec![edit(Patch::Keep), edit(Patch::Reset), edit(Patch::Set(after(90)))],
        Verb::Clean => vec![Event::Clean],
        Verb::HoldEnd => vec![Event::HoldEnd],
        Verb::Expire => vec![Event::Expire],
    }
}

/// A holder's verb on a task nobody holds fails on the token before it fails on the state.
fn is_about_the_token(task: &Task, verb: Verb) -> bool {
    let holders = [
        Verb::Confirm,
        Verb::Extend,
        Verb::Commit,
        Verb::Fail,
        Verb::Release,
        Verb::Cancelled,
        Verb::Paused,
        Verb::Deliver,
    ];
    task.status.hold.is_none() && holders.contains(&verb)
}

/// Where the verb led, over all variants; refusals are checked on the way.
fn reached(state: State, verb: Verb, now: Timestamp) -> BTreeSet<State> {
    let mut reached = BTreeSet::new();
    for task in variants(state) {
        for event in events(verb) {
            let repeated = task.status.settled.is_some_and(|(_, settled)| settled == verb);
            if repeated {
                same(&task, event, now);
                continue;
            }
            for mode in [Mode::Pull, Mode::Vote] {
                match decide_in(&Settings { mode, ..settings() }, &task, event.clone(), now) {
                    Ok(decision) if verb == Verb::Clean => assert_eq!(decision.fate, Fate::Remove),
                    Ok(decision) => {
                        reached.insert(decision.task.status.state);
                    }
                    Err(refusal) if is_about_the_token(&task, verb) => {
                        assert_eq!(refusal, Refusal::StaleToken, "{state} {verb}");
                    }
                    Err(refusal) => {
                        assert_eq!(refusal, Refusal::WrongState { verb, state }, "{state} {verb}");
                    }
                }
            }
        }
    }
    reached
}

#[test]
fn every_pair_leads_where_the_table_says() {
    for state in State::ALL {
        for verb in Verb::ALL.into_iter().filter(|verb| *verb != Verb::Take) {
            let expected: BTreeSet<State> = match edge(state, verb) {
                Edge::Refused | Edge::Removed => BTreeSet::new(),
                Edge::To(states) => states.iter().copied().collect(),
            };
            assert_eq!(reached(state, verb, start()), expected, "{verb} of a task that is {state}");
        }
    }
}

#[test]
fn an_allowed_verb_is_refused_only_to_one_that_waits_for_its_first_attempt() {
    for state in State::ALL {
        for verb in Verb::ALL {
            if edge(state, verb) == Edge::Refused {
                continue;
            }
            for task in variants(state) {
                for event in events(verb) {
                    let waits = matches!(state, State::Waiting | State::Ready);
                    let unstarted = waits && task.status.attempt == 0;
                    let retry = matches!(verb, Verb::Retry | Verb::ForceRetry);
                    let decision = decide(&task, event, start());
                    assert_eq!(decision.is_err(), unstarted && retry, "{state} {verb}");
                }
            }
        }
    }
}

#[test]
fn a_take_leads_where_the_table_says() {
    let within = Some(Span::from_secs(10));
    let reached = [None, within].map(|within| {
        let task = taken(&ready(), token(1), start(), within);
        task.status.state
    });
    assert_eq!(edge(State::Ready, Verb::Take), Edge::To(&[State::Assigned, State::Running]));
    assert_eq!(reached, [State::Running, State::Assigned]);
    for state in State::ALL.into_iter().filter(|state| *state != State::Ready) {
        assert_eq!(edge(state, Verb::Take), Edge::Refused, "{state}");
    }
}

#[test]
fn a_holders_verb_needs_the_holders_token_in_every_state() {
    let verbs = [commit, fail, release, cancelled, paused];
    for state in State::ALL {
        let task = in_state(state);
        for token in [token(2), punctual_core::Token::NOBODY] {
            let mut events: Vec<_> = verbs.iter().map(|verb| verb(token)).collect();
            events.push(Event::Confirm { token });
            events.push(Event::Extend { token, extension: Extension::default() });
            for event in events {
                let verb = event.verb();
                let refusal = decide(&task, event, start()).unwrap_err();
                assert_eq!(refusal, Refusal::StaleToken, "{verb} of a task that is {state}");
            }
        }
    }
}

#[test]
fn what_waits_counts_as_ready_once_it_is_due() {
    let waiting = pushed(NewTask { delay: Some(Span::from_secs(60)), ..NewTask::default() });
    assert_eq!(waiting.status.state_at(after(59)), State::Waiting);
    assert_eq!(waiting.status.state_at(after(60)), State::Ready);
    let refusal = decide(&waiting, Event::Retry { force: true }, after(60)).unwrap_err();
    let expected = Refusal::WrongState { verb: Verb::ForceRetry, state: State::Ready };
    assert_eq!(refusal, expected);
    assert_eq!(take(&waiting, token(1), after(60)).status.state, State::Running);
}

#[test]
fn names_of_states_read_back() {
    for state in State::ALL {
        assert_eq!(State::parse(state.name()), Some(state));
        assert_eq!(serde_json::to_string(&state).unwrap(), format!("\"{state}\""));
    }
    assert_eq!(State::parse("Ready"), None);
}
