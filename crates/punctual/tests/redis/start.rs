//! What a server says of Redis when it starts, and with which it does not start at all.

use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use punctual_client::NewTask;
use punctual_testing::free_port;
use punctual_testing::redis::Server as Redis;

use crate::process::{Server, complaint, punctual, serve};
use crate::raw;

fn try_serve(url: &str, args: &[&str]) -> Output {
    serve(Path::new(url)).args(args).output().unwrap()
}

fn serving(url: &str, args: &[&str]) -> Server {
    let mut command = serve(Path::new(url));
    command.args(args).stderr(Stdio::null());
    Server::of(command)
}

fn readiness(server: &Server) -> serde_json::Value {
    let answer = raw::send(server.address(), "GET", "/readyz", b"");
    assert_eq!(answer.status, 200, "{answer:?}");
    serde_json::from_str(&answer.body).unwrap()
}

/// FAULTS row 29.
#[test]
fn a_redis_that_would_lose_tasks_is_refused_unless_allowed() {
    let redis = Redis::with(&[]);
    let line = complaint(&try_serve(&redis.url(), &[]), 1);
    assert!(line.contains("appendonly") && line.contains("--allow-unsafe-redis"), "{line}");
    redis.command::<String>("CONFIG SET appendonly yes");
    redis.command::<String>("CONFIG SET maxmemory-policy allkeys-lru");
    let line = complaint(&try_serve(&redis.url(), &[]), 1);
    assert!(line.contains("allkeys-lru") && line.contains("noeviction"), "{line}");
    let line = complaint(&try_serve(&redis.url(), &["--allow-unsafe-redis=false"]), 1);
    assert!(line.contains("noeviction"), "{line}");

    let server = serving(&redis.url(), &["--allow-unsafe-redis"]);
    let ready = readiness(&server);
    assert_eq!(ready["store"], "redis");
    assert!(ready["durability"].as_str().unwrap().contains("removes tasks"), "{ready}");
    server.stop();
    let mut command = serve(Path::new(&redis.url()));
    command.env("PUNCTUAL_ALLOW_UNSAFE_REDIS", "true").stderr(Stdio::null());
    Server::of(command).stop();
}

#[test]
fn a_redis_that_is_not_there_is_told_soon() {
    let url = format!("redis://:geheim@127.0.0.1:{}", free_port());
    let begun = Instant::now();
    let line = complaint(&try_serve(&url, &[]), 1);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert!(line.contains("refused") && line.contains("127.0.0.1:"), "{line}");
    assert!(!line.contains("geheim"), "{line}");
}

/// One that is started together with the server may be a little later.
#[test]
fn a_redis_that_comes_a_little_later_is_waited_for() {
    let mut redis = Redis::start();
    redis.kill();
    let url = redis.url();
    let waiting = std::thread::spawn(move || Server::start(Path::new(&url)));
    std::thread::sleep(Duration::from_millis(500));
    redis.run();
    waiting.join().unwrap().stop();
}

#[test]
fn what_is_wrong_with_the_address_is_told_without_the_password() {
    let redis = Redis::with(&["--appendonly", "yes", "--requirepass", "geheim"]);
    let port = redis.port;
    for (url, part) in [
        (format!("redis://127.0.0.1:{port}"), "password"),
        (format!("redis://:geheimer@127.0.0.1:{port}"), "password"),
        (format!("redis://:geheim@127.0.0.1:{port}/x"), "database"),
        ("redis+sentinel://:geheim@127.0.0.1".to_owned(), "name the primary"),
        ("redis+postgres://:geheim@127.0.0.1".to_owned(), "begins with redis"),
        (format!("redis://:geheim@127.0.0.1:{port}/99"), "Redis"),
    ] {
        let line = complaint(&try_serve(&url, &[]), 1);
        assert!(line.contains(part), "{url}: {line}");
        assert!(!line.contains("geheim"), "{line}");
    }
    let prefix = ["--prefix", "{x}"];
    let url = format!("redis://:geheim@127.0.0.1:{port}");
    let line = complaint(&try_serve(&url, &prefix), 1);
    assert!(line.starts_with("error: prefix: "), "{line}");

    let mut command = serve(Path::new(&url));
    command.env("PUNCTUAL_LOG", "debug").stderr(Stdio::piped());
    let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(process.stdout.take().unwrap()),
        &mut String::new(),
    )
    .unwrap();
    process.kill().unwrap();
    let log = String::from_utf8(process.wait_with_output().unwrap().stderr).unwrap();
    assert!(log.contains("ready") && log.contains("everysec"), "{log}");
    assert!(!log.contains("geheim"), "{log}");
    let help = punctual().args(["serve", "--help"]).env("PUNCTUAL_STORE", &url).output().unwrap();
    assert!(!String::from_utf8(help.stdout).unwrap().contains("geheim"));
}

