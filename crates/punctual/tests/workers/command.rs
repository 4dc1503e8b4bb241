//! `punctual work`: a command as a worker.

use std::process::{Child, Stdio};
use std::time::Duration;

use punctual_client::{NewTask, QueueChanges, RawJson, State};

use crate::process::{Server, punctual};
use crate::scene::{in_state, queue, server, until};

const HOLD: Duration = Duration::from_secs(3);

/// A worker with a shell script for a handler. Ends with the test.
struct Working(Child);

impl Working {
    fn start(server: &Server, flags: &[&str], script: &str) -> Self {
        Self::telling(server, flags, script, Stdio::null())
    }

    fn telling(server: &Server, flags: &[&str], script: &str, stderr: impl Into<Stdio>) -> Self {
        let mut command = punctual();
        command.args(["work", "q"]).args(flags).args(["--", "sh", "-c", script]);
        command.env("PUNCTUAL_URL", &server.url).stdout(Stdio::null()).stderr(stderr);
        Self(command.spawn().unwrap())
    }

    fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        let kill = std::process::Command::new("kill").args(["-s", name, &pid]).status();
        assert!(kill.unwrap().success());
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn its_exit_code_decides_and_its_output_is_the_result() {
    let (server, client) = server();
    queue(&client, "q", "pull", HOLD).await;
    let script = r#"read -r order; echo "$PUNCTUAL_QUEUE $PUNCTUAL_TASK_ID $PUNCTUAL_ATTEMPT" >&2
        case $order in '"json"') echo '{"n": 1e400}';; '"text"') echo done;; '"silent"') ;;
        *) exit 3;; esac"#;
    let told = tempfile::NamedTempFile::new().unwrap();
    let file = told.reopen().unwrap();
    let _working = Working::telling(&server, &["--concurrency", "2"], script, file);
    for order in ["json", "text", "silent", "fail"] {
        client.push("q", &NewTask::new(order).id(order).max_attempts(2)).await.unwrap();
    }
    let result = async |id| in_state(&client, "q", id, State::Done).await.result;
    assert_eq!(result("json").await.unwrap().as_str(), r#"{"n": 1e400}"#);
    assert_eq!(result("text").await, Some(RawJson::of("done")));
    assert_eq!(result("silent").await, None);
    let failed = in_state(&client, "q", "fail", State::Failed).await;
    assert_eq!((failed.attempt, failed.error.as_deref()), (2, Some("q fail 2")));
    let told = std::fs::read_to_string(told.path()).unwrap();
    assert!(told.contains("q json 1\n") && told.contains("q fail 2\n"), "{told}");
}

