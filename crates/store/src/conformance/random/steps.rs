//! What can happen in a random sequence. Few queues, ids and lengths of time, so that they collide.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use punctual_core::callback::{Callback, End};
use punctual_core::http::Verdict;
use punctual_core::notice::{ContentType, Notice, NoticeCallback};
use punctual_core::queue::{Keep, Rate};
use punctual_core::retry::MaxAttempts;
use punctual_core::task::{Acknowledgement, Edit, Event, Extension, Settlement};
use punctual_core::{NewTask, Patch, RetryPolicy, Settings, Span, Timestamp, Token};

use super::owners::{OwnerStep, owner_step};
use crate::conformance::fixture::{delivered, id, json, queue};
use crate::port::Classes;

/// The queues of a sequence; callbacks go to the third.
pub(super) const QUEUES: [&str; 5] = ["p", "q", "after", "d", "e"];

/// Those of mode dispatch.
pub(super) const DISPATCHED: [&str; 2] = ["d", "e"];

/// The workers of a sequence.
pub(super) const WORKERS: [&str; 2] = ["w", "w2"];

/// The ids of a sequence.
pub(super) const IDS: [&str; 4] = ["a", "b", "c", "d"];

/// One step. Queues and ids are given by their place in [`QUEUES`] and [`IDS`], what is there by its
/// place among all.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Push tasks, perhaps under a key.
    Push { queue: usize, tasks: Vec<Pushable>, key: Option<u8> },
    /// Take for some takers, who serve some classes.
    Take { queue: usize, served: Served, takers: Vec<Wish> },
    /// Let events happen to one of the tasks there are: all decided from one reading, committed
    /// together.
    Happen { task: usize, occurrences: Vec<Occurrence> },
    /// Assign one of the tasks there are to a worker, if it is ready.
    Assign { task: usize, worker: usize },
    /// Let an event happen to a task as it was read at the end of an earlier step.
    Late { reading: usize, occurrence: Occurrence },
    /// Change owners, and tasks of their queue with them.
    Owners(Box<OwnerStep>),
    /// Remove tasks.
    Remove { queue: usize, ids: Vec<usize> },
    /// Create or change a queue.
    PutQueue { queue: usize, settings: Box<Settings>, paused: bool },
    /// Drop all tasks of a queue.
    ResetQueue { queue: usize },
    /// Drop a queue.
    DeleteQueue { queue: usize },
    /// Let time pass.
    Advance { ms: i64 },
    /// Set the wall clock forward.
    SetWall { ms: i64 },
    /// Decide about all tasks whose hold has ended or that were not started in time.
    Expire,
    /// Remove what is no longer to be kept.
    Sweep { limit: usize },
    /// Stop the store and start it again.
    Restart,
}

/// A task to push. Its times are given from the moment of the push.
#[derive(Debug, Clone)]
pub(super) struct Pushable {
    id: usize,
    new: NewTask,
    expires_in: Option<Span>,
    /// Whether it is a run of a plan.
    pub(super) owned: bool,
}

impl Pushable {
    /// The push at a time.
    pub(super) fn at(&self, now: Timestamp) -> NewTask {
        NewTask {
            id: Some(id(IDS[self.id])),
            expires: self.expires_in.map(|span| now + span),
            ..self.new.clone()
        }
    }
}

/// What takers serve: so many of one class, so many of each other, perhaps only what asks for no more
/// than they are capable of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Served {
    named: Option<(&'static str, usize)>,
    others: usize,
    covered_by: Option<&'static [&'static str]>,
}

impl Served {
    pub(super) fn classes(self) -> Classes {
        let named = self.named.map(|(class, room)| (class.into(), room)).into_iter().collect();
        let classes = match self.covered_by {
            Some(capabilities) => Classes::covered_by(capabilities.iter().copied()),
            None => Classes::all(),
        };
        Classes { named, others: self.others, ..classes }
    }
}

fn served() -> impl Strategy<Value = Served> {
    let named = option::weighted(0.2, (select(vec!["", "gpu"]), 0..3usize));
    let others = prop_oneof![8 => Just(usize::MAX), 2 => 0..3usize];
    let covered: [&[_]; 4] = [&[], &["gpu"], &["big", "gpu"], &["big"]];
    (named, others, option::weighted(0.3, select(covered.to_vec())))
        .prop_map(|(named, others, covered_by)| Served { named, others, covered_by })
}

/// What one taker asks for.
#[derive(Debug, Clone)]
pub(super) struct Wish {
    pub(super) n: usize,
    pub(super) hold: Option<Span>,
    pub(super) confirm: bool,
    pub(super) worker: Option<usize>,
    pub(super) capacity: Option<usize>,
}

/// An event before its token is known.
#[derive(Debug, Clone)]
pub(super) struct Occurrence {
    event: Event,
    token: Whose,
}

#[derive(Debug, Clone)]
enum Whose {
    /// The holder's.
    Holders,
    /// One that was handed out before, by its place among all.
    Former(usize),
    /// Nobody's.
    Nobodys,
}

