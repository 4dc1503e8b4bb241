//! The command line as people use it: what it asks, shows and hides on a terminal, and in which words.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};

use crate::process::{Server, complaint, punctual};

fn server() -> Server {
    let mut command = punctual();
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:"]);
    Server::of(command)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command on a terminal of its own, with somebody who types.
fn typed(server: &Server, args: &str, keys: &str) -> Output {
    let line = format!("{} {args}", env!("CARGO_BIN_EXE_punctual"));
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]);
    command.env("PUNCTUAL_URL", &server.url).env("TERM", "xterm").env_remove("PUNCTUAL_TOKEN");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    running.stdin.take().unwrap().write_all(keys.as_bytes()).unwrap();
    running.wait_with_output().unwrap()
}

#[test]
fn options_about_the_server_stand_before_or_after_the_command() {
    let server = server();
    server.say(&["push", "mail", "1", "--id", "a"]);
    for args in [
        &["--url", &server.url, "task", "get", "mail", "a"][..],
        &["task", "--url", &server.url, "get", "mail", "a"],
        &["task", "get", "mail", "a", "--url", &server.url],
    ] {
        let output = punctual().args(args).env("PUNCTUAL_URL", "http://127.0.0.1:1").output();
        assert!(text(&output.unwrap().stdout).contains("ready"), "{args:?}");
    }
    let output = punctual().args(["--token", "t", "serve", "--store", "memory:"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "a server has no use for it");
}

#[test]
fn a_queue_is_dropped_on_a_terminal_only_when_somebody_says_so() {
    let server = server();
    server.say(&["push", "mail", "1"]);
    for verb in ["delete", "reset"] {
        let kept = typed(&server, &format!("queue {verb} mail"), "n\n");
        let said = text(&kept.stdout);
        assert!(
            said.contains("(1 ready)? [y/N]") && said.contains("nothing was changed"),
            "{said}"
        );
        assert_eq!(kept.status.code(), Some(1), "{said}");
        assert_eq!(server.json(&["queue", "get", "mail"])["counts"]["ready"], 1);
    }
    let reset = text(&typed(&server, "queue reset mail", "y\n").stdout);
    assert!(reset.contains("reset mail"), "{reset}");
    let deleted = text(&typed(&server, "queue rm mail --yes", "").stdout);
    assert!(deleted.contains("deleted mail") && !deleted.contains("[y/N]"), "{deleted}");
    server.say(&["push", "mail", "1"]);
    assert_eq!(
        server.say(&["queue", "delete", "mail"]),
        "deleted mail\n",
        "a program is not asked"
    );
}

#[test]
fn lists_have_short_names_and_can_be_watched() {
    let server = server();
    server.say(&["push", "mail", "1", "--id", "a"]);
    for args in [
        &["queue", "ls"][..],
        &["task", "ls", "mail"],
        &["plan", "ls"],
        &["flow", "ls"],
        &["worker", "ls"],
        &["notice", "ls"],
        &["bundle", "ls", "mail"],
    ] {
        server.say(args);
    }
    let mut command = punctual();
    command.args(["task", "get", "mail", "a", "--watch=0.1s", "--json"]);
    command.env("PUNCTUAL_URL", &server.url).stdout(Stdio::piped());
    let mut watching = command.spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert!(next().contains("\"ready\"") && next().contains("\"ready\""));
    server.say(&["take", "mail"]);
    while !next().contains("\"running\"") {}
    watching.kill().unwrap();
    watching.wait().unwrap();
    server.say(&["task", "rm", "mail", "a"]);
}

#[test]
fn lengths_times_and_rules_read_as_people_say_them() {
    let server = server();
    server.say(&["queue", "set", "mail", "hold=90m", "retry={\"intervals\":[5,3600]}"]);
    let queue = server.say(&["queue", "set", "mail", "keep={\"done\":\"7d\"}"]);
    let has = |name: &str, value: &str| {
        queue.lines().any(|line| line.starts_with(name) && line.ends_with(value))
    };
    assert!(has("hold ", "1h30m") && has("retry ", "intervals 5s 1h"), "{queue}");
    assert!(queue.contains("done 7d"), "{queue}");

    for (id, rule, words) in [
        ("a", &["--every", "10m"][..], "every 10 minutes"),
        ("b", &["--every", "1h"], "every hour"),
        ("c", &["--weekly", "fri", "--time", "17:00"], "every Friday at 17:00"),
        ("d", &["--monthly", "0"], "every month on the last day at 00:00"),
        (
            "e",
            &["--monthly", "-1", "--time", "09:30:05"],
            "every month on the last day but one at 09:30:05",
        ),
        ("f", &["--daily", "--time", "09:30"], "every day at 09:30"),
        ("g", &["--cron", "0 9 * * MON-FRI"], "cron 0 9 * * MON-FRI"),
        ("h", &["--at", "2099-06-01T10:00:00Z"], "once, 2099-06-01T12:00:00+02:00"),
    ] {
        let zone = ["--timezone", "Europe/Berlin"];
        server.say(&[&["plan", "add", "reports", "--id", id], rule, &zone[..]].concat());
        let plan = server.say(&["plan", "get", id]);
        let rule = plan.lines().find(|line| line.starts_with("rule ")).unwrap();
        let rule = rule.trim_end_matches(", Europe/Berlin");
        assert!(rule.ends_with(words), "{rule}");
        let next = plan.lines().find(|line| line.starts_with("next ")).unwrap();
        assert!(next.ends_with("+01:00") || next.ends_with("+02:00"), "{next}");
    }
}

#[test]
fn stored_text_moves_no_cursor_and_errors_are_not_cut() {
    let server = server();
    let evil = "\x1b[2J\x1b]0;title\x07\u{9b}31m";
    server.say(&["push", "mail", &serde_json::json!(evil).to_string(), "--id", "a"]);
    let taken = server.json(&["take", "mail"]);
    let token = taken["tasks"][0]["token"].as_str().unwrap();
    let error = format!("{evil} {} the end", "long ".repeat(50));
    server.say(&["task", "fail", "mail", "a", token, "--error", &error]);
    for args in [
        &["task", "get", "mail", "a"][..],
        &["task", "list", "mail"],
        &["task", "why", "mail", "a"],
        &["failures"],
    ] {
        let said = server.say(args);
        assert!(!said.contains(|c: char| c != '\n' && c.is_control()), "{said:?}");
    }
    let shown = server.say(&["task", "get", "mail", "a"]);
    let (error, history) = shown.split_once("\nhistory").unwrap();
    assert!(history.contains("\\u{1b}[2J") && error.ends_with("the end"), "{shown}");
    assert!(shown.contains(" ago)"), "{shown}");
    let json = text(&typed(&server, "task get mail a --json", "").stdout);
    assert!(!json.contains(['\x1b', '\u{9b}']) && json.contains("\\u009b31m"), "{json}");
}

#[test]
fn the_doctor_asks_the_server_that_is_named_and_says_what_to_do() {
    let server = server();
    let report = server.json(&["doctor"]);
    let checks: Vec<_> =
        report["checks"].as_array().unwrap().iter().map(|it| &it["check"]).collect();
    assert_eq!(checks, ["server", "access"], "{report}");
    assert!(server.say(&["doctor"]).contains(&server.url));

    let output = punctual().args(["doctor", "--url", "http://127.0.0.1:1"]).output().unwrap();
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.contains("cannot reach") && said.contains("start one with `punctual serve`"),
        "{said}"
    );

    let mut locked = punctual();
    locked.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:", "--tokens"]);
    locked.arg(r#"[{"token":"0123456789abcdef","rights":["read"]}]"#);
    let locked = Server::of(locked);
    let output = locked.run(&["doctor"]);
    assert!(text(&output.stdout).contains("name a token with --token"), "{output:?}");
    assert!(locked.run(&["doctor", "--token", "0123456789abcdef"]).status.success());

    let dir = tempfile::tempdir().unwrap();
    let output = punctual().arg("doctor").current_dir(dir.path()).output().unwrap();
    let said = text(&output.stdout);
    assert!(
        said.contains("there is no store in ./punctual-data") && said.contains("--url"),
        "{said}"
    );
}

#[test]
fn help_tells_tokens_apart_and_has_a_heading_for_the_log() {
    let help = |args: &[&str]| text(&punctual().args(args).arg("--help").output().unwrap().stdout);
    let commit = help(&["commit"]);
    assert!(
        commit.contains("<TASK_TOKEN>") && commit.contains("--token <ACCESS_TOKEN>"),
        "{commit}"
    );
    let serve = help(&["serve"]);
    let (_, log) = serve.split_once("\nLog:\n").unwrap();
    let (log, _) = log.split_once("\nWhen it is ready").unwrap();
    assert!(log.contains("--log-format") && log.contains("--log <FILTER>"), "{log}");
    assert!(!log.contains("--store"), "{log}");
    assert!(help(&[]).contains("--token ACCESS_TOKEN"));
    let said = complaint(&punctual().args(["commit", "q", "a", "t"]).output().unwrap(), 1);
    assert!(said.contains("cannot reach"), "{said}");
}