#[tokio::test]
async fn the_login_comes_from_files_and_is_never_shown() {
    let user = ["--user", "app", "on", ">app-geheim", "~*", "&*", "+@all"];
    let safe = ["--appendonly", "yes", "--requirepass", "geheim"];
    let redis = Redis::with(&[&safe[..], &user].concat());
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    for (name, text) in [("password", "geheim\n"), ("user", "app\n"), ("app", "app-geheim")] {
        std::fs::write(path(name), text).unwrap();
    }
    let url = redis.url();
    let settings = format!("store = {url:?}\nredis_password_file = {:?}\n", path("password"));
    std::fs::write(path("punctual.toml"), settings).unwrap();

    let mut command = punctual();
    command.args(["serve", "--listen", "127.0.0.1:0", "--config", &path("punctual.toml")]);
    let server = Server::of(command);
    server.client().push("q", &NewTask::new("x").id("a")).await.unwrap();
    let config = raw::send(server.address(), "GET", "/v1/system/config", b"").body;
    assert!(
        config.contains("redis_password_file") && config.contains(&path("password")),
        "{config}"
    );
    assert!(!config.contains("geheim"), "{config}");
    server.stop();

    // A flag wins over the file; the name comes from a file, too.
    let login = ["--redis-username-file", &path("user"), "--redis-password-file", &path("app")];
    let server = serving(&url, &[&login[..], &["--config", &path("punctual.toml")]].concat());
    assert_eq!(server.client().task("q", "a").await.unwrap().id, "a");
    server.stop();

    let doctor = |args: &[&str]| {
        let output = punctual().args(["doctor", "--json"]).args(args).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(!told.contains("geheim"), "{told}");
        (output.status.success(), told)
    };
    let (is_well, told) = doctor(&["--config", &path("punctual.toml")]);
    assert!(is_well && told.contains("everybody on this machine may read it"), "{told}");
    let (is_well, told) = doctor(&["--store", &url, "--redis-password-file", &path("app")]);
    assert!(!is_well && told.contains("password"), "{told}");

    let store = format!("redis://:geheim@127.0.0.1:{}", redis.port);
    for (store, file, part) in [
        (&store, path("password"), "redis_password_file: the URL of the store has it, too"),
        (&url, path("none"), "redis_password_file: cannot read"),
        (&url, path("app"), "password"),
    ] {
        let line = complaint(&try_serve(store, &["--redis-password-file", &file]), 1);
        assert!(line.contains(part) && !line.contains("geheim"), "{line}");
    }
    let moved = punctual()
        .args(["migrate", "--from", &url, "--to", &path("moved"), "--json"])
        .args(["--redis-password-file", &path("password")])
        .output()
        .unwrap();
    assert!(moved.status.success(), "{}", String::from_utf8_lossy(&moved.stderr));
}

#[tokio::test]
async fn a_prefix_parts_stores_in_one_redis() {
    let redis = Redis::start();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("punctual.toml");
    std::fs::write(&file, "prefix = 'from-file'\n").unwrap();
    let plain = serving(&redis.url(), &[]);
    let empty = serving(&redis.url(), &["--prefix", ""]);
    let named = serving(&redis.url(), &["--config", file.to_str().unwrap()]);
    for (server, key) in
        [(&plain, "punctual:t:q:a"), (&empty, "t:q:a"), (&named, "from-file:t:q:a")]
    {
        assert_eq!(redis.command::<i64>(&format!("EXISTS {key}")), 0);
        server.client().push("q", &NewTask::new("x").id("a")).await.unwrap();
        assert_eq!(redis.command::<i64>(&format!("EXISTS {key}")), 1);
    }
}

#[tokio::test]
async fn answers_wait_for_replicas_if_asked_to() {
    let redis = Redis::with(&["--appendonly", "yes", "--repl-diskless-sync-delay", "0"]);
    let server = serving(&redis.url(), &["--wait-replicas", "1"]);
    assert_eq!(raw::readiness(server.address()), 503, "nothing can be promised yet");
    let error = server.client().push("q", &NewTask::new("x").id("a")).await.unwrap_err();
    assert_eq!((error.status(), error.code()), (Some(503), Some("unavailable")));
    assert_eq!(error.effect(), punctual_client::Effect::Unknown, "it is there, but for replicas");
    let port = redis.port;
    let _replica = Redis::with(&["--replicaof", &format!("127.0.0.1 {port}")]);
    punctual_testing::eventually("the replica is there", || {
        redis.info("replication").contains("state=online").then_some(())
    });
    server.client().push("q", &NewTask::new("x").id("b")).await.unwrap();
    let ready = readiness(&server);
    assert!(ready["durability"].as_str().unwrap().contains("1 replica has it"), "{ready}");
    server.stop();
}
