//! Files that are damaged, missing or from the future. A torn end of the log is what a crash leaves
//! behind, and is cut. Anything else is refused with the place, before anybody relies on it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use punctual_client::{
    Client, Commit, Fail, Held, NewTask, QueueChanges, RawJson, Span, State, Take, Task,
};

use crate::process::{Server, complaint, serve};
use crate::task::{all, states, take_one};

/// What can be found in the file again, one per kind of row.
const PAYLOAD: &str = "a payload to be found";
const WORKER: &str = "worker-to-be-found";
const TAG: &str = "a tag to be found";
/// The file SQLite keeps everything in, and its log.
const FILE: &str = "punctual.db";
const LOG: &str = "punctual.db-wal";
const PAGE_BYTES: usize = 4_096;

/// A store with one of everything, whose server has stopped cleanly.
struct Store {
    dir: tempfile::TempDir,
    /// The token that the task `done` was committed with.
    token: String,
}

/// All that can be seen of a store: tasks, settings, whether a keyed push and a commit of before can
/// be repeated.
type Picture = (BTreeMap<String, Task>, String, bool, bool);

impl Store {
    async fn make() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::start(&dir.path().join("store"));
        let client = server.client();
        let settings = QueueChanges::new().tag(TAG).hold(Span::from_secs(3_600));
        client.put_queue("q", &settings).await.unwrap();
        for id in ["done", "held", "failed"] {
            client.push("q", &NewTask::new(PAYLOAD).id(id).max_attempts(1)).await.unwrap();
        }
        let take = Take::new().worker(WORKER);
        let done = take_one(&client, "q", &take).await;
        client.commit(done.held(), &Commit { result: Some(RawJson::of("r")) }).await.unwrap();
        take_one(&client, "q", &take).await;
        let failed = take_one(&client, "q", &take).await;
        client.fail(failed.held(), &Fail::default()).await.unwrap();
        client.push_once("q", "key", &keyed()).await.unwrap();
        let tasks: Vec<_> = (0..20).map(|n| keyed().id(format!("later-{n}"))).collect();
        client.push_batch("q", &tasks, None).await.unwrap();
        server.stop();
        Self { dir, token: done.token }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    /// A copy of its files, with one of them changed.
    fn damaged(&self, file: &str, change: impl FnOnce(&mut Vec<u8>)) -> tempfile::TempDir {
        let copy = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(self.path()).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
        let mut bytes = fs::read(copy.path().join(file)).unwrap();
        change(&mut bytes);
        fs::write(copy.path().join(file), bytes).unwrap();
        copy
    }

    async fn picture(&self, client: &Client) -> Picture {
        let queue = serde_json::to_string(&client.queue("q").await.unwrap().settings).unwrap();
        let again = client.push_once("q", "key", &keyed()).await.unwrap();
        let held = Held { queue: "q", id: "done", token: &self.token };
        let committed = client.commit(held, &Commit::default()).await.is_ok();
        let tasks = all(client, "q").await;
        for (id, task) in &tasks {
            assert_eq!(client.task("q", id).await.as_ref().ok(), Some(task), "{id} is found");
        }
        (tasks, queue, again.replayed, committed)
    }
}

fn keyed() -> NewTask {
    NewTask::new(PAYLOAD).delay(Span::from_secs(3_600))
}

/// The complaint of a server that does not start.
fn refused(store: &Path) -> String {
    complaint(&serve(store).output().unwrap(), 1)
}

/// Flips a bit of every place where a text lies.
fn flip(text: &str) -> impl Fn(&mut Vec<u8>) {
    move |bytes| places(bytes, text).into_iter().for_each(|at| bytes[at] ^= 1)
}

fn places(bytes: &[u8], text: &str) -> Vec<usize> {
    let found = bytes.windows(text.len()).enumerate().filter(|(_, w)| *w == text.as_bytes());
    let found: Vec<usize> = found.map(|(at, _)| at).collect();
    assert!(!found.is_empty(), "{text:?} is stored as it is");
    found
}

