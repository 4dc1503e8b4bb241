//! Months of work that comes, waits, goes back and ends: the disk holds what lives, and no more.

use std::path::Path;

use punctual_client::{Commit, NewTask, QueueChanges, Release, Span, Take};

use crate::process::{Server, serve};
use crate::task::all;

const MIB: u64 = 1 << 20;
const DAY: Span = Span::from_secs(86_400);
const DAYS: usize = 45;
const PUSHED_A_DAY: usize = 500;
const PAYLOAD_BYTES: usize = 8 << 10;
/// What lives is below 16 MiB. The log and space that is kept free may come to that much each.
const DISK_MAX: u64 = 40 * MIB;

fn bytes_in(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
    entries.map(|entry| entry.metadata().unwrap().len()).sum()
}

#[tokio::test]
async fn the_disk_holds_what_lives_and_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let mut command = serve(&store);
    command.arg("--dev");
    let server = Server::of(command);
    let client = server.client();
    client.put_queue("q", &QueueChanges::new().keep(DAY, DAY, DAY)).await.unwrap();
    let payload = "x".repeat(PAYLOAD_BYTES);
    let task = NewTask::new(&payload).delay(Span::from_secs(12 * 3_600));
    let (mut most, mut carried_out) = (0, 0);
    for day in 0.. {
        if day < DAYS {
            client.push_batch("q", &vec![&task; PUSHED_A_DAY], None).await.unwrap();
        }
        client.advance_clock(DAY).await.unwrap();
        let taken = client.take("q", &Take::new().n(1_000)).await.unwrap().tasks;
        if taken.is_empty() && day >= DAYS {
            break;
        }
        // A third goes back and comes again the day after.
        let (back, done) = taken.split_at(taken.len() / 3);
        let release = Release { delay: Some(DAY), checkpoint: None };
        let back: Vec<_> = back.iter().map(|task| task.held().with(release.clone())).collect();
        let done: Vec<_> = done.iter().map(|task| task.held().with(Commit::default())).collect();
        client.release_batch("q", &back).await.unwrap();
        client.commit_batch("q", &done).await.unwrap();
        carried_out += done.len();
        most = most.max(bytes_in(&store));
    }
    let pushed = (DAYS * PUSHED_A_DAY * PAYLOAD_BYTES) as u64;
    println!("at most {} MiB on disk for {} MiB pushed", most / MIB, pushed / MIB);
    assert_eq!(carried_out, DAYS * PUSHED_A_DAY);
    assert!(most < DISK_MAX && DISK_MAX < pushed / 4, "{most} bytes on disk");
    assert!(all(&client, "q").await.is_empty(), "what was kept is gone after its time");
    server.stop();
    let rest = bytes_in(&store);
    assert!(rest < DISK_MAX / 2, "{rest} bytes are left of an empty store");
}
