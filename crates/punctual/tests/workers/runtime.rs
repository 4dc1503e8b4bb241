//! The worker runtime: what it does with results, errors, panics, long work, cancels and stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use punctual_client::{Client, Fail, Job, NewTask, RawJson, Runtime, State, Stop};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::scene::{in_state, queue, server, until};

const HOLD: Duration = Duration::from_secs(30);

/// A runtime that goes on until its stop is sent.
fn run(runtime: Runtime) -> (oneshot::Sender<()>, JoinHandle<Result<(), punctual_client::Error>>) {
    let (stop, stopped) = oneshot::channel();
    let running = tokio::spawn(runtime.run_until(async {
        let _ = stopped.await;
    }));
    (stop, running)
}

async fn by_order(job: Job) -> Result<RawJson, Fail> {
    match job.payload::<String>()?.as_str() {
        "fail" => Err(Fail { error: Some("as asked".to_owned()), ..Fail::default() }),
        "give up" => Err(Fail { permanent: true, ..Fail::default() }),
        "panic" => panic!("as asked"),
        "wait" => {
            job.save_checkpoint("here");
            let reason = job.stopped().await;
            Err(Fail { error: Some(format!("{reason:?}")), ..Fail::default() })
        }
        other => Ok(RawJson::of(other)),
    }
}

async fn push(client: &Client, queue: &str, id: &str, order: &str) {
    client.push(queue, &NewTask::new(order).id(id).max_attempts(2)).await.unwrap();
}

