//! What is acknowledged is there after a restart: tasks, holds, settings, receipts.

use punctual_client::{Commit, NewTask, QueueChanges, Span, State, Take};

use crate::process::Server;

#[tokio::test]
async fn tasks_and_holds_outlive_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let client = server.client();
    let settings = QueueChanges::new().hold(Span::from_secs(600)).max_attempts(7);
    client.put_queue("mail", &settings).await.unwrap();
    client.push("mail", &NewTask::new("now").id("held")).await.unwrap();
    client.push("mail", &NewTask::new("now").id("done")).await.unwrap();
    client.push("mail", &NewTask::new("now").id("ready")).await.unwrap();
    let later = NewTask::new("later").id("later").delay(Span::from_secs(3_600));
    let later = client.push("mail", &later).await.unwrap();
    let taken = client.take("mail", &Take::new().worker("w1").n(2)).await.unwrap().tasks;
    let [held, done] = &taken[..] else { panic!("two tasks") };
    client.commit(done.held(), &Commit::default()).await.unwrap();
    server.stop();

    let server = Server::start(dir.path());
    let client = server.client();
    let queue = client.queue("mail").await.unwrap();
    assert_eq!(queue.settings["max_attempts"], 7);
    assert_eq!((queue.counts.taken, queue.counts.ready, queue.counts.waiting), (1, 1, 1));
    let read = client.task("mail", "held").await.unwrap();
    assert_eq!((read.state, read.worker.as_deref()), (State::Running, Some("w1")));
    assert_eq!(client.task("mail", "later").await.unwrap(), later);

    client.commit(done.held(), &Commit::default()).await.unwrap();
    let after = client.commit(held.held(), &Commit::default()).await.unwrap();
    assert_eq!(after.state(), Some(State::Done));
    let next = client.take("mail", &Take::new().n(5)).await.unwrap().tasks;
    assert_eq!(next.iter().map(|taken| taken.task.id.as_str()).collect::<Vec<_>>(), ["ready"]);
    server.stop();
}

#[tokio::test]
async fn a_hold_that_ended_while_the_server_was_away_is_free() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let client = server.client();
    client.push("mail", &NewTask::new("x").id("lost")).await.unwrap();
    let take = Take::new().hold(Span::from_millis(100));
    let lost = client.take("mail", &take).await.unwrap().tasks.remove(0);
    server.stop();

    let server = Server::start(dir.path());
    let client = server.client();
    let take = Take::new().wait(Span::from_secs(30));
    let again = client.take("mail", &take).await.unwrap().tasks.remove(0);
    assert_eq!((again.task.id.as_str(), again.task.attempt), ("lost", 2));
    let error = client.commit(lost.held(), &Commit::default()).await.unwrap_err();
    assert_eq!(error.code(), Some("stale_token"));
    client.commit(again.held(), &Commit::default()).await.unwrap();
    server.stop();
}
