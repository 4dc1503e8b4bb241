//! Owners of every kind with every field set.

use punctual_core::bundle::{BundleKey, BundleState, Later, Lock};
use punctual_core::calendar::Position;
use punctual_core::flow::{Check, Counts, FlowState, OnFailure, StepState};
use punctual_core::plan::{LastState, OnError, Order, Phase, Run};
use punctual_core::queue::Rate;
use punctual_core::retry::MaxAttempts;
use punctual_core::vote::{Ballot, BallotState};
use punctual_core::worker::WorkerState;
use punctual_core::{
    AccessToken, Bundle, Flow, FlowId, FlowStep, Plan, PlanId, RetryPolicy, Right, Seed, Span,
    StepName, Timestamp, TokenLimits, TokenName, TokenUse, Verb, Vote, Worker,
};

use super::super::fixture;
use super::task::{callback, json, target};

/// A bundle in every state.
pub fn bundles(queue_name: &str, now: Timestamp) -> Vec<Bundle> {
    let lock = Lock {
        random: "a random: text".to_owned(),
        until: now + Span::from_millis(3_003),
        got: 2,
        had: 3,
    };
    let started = BundleState::Started {
        at: now - Span::from_millis(1_001),
        until: now + Span::from_millis(2_002),
    };
    let states = [BundleState::Waiting, started, BundleState::Locked(lock), BundleState::Failed];
    let bundle = |(n, state): (usize, BundleState)| Bundle {
        queue: fixture::queue(queue_name),
        key: BundleKey::composed(format!("key/{n}: \u{e4}")),
        created_at: now - Span::from_millis(50_005),
        state,
        size: 3,
        due_at: now + Span::from_millis(4_004),
        latest: Some(now + Span::from_millis(5_005)),
        first_at: Some(now - Span::from_millis(6_006)),
        overwrite: true,
        later: Some(Later {
            first_at: now - Span::from_millis(7),
            due_at: now + Span::from_millis(8_008),
            latest: Some(now + Span::from_millis(9_009)),
        }),
        data: ["one".to_owned(), "two \u{fc}".to_owned()].into(),
        abandoned_at: Some(now + Span::from_millis(60_006)),
        task: Some(fixture::id("delivers:it")),
        target: Some(target("bundle")),
        alone: true,
        error: Some("given up".to_owned()),
    };
    states.into_iter().enumerate().map(bundle).collect()
}

/// A plan.
pub fn plan(station: &str, now: Timestamp) -> Plan {
    let rule = r#"{"plan_type":"month","plan_value":3,"plan_time":"09:30","plan_repet":12,
                   "no_keep":true,"timezone":"Europe/Berlin"}"#;
    let rule = serde_json::from_str(rule).expect("the rule in a check is well formed");
    let run = |label: &str| Run {
        task: fixture::id(&format!("a:plan@{label}")),
        label: label.to_owned(),
        due_at: now - Span::from_millis(1_111),
        is_ruled: true,
        is_outdated: true,
        watch_at: Some(now + Span::from_millis(2_222)),
    };
    Plan {
        id: PlanId::parse("a:plan").expect("an id in a check is well formed"),
        station: fixture::queue(station),
        order: Order {
            request_id: Some("request \u{e9}".to_owned()),
            caller: Some("caller".to_owned()),
            description: Some("what it is for".to_owned()),
            message: json(&serde_json::json!({"message": "m".repeat(90)})),
            http: Some(target("plan")),
            bundle_key: Some(BundleKey::composed("plan's bundle".to_owned())),
            hold: Some(Span::from_millis(11_011)),
            max_attempts: MaxAttempts::new(6).ok(),
            retry: Some(RetryPolicy::Intervals(vec![Span::from_secs(9)])),
            priority: 17,
            requires: vec!["gpu".to_owned()],
            tags: vec!["planned".to_owned()],
            callback: Some(callback(now)),
            keep_results: 33,
            on_error: Some(OnError::StopAfter(44)),
        },
        rule,
        created_at: now - Span::from_millis(70_007),
        phase: Phase::Paused,
        position: Position {
            since: now - Span::from_millis(80_008),
            over: Some(now - Span::from_millis(90_009)),
            used: 4,
        },
        next_at: Some(now + Span::from_millis(100_010)),
        living: Some(run("3")),
        asked: Some(run("3.1")),
        failed: Some(run("2")),
        number: 3,
        extra: 2,
        real_repet: 5,
        failures: Some(2),
        skipped: 6,
        exec_time: Some(now - Span::from_millis(3_333)),
        last_state: Some(LastState::NoWorker),
        error: Some("what went wrong".to_owned()),
        results: 3,
        results_gone: 8,
        finished_at: Some(now - Span::from_millis(4_444)),
    }
}