impl Occurrence {
    /// The event with a token, given the holder's and all that were ever handed out.
    pub(super) fn event(&self, holders: Option<Token>, former: &[Token]) -> Event {
        let right = match self.token {
            Whose::Holders => holders,
            Whose::Former(place) => former.get(place % former.len().max(1)).copied(),
            Whose::Nobodys => None,
        };
        let mut event = self.event.clone();
        if let Event::Confirm { token }
        | Event::Extend { token, .. }
        | Event::Settle { token, .. } = &mut event
        {
            *token = right.unwrap_or(Token::NOBODY);
        }
        event
    }
}

/// A sequence of steps.
pub(super) fn sequence() -> impl Strategy<Value = Vec<Step>> {
    vec(step(), 1..80)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (a_queue(), vec(pushable(), 1..4), option::weighted(0.2, 0..3u8))
            .prop_map(|(queue, tasks, key)| Step::Push { queue, tasks, key }),
        6 => (a_queue(), served(), vec(wish(), 1..3))
            .prop_map(|(queue, served, takers)| Step::Take { queue, served, takers }),
        10 => (any::<usize>(), occurrences())
            .prop_map(|(task, occurrences)| Step::Happen { task, occurrences }),
        2 => (any::<usize>(), 0..WORKERS.len())
            .prop_map(|(task, worker)| Step::Assign { task, worker }),
        2 => (any::<usize>(), occurrence())
            .prop_map(|(reading, occurrence)| Step::Late { reading, occurrence }),
        7 => owner_step().prop_map(|step| Step::Owners(Box::new(step))),
        1 => (a_queue(), vec(0..IDS.len(), 1..3))
            .prop_map(|(queue, ids)| Step::Remove { queue, ids }),
        3 => (a_queue(), settings(), prop::bool::weighted(0.2)).prop_map(
            |(queue, settings, paused)| {
                Step::PutQueue { queue, settings: Box::new(settings), paused }
            }
        ),
        1 => prop_oneof![
            2 => a_queue().prop_map(|queue| Step::ResetQueue { queue }),
            1 => a_queue().prop_map(|queue| Step::DeleteQueue { queue }),
        ],
        5 => lapse().prop_map(|ms| Step::Advance { ms }),
        1 => lapse().prop_map(|ms| Step::SetWall { ms }),
        3 => Just(Step::Expire),
        2 => (1..4usize).prop_map(|limit| Step::Sweep { limit }),
        1 => Just(Step::Restart),
    ]
}

pub(super) fn a_queue() -> impl Strategy<Value = usize> {
    prop_oneof![
        5 => Just(0usize), 3 => Just(1usize), 1 => Just(2usize), 3 => Just(3usize), 1 => Just(4usize),
    ]
}

fn lapse() -> impl Strategy<Value = i64> {
    select(vec![0, 1, 333, 999, 1_000, 1_000, 2_000, 5_000, 10_000, 60_000, 599_999, 86_400_000])
}

fn span() -> impl Strategy<Value = Span> {
    select(vec![1, 1_000, 2_000, 10_000, 60_000]).prop_map(Span::from_millis)
}

fn max_attempts() -> impl Strategy<Value = MaxAttempts> {
    (1..=3).prop_map(|n| MaxAttempts::new(n).expect("1 to 3 attempts are a limit"))
}

pub(super) fn pushable() -> impl Strategy<Value = Pushable> {
    let new = (
        option::weighted(0.3, span()),
        -1..=1i32,
        option::weighted(0.3, span()),
        max_attempts(),
        option::weighted(0.3, span()),
        option::weighted(0.3, callback()),
        option::weighted(0.2, requires()),
        option::weighted(0.2, notice()),
    )
        .prop_map(
            |(delay, priority, hold, max_attempts, unique_for, callback, requires, notice)| {
                NewTask {
                    delay,
                    priority: Some(priority),
                    hold,
                    max_attempts: Some(max_attempts),
                    unique_for,
                    callback: callback.map(Box::new),
                    requires,
                    notice: notice.map(Box::new),
                    ..NewTask::default()
                }
            },
        );
    let parts = (0..IDS.len(), new, option::weighted(0.2, span()), prop::bool::weighted(0.1));
    parts.prop_map(|(id, new, expires_in, owned)| Pushable { id, new, expires_in, owned })
}

fn requires() -> impl Strategy<Value = Vec<String>> {
    let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
    select(vec![texts(&["gpu"]), texts(&["gpu", "big"]), texts(&["big", "gpu"]), texts(&["fast"])])
}

fn callback() -> impl Strategy<Value = Callback> {
    let on = select(vec![
        vec![End::Done],
        vec![End::Failed],
        vec![End::Done, End::Failed, End::Cancelled],
    ]);
    (on, option::of(0..IDS.len()), option::of(span())).prop_map(|(on, made, delay)| {
        let made = NewTask {
            id: made.map(|made| id(IDS[made])),
            delay,
            max_attempts: Some(MaxAttempts::new(2).expect("2 attempts are a limit")),
            ..NewTask::default()
        };
        Callback { on, http: None, queue: Some(queue(QUEUES[2])), task: Some(Box::new(made)) }
    })
}

