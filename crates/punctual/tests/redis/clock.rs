//! FAULTS row 19: a server whose clock is five minutes off. Redis's clock decides.

use std::process::Command;

use punctual_client::{Commit, NewTask, Span, Take};
use punctual_testing::redis::Server as Redis;

use crate::process::{Server, serve};
use crate::task::take_one;
use crate::{node, raw};

/// A server that believes it to be another time; what it counts itself goes on as ever.
fn off_by(redis: &Redis, offset: &str) -> Server {
    let mut command = serve(redis.url().as_ref());
    command.env("LD_PRELOAD", library()).env("FAKETIME", offset);
    command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").env("DONT_FAKE_MONOTONIC", "1");
    Server::of(command)
}

/// The library that fakes the time: what `faketime` would preload.
fn library() -> String {
    let output = Command::new("faketime").args(["-f", "+0s", "env"]).output();
    let output = output.expect("faketime is installed; on Debian: apt-get install faketime");
    let lines = String::from_utf8(output.stdout).unwrap();
    let library = lines.lines().find_map(|line| line.strip_prefix("LD_PRELOAD="));
    library.unwrap_or_else(|| panic!("{lines}")).to_owned()
}

/// Hour and minute by a server's own clock.
fn minute(server: &Server) -> String {
    let answer = raw::send(server.address(), "GET", "/livez", b"");
    let date = answer.head.lines().find(|line| line.starts_with("date: ")).unwrap();
    date.split(' ').nth(5).unwrap()[..5].to_owned()
}

#[tokio::test]
async fn a_server_whose_clock_is_off_goes_by_that_of_redis() {
    let redis = Redis::start();
    let right = node(&redis);
    for offset in ["+300s", "-300s"] {
        let wrong = off_by(&redis, offset);
        assert_ne!(minute(&wrong), minute(&right), "{offset}");
        for (pusher, taker) in [(&right, &wrong), (&wrong, &right)] {
            let now = std::time::SystemTime::now();
            let task = NewTask::new("x").delay(Span::from_millis(700));
            let pushed = pusher.client().push("q", &task).await.unwrap();
            let early = taker.client().take("q", &Take::new()).await.unwrap();
            assert!(early.tasks.is_empty(), "{offset}: not due yet");
            let take = Take::new().hold(Span::from_secs(60)).wait(Span::from_secs(30));
            let taken = take_one(&taker.client(), "q", &take).await;
            let since = now.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap();
            let took = taken.task.taken_at.unwrap().as_millis() - since.as_millis() as i64;
            assert!((0..30_000).contains(&took), "{offset}: taken {took} ms after the push");
            assert!(taken.task.taken_at.unwrap() >= pushed.due_at, "{offset}");
            // Nobody takes the hold for ended, whatever the own clock says.
            let none = pusher.client().take("q", &Take::new().wait(Span::from_millis(300))).await;
            assert!(none.unwrap().tasks.is_empty(), "{offset}: the hold goes on");
            pusher.client().commit(taken.held(), &Commit::default()).await.unwrap();
        }
        wrong.kill();
    }
    right.stop();
}