#[tokio::test]
async fn what_a_handler_returns_decides() {
    for mode in ["pull", "dispatch"] {
        let (_server, client) = server();
        queue(&client, "q", mode, HOLD).await;
        for order in ["fine", "fail", "give up", "panic"] {
            push(&client, "q", &order.replace(' ', "-"), order).await;
        }
        client.push("q", &NewTask::new(&17).id("number")).await.unwrap();
        let (stop, running) = run(Runtime::new(client.clone(), "w").handle("q", 2, by_order));
        let fine = in_state(&client, "q", "fine", State::Done).await;
        assert_eq!(fine.result, Some(RawJson::of("fine")), "{mode}");
        assert_eq!(fine.worker.as_deref(), Some("w"), "{mode}");
        let failed = in_state(&client, "q", "fail", State::Failed).await;
        assert_eq!((failed.attempt, failed.error.as_deref()), (2, Some("as asked")), "{mode}");
        assert_eq!(in_state(&client, "q", "give-up", State::Failed).await.attempt, 1, "{mode}");
        let panicked = in_state(&client, "q", "panic", State::Failed).await;
        assert_eq!(panicked.error.as_deref(), Some("the handler panicked"), "{mode}");
        let number = in_state(&client, "q", "number", State::Failed).await;
        assert_eq!(number.attempt, 1, "what cannot be read cannot be read later ({mode})");
        assert!(number.error.unwrap().starts_with("the payload cannot be read: "), "{mode}");
        stop.send(()).unwrap();
        running.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_queue_that_does_not_exist_is_waited_at() {
    let (_server, client) = server();
    let (stop, running) = run(Runtime::new(client.clone(), "w").handle("new", 1, by_order));
    client.push("new", &NewTask::new("give up").id("a")).await.unwrap();
    in_state(&client, "new", "a", State::Failed).await;
    stop.send(()).unwrap();
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_handler_that_never_yields_keeps_its_hold() {
    // One thread for all handlers, and the handler sits on it for several holds.
    let (_server, client) = server();
    queue(&client, "q", "pull", Duration::from_millis(600)).await;
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let handler = move |_: Job| {
        counted.fetch_add(1, Ordering::SeqCst);
        async {
            std::thread::sleep(Duration::from_secs(3));
            Ok(RawJson::of("slow"))
        }
    };
    client.push("q", &NewTask::new("x").id("a")).await.unwrap();
    let (stop, running) = run(Runtime::new(client.clone(), "w").handle("q", 1, handler));
    let done = in_state(&client, "q", "a", State::Done).await;
    assert_eq!((done.attempt, calls.load(Ordering::SeqCst)), (1, 1));
    stop.send(()).unwrap();
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn cancel_and_pause_reach_the_handler() {
    for mode in ["pull", "dispatch"] {
        let (_server, client) = server();
        // A pull worker hears of it with its next heartbeat, one that polls at once.
        let hold = if mode == "pull" { Duration::from_secs(1) } else { HOLD };
        queue(&client, "q", mode, hold).await;
        let (stop, running) = run(Runtime::new(client.clone(), "w").handle("q", 2, by_order));
        push(&client, "q", "a", "wait").await;
        push(&client, "q", "b", "wait").await;
        in_state(&client, "q", "a", State::Running).await;
        in_state(&client, "q", "b", State::Running).await;
        client.cancel("q", "a").await.unwrap();
        client.pause("q", "b").await.unwrap();
        let cancelled = in_state(&client, "q", "a", State::Cancelled).await;
        assert_eq!(cancelled.error.as_deref(), Some("Cancelled"), "{mode}");
        let paused = in_state(&client, "q", "b", State::Paused).await;
        assert_eq!(paused.error.as_deref(), Some("Paused"), "{mode}");
        assert_eq!(paused.checkpoint, Some(RawJson::of("here")), "{mode}");
        stop.send(()).unwrap();
        running.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_stop_lets_work_finish_and_gives_back_what_does_not() {
    for mode in ["pull", "dispatch"] {
        let (_server, client) = server();
        queue(&client, "q", mode, HOLD).await;
        let (go, gone) = oneshot::channel::<()>();
        let gone = Arc::new(tokio::sync::Mutex::new(Some(gone)));
        let handler = move |job: Job| {
            let gone = gone.clone();
            async move {
                if job.task.id == "finishes" {
                    let gone = gone.lock().await.take().unwrap();
                    gone.await.unwrap();
                    return Ok(RawJson::null());
                }
                assert_eq!(job.stopped().await, Stop::Stopping);
                Err(Fail::default())
            }
        };
        let runtime = Runtime::new(client.clone(), "w").handle("q", 2, handler);
        let (stop, running) = run(runtime.grace(Duration::from_millis(500)));
        push(&client, "q", "finishes", "x").await;
        push(&client, "q", "does-not", "x").await;
        in_state(&client, "q", "finishes", State::Running).await;
        in_state(&client, "q", "does-not", State::Running).await;
        stop.send(()).unwrap();
        go.send(()).unwrap();
        running.await.unwrap().unwrap();
        assert_eq!(client.task("q", "finishes").await.unwrap().state, State::Done, "{mode}");
        let back = client.task("q", "does-not").await.unwrap();
        assert_eq!((back.state, back.attempt), (State::Ready, 0), "given back ({mode})");
        if mode == "dispatch" {
            let gone = client.worker("w").await.unwrap_err();
            assert_eq!(gone.code(), Some("not_found"));
        }
    }
}

#[tokio::test]
async fn progress_is_reported_while_it_lasts() {
    let (_server, client) = server();
    queue(&client, "q", "pull", HOLD).await;
    let handler = |job: Job| async move {
        job.progress(0.25, "a quarter");
        job.stopped().await;
        Err(Fail::default())
    };
    let (stop, running) =
        run(Runtime::new(client.clone(), "w").grace(Duration::ZERO).handle("q", 1, handler));
    client.push("q", &NewTask::new("x").id("a")).await.unwrap();
    let told = until(&client, "q", "a", "told", |task| task.progress == Some(0.25)).await;
    assert_eq!(told.message.as_deref(), Some("a quarter"));
    stop.send(()).unwrap();
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn who_joins_under_the_name_of_another_takes_its_place() {
    let (_server, client) = server();
    queue(&client, "q", "dispatch", HOLD).await;
    let (_stop, first) = run(Runtime::new(client.clone(), "w").handle("q", 1, by_order));
    push(&client, "q", "a", "wait").await;
    in_state(&client, "q", "a", State::Running).await;
    let (stop, second) = run(Runtime::new(client.clone(), "w").handle("q", 1, by_order));
    let error = first.await.unwrap().unwrap_err();
    assert_eq!(error.code(), Some("stale_token"));
    until(&client, "q", "a", "taken over", |t| t.state == State::Running && t.attempt == 2).await;
    client.cancel("q", "a").await.unwrap();
    in_state(&client, "q", "a", State::Cancelled).await;
    stop.send(()).unwrap();
    second.await.unwrap().unwrap();
}
