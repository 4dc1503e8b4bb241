//! What the tests here do again and again with tasks.

use std::collections::BTreeMap;

use punctual_client::{Client, Filter, NewTask, State, Take, Taken, Task};

/// Pushes tasks `{prefix}-0`, `{prefix}-1`, … one by one until one is not answered with success.
/// Returns the ids of those that were, and the error.
pub(crate) async fn push_until_refused(
    client: Client,
    queue: &'static str,
    prefix: String,
    payload_bytes: usize,
) -> (Vec<String>, punctual_client::Error) {
    let mut acknowledged = Vec::new();
    let payload = "x".repeat(payload_bytes);
    for n in 0.. {
        let id = format!("{prefix}-{n}");
        match client.push(queue, &NewTask::new(&payload).id(id.as_str())).await {
            Ok(_) => acknowledged.push(id),
            Err(error) => return (acknowledged, error),
        }
    }
    unreachable!("numbers do not end")
}

/// Takes one task, which must be there.
pub(crate) async fn take_one(client: &Client, queue: &str, take: &Take) -> Taken {
    let mut tasks = client.take(queue, take).await.unwrap().tasks;
    assert_eq!(tasks.len(), 1, "a task of {queue} can be taken");
    tasks.remove(0)
}

/// All tasks of a queue by their ids, as they read.
pub(crate) async fn all(client: &Client, queue: &str) -> BTreeMap<String, Task> {
    let mut tasks = BTreeMap::new();
    let mut cursor = None;
    loop {
        let page = client.tasks(queue, &Filter::new(), 1_000, cursor.as_deref()).await.unwrap();
        tasks.extend(page.items.into_iter().map(|task| (task.id.clone(), task)));
        cursor = page.next;
        if cursor.is_none() {
            return tasks;
        }
    }
}

/// The state of every task of a queue, by its id.
pub(crate) async fn states(client: &Client, queue: &str) -> BTreeMap<String, State> {
    all(client, queue).await.into_iter().map(|(id, task)| (id, task.state)).collect()
}
