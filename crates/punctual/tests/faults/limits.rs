//! Too many connections, or connections that say nothing: others are served, nothing breaks, and it
//! recovers when they are gone.

use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use punctual_client::{Client, Commit, NewTask, Take};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::input::memory;
use crate::process::{PATIENCE, Server, serve, within};
use crate::raw;
use crate::task::take_one;

async fn is_served(client: &Client) {
    client.push("q", &NewTask::new("x")).await.unwrap();
    let taken = take_one(client, "q", &Take::new()).await;
    client.commit(taken.held(), &Commit::default()).await.unwrap();
}

fn no_panic(log: &Path) {
    let log = fs::read_to_string(log).unwrap();
    assert!(!log.contains("panicked"), "{log}");
}

/// Requests that trickle in, and connections on which nothing comes: hundreds of them stop nobody.
#[tokio::test]
async fn slow_and_idle_connections_stop_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let client = server.client();
    let idle: Vec<TcpStream> = (0..300).map(|_| raw::connect(server.address())).collect();
    let mut slow: Vec<TcpStream> = (0..100).map(|_| raw::connect(server.address())).collect();
    for byte in b"POST /v1/queues/q/tasks HTTP/1.1\r\nHo" {
        for stream in &mut slow {
            stream.write_all(&[*byte]).unwrap();
        }
    }
    let begun = Instant::now();
    for _ in 0..20 {
        is_served(&client).await;
    }
    println!("20 tasks among 400 connections took {:?}", begun.elapsed());
    // One of the slow ones gets there in the end.
    let mut patient = slow.remove(0);
    let rest = "st: 127.0.0.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";
    patient.write_all(rest.as_bytes()).unwrap();
    assert_eq!(raw::Answer::read(patient).status, 201);
    drop((idle, slow));
    server.stop();
}

/// Thousands of connections on which nothing comes, more than are served at once: whoever is connected is
/// served, memory is bounded, and when they are gone so are their places.
#[tokio::test]
async fn thousands_of_idle_connections_stop_nobody() {
    const WANTED: usize = 20_000;
    const SERVED_MAX: usize = 16_384;
    // This process and the server need a file for each; a machine that grants less gets fewer.
    let most = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).unwrap();
    let wanted = most.map_or(WANTED, |most| WANTED.min(most as usize - 500));
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let mut command = serve(&dir.path().join("store"));
    command.stderr(fs::File::create(&log).unwrap());
    let server = Server::of(command);
    let client = server.client();
    is_served(&client).await;
    let (files, resident) = (open_files(&server), memory(&server, "VmRSS"));

    let address: SocketAddr = server.address().parse().unwrap();
    // Those without a place wait in the line of the kernel, which is short: no more get in.
    let connect = |_| TcpStream::connect_timeout(&address, Duration::from_secs(2)).ok();
    let idle: Vec<TcpStream> = (0..wanted).map_while(connect).collect();
    is_served(&client).await;
    let (most_files, most_resident) = (open_files(&server), memory(&server, "VmRSS"));
    let (count, bytes) = (idle.len(), most_resident.saturating_sub(resident) / idle.len() as u64);
    println!("{count} of {wanted} connections, {most_files} files, {bytes} bytes for each");
    assert!(count >= wanted.min(SERVED_MAX), "{count}");
    assert!(most_files <= files + SERVED_MAX, "{most_files}");
    assert!(bytes < 20_000, "{bytes}");

    drop(idle);
    is_served(&server.client()).await;
    punctual_testing::eventually("their files are closed", || {
        (open_files(&server) < files + 100).then_some(())
    });
    server.stop();
    no_panic(&log);
}

fn open_files(server: &Server) -> usize {
    fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().count()
}

/// A server that may open few files, with more connections than that.
#[tokio::test]
async fn without_file_descriptors_it_sheds_load_and_recovers() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let mut command = within("prlimit", &["--nofile=64:64"], &serve(&dir.path().join("store")));
    command.stderr(fs::File::create(&log).unwrap());
    let server = Server::of(command);
    let client = server.client();
    is_served(&client).await;
    let many: Vec<TcpStream> = (0..150).map(|_| raw::connect(server.address())).collect();
    let deadline = Instant::now() + PATIENCE;
    while !fs::read_to_string(&log).unwrap().contains("no connection could be accepted") {
        assert!(Instant::now() < deadline, "it says that it cannot accept any more");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Whoever is connected is served meanwhile, and the store needs no file it does not have.
    is_served(&client).await;
    drop(many);
    is_served(&server.client()).await;
    assert_eq!(raw::readiness(server.address()), 200);
    server.stop();
    no_panic(&log);
}

/// A server in a container with little memory, as far as it can see, and requests that would take more.
#[tokio::test]
async fn with_little_memory_it_sheds_load_and_recovers() {
    const LIMIT_BYTES: u64 = 256 << 20;
    // Both versions of control groups, in a mount namespace of its own.
    const LITTLE: &str = "mount -t tmpfs tmpfs /sys/fs/cgroup && mkdir /sys/fs/cgroup/memory \
        && echo 268435456 | tee /sys/fs/cgroup/memory.max > /sys/fs/cgroup/memory/memory.limit_in_bytes \
        && exec \"$@\"";
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let options = if rustix::process::getuid().is_root() { "-m" } else { "-rm" };
    let args = [options, "sh", "-c", LITTLE, "sh"];
    let mut command = within("unshare", &args, &serve(&dir.path().join("store")));
    command.stderr(fs::File::create(&log).unwrap());
    let server = Server::of(command);

    let task = format!(r#"{{"payload":"{}"}}"#, "x".repeat(6_500));
    let batch = |n: usize| format!(r#"{{"tasks":[{}]}}"#, vec![&*task; n].join(","));
    let push =
        |body: &str| raw::send(server.address(), "POST", "/v1/queues/q/tasks", body.as_bytes());
    let refused = push(&batch(6_000));
    assert_eq!((refused.status, refused.code().as_deref()), (413, Some("too_large")));
    assert!(refused.body.contains("at most 32 MiB"), "{}", refused.body);
    let body = batch(3_000);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let pushing: Vec<_> = (0..8).map(|_| scope.spawn(|| push(&body).status)).collect();
        pushing.into_iter().map(|push| push.join().unwrap()).collect()
    });
    println!("{statuses:?}, at most {} bytes", memory(&server, "VmHWM"));
    assert!(
        statuses.contains(&200) && statuses.iter().all(|it| [200, 503].contains(it)),
        "{statuses:?}"
    );
    assert!(memory(&server, "VmHWM") < LIMIT_BYTES);
    assert_eq!(push(&body).status, 200);
    is_served(&server.client()).await;
    assert!(memory(&server, "VmHWM") < LIMIT_BYTES);
    server.stop();
    no_panic(&log);
}
