//! Receipts: a settle verb is known to have been carried out when its record cannot say so.

use punctual_core::task::{Event, Settlement};
use punctual_core::{Span, State, Token, Verb};

use super::checks;
use super::fixture::{Fixture, commit, fail_for_good, id, queue, release, task, token};
use crate::port::{Lost, Receipt, Stored};

checks! {
    "receipts":
    an_end_that_removes_the_task_leaves_a_receipt,
    a_commit_is_remembered_after_the_id_was_pushed_again,
    a_receipt_is_for_one_token_and_verb_of_one_task,
    a_receipt_outlives_what_happens_to_its_queue,
    a_receipt_is_kept_for_ten_minutes,
    a_lost_decision_leaves_no_receipt,
    what_the_record_can_answer_leaves_no_receipt,
}

fn receipt(of: &Stored, verb: Verb) -> Receipt {
    let spec = &of.task.spec;
    Receipt { queue: spec.queue.clone(), id: spec.id.clone(), token: token(of), verb }
}

async fn is_settled(f: &Fixture, receipt: Receipt) -> bool {
    f.store().settled(&[receipt]).await.expect("the store answers")[0]
}

async fn forgetful(f: &Fixture) {
    f.put_queue("q", |queue| {
        queue.settings.keep.done = Span::ZERO;
        queue.settings.keep.failed = Span::ZERO;
    })
    .await;
}

async fn an_end_that_removes_the_task_leaves_a_receipt(mut f: Fixture) {
    forgetful(&f).await;
    for (settlement, verb) in [(commit(), Verb::Commit), (fail_for_good(), Verb::Fail)] {
        let held = f.bring("q", task("a"), State::Running).await;
        assert!(!is_settled(&f, receipt(&held, verb)).await, "not before it happened");
        f.settle(&held, settlement).await;
        assert!(is_settled(&f, receipt(&held, verb)).await, "{verb}");
    }
}

async fn a_commit_is_remembered_after_the_id_was_pushed_again(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let held = f.bring("q", task("a"), State::Running).await;
    f.settle(&held, commit()).await;
    assert_eq!(f.state("q", "a").await, Some(State::Done), "the task is kept");
    f.push("q", task("a")).await;
    assert!(is_settled(&f, receipt(&held, Verb::Commit)).await);
}

async fn a_receipt_is_for_one_token_and_verb_of_one_task(mut f: Fixture) {
    forgetful(&f).await;
    let held = f.bring("q", task("a"), State::Running).await;
    f.settle(&held, commit()).await;
    let right = receipt(&held, Verb::Commit);
    let wrong = [
        Receipt { queue: queue("p"), ..right.clone() },
        Receipt { id: id("b"), ..right.clone() },
        Receipt { token: Token::NOBODY, ..right.clone() },
        Receipt { verb: Verb::Fail, ..right.clone() },
    ];
    let [in_p, b, nobody, fail] = wrong;
    let asked = [in_p, b, right, nobody, fail];
    let answers = f.store().settled(&asked).await.expect("the store answers");
    assert_eq!(answers, [false, false, true, false, false]);
    assert!(f.store().settled(&[]).await.expect("the store answers").is_empty());
}

async fn a_receipt_outlives_what_happens_to_its_queue(mut f: Fixture) {
    forgetful(&f).await;
    let held = f.bring("q", task("a"), State::Running).await;
    f.settle(&held, commit()).await;
    f.store().reset_queue(&queue("q")).await.expect("the store answers");
    assert!(is_settled(&f, receipt(&held, Verb::Commit)).await);
}

async fn a_receipt_is_kept_for_ten_minutes(mut f: Fixture) {
    forgetful(&f).await;
    let held = f.bring("q", task("a"), State::Running).await;
    f.settle(&held, commit()).await;
    f.advance(Span::from_millis(599_999)).await;
    f.store().sweep(100).await.expect("the store sweeps");
    assert!(is_settled(&f, receipt(&held, Verb::Commit)).await);
    f.advance(Span::from_millis(1)).await;
    assert!(!is_settled(&f, receipt(&held, Verb::Commit)).await);
}

async fn a_lost_decision_leaves_no_receipt(mut f: Fixture) {
    forgetful(&f).await;
    let held = f.bring("q", task("a"), State::Running).await;
    let event = Event::Settle { token: token(&held), settlement: commit() };
    let decision = f.decide(&held, event).await.expect("the holder may commit");
    f.happen("q", "a", Event::Pause).await;
    assert_eq!(f.try_commit(held.revision, decision).await, Err(Lost));
    assert!(!is_settled(&f, receipt(&held, Verb::Commit)).await);
}

async fn what_the_record_can_answer_leaves_no_receipt(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let later = Settlement::Fail { error: None, retry_in: None, permanent: false };
    for (settlement, verb) in [(release(), Verb::Release), (later, Verb::Fail)] {
        let held = f.bring("q", task("a"), State::Running).await;
        f.settle(&held, settlement).await;
        assert!(!is_settled(&f, receipt(&held, verb)).await, "{verb}");
        f.store().reset_queue(&queue("q")).await.expect("the store answers");
    }
}