/// A second ballot comes while the first is being answered, and there is no time to wait for its end.
#[tokio::test]
async fn every_ballot_of_a_vote_is_answered() {
    let (server, client) = server();
    queue(&client, "q", "vote", Duration::from_secs(2)).await;
    let brief = QueueChanges::new().set("confirm_within", RawJson::parse("1").unwrap());
    client.put_queue("q", &brief).await.unwrap();
    let _working = Working::start(&server, &["--name", "w"], "sleep 3; echo yes");
    for id in ["a", "b"] {
        client.push("q", &NewTask::new("?").id(id)).await.unwrap();
    }
    for id in ["a", "b"] {
        let done = until(&client, "q", id, "over", |task| task.state.is_finished()).await;
        assert_eq!((done.state, done.error), (State::Done, None), "{id}");
        assert_eq!(done.result, Some(RawJson::parse(r#"{"w":"yes"}"#).unwrap()));
    }
}

#[tokio::test]
async fn it_says_what_it_does_and_keeps_its_access_token_to_itself() {
    let (server, client) = server();
    queue(&client, "q", "pull", HOLD).await;
    let told = tempfile::NamedTempFile::new().unwrap();
    let mut command = punctual();
    command.args(["work", "q", "--name", "w", "--", "sh", "-c"]);
    command.arg(r#"[ -z "$PUNCTUAL_TOKEN" ] && [ -n "$PUNCTUAL_URL" ] && [ $(cat) = 1 ]"#);
    command.env("PUNCTUAL_URL", &server.url).env("PUNCTUAL_TOKEN", "secret");
    command.stdout(Stdio::null()).stderr(told.reopen().unwrap());
    let mut working = Working(command.spawn().unwrap());
    client.push("q", &NewTask::new(&1).id("good")).await.unwrap();
    in_state(&client, "q", "good", State::Done).await;
    client.push("q", &NewTask::new(&2).id("bad").max_attempts(1)).await.unwrap();
    in_state(&client, "q", "bad", State::Failed).await;
    working.signal("TERM");
    tokio::task::spawn_blocking(move || working.0.wait().unwrap()).await.unwrap();
    let told = std::fs::read_to_string(told.path()).unwrap();
    let lines: Vec<_> = told.lines().collect();
    assert!(
        lines[0].starts_with(&format!("w works on q at {}, 1 at a time", server.url)),
        "{told}"
    );
    assert_eq!((lines[1], lines[3]), ("q/good started, attempt 1", "q/bad started, attempt 1"));
    assert!(
        lines[2].starts_with("q/good done in ") && lines[4].contains(": exit status: 1"),
        "{told}"
    );
    assert!(lines[5].starts_with("stopping") && lines[6] == "stopped", "{told}");
}

#[tokio::test]
async fn a_cancel_ends_the_command_and_all_it_has_started() {
    let (server, client) = server();
    queue(&client, "q", "pull", Duration::from_secs(1)).await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pid");
    let script = format!("sleep 600 & echo $! > {}; wait", file.display());
    let _working = Working::start(&server, &[], &script);
    client.push("q", &NewTask::new("x").id("a")).await.unwrap();
    in_state(&client, "q", "a", State::Running).await;
    let child = loop {
        let pid = std::fs::read_to_string(&file).unwrap_or_default();
        if pid.ends_with('\n') {
            break pid.trim().to_owned();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    client.cancel("q", "a").await.unwrap();
    in_state(&client, "q", "a", State::Cancelled).await;
    let stat = std::path::Path::new("/proc").join(child).join("stat");
    let is_gone = || match std::fs::read_to_string(&stat) {
        Ok(stat) => stat.contains(") Z"),
        Err(_) => true,
    };
    while !is_gone() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_command_that_takes_longer_than_its_hold_keeps_the_task() {
    let (server, client) = server();
    queue(&client, "q", "pull", Duration::from_secs(1)).await;
    let _working = Working::start(&server, &["--name", "w"], "sleep 4; echo 1");
    client.push("q", &NewTask::new("x").id("a")).await.unwrap();
    let done = in_state(&client, "q", "a", State::Done).await;
    assert_eq!((done.attempt, done.worker.as_deref()), (1, Some("w")));
}

#[tokio::test]
async fn a_command_that_hangs_is_ended_at_its_time_out() {
    let (server, client) = server();
    queue(&client, "q", "pull", HOLD).await;
    let _working = Working::start(&server, &["--timeout", "0.3"], "sleep 600");
    client.push("q", &NewTask::new("x").id("a").max_attempts(1)).await.unwrap();
    let failed = in_state(&client, "q", "a", State::Failed).await;
    assert_eq!(failed.error.as_deref(), Some("the command ran longer than its time-out"));
}

#[tokio::test]
async fn asked_to_end_it_lets_commands_finish_and_asked_again_it_gives_them_back() {
    for (signals, state) in [(1, State::Done), (2, State::Ready)] {
        let (server, client) = server();
        queue(&client, "q", "pull", Duration::from_secs(30)).await;
        let dir = tempfile::tempdir().unwrap();
        let begun = dir.path().join("begun");
        let seconds = if signals == 1 { 1 } else { 600 };
        let script = format!("touch {}; sleep {seconds}", begun.display());
        let mut working = Working::start(&server, &[], &script);
        client.push("q", &NewTask::new("x").id("a")).await.unwrap();
        // One that was only just handed out would be given back.
        while !begun.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        for _ in 0..signals {
            working.signal("TERM");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        let status = tokio::task::spawn_blocking(move || working.0.wait().unwrap()).await.unwrap();
        assert!(status.success());
        let task = client.task("q", "a").await.unwrap();
        assert_eq!((task.state, task.error), (state, None));
    }
}

#[test]
fn a_command_line_without_a_command_is_refused() {
    let output = punctual().args(["work", "q"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
