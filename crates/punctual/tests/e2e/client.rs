//! Every method of the client against the real server.

use punctual_client::{
    BulkVerb, Callback, Client, Commit, Effect, Extend, Fail, Filter, NewTask, Order, Outcome,
    QueueChanges, Rate, RawJson, Release, RetryPolicy, Span, State, Stopped, Take, Taken,
    TaskChanges, Timestamp,
};

use crate::process::{Server, punctual};

fn server() -> (Server, Client) {
    let mut command = punctual();
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:"]);
    let server = Server::of(command);
    let client = server.client();
    (server, client)
}

async fn take(client: &Client, n: usize) -> Vec<Taken> {
    client.take("q", &Take::new().worker("w").n(n)).await.unwrap().tasks
}

fn oks(results: &[punctual_client::ItemResult]) -> Vec<bool> {
    results.iter().map(|result| result.ok).collect()
}

#[tokio::test]
async fn batches_answer_item_by_item() {
    let (_server, client) = server();
    let tasks: Vec<_> = ["a", "b", "c", "d", "a"].map(|id| NewTask::new(id).id(id)).into();
    let results = client.push_batch("q", &tasks, Some("key")).await.unwrap();
    assert_eq!(oks(&results), [true, true, true, true, false]);
    assert_eq!(results[4].code.as_deref(), Some("duplicate"));
    assert_eq!(oks(&client.push_batch("q", &tasks, Some("key")).await.unwrap()), oks(&results));

    let taken = take(&client, 4).await;
    let [a, b, c, d] = &taken[..] else { panic!("four tasks") };
    let mut stale = c.held();
    stale.token = a.token.as_str();
    let items = [a.held().with(Extend::default()), stale.with(Extend::default())];
    let results = client.extend_batch("q", &items).await.unwrap();
    assert_eq!(results[0].extended.as_ref().map(|heard| heard.cancel), Some(false));
    assert_eq!(results[1].code.as_deref(), Some("stale_token"));

    let done = client.commit_batch("q", &[a.held().with(Commit::default())]).await.unwrap();
    let fail = Fail { permanent: true, ..Fail::default() };
    let failed = client.fail_batch("q", &[b.held().with(fail)]).await.unwrap();
    let released = client.release_batch("q", &[c.held().with(Release::default())]).await.unwrap();
    assert_eq!([oks(&done), oks(&failed), oks(&released)], [[true], [true], [true]]);

    let next = Take::new().n(5).commit(vec![d.held().with(Commit::default())]);
    let answer = client.take("q", &next).await.unwrap();
    assert_eq!(oks(&answer.committed), [true]);
    assert_eq!(answer.tasks.iter().map(|t| t.task.id.as_str()).collect::<Vec<_>>(), ["c"]);
}

#[tokio::test]
async fn a_task_keeps_all_it_was_given() {
    let (_server, client) = server();
    let exact = r#"{"n":12345678901234567890.10,"big":1e400, "space": [ ]}"#;
    let due = Timestamp::from_millis(4_000_000_000_123);
    let task = NewTask::raw(RawJson::parse(exact).unwrap())
        .id("full")
        .due(due)
        .priority(-7)
        .hold(Span::from_secs(5))
        .max_attempts(-1)
        .retry(RetryPolicy::Intervals(vec![Span::from_secs(1)]))
        .unique_for(Span::from_secs(60))
        .expires(Timestamp::from_millis(4_100_000_000_000))
        .callback(Callback::new("after").on([State::Cancelled]).task(NewTask::new("called")))
        .tag("x")
        .tag("y");
    let pushed = client.push("q", &task).await.unwrap();
    assert_eq!(pushed.payload.as_str(), exact);
    assert_eq!((pushed.state, pushed.due_at, pushed.priority), (State::Waiting, due, -7));
    assert_eq!((pushed.max_attempts, pushed.tags.len()), (-1, 2));

    let changes = TaskChanges::new()
        .payload(RawJson::of("new"))
        .due(Timestamp::from_millis(1_000))
        .priority(3)
        .tags(&["z"])
        .retry(&RetryPolicy::default())
        .without("expires");
    let edited = client.edit("q", "full", &changes).await.unwrap();
    assert_eq!((edited.state, edited.priority), (State::Ready, 3));
    assert_eq!(edited.payload_as::<String>().unwrap(), "new");
    assert_eq!(edited.tags, ["z"]);

    client.cancel("q", "full").await.unwrap();
    let error = client.push("q", &NewTask::new(&1).id("full")).await.unwrap_err();
    assert_eq!(error.code(), Some("duplicate"), "the id is reserved");
    let made = client.tasks("after", &Filter::new(), 10, None).await.unwrap();
    assert!(made.items[0].payload.as_str().contains("called"));
}

