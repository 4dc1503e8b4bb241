//! A server, and what tests wait for.

use std::time::{Duration, Instant};

use punctual_client::{Client, QueueChanges, Span, State, Task};

use crate::process::{PATIENCE, Server, punctual};

/// A server that keeps nothing, and its client.
pub(crate) fn server() -> (Server, Client) {
    let mut command = punctual();
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:"]);
    let server = Server::of(command);
    let client = server.client();
    (server, client)
}

/// Makes a queue of a mode that keeps what ended and tries again at once.
pub(crate) async fn queue(client: &Client, name: &str, mode: &str, hold: Duration) {
    let json = |text: &str| punctual_client::RawJson::parse(text).unwrap();
    let changes = QueueChanges::new()
        .hold(Span::from_millis(hold.as_millis() as i64))
        .set("mode", json(&format!("{mode:?}")))
        .set("retry", json(r#"{"intervals":[0]}"#))
        .set("keep", json(r#"{"done":"1h","failed":"1h","cancelled":"1h"}"#));
    client.put_queue(name, &changes).await.unwrap();
}

/// Waits until a task is as it should be.
pub(crate) async fn until(
    client: &Client,
    queue: &str,
    id: &str,
    what: &str,
    is_so: impl Fn(&Task) -> bool,
) -> Task {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let task = client.task(queue, id).await.unwrap();
        if is_so(&task) {
            return task;
        }
        assert!(Instant::now() < deadline, "not {what}: {task:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits until a task is in a state.
pub(crate) async fn in_state(client: &Client, queue: &str, id: &str, state: State) -> Task {
    until(client, queue, id, state.name(), |task| task.state == state).await
}
