//! The life of a plan: what fires, what counts, what comes next.
#![expect(clippy::unwrap_used, reason = "a test may stop where its story cannot be told")]

use punctual_core::plan::{LastState, OnError, Order, Phase, PlanPatch, PlanState, PlanVerb, Run};
use punctual_core::queue::Mode;
use punctual_core::task::{Context, Event, Settlement};
use punctual_core::{
    OwnerRef, Plan, PlanId, QueueName, RawJson, Refusal, Seed, Settings, Span, Spec, State, Task,
    TaskId, Timestamp,
};

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn start() -> Timestamp {
    at("2026-11-15T06:00:00Z")
}

fn secs(secs: i64) -> Span {
    Span::from_secs(secs)
}

fn station() -> QueueName {
    QueueName::parse("reports").unwrap()
}

fn settings() -> Settings {
    Settings { max_attempts: serde_json::from_str("2").unwrap(), ..Settings::initial(&station()) }
}

fn patch(json: &str) -> PlanPatch {
    serde_json::from_str(json).unwrap()
}

fn plan(json: &str) -> Plan {
    let patch = patch(json);
    let order = patch.order(&Order::default()).unwrap();
    let rule = patch.rule(None).unwrap();
    Plan::new(PlanId::parse("p").unwrap(), station(), order, rule, start())
}

fn every_minute(repet: i64) -> Plan {
    plan(&format!(
        r#"{{"plan_type":"minute","plan_value":1,"plan_repet":{repet},"message":{{"a":1}}}}"#
    ))
}

/// Lets a plan fire that is due.
fn fire(plan: Plan, now: Timestamp) -> (Plan, Task) {
    let fired = plan.fire(true, &settings(), None, now);
    (fired.plan, task(fired.task.unwrap(), now))
}

fn task(spec: Spec, now: Timestamp) -> Task {
    Task::new(spec, now)
}

/// Lets something happen to a run and tells the plan.
fn happen(plan: Plan, run: Task, event: Event, now: Timestamp) -> (Option<Plan>, Task) {
    let (settings, id) = (settings(), TaskId::parse("callback").unwrap());
    let context = Context { now, queue: &settings, roll: 0.0, callback_id: &id };
    let decision = run.decide(event.clone(), &context).unwrap();
    let ended = plan.after(&event, &decision, now);
    (ended.map(|ended| ended.plan), decision.task)
}

fn taken(mut run: Task, now: Timestamp) -> (Task, punctual_core::Token) {
    let token = Seed::new(7).token(0);
    run.status.take(punctual_core::task::Grant {
        token,
        worker: None,
        now,
        hold: secs(30),
        confirm_within: None,
        max_runtime: None,
    });
    (run, token)
}

fn commit(plan: Plan, run: Task, now: Timestamp) -> Plan {
    let (run, token) = taken(run, now);
    let settlement = Settlement::Commit { result: Some(RawJson::parse("42").unwrap()) };
    happen(plan, run, Event::Settle { token, settlement }, now).0.unwrap()
}

fn fail(plan: Plan, run: Task, now: Timestamp) -> (Plan, Task) {
    let (run, token) = taken(run, now);
    let settlement =
        Settlement::Fail { error: Some("no".to_owned()), retry_in: None, permanent: true };
    let (plan, run) = happen(plan, run, Event::Settle { token, settlement }, now);
    (plan.unwrap(), run)
}

