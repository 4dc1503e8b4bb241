//! Wake-ups: whatever becomes possible is said, so that nobody has to look again and again.

use std::time::Duration;

use punctual_core::task::Event;
use punctual_core::{NewTask, QueueName, Span, State};
use tokio::sync::mpsc::UnboundedReceiver;

use super::checks;
use super::fixture::{DELAY, Fixture, KEEP, commit, queue, release, task};
use crate::port::Wake;

checks! {
    "wake":
    a_push_wakes,
    a_due_time_wakes,
    what_comes_back_wakes,
    a_callback_wakes_its_queue,
    a_resumed_queue_wakes,
    room_under_the_concurrency_wakes,
    the_end_of_a_hold_wakes,
    a_missed_start_wakes,
    what_is_to_be_swept_wakes,
    a_second_stream_has_ended,
}

/// Longer than any store needs to say what has already happened.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) async fn hear(wakes: &mut UnboundedReceiver<Wake>, wanted: impl Fn(&Wake) -> bool) {
    let heard = tokio::time::timeout(PATIENCE, async {
        while let Some(wake) = wakes.recv().await {
            if wanted(&wake) {
                return;
            }
        }
        panic!("the stream ended");
    });
    heard.await.expect("the wake-up comes");
}

pub(super) fn ready(name: &str) -> impl Fn(&Wake) -> bool {
    let name: QueueName = queue(name);
    move |wake| matches!(wake, Wake::Ready { queue, count } if *queue == name && *count > 0)
}

/// Drops what was said so far.
pub(super) fn forget(wakes: &mut UnboundedReceiver<Wake>) {
    while wakes.try_recv().is_ok() {}
}

async fn a_push_wakes(f: Fixture) {
    let mut wakes = f.store().wakeups();
    f.put_queue("q", |_| ()).await;
    f.push("q", task("a")).await;
    hear(&mut wakes, ready("q")).await;
}

async fn a_due_time_wakes(mut f: Fixture) {
    let mut wakes = f.store().wakeups();
    f.put_queue("q", |_| ()).await;
    f.bring("q", task("a"), State::Waiting).await;
    f.advance(DELAY).await;
    hear(&mut wakes, ready("q")).await;
}

async fn what_comes_back_wakes(mut f: Fixture) {
    let mut wakes = f.store().wakeups();
    f.put_queue("q", |_| ()).await;
    let held = f.bring("q", task("a"), State::Running).await;
    forget(&mut wakes);
    f.settle(&held, release()).await;
    hear(&mut wakes, ready("q")).await;
    f.take_one("q").await;
    forget(&mut wakes);
    f.happen("q", "a", Event::Reset).await;
    hear(&mut wakes, ready("q")).await;
    f.happen("q", "a", Event::Pause).await;
    forget(&mut wakes);
    f.happen("q", "a", Event::Resume).await;
    hear(&mut wakes, ready("q")).await;
}

async fn a_callback_wakes_its_queue(mut f: Fixture) {
    let mut wakes = f.store().wakeups();
    f.put_queue("q", |_| ()).await;
    let callback = punctual_core::Callback {
        on: vec![punctual_core::callback::End::Done],
        http: None,
        queue: Some(queue("after")),
        task: None,
    };
    let new = NewTask { callback: Some(Box::new(callback)), ..task("a") };
    let held = f.bring("q", new, State::Running).await;
    f.settle(&held, commit()).await;
    hear(&mut wakes, ready("after")).await;
}

async fn a_resumed_queue_wakes(f: Fixture) {
    let mut wakes = f.store().wakeups();
    f.put_queue("q", |queue| queue.paused = true).await;
    f.push("q", task("a")).await;
    forget(&mut wakes);
    f.put_queue("q", |queue| queue.paused = false).await;
    hear(&mut wakes, ready("q")).await;
}

async fn room_under_the_concurrency_wakes(mut f: Fixture) {
    let mut wakes = f.store().wakeups();
    f.put_queue("q", |queue| queue.settings.concurrency = Some(1)).await;
    let held = f.bring("q", task("a"), State::Running).await;
    f.push("q", task("b")).await;
    assert!(f.take("q", 1).await.is_empty());
    forget(&mut wakes);
    f.settle(&held, commit()).await;
    hear(&mut wakes, ready("q")).await;
    f.take_one("q").await;
    f.push("q", task("c")).await;
    forget(&mut wakes);
    f.put_queue("q", |queue| queue.settings.concurrency = Some(2)).await;
    hear(&mut wakes, ready("q")).await;
    f.take_one("q").await;
    f.push("q", task("d")).await;
    forget(&mut wakes);
    let ids = [super::fixture::id("c")];
    f.store().remove(&queue("q"), &ids).await.expect("the store answers");
    hear(&mut wakes, ready("q")).await;
}

async fn the_end_of_a_hold_wakes(mut f: Fixture) {
    let mut wakes = f.store().wakeups();
    f.put_queue("q", |_| ()).await;
    f.bring("q", task("a"), State::Running).await;
    f.advance(Span::from_secs(30)).await;
    hear(&mut wakes, |wake| *wake == Wake::Expired).await;
}

async fn a_missed_start_wakes(f: Fixture) {
    let mut wakes = f.store().wakeups();
    f.put_queue("q", |_| ()).await;
    let expires = Some(f.now() + Span::from_secs(10));
    f.push("q", NewTask { expires, ..task("a") }).await;
    f.advance(Span::from_secs(10)).await;
    hear(&mut wakes, |wake| *wake == Wake::Expired).await;
    f.happen("q", "a", Event::Expire).await;
    forget(&mut wakes);
    f.push("q", NewTask { expires, ..task("too-late") }).await;
    hear(&mut wakes, |wake| *wake == Wake::Expired).await;
}

async fn what_is_to_be_swept_wakes(mut f: Fixture) {
    let mut wakes = f.store().wakeups();
    f.put_queue("q", |_| ()).await;
    f.bring("q", task("a"), State::Done).await;
    f.advance(KEEP).await;
    hear(&mut wakes, |wake| *wake == Wake::Sweep).await;
}

async fn a_second_stream_has_ended(f: Fixture) {
    let _first = f.store().wakeups();
    assert_eq!(f.store().wakeups().recv().await, None);
}