#[tokio::test]
async fn a_holder_hears_what_is_asked_of_it() {
    let (_server, client) = server();
    client.push("q", &NewTask::new("x").id("a")).await.unwrap();
    let answer = client.take("q", &Take::new().confirm()).await.unwrap();
    let held = answer.tasks[0].held();
    assert_eq!(answer.tasks[0].task.state, State::Assigned);
    assert_eq!(client.confirm(held).await.unwrap().state, State::Running);

    client.pause("q", "a").await.unwrap();
    let extend = Extend {
        hold: Some(Span::from_secs(600)),
        progress: Some(0.5),
        message: Some("half".to_owned()),
        checkpoint: Some(RawJson::of(&[1, 2])),
    };
    let heard = client.extend(held, &extend).await.unwrap();
    assert_eq!((heard.pause, heard.cancel), (true, false));
    let after = client.paused(held, &Stopped::default()).await.unwrap();
    assert_eq!(after.state(), Some(State::Paused));
    let resumed = client.resume("q", "a").await.unwrap();
    assert_eq!(resumed.checkpoint, Some(RawJson::of(&[1, 2])));
    assert_eq!(resumed.history[0].outcome, Outcome::Paused);

    let taken = take(&client, 1).await;
    client.cancel("q", "a").await.unwrap();
    assert!(client.extend(taken[0].held(), &Extend::default()).await.unwrap().cancel);
    let stopped = Stopped { error: Some("told to".to_owned()), ..Stopped::default() };
    let after = client.cancelled(taken[0].held(), &stopped).await.unwrap();
    assert_eq!(after.state(), Some(State::Cancelled));
    let again = client.cancelled(taken[0].held(), &stopped).await.unwrap();
    assert_eq!((again.id(), again.task()), ("a", None), "a repeat, after it is gone");
}

