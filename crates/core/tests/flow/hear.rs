//! What a flow hears of what happens to the tasks of its steps.

use punctual_core::flow::{FlowVerb, Heard, StepEnd, StepState};
use punctual_core::task::{Context, Grant, Settlement};
use punctual_core::{
    Event, QueueName, RawJson, Refusal, Seed, Settings, Span, Task, TaskId, Token,
};

use crate::scene::{World, name, now};

const TWO: &str = r#"{"steps":[{"name":"a","queue":"q","max_attempts":1},
    {"name":"b","queue":"q","after":["a"]}]}"#;

fn task(world: &World) -> (Task, Token) {
    let spec = world.spawned[0].clone();
    let mut task = Task::new(spec, now());
    let token = Seed::new(7).token(0);
    let hold = Span::from_secs(30);
    task.status.take(Grant {
        token,
        worker: None,
        now: now(),
        hold,
        confirm_within: None,
        max_runtime: None,
    });
    (task, token)
}

fn hear(world: &World, task: &Task, event: Event) -> (Result<Heard, Refusal>, Task) {
    let queue = Settings::initial(&QueueName::parse("q").unwrap());
    let id = TaskId::parse("callback").unwrap();
    let context = Context { now: now(), queue: &queue, roll: 0.0, callback_id: &id };
    let decision = task.decide(event.clone(), &context).unwrap();
    let heard = world.flow.hear(&world.steps[&name("a")], &event, &decision);
    (heard, decision.task)
}

fn commit(token: Token, result: &str) -> Event {
    let result = Some(RawJson::parse(result).unwrap());
    Event::Settle { token, settlement: Settlement::Commit { result } }
}

#[test]
fn ends_are_heard_and_nothing_else() {
    let world = World::new(TWO);
    let (task, token) = task(&world);
    let failed =
        Settlement::Fail { error: Some("no".to_owned()), retry_in: None, permanent: false };
    for (event, heard) in [
        (commit(token, "1.50"), Heard::Ended(StepEnd::Done(RawJson::stored("1.50")))),
        (
            Event::Settle { token, settlement: failed },
            Heard::Ended(StepEnd::Failed("no".to_owned())),
        ),
        (Event::Clean, Heard::Ended(StepEnd::removed())),
        (Event::Pause, Heard::Nothing),
        (Event::Cancel, Heard::Nothing),
        (Event::Retry { force: true }, Heard::Nothing),
    ] {
        let said = format!("{event:?}");
        assert_eq!(hear(&world, &task, event).0.unwrap(), heard, "{said}");
    }
    let (_, cancelling) = hear(&world, &task, Event::Cancel);
    let ended = hear(&world, &cancelling, Event::HoldEnd).0.unwrap();
    assert_eq!(ended, Heard::Ended(StepEnd::Cancelled(None)));
}

#[test]
fn a_large_result_is_refused_and_changes_nothing() {
    let world = World::new(TWO);
    let (task, token) = task(&world);
    let text = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
    assert!(hear(&world, &task, commit(token, &text(64 << 10))).0.is_ok());
    let refused = hear(&world, &task, commit(token, &text((64 << 10) + 1))).0;
    assert_eq!(refused, Err(Refusal::TooLarge { field: "result", limit_bytes: 64 << 10 }));
}

#[test]
fn a_failed_step_is_revived_by_the_retry_of_its_task() {
    let mut world = World::new(TWO);
    let (task, _) = task(&world);
    let (heard, failed) = hear(&world, &task, Event::HoldEnd);
    let Heard::Ended(end) = heard.unwrap() else { panic!() };
    world.end(vec![(name("a"), end)], 9);
    let retry = Event::Retry { force: false };
    assert_eq!(hear(&world, &failed, retry.clone()).0.unwrap(), Heard::Revived);
    // What is to be made anew, or was cancelled with its flow, is not tried again by itself.
    assert!(world.verb(FlowVerb::Retry));
    assert_eq!(world.flow.state_of(&world.steps[&name("a")]), StepState::Pending);
    assert!(matches!(hear(&world, &failed, retry).0, Err(Refusal::Owned { owner: "flow", .. })));
    assert_eq!(hear(&world, &failed, Event::Clean).0.unwrap(), Heard::Nothing);
}

#[test]
fn a_watched_flow_is_compared_with_its_tasks_less_and_less_often() {
    let mut world = World::new(TWO);
    assert_eq!(world.flow.check_at(), None);
    world.flow.watch(now());
    let mut at = now();
    for seconds in [30, 60, 120, 240, 480, 600, 600] {
        at = at + Span::from_secs(seconds);
        assert_eq!(world.flow.check_at(), Some(at));
        world.flow = world.flow.checked(at);
    }
    world.flow.counts.living = 0;
    assert_eq!(world.flow.checked(at).check_at(), None);
}
