//! What was done is told again, the newest first.

use punctual_core::Span;

use super::checks;
use super::fixture::Fixture;
use crate::port::{AUDIT_ENTRIES_MAX, AuditEntry, StoreError};

checks! {
    "audit":
    what_was_done_is_told_newest_first,
    the_last_of_what_was_done_outlives_a_restart,
    nobody_pushes_out_what_another_did,
}

/// An attack that fills the log leaves what others did, and what the attacker did of other kinds.
async fn nobody_pushes_out_what_another_did(mut f: Fixture) {
    let now = f.now();
    let entry = |who: &str, action: &str, n: usize| AuditEntry {
        at: now,
        who: who.to_owned(),
        from: String::new(),
        action: action.to_owned(),
        target: n.to_string(),
        status: 403,
    };
    let first = [entry("a", "queue.reset", 0), entry("a\0b", "x", 1), entry("b", "queue.put", 2)];
    f.store().audit(&first).await.expect("the store answers");
    let flood: Vec<_> =
        (3..2 * AUDIT_ENTRIES_MAX).map(|n| entry("b", "token.refused", n)).collect();
    for some in flood.chunks(500) {
        f.store().audit(some).await.expect("the store answers");
    }
    let kept = flood[flood.len() - AUDIT_ENTRIES_MAX..].iter().rev();
    let expected: Vec<_> = kept.chain(first.iter().rev()).cloned().collect();
    for is_again in [false, true] {
        if is_again && !f.restart().await {
            return;
        }
        let (mut items, mut cursor) = (Vec::new(), None);
        loop {
            let page = f.store().audited(cursor, 300).await.expect("the store answers");
            items.extend(page.items);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(items, expected);
    }
}

async fn what_was_done_is_told_newest_first(f: Fixture) {
    let page = async |cursor: Option<String>, limit: usize| {
        f.store().audited(cursor, limit).await.expect("the store answers")
    };
    assert_eq!(page(None, 9).await.items, []);
    let entry = |n: u16| AuditEntry {
        at: f.now() + Span::from_millis(n.into()),
        who: "9f9f5111".to_owned(),
        from: "[::1]:4711".to_owned(),
        action: "queue.reset".to_owned(),
        target: format!("q é \"{n}\"\n"),
        status: 200 + n,
    };
    let entries: Vec<_> = (0..5).map(entry).collect();
    for some in [&entries[..1], &entries[1..4], &[], &entries[4..]] {
        f.store().audit(some).await.expect("the store answers");
    }
    let newest_first: Vec<_> = (0..5).rev().map(entry).collect();
    for limit in 1..7 {
        let (mut items, mut cursor) = (Vec::new(), None);
        loop {
            let page = page(cursor, limit).await;
            assert!(page.items.len() <= limit, "a page of at most {limit}");
            items.extend(page.items);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(items, newest_first, "pages of {limit}");
    }
    for cursor in ["", "x", "1-x", "-1"] {
        let refused = f.store().audited(Some(cursor.to_owned()), 1).await;
        assert!(matches!(refused, Err(StoreError::BadCursor)), "{cursor:?}: {refused:?}");
    }
}

async fn the_last_of_what_was_done_outlives_a_restart(mut f: Fixture) {
    let now = f.now();
    let entry = |n: usize| AuditEntry {
        at: now,
        who: "open".to_owned(),
        from: String::new(),
        action: "queue.put".to_owned(),
        target: n.to_string(),
        status: 200,
    };
    let mut entries: Vec<_> = (0..AUDIT_ENTRIES_MAX + 7).map(entry).collect();
    for some in entries.chunks(1_000) {
        f.store().audit(some).await.expect("the store answers");
    }
    loop {
        let all = f.store().audited(None, 2 * AUDIT_ENTRIES_MAX).await.expect("the store answers");
        assert_eq!((all.items.len(), &all.next), (entries.len().min(AUDIT_ENTRIES_MAX), &None));
        assert!(all.items.iter().zip(entries.iter().rev()).all(|(a, b)| a == b), "newest first");
        if entries.len() > AUDIT_ENTRIES_MAX + 7 || !f.restart().await {
            return;
        }
        let one_more = entry(entries.len());
        f.store().audit(std::slice::from_ref(&one_more)).await.expect("the store answers");
        entries.push(one_more);
    }
}
