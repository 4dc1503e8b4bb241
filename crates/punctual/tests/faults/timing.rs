//! Promptness, measured and printed. The bounds are generous: a busy machine must not fail them.

use std::time::{Duration, Instant};

use punctual_client::{NewTask, Span, Take};

use crate::process::Server;
use crate::task::take_one;

const ROUNDS: u32 = 20;
const PROMPT: Duration = Duration::from_secs(1);

/// Prints the median and the longest of some times, of which the longest must be prompt.
#[expect(clippy::print_stdout, reason = "this is what is measured")]
fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let (median, longest) = (times[times.len() / 2], times[times.len() - 1]);
    println!("{what}: {median:?} at the median, {longest:?} at most");
    assert!(median < PROMPT, "{what}: {median:?}");
}

#[tokio::test]
async fn a_hold_that_ends_frees_its_task_promptly() {
    const HOLD_MS: u32 = 150;
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let client = server.client();
    let mut times = Vec::new();
    client.push("q", &NewTask::new("x").max_attempts(-1)).await.unwrap();
    let take = Take::new().hold(Span::from_millis(HOLD_MS.into())).wait(Span::from_secs(30));
    let mut taken = take_one(&client, "q", &take).await;
    for _ in 0..ROUNDS {
        let next = take_one(&client, "q", &take).await;
        // By the server's own clock: when the hold ended, and when the next one began.
        let ended = taken.task.hold_until.unwrap().as_millis();
        let freed = next.task.taken_at.unwrap().as_millis();
        assert!(freed >= ended, "a hold lasts as long as it says");
        times.push(Duration::from_millis((freed - ended).unsigned_abs()));
        taken = next;
    }
    report("from the end of a hold to the next one", times);
    server.stop();
}

#[tokio::test]
async fn a_task_that_falls_due_is_handed_out_promptly() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let client = server.client();
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        client.push("q", &NewTask::new("x").delay(Span::from_millis(60))).await.unwrap();
        let taken = take_one(&client, "q", &Take::new().wait(Span::from_secs(30))).await;
        let taken_at = taken.task.taken_at.unwrap();
        assert!(taken_at >= taken.task.due_at, "nothing starts before its due time");
        times.push(Duration::from_millis(
            taken_at.since(taken.task.due_at).as_millis().unsigned_abs(),
        ));
    }
    report("from its due time to its start", times);
    server.stop();
}

#[tokio::test]
async fn a_waiting_take_is_answered_promptly_after_a_push() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let client = server.client();
    client.push("q", &NewTask::new("x")).await.unwrap();
    take_one(&client, "q", &Take::new()).await;
    let (answered, mut answers) = tokio::sync::mpsc::channel(1);
    let waiting = server.client();
    let taker = tokio::spawn(async move {
        for _ in 0..ROUNDS {
            take_one(&waiting, "q", &Take::new().wait(Span::from_secs(30))).await;
            answered.send(Instant::now()).await.unwrap();
        }
    });
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        client.push("q", &NewTask::new("x")).await.unwrap();
        let pushed = Instant::now();
        times.push(answers.recv().await.unwrap().saturating_duration_since(pushed));
    }
    taker.await.unwrap();
    report("from the answer to a push to that of a waiting take", times);
    server.stop();
}
