//! `punctual backup` and `restore`: what was acknowledged before a backup began is there after all else is
//! lost, and nobody's token comes back to life.

use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use punctual_client::{Client, Commit, NewTask, QueueChanges, Span, State, Take};
use serde_json::json;

use crate::process::{Server, complaint, punctual};
use crate::raw::send;

fn restore(file: &Path, dir: &Path, more: &[&str]) -> Output {
    let mut command = punctual();
    command.arg("restore").arg(file).arg("--store").arg(dir).args(more).output().unwrap()
}

fn told(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What was done to a server, the newest first.
fn audited(server: &Server) -> Vec<String> {
    let page = send(server.address(), "GET", "/v1/system/audit", b"").body;
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    let items = page["items"].as_array().unwrap();
    items.iter().map(|item| item["action"].as_str().unwrap().to_owned()).collect()
}

/// Pushes tasks one after the other until told to stop; the number says how many were acknowledged.
async fn keep_pushing(client: Client, pushed: Arc<AtomicU64>, stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        let n = pushed.load(Ordering::Relaxed) + 1;
        let task = NewTask::new(&json!({"n": n})).id(format!("t{n}"));
        client.push("load", &task).await.unwrap();
        pushed.store(n, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_before_a_backup_is_there_after_a_crash() {
    let (dir, target) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = Server::start(dir.path());
    let client = server.client();
    client.put_queue("mail", &QueueChanges::new().hold(Span::from_secs(600))).await.unwrap();
    for id in ["held", "settled", "ready"] {
        client.push("mail", &NewTask::new(id).id(id)).await.unwrap();
    }
    let taken = client.take("mail", &Take::new().worker("w").n(2)).await.unwrap().tasks;
    let [held, settled] = &taken[..] else { panic!("two tasks") };
    client.commit(settled.held(), &Commit::default()).await.unwrap();
    server.say(&["plan", "add", "mail", "\"ping\"", "--every", "1h", "--id", "hourly"]);

    let (pushed, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let load = tokio::spawn(keep_pushing(server.client(), pushed.clone(), stop.clone()));
    while pushed.load(Ordering::Relaxed) < 20 {
        tokio::task::yield_now().await;
    }
    let acknowledged = pushed.load(Ordering::Relaxed);
    let file = target.path().join("copy");
    let report = server.json(&["backup", file.to_str().unwrap()]);
    assert_eq!((&report["plans"], &report["held"]), (&json!(1), &json!(1)), "{report}");
    assert_eq!(report["bytes"], file.metadata().unwrap().len());
    let beyond = pushed.load(Ordering::Relaxed);
    while pushed.load(Ordering::Relaxed) < beyond + 5 {
        tokio::task::yield_now().await;
    }
    stop.store(true, Ordering::Relaxed);
    load.await.unwrap();
    // Whoever holds a task now holds it in the store that is lost.
    server.kill();

    let new = target.path().join("store");
    let told = told(&restore(&file, &new, &["--json"]));
    assert_eq!((&told["tasks"], &told["aside"]), (&report["tasks"], &json!(null)), "{told}");
    let server = Server::start(&new);
    let client = server.client();
    for n in 1..=acknowledged {
        let task = client.task("load", &format!("t{n}")).await.unwrap();
        assert_eq!(task.payload.as_str(), format!("{{\"n\":{n}}}"));
    }
    assert_eq!(client.plan("hourly").await.unwrap().plan_id, "hourly");
    let error = client.commit(held.held(), &Commit::default()).await.unwrap_err();
    assert_eq!(error.code(), Some("stale_token"), "{error}");
    client.commit(settled.held(), &Commit::default()).await.unwrap();
    let take = Take::new().n(9).wait(Span::from_secs(30));
    let mut ids = Vec::new();
    while ids.len() < 2 {
        let tasks = client.take("mail", &take).await.unwrap().tasks;
        ids.extend(tasks.into_iter().map(|taken| (taken.task.id, taken.task.attempt)));
    }
    ids.sort();
    assert_eq!(ids, [("held".to_owned(), 2), ("ready".to_owned(), 1)]);
    server.stop();
}

#[tokio::test]
async fn nothing_is_written_over_unless_forced() {
    let dir = tempfile::tempdir().unwrap();
    let (store, file) = (dir.path().join("store"), dir.path().join("copy"));
    let server = Server::start(&store);
    let client = server.client();
    client.push("q", &NewTask::new("x").id("first")).await.unwrap();
    server.say(&["queue", "pause", "q"]);
    server.say(&["queue", "resume", "q"]);
    let path = file.to_str().unwrap();
    let text = server.say(&["backup", path]);
    assert!(text.contains("4 queues, 1 tasks"), "{text}");
    let said = complaint(&server.run(&["backup", path]), 1);
    assert!(said.contains("is there already"), "{said}");
    server.say(&["backup", "--force", path]);
    assert!(!dir.path().join("copy.part").exists());
    client.push("q", &NewTask::new("x").id("second")).await.unwrap();

    let said = complaint(&restore(&file, &store, &["--force"]), 1);
    assert!(said.contains("in use by the server"), "{said}");
    server.stop();
    let said = complaint(&restore(&file, &store, &[]), 1);
    assert!(said.contains("there is a store already"), "{said}");
    let told = told(&restore(&file, &store, &["--force", "--json"]));
    let aside = Path::new(told["aside"].as_str().unwrap());

    let server = Server::start(&store);
    assert_eq!(server.client().task("q", "first").await.unwrap().state, State::Ready);
    assert_eq!(server.client().task("q", "second").await.unwrap_err().code(), Some("not_found"));
    let done = audited(&server);
    assert_eq!(done[done.len() - 2..], ["queue.resume", "queue.pause"], "also what was done");
    server.stop();
    let server = Server::start(aside);
    assert_eq!(server.client().task("q", "second").await.unwrap().state, State::Ready);
    server.stop();
}

#[tokio::test]
async fn what_is_no_backup_makes_no_store() {
    let dir = tempfile::tempdir().unwrap();
    let (store, file) = (dir.path().join("store"), dir.path().join("copy"));
    let said = complaint(&restore(&file, &store, &[]), 1);
    assert!(said.contains("no such file"), "{said}");
    std::fs::write(&file, "not a database").unwrap();
    let said = complaint(&restore(&file, &store, &[]), 1);
    assert!(said.contains("not a backup"), "{said}");

    let server = Server::start(&dir.path().join("source"));
    let tasks: Vec<_> = (0..500).map(|_| NewTask::new(&"x".repeat(500))).collect();
    server.client().push_batch("q", &tasks, None).await.unwrap();
    server.say(&["backup", "--force", file.to_str().unwrap()]);
    server.stop();
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 200].fill(0x5a);
    std::fs::write(&file, &bytes).unwrap();
    let said = complaint(&restore(&file, &store, &[]), 1);
    assert!(said.contains("copy"), "{said}");
    std::fs::write(&file, &bytes[..middle]).unwrap();
    complaint(&restore(&file, &store, &[]), 1);
    assert!(!store.join("punctual.db").exists());
    let said =
        complaint(&punctual().args(["restore", "x", "--store", "memory:"]).output().unwrap(), 1);
    assert!(said.contains("directory"), "{said}");
}

#[tokio::test]
async fn a_store_without_files_is_not_copied() {
    let mut command = punctual();
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:"]);
    let server = Server::of(command);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("copy");
    let said = complaint(&server.run(&["backup", file.to_str().unwrap()]), 1);
    assert!(said.contains("memory: keeps nothing"), "{said}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// The rights of everybody but its owner.
fn open_to_others(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o077
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_else_reads_a_store_or_its_backup() {
    let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = dir.path().join("store");
    let server = Server::start(&store);
    server.client().push("q", &NewTask::new("secret")).await.unwrap();
    let check = |dir: &Path| {
        assert_eq!(open_to_others(dir), 0, "{}", dir.display());
        for file in std::fs::read_dir(dir).unwrap() {
            let path = file.unwrap().path();
            assert_eq!(open_to_others(&path), 0, "{}", path.display());
        }
    };
    check(&store);
    // A link in the way of a backup is never followed: not under its name, nor while it is written.
    let victim = elsewhere.path().join("victim");
    std::fs::write(&victim, "precious").unwrap();
    let file = elsewhere.path().join("copy.backup");
    let backup = |more: &[&str]| {
        let mut command = punctual();
        command.env("PUNCTUAL_URL", format!("http://{}", server.address()));
        command.arg("backup").arg(&file).args(more).output().unwrap()
    };
    std::os::unix::fs::symlink(&victim, elsewhere.path().join("copy.backup.part")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("none"), &file).unwrap();
    assert!(complaint(&backup(&[]), 1).contains("is there already"));
    told(&backup(&["--force", "--json"]));
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    assert!(!elsewhere.path().join("none").exists());
    assert!(file.symlink_metadata().unwrap().is_file());
    assert_eq!(open_to_others(&file), 0);
    let restored = elsewhere.path().join("restored");
    assert!(restore(&file, &restored, &[]).status.success());
    check(&restored);
}