fn notice() -> impl Strategy<Value = Notice> {
    (any::<bool>(), any::<bool>(), 0..2u32).prop_map(|(enforce_repeat, calls_back, sent_before)| {
        let callback = NoticeCallback {
            url: "http://example.com/".to_owned(),
            success_flag: "ok".to_owned(),
            retry: Some(RetryPolicy::Intervals(vec![Span::from_secs(1)])),
            max_notices: MaxAttempts::new(2).expect("2 notices are a limit"),
            enforce_repeat: false,
        };
        Notice {
            content_type: ContentType::Form,
            enforce_repeat,
            callback: calls_back.then(|| Box::new(callback)),
            sent_before,
            success_before: 0,
        }
    })
}

fn delivery() -> impl Strategy<Value = Settlement> {
    any::<bool>().prop_map(|is_accepted| match is_accepted {
        true => delivered(Verdict::Accepted { result: json("1") }),
        false => delivered(Verdict::failed("refused")),
    })
}

fn wish() -> impl Strategy<Value = Wish> {
    (
        0..4usize,
        option::weighted(0.3, span()),
        prop::bool::weighted(0.3),
        option::weighted(0.8, 0..WORKERS.len()),
        option::weighted(0.5, 0..4usize),
    )
        .prop_map(|(n, hold, confirm, worker, capacity)| Wish {
            n,
            hold,
            confirm,
            worker,
            capacity,
        })
}

fn settings() -> impl Strategy<Value = Settings> {
    let keep = || select(vec![0, 0, 1_000, 1_000, 60_000]).prop_map(Span::from_millis);
    let rate = (1..4u32, select(vec![1_000, 7_000]))
        .prop_map(|(limit, ms)| Rate { limit, per: Span::from_millis(ms) });
    (
        option::weighted(0.3, 1..5u64),
        option::weighted(0.3, 1..3u32),
        option::weighted(0.3, rate),
        (keep(), keep(), keep()),
        span(),
        max_attempts(),
    )
        .prop_map(|(max, concurrency, rate, keep, hold, max_attempts)| Settings {
            max,
            concurrency,
            rate,
            keep: Keep { done: keep.0, failed: keep.1, cancelled: keep.2 },
            hold,
            max_attempts,
            retry: RetryPolicy::Intervals(vec![Span::ZERO, Span::from_secs(2)]),
            ..Settings::default()
        })
}

fn occurrences() -> impl Strategy<Value = Vec<Occurrence>> {
    prop_oneof![9 => vec(occurrence(), 1), 1 => vec(occurrence(), 2)]
}

pub(super) fn occurrence() -> impl Strategy<Value = Occurrence> {
    let token = prop_oneof![
        8 => Just(Whose::Holders),
        3 => any::<usize>().prop_map(Whose::Former),
        1 => Just(Whose::Nobodys),
    ];
    (event(), token).prop_map(|(event, token)| Occurrence { event, token })
}

fn event() -> impl Strategy<Value = Event> {
    let token = Token::NOBODY;
    prop_oneof![
        2 => Just(Event::Confirm { token }),
        2 => option::of(span()).prop_map(move |hold| Event::Extend {
            token,
            extension: Extension { hold, progress: Some(0.5), ..Extension::default() },
        }),
        8 => settlement().prop_map(move |settlement| Event::Settle { token, settlement }),
        2 => Just(Event::Cancel),
        2 => Just(Event::Pause),
        2 => Just(Event::Resume),
        2 => any::<bool>().prop_map(|force| Event::Retry { force }),
        1 => Just(Event::Reset),
        2 => edit().prop_map(Event::Edit),
    ]
}

fn settlement() -> impl Strategy<Value = Settlement> {
    let left = || {
        option::of(Just(json("[1]")))
            .prop_map(|checkpoint| Acknowledgement { checkpoint, ..Acknowledgement::default() })
    };
    prop_oneof![
        3 => Just(Settlement::Commit { result: Some(json("7")) }),
        3 => (option::weighted(0.3, span()), prop::bool::weighted(0.3)).prop_map(
            |(retry_in, permanent)| Settlement::Fail { error: None, retry_in, permanent }
        ),
        2 => option::of(span())
            .prop_map(|delay| Settlement::Release { delay, checkpoint: Some(json("2")) }),
        1 => left().prop_map(Settlement::Cancelled),
        1 => left().prop_map(Settlement::Paused),
        3 => delivery(),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    let due =
        select(vec![Patch::Keep, Patch::Reset, Patch::Set(super::start() + Span::from_secs(9))]);
    (due, -1..=1i32, any::<bool>()).prop_map(|(due, priority, forget)| Edit {
        payload: Some(json("\"edited\"")),
        due,
        priority: Patch::Set(priority),
        expires: if forget { Patch::Reset } else { Patch::Keep },
        ..Edit::default()
    })
}
