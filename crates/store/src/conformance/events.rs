//! Events: what is announced is heard, in order and under ids that never repeat.

use std::collections::BTreeSet;
use std::time::Duration;

use punctual_core::Announcement;

use super::checks;
use super::fixture::{Fixture, queue, worker};
use crate::port::{Announced, EventId, Hearing};

checks! {
    "events":
    what_is_announced_is_heard_in_order,
    many_at_once_are_heard_whole,
    what_is_announced_before_anybody_hears_is_heard,
    ids_never_repeat,
    a_second_stream_has_ended,
}

const PATIENCE: Duration = Duration::from_secs(20);

fn event(f: &Fixture, id: &str) -> Announcement {
    Announcement::new("task.pushed", f.now()).in_queue(&queue("q")).about(id.into())
}

async fn announce(f: &Fixture, announcements: &[Announcement]) -> EventId {
    f.store().announce(announcements).await.expect("the store announces")
}

/// Hears events until one has an id, each following on the one before.
async fn hear(hearing: &mut Hearing, last: EventId) -> Vec<Announced> {
    let mut before = None;
    let mut events: Vec<Announced> = Vec::new();
    while events.last().is_none_or(|event| event.id != last) {
        let heard = tokio::time::timeout(PATIENCE, hearing.recv()).await;
        let heard = heard.expect("events come").expect("the stream goes on");
        assert!(before.is_none_or(|before| before == heard.after), "something is missing");
        before = Some(heard.events.last().map_or(heard.after, |event| event.id));
        events.extend(heard.events);
    }
    assert!(events.is_sorted_by(|one, other| one.id < other.id));
    events
}

async fn what_is_announced_is_heard_in_order(f: Fixture) {
    let mut hearing = f.store().hearing();
    let past = tokio::time::timeout(PATIENCE, hearing.recv()).await.expect("the past comes");
    assert!(past.expect("the stream goes on").events.is_empty());
    let rich = event(&f, "a").about("b".into()).with("error", "odd: \" \n é").with("n", 7_u64);
    let several = Announcement::new("worker.joined", f.now())
        .in_queues(&[queue("q"), queue("r:x")])
        .about(worker("w").as_str().into());
    let none = Announcement::gap(f.now());
    announce(&f, std::slice::from_ref(&rich)).await;
    let last = announce(&f, &[several.clone(), none.clone()]).await;
    let heard = hear(&mut hearing, last).await;
    for (heard, said) in heard.iter().zip([&rich, &several, &none]) {
        assert_eq!(&*heard.kind, said.kind());
        assert_eq!(heard.queues, said.queues());
        assert_eq!(&*heard.data, serde_json::to_string(said).expect("it is JSON"));
    }
    assert_eq!(heard.len(), 3);
}

async fn many_at_once_are_heard_whole(f: Fixture) {
    let mut hearing = f.store().hearing();
    let many: Vec<_> = (0..1_700).map(|n| event(&f, &n.to_string())).collect();
    let large = event(&f, "large").with("content", "x".repeat(1 << 20).as_str());
    let last = announce(&f, &[many, vec![large]].concat()).await;
    let heard = hear(&mut hearing, last).await;
    assert_eq!(heard.len(), 1_701);
    assert!(heard[1_699].data.contains("\"1699\"") && heard[1_700].data.len() > 1 << 20);
}

async fn what_is_announced_before_anybody_hears_is_heard(f: Fixture) {
    let last = announce(&f, &[event(&f, "a"), event(&f, "b")]).await;
    let heard = hear(&mut f.store().hearing(), last).await;
    assert_eq!(heard.len(), 2);
}

async fn ids_never_repeat(mut f: Fixture) {
    let mut ids = BTreeSet::new();
    for _ in 0..3 {
        let mut hearing = f.store().hearing();
        let last = announce(&f, &[event(&f, "a"), event(&f, "b")]).await;
        // A store that several servers share lets hear what was before as well.
        let heard = hear(&mut hearing, last).await;
        ids.extend(heard.iter().rev().take(2).map(|event| event.id));
        assert_eq!(EventId::parse(&last.to_string()), Some(last));
        if !f.restart().await {
            return;
        }
    }
    assert_eq!(ids.len(), 6);
}

async fn a_second_stream_has_ended(f: Fixture) {
    let _first = f.store().hearing();
    assert!(f.store().hearing().recv().await.is_none());
}
