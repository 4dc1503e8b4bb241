//! What was done is told again, the newest first.

use punctual_core::Span;

use super::checks;
use super::fixture::Fixture;
use crate::port::{AuditEntry, StoreError};

checks! {
    "audit":
    what_was_done_is_told_newest_first,
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
    for n in 0..5 {
        f.store().audit(&entry(n)).await.expect("the store answers");
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
