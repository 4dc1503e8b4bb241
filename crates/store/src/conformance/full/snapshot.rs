//! All of a store as JSON, and what differs from what it was.

use punctual_core::OwnerKind;
use serde::Serialize;
use serde_json::{Value, json};

use crate::migrate::{OwnerPages, TaskPages};
use crate::port::{Memory, Remembered, Transfer};

/// Everything that a store lets read, but for births, which every store gives out by itself.
///
/// # Panics
/// If a record cannot be read.
pub async fn snapshot(store: &dyn Transfer) -> Value {
    let (mut queues, mut tasks, mut remembered) = (Vec::new(), Vec::new(), Vec::new());
    for queue in store.queues().await.expect("queues are read") {
        queues.push(value(&*queue));
        let mut pages = TaskPages::new(store, &queue.name);
        while let Some(page) = pages.next().await.expect("tasks are read") {
            for stored in page {
                tasks.push(json!({
                    "spec": value(&*stored.task.spec),
                    "status": value(&*stored.task.status),
                    "change": stored.revision.change,
                }));
            }
        }
        remembered.extend(memories(store, Memory::Reserved(queue.name.clone())).await);
    }
    remembered.extend(memories(store, Memory::Receipts).await);
    remembered.extend(memories(store, Memory::Keyed).await);
    let mut owners = Vec::new();
    for kind in OwnerKind::ALL {
        let mut pages = OwnerPages::new(store, kind);
        while let Some(page) = pages.next().await.expect("owners are read") {
            for stored in page {
                let items = store.items(&stored.owner.key(), 0, usize::MAX).await;
                owners.push(json!({
                    "owner": value(&stored.owner),
                    "items": value(&items.expect("items are read")),
                    "change": stored.revision.change,
                }));
            }
        }
    }
    let audit = store.audited(None, 1_000).await.expect("the trail is read").items;
    // The queues that always exist were made when the store was.
    for queue in &mut queues {
        if ["notices", "bundles", "callbacks"].iter().any(|name| queue["name"] == *name) {
            queue["created_at"] = Value::Null;
        }
    }
    tasks.sort_by_key(|task| task["spec"]["id"].to_string());
    json!({
        "queues": queues,
        "tasks": tasks,
        "owners": owners,
        "remembered": remembered,
        "audit": value(&audit),
    })
}

async fn memories(store: &dyn Transfer, memory: Memory) -> Vec<Value> {
    let mut found = Vec::new();
    let mut cursor = None;
    loop {
        let page = store.remembered(&memory, cursor).await.expect("what is remembered is read");
        found.extend(page.items.iter().map(memory_value));
        if page.next.is_none() {
            return found;
        }
        cursor = page.next;
    }
}

fn memory_value(item: &Remembered) -> Value {
    match item {
        Remembered::Reserved { queue, id, until } => {
            json!({"queue": value(queue), "id": value(id), "until": until.as_millis()})
        }
        Remembered::Receipt { at, fingerprint } => {
            json!({"at": at.as_millis(), "fingerprint": fingerprint.to_string()})
        }
        Remembered::Keyed { at, queue, key, request, status, items } => json!({
            "at": at.as_millis(),
            "queue": value(queue),
            "key": key.to_string(),
            "request": request.to_string(),
            "status": status,
            "items": value(items),
        }),
    }
}

/// A record as JSON, its payloads as part of it.
fn value<T: Serialize>(record: &T) -> Value {
    let text = serde_json::to_string(record).expect("records have string keys only");
    serde_json::from_str(&text).expect("what was written as JSON reads as JSON")
}

/// What a snapshot has otherwise than an older one. A field that the older one does not know must say
/// nothing: null, false, 0 or empty.
pub fn differences(older: &Value, newer: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", older, newer, &mut found);
    found
}

fn compare(place: &str, older: &Value, newer: &Value, found: &mut Vec<String>) {
    match (older, newer) {
        (Value::Object(older), Value::Object(newer)) => {
            for (name, value) in newer {
                let place = format!("{place}/{name}");
                match older.get(name) {
                    Some(before) => compare(&place, before, value, found),
                    None if says_nothing(value) => {}
                    None => found.push(format!("{place}: is new and says {value}")),
                }
            }
            for name in older.keys().filter(|name| !newer.contains_key(*name)) {
                found.push(format!("{place}/{name}: is gone"));
            }
        }
        (Value::Array(older), Value::Array(newer)) if older.len() == newer.len() => {
            for (n, (older, newer)) in older.iter().zip(newer).enumerate() {
                compare(&format!("{place}/{n}"), older, newer, found);
            }
        }
        _ if older == newer => {}
        _ => found.push(format!("{place}: was {older}, is {newer}")),
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(is_set) => !is_set,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}
