//! Answers that get lost on the way: a proxy swallows them, or the one who asked is gone.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use punctual_client::{
    Callback, Client, Commit, Effect, NewTask, QueueChanges, RawJson, Span, State, Take,
};
use punctual_testing::eventually;
use serde_json::json;

use crate::process::Server;
use crate::raw;
use crate::task::{all, take_one};

/// Hands everything on between clients and a server, but swallows an answer when told to.
struct Proxy {
    url: String,
    swallows_next: Arc<AtomicBool>,
}

impl Proxy {
    fn before(server: &Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let swallows_next = Arc::new(AtomicBool::new(false));
        let (address, swallows) = (server.address().to_owned(), Arc::clone(&swallows_next));
        // Ends with the test.
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&address).unwrap());
                let swallows = Arc::clone(&swallows);
                std::thread::spawn(move || hand_on(client, server, &swallows));
            }
        });
        Self { url, swallows_next }
    }

    fn client(&self) -> Client {
        Client::new(self.url.as_str(), None).unwrap()
    }

    fn swallow_next(&self) {
        self.swallows_next.store(true, Ordering::SeqCst);
    }
}

fn hand_on(client: TcpStream, server: TcpStream, swallows: &AtomicBool) {
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(std::net::Shutdown::Write);
    });
    let (mut from, mut to) = (server, client);
    let mut buffer = [0; 1 << 16];
    while let Ok(got @ 1..) = from.read(&mut buffer) {
        let is_swallowed = swallows.swap(false, Ordering::SeqCst);
        if is_swallowed || to.write_all(&buffer[..got]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
    let _ = from.shutdown(std::net::Shutdown::Both);
}

async fn server() -> (tempfile::TempDir, Server) {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    (dir, server)
}

#[tokio::test]
async fn a_commit_repeated_because_its_answer_was_lost_has_one_effect() {
    let (_dir, server) = server().await;
    let proxy = Proxy::before(&server);
    let client = proxy.client();
    let keep = RawJson::of(&json!({"done": "1h"}));
    client.put_queue("kept", &QueueChanges::new().set("keep", keep)).await.unwrap();
    for queue in ["kept", "gone"] {
        let task = NewTask::new("x").id("t").callback(Callback::new("after"));
        client.push(queue, &task).await.unwrap();
        let taken = take_one(&client, queue, &Take::new()).await;
        let result = Commit { result: Some(RawJson::of(&1)) };
        proxy.swallow_next();
        let error = client.commit(taken.held(), &result).await.unwrap_err();
        assert_eq!(error.effect(), Effect::Unknown, "{error}");
        for _ in 0..2 {
            let again = client.commit(taken.held(), &result).await.unwrap();
            assert_eq!(again.state(), Some(State::Done));
        }
        // Also after the id was pushed again, and without touching the new task.
        client.push(queue, &task).await.unwrap();
        client.commit(taken.held(), &result).await.unwrap();
        let task = client.task(queue, "t").await.unwrap();
        assert_eq!((task.state, task.attempt), (State::Ready, 0));
    }
    assert_eq!(all(&client, "after").await.len(), 2, "one callback per task");
    server.stop();
}

#[tokio::test]
async fn a_push_repeated_because_its_answer_was_lost_has_one_effect() {
    let (_dir, server) = server().await;
    let proxy = Proxy::before(&server);
    let client = proxy.client();
    proxy.swallow_next();
    let error = client.push_once("q", "key", &NewTask::new("x")).await.unwrap_err();
    assert_eq!(error.effect(), Effect::Unknown, "{error}");
    let first = client.push_once("q", "key", &NewTask::new("x")).await.unwrap();
    let second = client.push_once("q", "key", &NewTask::new("x")).await.unwrap();
    assert!(first.replayed && second.replayed);
    assert_eq!(first.after.id(), second.after.id());
    assert_eq!(all(&client, "q").await.len(), 1);

    proxy.swallow_next();
    client.push("q", &NewTask::new("x").id("named")).await.unwrap_err();
    let error = client.push("q", &NewTask::new("x").id("named")).await.unwrap_err();
    assert_eq!(error.code(), Some("duplicate"), "the first one is there");
    assert_eq!(all(&client, "q").await.len(), 2);

    let tasks = [NewTask::new("x").id("a"), NewTask::new("x").id("named")];
    proxy.swallow_next();
    client.push_batch("q", &tasks, Some("batch")).await.unwrap_err();
    let again = client.push_batch("q", &tasks, Some("batch")).await.unwrap();
    let codes: Vec<_> = again.iter().map(|item| item.code.as_deref()).collect();
    assert_eq!(codes, [None, Some("duplicate")], "as it was answered the first time");
    server.stop();
}

/// Takers that hang up before, or just when, there is something for them. What they would have got
/// is ready for others at once, and that take does not count.
#[tokio::test]
async fn a_take_whose_taker_is_gone_is_given_back() {
    const TAKERS: usize = 25;
    let (_dir, server) = server().await;
    let client = server.client();
    let settings = QueueChanges::new().hold(Span::from_secs(3_600)).max_attempts(1);
    client.put_queue("q", &settings).await.unwrap();
    for round in 0..6 {
        let takers: Vec<TcpStream> = (0..TAKERS).map(|_| waiting_taker(&server)).collect();
        wait_for_takers(&server, TAKERS);
        let hang_up = move || takers.into_iter().for_each(drop);
        let hanging_up = if round % 2 == 0 {
            hang_up();
            wait_for_takers(&server, 0);
            None
        } else {
            Some(tokio::task::spawn_blocking(hang_up))
        };
        let tasks: Vec<_> =
            (0..TAKERS).map(|n| NewTask::new(&n).id(format!("{round}-{n}"))).collect();
        for chunk in tasks.chunks(3) {
            client.push_batch("q", chunk, None).await.unwrap();
        }
        if let Some(hanging_up) = hanging_up {
            hanging_up.await.unwrap();
        }
        let mut unheard = TAKERS;
        while unheard > 0 {
            let take = Take::new().n(TAKERS).wait(Span::from_secs(3));
            let tasks = client.take("q", &take).await.unwrap().tasks;
            if tasks.is_empty() {
                break;
            }
            for taken in tasks {
                assert_eq!(taken.task.attempt, 1, "the take of one who is gone does not count");
                client.commit(taken.held(), &Commit::default()).await.unwrap();
                unheard -= 1;
            }
        }
        println!("round {round}: {unheard} of {TAKERS} were written to somebody who hung up then");
        assert!(round % 2 == 1 || unheard == 0, "they had hung up before");
        client.reset_queue("q").await.unwrap();
    }
    server.stop();
}

/// A connection on which a take has been sent that waits for two tasks.
fn waiting_taker(server: &Server) -> TcpStream {
    let body = r#"{"wait":60,"n":2}"#;
    let head = raw::head("POST", "/v1/queues/q/take", "Content-Length: 17\r\n");
    let mut taker = raw::connect(server.address());
    taker.write_all(head.as_bytes()).unwrap();
    taker.write_all(body.as_bytes()).unwrap();
    taker
}

/// Waits until the server knows of so many who wait for tasks.
fn wait_for_takers(server: &Server, count: usize) {
    eventually("so many wait", || {
        let scale = raw::send(server.address(), "GET", "/v1/queues/q/scale", b"").body;
        scale.contains(&format!(r#""workers":{count},"#)).then_some(())
    });
}

/// A taker that is gone while it waits in line has no part in what comes later.
#[tokio::test]
async fn a_taker_that_hung_up_while_waiting_gets_nothing() {
    let (_dir, server) = server().await;
    let client = server.client();
    let settings = QueueChanges::new().hold(Span::from_secs(3_600)).max_attempts(1);
    client.put_queue("q", &settings).await.unwrap();
    let heard = waiting_taker(&server);
    client.push("q", &NewTask::new("x").id("first")).await.unwrap();
    let answer = raw::Answer::read(heard);
    assert_eq!(answer.status, 200);
    assert!(answer.body.contains("first"), "{}", answer.body);

    let gone = waiting_taker(&server);
    wait_for_takers(&server, 2);
    drop(gone);
    wait_for_takers(&server, 1);
    client.push("q", &NewTask::new("x").id("second")).await.unwrap();
    let taken = take_one(&client, "q", &Take::new().wait(Span::from_secs(60))).await;
    assert_eq!((taken.task.id.as_str(), taken.task.attempt), ("second", 1));
    server.stop();
}
