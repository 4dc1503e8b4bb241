//! A disk that fills up: a small one of memory, in a mount namespace of its own.
//!
//! Below a reserve, pushes are refused so that takes and commits can go on; when really nothing is
//! left these are refused, too, and change nothing. When there is space again everything goes on.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use punctual_client::{
    Client, Commit, Effect, Error, Extend, NewTask, QueueChanges, RawJson, Span, State, Take, Taken,
};

use crate::process::{PATIENCE, Server, serve, within};
use crate::raw::{readiness, send};
use crate::task::{all, take_one};

const MIB: u64 = 1 << 20;

/// A file system of 100 MiB that only those see who enter its namespace.
struct SmallDisk {
    holder: Child,
    dir: tempfile::TempDir,
    is_root: bool,
}

impl SmallDisk {
    fn mount() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
        let mount = "mount -t tmpfs -o size=100m tmpfs \"$0\" && echo mounted && exec sleep 3600";
        let mut holder = Command::new("unshare")
            .args(if is_root { ["-m"].as_slice() } else { &["-r", "-m"] })
            .args(["sh", "-c", mount])
            .arg(dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("unshare comes with util-linux");
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "mounted\n", "a file system can be mounted in a namespace of its own");
        Self { holder, dir, is_root }
    }

    /// A server whose store lies there.
    fn serve(&self) -> Command {
        let pid = self.holder.id().to_string();
        let user = ["-U", "--preserve-credentials"];
        let mut args = vec!["-t", &pid, "-m"];
        args.extend(user.into_iter().filter(|_| !self.is_root));
        within("nsenter", &args, &serve(&self.dir.path().join("store")))
    }

    /// How everybody else finds a file there.
    fn path(&self, name: &str) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        root.join(self.dir.path().strip_prefix("/").unwrap()).join(name)
    }

    fn free_bytes(&self) -> u64 {
        let stat = Command::new("stat").args(["-f", "-c", "%a %S"]).arg(self.path("")).output();
        let text = String::from_utf8(stat.unwrap().stdout).unwrap();
        let (blocks, block_bytes) = text.trim().split_once(' ').unwrap();
        blocks.parse::<u64>().unwrap() * block_bytes.parse::<u64>().unwrap()
    }

    /// Writes a file that leaves so much space.
    fn fill(&self, name: &str, left_bytes: u64) {
        let bytes = self.free_bytes() - left_bytes;
        fs::write(self.path(name), vec![0; bytes as usize]).unwrap();
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// A request that must have been refused for want of space, and changed nothing.
fn assert_refused<T: std::fmt::Debug>(answer: Result<T, Error>) {
    match answer {
        Err(Error::Refused(problem)) => {
            let said = (problem.status, problem.code.as_str(), problem.effect);
            assert_eq!(said, (503, "unavailable", Some(Effect::None)), "{problem}");
            assert!(problem.retry_after_secs.is_some(), "it says when to try again");
        }
        other => panic!("not refused: {other:?}"),
    }
}

/// Reports on a held task, with so much to remember that it takes space.
async fn report(client: &Client, taken: &Taken, number: u32) -> Result<(), Error> {
    let checkpoint = Some(RawJson::of(&(number, "x".repeat(60_000))));
    let progress = Some(0.5);
    let extend = Extend { checkpoint, progress, ..Extend::default() };
    client.extend(taken.held(), &extend).await.map(drop)
}

fn number_of(checkpoint: Option<&RawJson>) -> u32 {
    let checkpoint = checkpoint.unwrap().as_str();
    serde_json::from_str::<(u32, String)>(checkpoint).unwrap().0
}

async fn until_ready(address: &str) {
    let deadline = Instant::now() + PATIENCE;
    while readiness(address) != 200 {
        assert!(Instant::now() < deadline, "it does not heal");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn push(client: &Client, id: &str) -> Result<(), Error> {
    client.push("q", &NewTask::new("x").id(id)).await.map(drop)
}

#[tokio::test]
async fn a_full_disk_loses_nothing_and_heals_by_itself() {
    let disk = SmallDisk::mount();
    let server = Server::of(disk.serve());
    let client = server.client();
    let settings = QueueChanges::new().hold(Span::from_secs(3_600));
    let settings = settings.set("keep", RawJson::of(&serde_json::json!({"done": "1h"})));
    client.put_queue("q", &settings).await.unwrap();
    for n in 0..20 {
        push(&client, &format!("t{n:02}")).await.unwrap();
    }
    let held = client.take("q", &Take::new().n(4)).await.unwrap().tasks;
    client.push("brief", &NewTask::new("x")).await.unwrap();
    assert_eq!(readiness(server.address()), 200);

    // Below the reserve.
    disk.fill("ballast", 40 * MIB);
    assert_refused(push(&client, "refused").await);
    assert_refused(client.push_once("q", "key", &NewTask::new("x").id("refused")).await);
    assert_refused(client.push_batch("q", &[NewTask::new("x").id("refused")], None).await);
    assert_refused(client.backup().await);
    assert!(!disk.path("store/backup.part").exists(), "nothing is left of it");
    assert_eq!(readiness(server.address()), 503, "it says so");
    assert_eq!(send(server.address(), "GET", "/livez", b"").status, 200);
    let more = client.take("q", &Take::new().n(2)).await.unwrap().tasks;
    client.commit(more[0].held(), &Commit::default()).await.unwrap();
    client.commit(held[0].held(), &Commit::default()).await.unwrap();

    // Really full: sooner or later nothing can be written any more.
    let lost = client.take("brief", &Take::new().hold(Span::from_millis(300))).await.unwrap().tasks;
    disk.fill("rest", MIB);
    let mut reported = 0;
    let refusal = loop {
        match report(&client, &held[1], reported + 1).await {
            Ok(()) => reported += 1,
            Err(error) => break error,
        }
        assert!(reported < 2_000, "the disk is full");
    };
    assert_refused(Err::<(), _>(refusal));
    assert_refused(report(&client, &held[2], 1).await);
    assert_refused(push(&client, "refused").await);
    assert_eq!(readiness(server.address()), 503);
    let found = all(&client, "q").await;
    assert_eq!(number_of(found["t01"].checkpoint.as_ref()), reported, "as it was acknowledged");
    assert_eq!((found["t02"].checkpoint.as_ref(), found["t02"].progress), (None, None));
    assert!(!found.contains_key("refused"));

    // It heals by itself.
    disk.remove("rest");
    report(&client, &held[1], reported + 1).await.unwrap();
    report(&client, &held[2], 7).await.unwrap();
    let again = take_one(&client, "brief", &Take::new().wait(Span::from_secs(60))).await;
    assert_eq!((again.task.id.as_str(), again.task.attempt), (lost[0].task.id.as_str(), 2));
    client.commit(more[1].held(), &Commit::default()).await.unwrap();
    assert_refused(push(&client, "refused").await);
    disk.remove("ballast");
    until_ready(server.address()).await;
    push(&client, "after").await.unwrap();
    let pushed = client.push_once("q", "key", &NewTask::new("x").id("once")).await.unwrap();
    assert!(!pushed.replayed, "what was refused is not remembered");

    // A crash and a start on a full disk harm nothing either.
    let before = all(&client, "q").await;
    disk.fill("everything", 0);
    server.kill();
    if let Ok(server) = Server::try_of(disk.serve()) {
        server.kill();
    }
    disk.remove("everything");
    let server = Server::of(disk.serve());
    let client = server.client();
    assert_eq!(all(&client, "q").await, before);
    let states = |state| before.values().filter(|task| task.state == state).count();
    assert_eq!((states(State::Done), states(State::Running)), (3, 3));
    for taken in &held[1..] {
        client.commit(taken.held(), &Commit::default()).await.unwrap();
    }
    server.stop();
    assert!(Path::new(&disk.path("store/punctual.db")).exists());
}