#[tokio::test]
async fn damage_is_refused_and_its_place_named() {
    let store = Store::make().await;
    let bytes = fs::read(store.path().join(FILE)).unwrap();
    let page = places(&bytes, PAYLOAD)[0] / PAGE_BYTES * PAGE_BYTES;
    type Change<'a> = Box<dyn Fn(&mut Vec<u8>) + 'a>;
    let changes: [(&str, Change<'_>); 9] = [
        ("table spec row", Box::new(flip(PAYLOAD))),
        ("table status row", Box::new(flip(WORKER))),
        ("table queue row", Box::new(flip(TAG))),
        ("table spec", Box::new(|bytes| bytes[page] ^= 0xFF)),
        // One row less on that page: nothing that is left is wrong.
        ("tables status and spec do not agree", Box::new(|bytes| bytes[page + 4] -= 1)),
        ("not a database", Box::new(|bytes| bytes[3] ^= 1)),
        ("format 9 is newer", Box::new(|bytes| bytes[60..64].copy_from_slice(&[0, 0, 0, 9]))),
        ("not a Punctual store", Box::new(|bytes| bytes[68] ^= 1)),
        ("malformed", Box::new(|bytes| bytes.truncate(2 * PAGE_BYTES))),
    ];
    for (place, change) in changes {
        let copy = store.damaged(FILE, change);
        let before = fs::read(copy.path().join(FILE)).unwrap();
        let line = refused(copy.path());
        assert!(line.contains(place), "{place}: {line}");
        assert!(line.contains(copy.path().join(FILE).to_str().unwrap()), "{line}");
        assert_eq!(refused(copy.path()), line, "it is refused again");
        assert!(fs::read(copy.path().join(FILE)).unwrap() == before, "{place}: it was touched");
    }
}

/// Bits anywhere in the file: the server refuses it, or everything is as it was.
#[tokio::test]
async fn a_flipped_bit_is_refused_or_does_no_harm() {
    const FLIPS: usize = 40;
    let store = Store::make().await;
    let server = Server::start(&store.path());
    let picture = store.picture(&server.client()).await;
    assert!(picture.2 && picture.3);
    server.stop();
    let bytes = fs::read(store.path().join(FILE)).unwrap();
    let used: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let mut roll = now.as_nanos() as usize | 1;
    let mut refused = 0;
    for _ in 0..FLIPS {
        roll = roll.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (at, bit) = (used[(roll >> 33) % used.len()], (roll >> 30) & 7);
        let copy = store.damaged(FILE, |bytes| bytes[at] ^= 1 << bit);
        let log = copy.path().join("log");
        let mut command = serve(copy.path());
        command.stderr(fs::File::create(&log).unwrap());
        match Server::try_of(command) {
            Ok(server) => {
                let found = store.picture(&server.client()).await;
                assert_eq!(found, picture, "bit {bit} of byte {at} made a difference");
            }
            Err(status) => {
                let log = fs::read_to_string(log).unwrap();
                assert_eq!(status.code(), Some(1), "bit {bit} of byte {at}: {log}");
                assert!(log.starts_with("error: ") && log.lines().count() == 1, "{log}");
                refused += 1;
            }
        }
    }
    println!("{refused} of {FLIPS} flipped bits were refused, the others did no harm");
}

#[tokio::test]
async fn a_missing_file_is_refused() {
    let store = Store::make().await;
    let copy = store.damaged(FILE, Vec::clear);
    assert!(refused(copy.path()).contains("missing, though there was a store here"));
    fs::remove_file(copy.path().join(FILE)).unwrap();
    assert!(refused(copy.path()).contains("missing, though there was a store here"));

    let server = Server::start(&store.path());
    server.client().push("q", &NewTask::new("only in the log").id("new")).await.unwrap();
    server.kill();
    let aside = store.dir.path().join("aside");
    fs::rename(store.path().join(LOG), &aside).unwrap();
    let line = refused(&store.path());
    assert!(line.contains(LOG) && line.contains("missing"), "{line}");
    fs::rename(&aside, store.path().join(LOG)).unwrap();
    let server = Server::start(&store.path());
    assert_eq!(server.client().task("q", "new").await.unwrap().state, State::Ready);
    server.stop();
}

/// A store whose server was killed, with tasks `0`, `1`, … that are in its log only.
async fn crashed(count: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(&dir.path().join("store"));
    for n in 0..count {
        server.client().push("q", &NewTask::new(&n).id(n.to_string())).await.unwrap();
    }
    server.kill();
    dir
}

#[tokio::test]
async fn a_torn_tail_of_the_log_is_cut_with_one_line() {
    let dir = crashed(20).await;
    let store = dir.path().join("store");
    let log = store.join(LOG);
    let bytes = fs::read(&log).unwrap();
    fs::write(&log, &bytes[..bytes.len() - 100]).unwrap();
    let mut command = serve(&store);
    command.stderr(fs::File::create(dir.path().join("said")).unwrap());
    let server = Server::of(command);
    let client = server.client();
    let found: BTreeSet<String> = states(&client, "q").await.into_keys().collect();
    let expected: BTreeSet<String> = (0..19).map(|n: usize| n.to_string()).collect();
    assert_eq!(found, expected, "all but the transaction whose end is gone");
    client.push("q", &NewTask::new("again").id("19")).await.unwrap();
    server.stop();
    let said = fs::read_to_string(dir.path().join("said")).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("cut a torn tail off the write-ahead log"), "{said}");
    let server = Server::start(&store);
    assert_eq!(states(&server.client(), "q").await.len(), 20);
    server.stop();
}

#[tokio::test]
async fn damage_in_the_middle_of_the_log_is_refused() {
    let dir = crashed(20).await;
    let store = dir.path().join("store");
    let log = store.join(LOG);
    let bytes = fs::read(&log).unwrap();
    for at in [20, 40, bytes.len() / 2] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        fs::write(&log, damaged).unwrap();
        let line = refused(&store);
        assert!(line.contains("the write-ahead log from byte"), "byte {at}: {line}");
    }
    fs::write(&log, bytes).unwrap();
    let server = Server::start(&store);
    assert_eq!(states(&server.client(), "q").await.len(), 20);
    server.stop();
}

#[test]
fn a_first_start_that_was_killed_is_no_obstacle() {
    for after_ms in 0..25 {
        let dir = tempfile::tempdir().unwrap();
        let mut command = serve(dir.path());
        let mut process = command.stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(after_ms));
        process.kill().unwrap();
        process.wait().unwrap();
        Server::start(dir.path()).stop();
    }
}

#[tokio::test]
async fn a_clean_stop_leaves_one_file() {
    let store = Store::make().await;
    let server = Server::start(&store.path());
    store.picture(&server.client()).await;
    server.stop();
    let names = fs::read_dir(store.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let names: BTreeSet<String> = names.map(|name| name.into_string().unwrap()).collect();
    assert_eq!(names, ["lock", FILE].map(str::to_owned).into());
}