fn flow_id() -> FlowId {
    FlowId::parse("a:flow").expect("an id in a check is well formed")
}

fn step_name(text: &str) -> StepName {
    StepName::parse(text).expect("a name in a check is well formed")
}

/// A flow.
pub fn flow(now: Timestamp) -> Flow {
    Flow {
        id: flow_id(),
        on_failure: OnFailure::Continue,
        state: FlowState::Cancelling,
        created_at: now - Span::from_millis(10_001),
        finished_at: Some(now - Span::from_millis(1_002)),
        counts: Counts { pending: 1, living: 2, done: 3, failed: 4, cancelled: 5 },
        round: 6,
        sweeps: 7,
        swept: 5,
        check: Some(Check { at: now + Span::from_millis(1_003), after: Span::from_millis(1_004) }),
    }
}

/// Steps of the flow, one in every state.
pub fn steps(now: Timestamp) -> Vec<FlowStep> {
    let states = [
        StepState::Pending,
        StepState::Living,
        StepState::Done,
        StepState::Failed,
        StepState::Cancelled,
    ];
    let step = |(n, state): (u32, StepState)| FlowStep {
        flow: flow_id(),
        name: step_name(&format!("step:{n}")),
        position: n + 1,
        queue: fixture::queue("elsewhere"),
        before: vec![step_name("next"), step_name("after:that")],
        missing: 2,
        state,
        round: 3,
        made_at: Some(now - Span::from_millis(1_005)),
        task: Some(fixture::id("a:flow~step~2")),
        paused: true,
        result: Some(json(&serde_json::json!({"step": n}))),
        error: Some("inputs_too_large".to_owned()),
    };
    (0..).zip(states).map(step).collect()
}

/// A worker.
pub fn worker(now: Timestamp) -> Worker {
    Worker {
        name: fixture::worker("a:worker"),
        queues: vec![fixture::queue("one"), fixture::queue("two:three")],
        capabilities: vec!["gpu".to_owned(), "linux: \u{fc}".to_owned()],
        capacity: 12,
        session: Some("a session".to_owned()),
        state: WorkerState::Draining,
        joined_at: now - Span::from_millis(20_002),
        seen_at: now - Span::from_millis(1_006),
    }
}

/// An access token.
pub(super) fn token(now: Timestamp) -> AccessToken {
    AccessToken {
        name: TokenName::parse("a:token").expect("a name in a check is well formed"),
        hash: "0f".repeat(32),
        rights: vec![Right::Produce, Right::Admin],
        queues: Some(vec!["one".to_owned(), "two:*".to_owned()]),
        expires: Some(now + Span::from_millis(1_009)),
        limits: TokenLimits {
            queues: Some(1),
            connections: Some(2),
            streams: Some(3),
            bytes_in_flight: Some(4),
            requests: Some(Rate { limit: 5, per: Span::from_millis(6_006) }),
        },
        created_at: now - Span::from_millis(7_007),
        used: TokenUse { last_used: Some(now - Span::from_millis(8)), requests: 9, refusals: 10 },
    }
}

/// A vote with a ballot in every state.
pub fn vote(queue_name: &str, now: Timestamp) -> Vote {
    let states = [
        BallotState::Assigned { until: now + Span::from_millis(1_007) },
        BallotState::Running { until: now + Span::from_millis(1_008) },
        BallotState::Over { by: Some(Verb::Commit) },
        BallotState::Over { by: None },
    ];
    let ballot = |(n, state): (usize, BallotState)| Ballot {
        worker: fixture::worker(&format!("voter:{n}")),
        token: Seed::new(0x77 << 64).token(n),
        hold: Span::from_millis(15_015),
        max_runtime: Some(Span::from_millis(25_025)),
        started: Some(now - Span::from_millis(1_009)),
        state,
    };
    Vote {
        queue: fixture::queue(queue_name),
        task: fixture::id("voted:on"),
        ballots: states.into_iter().enumerate().map(ballot).collect(),
    }
}