#[test]
fn a_plan_runs_at_its_times_and_finishes() {
    let mut plan = every_minute(3);
    for n in 1..=3_i64 {
        let due = start() + secs(60 * n);
        assert_eq!((plan.state(), plan.next_at), (PlanState::Scheduled, Some(due)));
        let (running, run) = fire(plan, due);
        assert_eq!(running.state(), PlanState::Running);
        assert_eq!(running.last_state, Some(LastState::Running));
        assert_eq!(run.spec.id.as_str(), format!("p@{n}"));
        assert_eq!(run.spec.due_at, due);
        assert_eq!(run.spec.payload.as_str(), r#"{"a":1}"#);
        plan = commit(running, run, due + secs(1));
        assert_eq!((plan.real_repet, plan.last_state), (n as u64, Some(LastState::Ok)));
    }
    assert_eq!(plan.state(), PlanState::Finished);
    assert_eq!(plan.next_at, None);
    assert_eq!(plan.finished_at, Some(start() + secs(181)));
}

#[test]
fn a_run_tells_its_worker_about_the_plan() {
    let json = r#"{"plan_type":"hour","plan_value":2,"plan_repet":-1,"request_id":"r","caller":"c","description":"d"}"#;
    let plan = plan(json);
    let (_, run) = fire(plan, start() + secs(7_200));
    let Some(OwnerRef::Plan { id, reads }) = &run.spec.owner else { panic!("{:?}", run.spec) };
    assert_eq!(id.as_str(), "p");
    assert_eq!(
        reads.as_str(),
        concat!(
            r#"{"plan_id":"p","request_id":"r","caller":"c","station":"reports","description":"d","#,
            r#""plan_type":"hour","plan_value":2,"plan_repet":-1,"real_repet":0,"#,
            r#""plan_time":"2026-11-15T08:00:00.000Z","run":1}"#
        )
    );
}

#[test]
fn an_http_run_carries_the_plan_in_its_headers() {
    let plan =
        plan(r#"{"plan_type":"none","http":{"url":"http://example.com/","headers":{"a":"b"}}}"#);
    let http = Settings { mode: Mode::Http, ..settings() };
    let fired = plan.fire(true, &http, Some(secs(90)), start());
    let spec = fired.task.unwrap();
    assert_eq!(spec.hold, Some(secs(90)));
    let headers = spec.http.unwrap().headers;
    let header = |name| headers.get(name).unwrap().to_owned();
    assert_eq!(header("a"), "b");
    assert_eq!(header("punctual-plan-id"), "p");
    assert_eq!(header("punctual-plan-time"), "2026-11-15T06:00:00.000Z");
    assert_eq!(header("punctual-plan-run"), "1");
    assert_eq!(fired.plan.living.unwrap().watch_at, None, "the server serves http stations itself");
}

#[test]
fn what_is_past_when_the_next_is_computed_is_skipped_or_kept() {
    let late = start() + secs(60 * 5 + 30);
    let (running, run) = fire(every_minute(10), late);
    let plan = commit(running, run, late);
    assert_eq!((plan.real_repet, plan.skipped), (1, 4), "2 to 5 are past and count as runs");
    assert_eq!(plan.next_at, Some(start() + secs(360)));
    assert_eq!(plan.position.used, 5);

    let json = r#"{"plan_type":"minute","plan_value":1,"plan_repet":10,"no_keep":true}"#;
    let (running, run) = fire(self::plan(json), late);
    let plan = commit(running, run, late);
    assert_eq!((plan.skipped, plan.next_at), (0, Some(start() + secs(120))));

    let (running, run) = fire(every_minute(3), late);
    let plan = commit(running, run, late);
    assert_eq!((plan.state(), plan.real_repet, plan.skipped), (PlanState::Finished, 1, 2));
}

#[test]
fn a_time_that_is_past_is_skipped_unless_kept() {
    let json = r#"{"plan_type":"time","plan_time":"2026-11-15T05:00:00Z"}"#;
    let skipped = plan(json);
    assert_eq!((skipped.state(), skipped.skipped), (PlanState::Finished, 1));
    assert_eq!(skipped.last_state, Some(LastState::Skipped));
    let kept = plan(r#"{"plan_type":"time","plan_time":"2026-11-15T05:00:00Z","no_keep":true}"#);
    assert_eq!(kept.next_at, Some(at("2026-11-15T05:00:00Z")));
}

#[test]
fn a_run_that_fails_for_good_stops_the_plan_until_it_is_resumed() {
    let now = start() + secs(60);
    let (running, run) = fire(every_minute(3), now);
    let (stopped, run) = fail(running, run, now);
    assert_eq!(stopped.state(), PlanState::Error);
    assert_eq!((stopped.next_at, stopped.real_repet), (None, 0));
    assert_eq!(stopped.error.as_deref(), Some("no"));

    let later = now + secs(90);
    let resumed = stopped.clone().carry_out(PlanVerb::Resume, later).unwrap();
    assert_eq!(resumed.next_at, Some(start() + secs(180)));
    let (again, second) = fire(resumed, start() + secs(180));
    assert_eq!(second.spec.id.as_str(), "p@1", "the number is used again");
    assert_eq!(again.state(), PlanState::Running);

    // Instead of a resume, the failed run itself is tried again.
    let (revived, run) = happen(stopped, run, Event::Retry { force: false }, later);
    let revived = revived.unwrap();
    assert_eq!(revived.state(), PlanState::Running);
    let plan = commit(revived, run, later);
    assert_eq!((plan.state(), plan.real_repet), (PlanState::Scheduled, 1));
}

fn minutely_on_error(on_error: &str, repet: i64) -> Plan {
    plan(&format!(
        r#"{{"plan_type":"minute","plan_value":1,"plan_repet":{repet},"on_error":{on_error}}}"#
    ))
}

#[test]
fn a_plan_that_continues_counts_a_failed_run_and_goes_on() {
    let mut plan = minutely_on_error(r#""continue""#, 3);
    for n in 1..=2 {
        let now = start() + secs(60 * n);
        let (running, run) = fire(plan, now);
        assert_eq!(run.spec.id.as_str(), format!("p@{n}"));
        plan = fail(running, run, now).0;
        assert_eq!((plan.state(), plan.next_at), (PlanState::Scheduled, Some(now + secs(60))));
        assert_eq!((plan.real_repet, plan.failures()), (n as u64, n as u32));
        assert_eq!((plan.last_state, plan.results), (Some(LastState::Error), n as u32));
        assert_eq!(plan.error.as_deref(), Some("no"));
    }
    let now = start() + secs(180);
    let (running, run) = fire(plan.clone(), now);
    let (done, failed) = (commit(running.clone(), run.clone(), now), fail(running, run, now).0);
    assert_eq!((done.state(), done.real_repet), (PlanState::Finished, 3));
    assert_eq!((done.failures(), done.error), (0, None));
    assert_eq!((failed.state(), failed.real_repet), (PlanState::Finished, 3));
    assert_eq!(failed.failures(), 3);
}

#[test]
fn a_plan_stops_after_so_many_failures_in_a_row() {
    let mut plan = minutely_on_error(r#"{"stop_after":2}"#, -1);
    assert_eq!(plan.order.on_error(), OnError::StopAfter(2));
    let mut now = start();
    for (is_done, failures, real_repet) in [(false, 1, 1), (true, 0, 2), (false, 1, 3)] {
        now = now + secs(60);
        let (running, run) = fire(plan, now);
        plan = if is_done { commit(running, run, now) } else { fail(running, run, now).0 };
        assert_eq!(plan.state(), PlanState::Scheduled);
        assert_eq!((plan.failures(), plan.real_repet), (failures, real_repet));
    }
    // A run that is cancelled is neither a failure nor a success.
    now = now + secs(60);
    let (running, run) = fire(plan, now);
    let plan = happen(running, run, Event::Cancel, now).0.unwrap();
    assert_eq!((plan.failures(), plan.real_repet), (1, 3));
    now = now + secs(60);
    let (running, run) = fire(plan, now);
    let (stopped, _) = fail(running, run, now);
    assert_eq!((stopped.state(), stopped.failures()), (PlanState::Error, 2));
    assert_eq!((stopped.real_repet, stopped.next_at), (3, None), "it is not counted");
    let resumed = stopped.carry_out(PlanVerb::Resume, now).unwrap();
    assert_eq!((resumed.failures(), resumed.next_at), (0, Some(now + secs(60))));
    assert_eq!(fire(resumed, now + secs(60)).1.spec.id.as_str(), "p@5", "used again");
}

#[test]
fn a_plan_that_continues_goes_on_when_a_run_cannot_be_made() {
    let now = start() + secs(60);
    let failed = minutely_on_error(r#""continue""#, -1).cannot_fire("no url".to_owned(), now);
    let plan = failed.plan;
    assert_eq!((plan.state(), plan.next_at), (PlanState::Scheduled, Some(now + secs(60))));
    assert_eq!((plan.real_repet, plan.failures(), plan.number), (1, 1, 2));
    assert!(failed.results[0].as_str().contains("no url"));
}

#[test]
fn a_failed_run_that_the_plan_has_gone_past_changes_only_its_result() {
    let now = start() + secs(60);
    let (running, run) = fire(minutely_on_error(r#""continue""#, -1), now);
    let (run, token) = taken(run, now);
    let (settings, id) = (settings(), TaskId::parse("callback").unwrap());
    let context = Context { now, queue: &settings, roll: 0.0, callback_id: &id };
    let settlement = Settlement::Fail { error: None, retry_in: None, permanent: true };
    let event = Event::Settle { token, settlement };
    let decision = run.decide(event.clone(), &context).unwrap();
    let ended = running.after(&event, &decision, now).unwrap();
    let (plan, kept) = (ended.plan, ended.results);
    let (unheard, run) = happen(plan.clone(), decision.task, Event::Retry { force: false }, now);
    assert_eq!(unheard, None, "the plan goes on with its rule");
    let (run, token) = taken(run, now);
    let settlement = Settlement::Commit { result: Some(RawJson::parse("42").unwrap()) };
    let event = Event::Settle { token, settlement };
    let decision = run.decide(event.clone(), &context).unwrap();
    assert!(plan.is_past(&event, &decision));
    assert!(plan.clone().after(&event, &decision, now).is_none());
    let other = RawJson::parse(r#"{"run":9,"plan_time":"2026-11-15T05:00:00Z"}"#).unwrap();
    let two = Plan { results: 2, ..plan.clone() };
    let kept = vec![kept[0].clone(), other.clone()];
    let amended = two.clone().amend(kept, &event, &decision, now).unwrap();
    assert_eq!((amended.plan, amended.drop_results), (two, 2));
    assert_eq!(amended.results[1], other);
    let result = amended.results[0].as_str();
    assert!(result.contains(r#""run":1"#) && result.contains(r#""result":42"#), "{result}");
    // A plan made anew under the id does not hear of it.
    let anew = Plan { created_at: now + secs(1), ..plan };
    assert!(!anew.is_past(&event, &decision));
}

#[test]
fn a_failed_run_besides_the_rule_is_the_plans_again_when_it_is_tried_again() {
    let next = start() + secs(60);
    let asked = every_minute(3).fire(false, &settings(), None, start());
    let run = task(asked.task.unwrap(), start());
    let (plan, run) = fail(asked.plan, run, start());
    assert_eq!((plan.state(), plan.next_at), (PlanState::Scheduled, Some(next)));
    let (revived, run) = happen(plan, run, Event::Retry { force: false }, start());
    let revived = revived.unwrap();
    assert_eq!((revived.state(), revived.next_at), (PlanState::Scheduled, Some(next)));
    assert_eq!(revived.last_state, Some(LastState::Running));
    assert!(revived.clone().carry_out(PlanVerb::Run, start()).is_err(), "it lives again");
    let plan = commit(revived, run, start());
    assert_eq!((plan.state(), plan.next_at), (PlanState::Scheduled, Some(next)));
    assert_eq!((plan.real_repet, plan.last_state), (0, Some(LastState::Ok)));
}

#[test]
fn a_failed_run_is_the_plans_again_when_it_is_tried_again_after_a_resume() {
    let first = start() + secs(60);
    let (plan, run) = fire(every_minute(9), first);
    let (plan, run) = fail(plan, run, first);
    // By then two more are past, and count as runs.
    let resumed = plan.carry_out(PlanVerb::Resume, first + secs(150)).unwrap();
    assert_eq!((resumed.skipped, resumed.next_at), (2, Some(first + secs(180))));
    let now = first + secs(151);
    let retried = happen(resumed.clone(), run, Event::Retry { force: false }, now);
    let plan = retried.0.unwrap();
    assert_eq!((plan.state(), plan.next_at), (PlanState::Running, None));
    let plan = commit(plan, retried.1, now);
    assert_eq!((plan.real_repet, plan.skipped, plan.position.used), (1, 2, 3));
    assert_eq!((plan.number, plan.next_at), (2, Some(first + secs(180))));
    // Another run with its number takes its place.
    assert_eq!(fire(resumed, first + secs(180)).0.failed, None);
}

#[test]
fn a_plan_that_finished_goes_on_with_a_failed_run_that_is_tried_again() {
    let once = plan(r#"{"plan_type":"time","plan_time":"2026-11-15T07:00:00Z"}"#);
    let due = start() + secs(3_600);
    let (running, run) = fire(once, due);
    let (failed, run) = fail(running, run, due);
    let finished = failed.carry_out(PlanVerb::Resume, due).unwrap();
    assert_eq!(finished.state(), PlanState::Finished);
    let (plan, run) = happen(finished, run, Event::Retry { force: false }, due);
    let plan = plan.unwrap();
    assert_eq!((plan.state(), plan.finished_at), (PlanState::Running, None));
    let plan = commit(plan, run, due);
    assert_eq!((plan.state(), plan.real_repet), (PlanState::Finished, 1));
}

#[test]
fn a_run_that_may_be_tried_again_leaves_the_plan_running() {
    let now = start() + secs(60);
    let (running, run) = fire(every_minute(3), now);
    let (run, token) = taken(run, now);
    let settlement = Settlement::Fail { error: None, retry_in: None, permanent: false };
    let (plan, run) = happen(running, run, Event::Settle { token, settlement }, now);
    let plan = plan.expect("somebody came for it");
    assert_eq!(plan.state(), PlanState::Running);
    assert_eq!(plan.living.as_ref().unwrap().watch_at, None);
    assert_eq!(run.status.state, State::Waiting);
}

#[test]
fn cancelled_and_removed_runs_are_skipped() {
    for event in [Event::Cancel, Event::Clean] {
        let now = start() + secs(60);
        let (running, run) = fire(every_minute(3), now);
        let plan = happen(running, run, event, now).0.unwrap();
        assert_eq!((plan.state(), plan.real_repet, plan.skipped), (PlanState::Scheduled, 0, 1));
        assert_eq!((plan.position.used, plan.last_state), (1, Some(LastState::Skipped)));
        assert_eq!(plan.next_at, Some(start() + secs(120)));
        assert_eq!(fire(plan, start() + secs(120)).1.spec.id.as_str(), "p@2");
    }
    let now = start() + secs(60);
    let (running, run) = fire(every_minute(1), now);
    let lost = running.lost(&run.spec.id, now);
    assert_eq!((lost.plan.state(), lost.plan.skipped), (PlanState::Finished, 1));
}

#[test]
fn somebody_elses_task_is_not_heard() {
    let now = start() + secs(60);
    let (running, run) = fire(every_minute(3), now);
    let mut living = running.clone();
    living.living.as_mut().unwrap().task = TaskId::parse("p@9").unwrap();
    assert!(happen(living, run, Event::Cancel, now).0.is_none());
}

#[test]
fn a_run_besides_the_rule_is_not_counted() {
    let now = start() + secs(10);
    let plan = every_minute(3);
    let asked = plan.carry_out(PlanVerb::Run, now).unwrap().fire(false, &settings(), None, now);
    let run = task(asked.task.unwrap(), now);
    assert_eq!(run.spec.id.as_str(), "p@1.1");
    let refusal = asked.plan.clone().carry_out(PlanVerb::Run, now).unwrap_err();
    let words = "run does not apply while the run asked for before is running: task p@1.1";
    assert_eq!(refusal.to_string(), words);
    assert_eq!(asked.plan.state(), PlanState::Scheduled, "only the rule makes it running");
    let plan = commit(asked.plan, run, now);
    assert_eq!((plan.real_repet, plan.number, plan.results), (0, 1, 1));
    assert_eq!(plan.next_at, Some(start() + secs(60)), "the rule goes on");

    let asked = plan.fire(false, &settings(), None, now);
    assert_eq!(asked.task.as_ref().unwrap().id.as_str(), "p@1.2");
    let (failed, _) = fail(asked.plan, task(asked.task.unwrap(), now), now);
    assert_eq!((failed.state(), failed.last_state), (PlanState::Scheduled, Some(LastState::Error)));
}

#[test]
fn a_run_besides_the_rule_lives_beside_the_rules_own() {
    let now = start() + secs(60);
    let (running, ruled) = fire(every_minute(-1), now);
    let asked = running.carry_out(PlanVerb::Run, now).unwrap().fire(false, &settings(), None, now);
    let run = task(asked.task.unwrap(), now);
    assert_eq!((run.spec.id.as_str(), asked.plan.state()), ("p@1.1", PlanState::Running));
    // Its failure is nothing to the rule, whose run is what the plan shows.
    let (plan, _) = fail(asked.plan.clone(), run.clone(), now);
    assert_eq!((plan.state(), plan.last_state), (PlanState::Running, Some(LastState::Running)));
    assert_eq!((plan.failures(), plan.results, plan.error.as_deref()), (0, 1, None));
    let plan = commit(plan, ruled.clone(), now);
    assert_eq!((plan.state(), plan.real_repet), (PlanState::Scheduled, 1));
    // The other way round: the rule goes on while the run still lives.
    let plan = commit(asked.plan, ruled, now);
    assert_eq!((plan.state(), plan.next_at), (PlanState::Scheduled, Some(now + secs(60))));
    let (running, second) = fire(plan, now + secs(60));
    let plan = commit(running, run, now + secs(61));
    assert_eq!((plan.state(), plan.asked.clone()), (PlanState::Running, None));
    assert_eq!(commit(plan, second, now + secs(62)).real_repet, 2);
}

#[test]
fn a_failed_run_besides_the_rule_leaves_a_stopped_plan_as_it_is() {
    let now = start() + secs(60);
    let (running, run) = fire(every_minute(-1), now);
    let (stopped, _) = fail(running, run, now);
    let asked = stopped.carry_out(PlanVerb::Run, now).unwrap().fire(false, &settings(), None, now);
    assert_eq!(asked.plan.state(), PlanState::Error);
    let run = task(asked.task.unwrap(), now);
    for plan in [fail(asked.plan.clone(), run.clone(), now).0, commit(asked.plan, run, now)] {
        assert_eq!((plan.state(), plan.error.as_deref()), (PlanState::Error, Some("no")));
        assert_eq!((plan.failures(), plan.results), (1, 2));
    }
}

#[test]
fn a_station_without_workers_is_told_at_once_and_a_run_may_have_another_id() {
    let now = start() + secs(60);
    let dispatch = Settings { mode: Mode::Dispatch, ..settings() };
    let fired = every_minute(-1).fire(true, &dispatch, None, now).unserved();
    assert_eq!(fired.plan.last_state, Some(LastState::NoWorker));
    assert_eq!(fired.plan.ring(), None, "nobody has to look again");
    let id = TaskId::parse("p@1~2").unwrap();
    let fired = fired.renamed(id.clone());
    let run = task(fired.task.unwrap(), now);
    assert_eq!((&run.spec.id, fired.run.label.as_str()), (&id, "1"));
    assert_eq!(commit(fired.plan, run, now).real_repet, 1);
}

#[test]
fn pause_resume_and_skip() {
    let now = start() + secs(10);
    let paused = every_minute(-1).carry_out(PlanVerb::Pause, now).unwrap();
    assert_eq!((paused.state(), paused.next_at), (PlanState::Paused, None));
    let resumed = paused.carry_out(PlanVerb::Resume, start() + secs(200)).unwrap();
    assert_eq!((resumed.next_at, resumed.skipped), (Some(start() + secs(240)), 3));
    let skipped = resumed.carry_out(PlanVerb::Skip(2), start() + secs(200)).unwrap();
    assert_eq!((skipped.next_at, skipped.skipped), (Some(start() + secs(360)), 5));
    let all = every_minute(4).carry_out(PlanVerb::Skip(1_000), now).unwrap();
    assert_eq!((all.state(), all.skipped), (PlanState::Finished, 4));
    for verb in [PlanVerb::Pause, PlanVerb::Resume, PlanVerb::Skip(1)] {
        assert!(all.clone().carry_out(verb, now).is_err(), "{verb}");
    }

    // A plan that is paused while it runs hears of the end, and waits.
    let (running, run) = fire(every_minute(-1), start() + secs(60));
    let paused = running.carry_out(PlanVerb::Pause, start() + secs(60)).unwrap();
    let plan = commit(paused, run, start() + secs(61));
    assert_eq!((plan.state(), plan.next_at, plan.real_repet), (PlanState::Paused, None, 1));
}

#[test]
fn a_new_rule_keeps_what_was_counted() {
    let now = start() + secs(60);
    let (running, run) = fire(every_minute(3), now);
    let plan = commit(running, run, now);
    let patch = patch(r#"{"plan_type":"hour","plan_value":1,"plan_repet":2}"#);
    let (order, rule) = (patch.order(&plan.order).unwrap(), patch.rule(Some(&plan.rule)).unwrap());
    assert_eq!(order.message.as_str(), r#"{"a":1}"#, "what is left out stays");
    let plan = plan.replace(order, rule, now);
    assert_eq!((plan.real_repet, plan.next_at), (1, Some(now + secs(3_600))));
    let (running, run) = fire(plan, now + secs(3_600));
    let plan = commit(running, run, now + secs(3_600));
    assert_eq!(plan.state(), PlanState::Finished, "one of two was used before");
}

#[test]
fn a_run_of_a_rule_that_was_replaced_takes_no_time_from_the_new_one() {
    let first = start() + secs(60);
    let rules = [
        (r#"{"plan_type":"time","plan_time":"2026-11-15T07:00:00Z"}"#, "2026-11-15T07:00:00Z"),
        (
            r#"{"plan_type":"cron","cron":"* * * * *","plan_repet":9,"no_keep":true}"#,
            "2026-11-15T06:05:00Z",
        ),
    ];
    for (json, next) in rules {
        let (plan, run) = fire(every_minute(9), first);
        let patch = patch(json);
        let rule = patch.rule(Some(&plan.rule)).unwrap();
        let order = plan.order.clone();
        let plan = plan.replace(order, rule, first + secs(200));
        assert_eq!(plan.occurrences(first + secs(200), 1), [at(next)]);
        let done = commit(plan.clone(), run.clone(), first + secs(201));
        assert_eq!((done.real_repet, done.next_at), (1, Some(at(next))));
        let (failed, _) = fail(plan, run, first + secs(201));
        let resumed = failed.carry_out(PlanVerb::Resume, first + secs(202)).unwrap();
        assert_eq!((resumed.real_repet, resumed.next_at), (0, Some(at(next))));
    }
}

#[test]
fn so_many_results_are_kept() {
    let mut plan =
        plan(r#"{"plan_type":"minute","plan_value":1,"plan_repet":-1,"keep_results":2}"#);
    let mut kept: Vec<RawJson> = Vec::new();
    for n in 1..=4_i64 {
        let now = start() + secs(60 * n);
        let (running, run) = fire(plan, now);
        let (run, token) = taken(run, now);
        let settlement = Settlement::Commit { result: None };
        let (settings, id) = (settings(), TaskId::parse("callback").unwrap());
        let context = Context { now, queue: &settings, roll: 0.0, callback_id: &id };
        let event = Event::Settle { token, settlement };
        let decision = run.decide(event.clone(), &context).unwrap();
        let ended = running.after(&event, &decision, now).unwrap();
        kept.drain(..ended.drop_results);
        kept.extend(ended.results);
        plan = ended.plan;
    }
    let runs: Vec<_> = kept.iter().map(|kept| kept.as_str()[..9].to_owned()).collect();
    assert_eq!(runs, [r#"{"run":3,"#, r#"{"run":4,"#]);
}

#[test]
fn a_plan_into_a_bundle_is_done_when_pushed() {
    let plan = plan(
        r#"{"plan_type":"minute","plan_value":1,"plan_repet":2,"bundle_key":"digest","message":1}"#,
    );
    let fired = plan.fire(true, &settings(), None, start() + secs(60));
    assert_eq!(fired.task, None);
    assert_eq!((fired.plan.real_repet, fired.plan.state()), (1, PlanState::Scheduled));
    assert_eq!(fired.plan.next_at, Some(start() + secs(120)));
}

#[test]
fn a_plan_that_cannot_push_stands_still() {
    let now = start() + secs(60);
    let failed = every_minute(-1).cannot_fire("the queue has no url".to_owned(), now);
    let stopped = failed.plan;
    assert_eq!((stopped.state(), stopped.next_at), (PlanState::Error, None));
    assert!(failed.results[0].as_str().contains("the queue has no url"), "{:?}", failed.results);
    let resumed = stopped.carry_out(PlanVerb::Resume, start() + secs(30)).unwrap();
    assert_eq!(resumed.next_at, Some(start() + secs(120)), "that one is behind it");
}

#[test]
fn nobody_came() {
    let (running, run) = fire(every_minute(1), start() + secs(60));
    let watched = running.living.as_ref().unwrap().watch_at;
    assert_eq!(watched, Some(start() + secs(120)));
    let plan = running.watched(&run.spec.id, true);
    assert_eq!((plan.state(), plan.last_state), (PlanState::Running, Some(LastState::NoWorker)));
    // Somebody comes after all.
    let (run, token) = taken(run, start() + secs(130));
    let extension = punctual_core::task::Extension::default();
    let plan =
        happen(plan, run, Event::Extend { token, extension }, start() + secs(130)).0.unwrap();
    assert_eq!(plan.last_state, Some(LastState::Running));
}

#[test]
fn wrong_requests_name_their_field() {
    for (json, field) in [
        (r#"{"plan_type":"time"}"#, "plan_time"),
        (r#"{}"#, "plan_type"),
        (r#"{"plan_type":"minute","plan_value":0,"plan_repet":1}"#, "plan_value"),
        (r#"{"plan_type":"minute","plan_value":1}"#, "plan_repet"),
        (r#"{"plan_type":"minute","plan_value":1,"plan_repet":0}"#, "plan_repet"),
        (r#"{"plan_type":"minute","plan_value":1,"plan_repet":-2}"#, "plan_repet"),
        (r#"{"plan_type":"cron","cron":"99 * * * *","plan_repet":-1}"#, "cron"),
        (r#"{"plan_type":"day","plan_value":1,"plan_repet":1,"timezone":"Mars/One"}"#, "timezone"),
    ] {
        assert_eq!(patch(json).rule(None).unwrap_err().field, field, "{json}");
    }
    for (json, field) in [
        (r#"{"message":1,"messages":2}"#, "messages"),
        (r#"{"bundle_key":""}"#, "bundle_key"),
        (r#"{"bundle_key":"k","callback":{"queue":"q"}}"#, "callback"),
        (r#"{"keep_results":10001}"#, "keep_results"),
        (r#"{"on_error":{"stop_after":0}}"#, "on_error.stop_after"),
        (r#"{"on_error":{"stop_after":1000001}}"#, "on_error.stop_after"),
        (r#"{"priority":101}"#, "priority"),
        (r#"{"http":{"url":"ftp://x"}}"#, "http.url"),
        (r#"{"hold":0}"#, "hold"),
        (r#"{"tags":[""]}"#, "tags"),
    ] {
        match patch(json).order(&Order::default()).unwrap_err() {
            Refusal::Invalid(invalid) => assert_eq!(invalid.field, field, "{json}"),
            other => panic!("{json}: {other}"),
        }
    }
    let long = format!(r#"{{"message":"{}"}}"#, "x".repeat(1 << 20));
    let refusal = patch(&long).order(&Order::default()).unwrap_err();
    assert!(refusal.to_string().starts_with("message"), "{refusal}");
    for json in [r#"{"on_error":"go"}"#, r#"{"on_error":5}"#, r#"{"on_error":{"stop_after":-1}}"#] {
        assert!(serde_json::from_str::<PlanPatch>(json).is_err(), "{json}");
    }
    for json in [r#"{"colour":1}"#, r#"{"plan_id":-1}"#, r#"{"plan_id":"a b"}"#, r#"[]"#] {
        assert!(serde_json::from_str::<PlanPatch>(json).is_err(), "{json}");
    }
    let id = patch(r#"{"plan_id":255}"#).plan_id.unwrap();
    assert_eq!(id.0.as_str(), "00000000000000ff");
}

#[test]
fn a_plan_is_stored_as_it_is() {
    let (mut plan, _) = fire(every_minute(3), start() + secs(60));
    plan.failed = Some(Run { is_ruled: false, ..plan.living.clone().unwrap() });
    plan.phase = Phase::Paused;
    let packed = postcard::to_stdvec(&plan).unwrap();
    assert_eq!(postcard::from_bytes::<Plan>(&packed).unwrap(), plan);
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}
