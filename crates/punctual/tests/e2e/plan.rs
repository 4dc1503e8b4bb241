//! Plans by the real binary: on the command line, over the client, and by a clock that is moved.

use std::path::Path;

use punctual_client::{
    Callback, Commit, Fail, LastState, NewPlan, PlanChanges, PlanState, PlanTime, PlanType,
    QueueChanges, RawJson, Rule, Span, Take, Timestamp,
};
use serde_json::json;

use crate::process::{Server, complaint, serve};

/// A server whose clock is moved by hand.
fn movable(store: &Path) -> Server {
    let mut command = serve(store);
    command.arg("--dev");
    Server::of(command)
}

fn time(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn days(count: i64) -> Span {
    Span::from_secs(count * 86_400)
}

#[tokio::test]
async fn plans_on_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let server = movable(dir.path());
    server.client().set_clock(time("2099-01-30T12:00:00Z")).await.unwrap();
    let add = ["plan", "add", "reports", r#"{"x": 1}"#, "--every", "10m", "--id", "ten"];
    let said = server.say(&[&add[..], &["--description", "every ten"]].concat());
    assert!(said.starts_with("made plan ten: scheduled, next at 2099-01-30T12:1"), "{said}");
    let twice = complaint(&server.run(&add), 1);
    assert!(twice.ends_with("(duplicate)"), "{twice}");

    let made = server.json(&[
        "plan",
        "add",
        "reports",
        "--monthly",
        "0",
        "--time",
        "18:00",
        "--timezone",
        "Europe/Berlin",
        "--times",
        "2",
        "--id",
        "month-end",
        "--tag",
        "books",
        "--hold",
        "5m",
    ]);
    assert_eq!((&made["message"], &made["hold"]), (&json!(null), &json!(300)));
    assert_eq!((&made["plan_type"], &made["plan_value"]), (&json!("month"), &json!(0)));
    assert_eq!(made["next_at"], "2099-01-31T17:00:00.000Z");
    assert_eq!(made["on_error"], "continue", "unless something else is said");
    let stops = ["plan", "add", "other", "--every", "1h", "--on-error", "3"];
    assert_eq!(server.json(&stops)["on_error"], json!({"stop_after": 3}));
    let table = server.say(&["plan", "list", "--station", "reports"]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("ID ") && lines.len() == 3, "{table}");
    assert!(lines[1].contains("every month on the last day at 18:00, Europe/Berlin"), "{table}");
    assert!(lines[1].contains("0 of 2") && lines[2].contains("every ten"), "{table}");
    assert_eq!(server.json(&["plan", "list", "--state", "paused,error"])["items"], json!([]));
    let shown = server.say(&["plan", "get", "month-end", "--count", "5"]);
    let next = |at: &str| shown.lines().any(|l| l.starts_with("next") && l.ends_with(at));
    assert!(next("2099-01-31T18:00:00+01:00") && next("2099-02-28T18:00:00+01:00"), "{shown}");
    assert_eq!(shown.lines().filter(|line| line.starts_with("next")).count(), 2, "{shown}");

    let said = server.say(&["plan", "skip", "month-end"]);
    assert!(said.contains("scheduled, next at 2099-02-28T18:00:00+01:00"), "{said}");
    assert_eq!(server.say(&["plan", "pause", "month-end"]), "paused plan month-end: paused\n");
    let resumed = server.json(&["plan", "resume", "month-end"]);
    assert_eq!((&resumed["state"], &resumed["skipped"]), (&json!("scheduled"), &json!(1)));
    assert!(!server.say(&["plan", "get", "ten", "--count", "0"]).contains("next"));
    let changed = server.json(&["plan", "set", "month-end", "description=close", "timezone="]);
    assert_eq!((&changed["description"], &changed["skipped"]), (&json!("close"), &json!(1)));
    assert_eq!((&changed["timezone"], &changed["plan_value"]), (&json!("UTC"), &json!(0)));
    let unknown = complaint(&server.run(&["plan", "set", "month-end", "plan_tim=1"]), 1);
    assert!(unknown.contains("plan_tim"), "{unknown}");
    server.say(&["plan", "set", "month-end", "timezone=Europe/Berlin"]);
    server.say(&["plan", "skip", "month-end"]);
    let ran = server.say(&["plan", "run", "month-end"]);
    assert_eq!(
        ran,
        "ran plan month-end: scheduled, task reports/month-end@1.1, next at 2099-02-28T18:00:00+01:00\n"
    );
    let taken = server.json(&["take", "reports", "--worker", "w"]);
    let (task, token) = (&taken["tasks"][0], taken["tasks"][0]["token"].as_str().unwrap());
    assert_eq!((&task["id"], &task["tags"]), (&json!("month-end@1.1"), &json!(["books"])));
    assert_eq!(task["plan"]["run"], "1.1");
    server.say(&["commit", "reports", "month-end@1.1", token, r#""closed""#]);
    let results = server.say(&["plan", "results", "month-end"]);
    let line = results.lines().nth(1).unwrap();
    assert!(
        line.starts_with("1.1 ") && line.contains(" w ") && line.ends_with("closed"),
        "{results}"
    );

    assert_eq!(server.say(&["plan", "delete", "ten"]), "deleted plan ten\n");
    let gone = complaint(&server.run(&["plan", "get", "ten"]), 1);
    assert!(gone.ends_with("(not_found)"), "{gone}");
    server.stop();
}

#[tokio::test]
async fn rules_are_previewed_and_bad_ones_refused() {
    let dir = tempfile::tempdir().unwrap();
    let server = movable(dir.path());
    server.client().set_clock(time("2099-03-27T00:00:00Z")).await.unwrap();
    let daily = ["plan", "preview", "--daily", "--time", "02:30", "--timezone", "Europe/Berlin"];
    // On the last Sunday of March there is no half past two: it is three as soon as it is two.
    let times = server.say(&[&daily[..], &["--count", "3"]].concat());
    let expected =
        "2099-03-27T02:30:00+01:00\n2099-03-28T02:30:00+01:00\n2099-03-29T03:00:00+02:00\n";
    assert_eq!(times, expected);
    let times = server.json(&["plan", "preview", "--monthly", "-1", "--count", "2"]);
    let expected = json!(["2099-03-30T00:00:00.000Z", "2099-04-29T00:00:00.000Z"]);
    assert_eq!(times, json!({"items": expected, "next": null}));
    assert_eq!(server.say(&["plan", "preview", "--at", "1"]), "never\n");

    for (rule, field) in [
        (&["--cron", "61 * * * *"][..], "cron"),
        (&["--every", "1h", "--repet", "0"], "plan_repet"),
        (&["--monthly", "32"], "plan_value"),
        (&["--daily", "--timezone", "Mars/Base"], "timezone"),
    ] {
        for verb in [&["plan", "preview"][..], &["plan", "add", "q"]] {
            let refused = complaint(&server.run(&[verb, rule].concat()), 1);
            assert!(refused.starts_with(&format!("error: {field}: ")), "{refused}");
        }
    }
    assert_eq!(server.json(&["plan", "list"])["items"], json!([]), "nothing is stored");
    assert_eq!(server.run(&["plan", "add", "q"]).status.code(), Some(2));
    assert_eq!(server.run(&["plan", "add", "q", "{", "--daily"]).status.code(), Some(2));
    server.stop();
}

#[tokio::test]
async fn a_month_passes_in_a_moment() {
    let dir = tempfile::tempdir().unwrap();
    let server = movable(dir.path());
    let client = server.client();
    server.client().set_clock(time("2099-01-15T00:00:00Z")).await.unwrap();
    client.put_queue("q", &QueueChanges::new().max_attempts(1)).await.unwrap();
    let rule = Rule::monthly(31).time(PlanTime::parse("09:00").unwrap());
    let plan = NewPlan::new("q", rule, &json!({"close": true})).callback(Callback::new("told"));
    let made = client.make_plan(&plan.id("m")).await.unwrap();
    assert_eq!(made.next_at, Some(time("2099-01-31T09:00:00Z")));

    let now = client.advance_clock(days(31)).await.unwrap();
    assert!(now >= time("2099-02-15T00:00:00Z"), "{now}");
    let run = client.take("q", &Take::new().worker("w")).await.unwrap().tasks.remove(0);
    assert_eq!(run.task.id, "m@1");
    client.commit(run.held(), &Commit { result: Some(RawJson::of("done")) }).await.unwrap();
    let plan = client.plan("m").await.unwrap();
    assert_eq!((plan.state, plan.real_repet), (PlanState::Scheduled, 1));
    assert_eq!(plan.next_at, Some(time("2099-02-28T09:00:00Z")));
    assert_eq!(client.queue("told").await.unwrap().counts.ready, 1);
    let results = client.plan_results("m", 10, None).await.unwrap().items;
    assert_eq!((results[0].run.as_str(), results[0].result.as_str()), ("1", r#""done""#));

    // The clock is where it was after a crash, and the plan goes on.
    server.kill();
    let server = movable(dir.path());
    let client = server.client();
    client.advance_clock(days(28)).await.unwrap();
    let run = client.take("q", &Take::new()).await.unwrap().tasks.remove(0);
    client
        .fail(run.held(), &Fail { error: Some("no".to_owned()), ..Fail::default() })
        .await
        .unwrap();
    let plan = client.plan("m").await.unwrap();
    assert_eq!((plan.state, plan.last_state), (PlanState::Error, Some(LastState::Error)));
    assert_eq!(plan.error.as_deref(), Some("no"));
    let plans = client.plans(Some("q"), &[PlanState::Error], 10, None).await.unwrap();
    assert_eq!(plans.items.len(), 1);
    let resumed = client.resume_plan("m").await.unwrap();
    assert_eq!(resumed.next_at, Some(time("2099-03-31T09:00:00Z")));

    // Another rule, and what was counted stays.
    let hourly = NewPlan::new("q", Rule::every(1, PlanType::Hour).times(3), "again");
    let put = client.put_plan("m", &hourly).await.unwrap();
    assert_eq!((put.real_repet, put.plan_type), (1, PlanType::Hour));
    assert_eq!(client.plan_occurrences("m", 10).await.unwrap().len(), 2);
    let changes = PlanChanges::new().rule(&Rule::cron("0 9 * * *")).message(RawJson::of("new"));
    let changed = client.change_plan("m", &changes).await.unwrap();
    assert_eq!((changed.cron.as_deref(), changed.plan_value), (Some("0 9 * * *"), None));
    assert_eq!((changed.message.as_str(), changed.real_repet), (r#""new""#, 1));
    client.delete_plan("m").await.unwrap();
    assert_eq!(client.plan("m").await.unwrap_err().code(), Some("not_found"));
    server.stop();
}

#[tokio::test]
async fn plans_push_into_bundles() {
    let dir = tempfile::tempdir().unwrap();
    let server = movable(dir.path());
    let client = server.client();
    let rule = Rule::every(1, PlanType::Day).times(2).no_keep();
    let plan = NewPlan::new("digests", rule, "news").bundle_key("ada/1").id("d");
    client.make_plan(&plan).await.unwrap();
    client.advance_clock(days(3)).await.unwrap();
    let plan = client.plan("d").await.unwrap();
    assert_eq!((plan.state, plan.real_repet), (PlanState::Finished, 2));
    let bundle = client.bundle("digests", "ada/1").await.unwrap();
    assert_eq!(bundle.size, 2);
    let due = client.schedule_bundle("digests", Span::ZERO).await.unwrap();
    assert_eq!(due.key.as_deref(), Some("ada/1"));
    server.stop();
}