#[tokio::test]
async fn many_tasks_are_listed_and_changed_page_by_page() {
    let (_server, client) = server();
    let tasks: Vec<_> = (0..25)
        .map(|n| NewTask::new(&n).id(format!("t-{n:02}")).tag(if n < 20 { "low" } else { "high" }))
        .collect();
    client.push_batch("q", &tasks, None).await.unwrap();
    let filter = Filter::new().states([State::Ready]).tag("low").id_prefix("t-");
    let (mut ids, mut cursor) = (Vec::new(), None);
    loop {
        let page = client.tasks("q", &filter, 7, cursor.as_deref()).await.unwrap();
        ids.extend(page.items.into_iter().map(|task| task.id));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(ids, (0..20).map(|n| format!("t-{n:02}")).collect::<Vec<_>>());

    let dry = client.bulk("q", BulkVerb::Pause, &filter, true, None).await.unwrap();
    assert_eq!((dry.matched, dry.changed, dry.next), (20, 0, None));
    let wet = client.bulk("q", BulkVerb::Pause, &filter, false, None).await.unwrap();
    assert_eq!((wet.matched, wet.changed), (20, 20));
    assert_eq!(client.queue("q").await.unwrap().counts.paused, 20);
    let filter = Filter::new().payload_contains("24");
    client.bulk("q", BulkVerb::Clean, &filter, false, None).await.unwrap();
    assert_eq!(client.queue("q").await.unwrap().counts.total, 24);
}

#[tokio::test]
async fn queues_take_every_setting() {
    let (_server, client) = server();
    let changes = QueueChanges::new()
        .tag("t")
        .max(1)
        .hold(Span::from_secs(5))
        .confirm_within(Span::from_secs(2))
        .max_attempts(3)
        .retry(&RetryPolicy::default())
        .order(Order::Random)
        .concurrency(4)
        .rate(Rate { limit: 100, per: Span::from_secs(1) })
        .keep(Span::from_secs(1), Span::from_secs(2), Span::from_secs(3));
    let queue = client.put_queue("q", &changes).await.unwrap();
    for (field, expected) in [
        ("tag", r#""t""#),
        ("max", "1"),
        ("hold", "5"),
        ("confirm_within", "2"),
        ("max_attempts", "3"),
        ("order", r#""random""#),
        ("concurrency", "4"),
        ("rate", r#"{"limit":100,"per":1}"#),
        ("keep", r#"{"cancelled":3,"done":1,"failed":2}"#),
    ] {
        assert_eq!(queue.settings[field].to_string(), expected, "{field}");
    }
    client.push("q", &NewTask::new("x").id("a")).await.unwrap();
    let error = client.push("q", &NewTask::new("x")).await.unwrap_err();
    assert_eq!((error.status(), error.code()), (Some(429), Some("queue_full")));
    assert_eq!(error.effect(), Effect::None);

    let page = client.queues(Some("t"), None, 10, None).await.unwrap();
    assert_eq!(page.items.len(), 1);
    assert!(client.pause_queue("q").await.unwrap().paused);
    assert_eq!(client.why("q", "a").await.unwrap().reason, "queue_paused");
    assert!(!client.resume_queue("q").await.unwrap().paused);
    assert_eq!(client.reset_queue("q").await.unwrap().counts.total, 0);
    client.delete_queue("q").await.unwrap();
    let error = client.delete_queue("q").await.unwrap_err();
    assert_eq!((error.status(), error.code()), (Some(404), Some("not_found")));
}

#[tokio::test]
async fn a_task_is_retried_reset_and_cleaned() {
    let (_server, client) = server();
    client.push("q", &NewTask::new("x").id("a")).await.unwrap();
    let taken = take(&client, 1).await;
    let error = client.retry("q", "a", false).await.unwrap_err();
    assert_eq!(error.code(), Some("wrong_state"));
    assert_eq!(client.retry("q", "a", true).await.unwrap().state, State::Ready);
    let error = client.commit(taken[0].held(), &Commit::default()).await.unwrap_err();
    assert_eq!(error.code(), Some("stale_token"));

    let taken = take(&client, 1).await;
    let fail = Fail {
        error: Some("no".to_owned()),
        retry_in: Some(Span::from_secs(60)),
        permanent: false,
    };
    let after = client.fail(taken[0].held(), &fail).await.unwrap();
    assert_eq!(after.task().unwrap().error.as_deref(), Some("no"));
    let taken = {
        client.retry("q", "a", false).await.unwrap();
        take(&client, 1).await
    };
    let release = Release { delay: Some(Span::from_secs(60)), checkpoint: Some(RawJson::of(&1)) };
    let after = client.release(taken[0].held(), &release).await.unwrap();
    assert_eq!(after.state(), Some(State::Waiting));
    let reset = client.reset("q", "a").await.unwrap();
    assert_eq!((reset.attempt, reset.checkpoint, reset.history.len()), (0, None, 0));
    client.clean("q", "a").await.unwrap();
    assert_eq!(client.task("q", "a").await.unwrap_err().status(), Some(404));
}
