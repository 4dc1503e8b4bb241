//! Servers as processes of their own, and what is asked of them over connections as thin as can be.

use std::io::BufRead as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::cycle::PAYLOAD_BYTES;

/// Tasks in a batch.
pub(crate) const BATCH: usize = 100;

/// A server of its own process, ended with this value.
pub(crate) struct Server {
    process: Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    pub(crate) fn start(store: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_punctual"))
            .args(["serve", "--listen", "127.0.0.1:0", "--store"])
            .arg(store)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit("//").next().unwrap().to_owned();
        Self { process, address }
    }

    pub(crate) fn resident_mib(&self) -> f64 {
        let path = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse().unwrap_or(0.0) / 1024.0
    }

    /// What the server's threads have used so far.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        const TICKS_PER_SECOND: f64 = 100.0;
        let path = format!("/proc/{}/stat", self.process.id());
        let stat = std::fs::read_to_string(path).unwrap_or_default();
        let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        let ticks: f64 = fields.skip(11).take(2).filter_map(|f| f.parse::<f64>().ok()).sum();
        ticks / TICKS_PER_SECOND
    }

    /// A connection to it.
    pub(crate) async fn connect(&self) -> Connection {
        let stream = TcpStream::connect(&self.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Connection { stream, buffer: Vec::with_capacity(1 << 16) }
    }

    /// Runs `connections` tasks at once, each doing `rounds` of something, and tells how many
    /// rounds were done per second.
    async fn rate<F, R>(&self, rounds: usize, connections: usize, act: F) -> f64
    where
        F: Fn(Connection, usize, usize) -> R,
        R: Future<Output = ()> + Send + 'static,
    {
        let mut open = Vec::new();
        for _ in 0..connections {
            open.push(self.connect().await);
        }
        let start = Instant::now();
        let tasks: Vec<_> = open
            .into_iter()
            .enumerate()
            .map(|(caller, connection)| tokio::spawn(act(connection, caller, rounds / connections)))
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        (rounds / connections * connections) as f64 / start.elapsed().as_secs_f64()
    }

    pub(crate) async fn requests(&self, requests: usize, connections: usize) -> f64 {
        self.rate(requests, connections, |mut connection, _, rounds| async move {
            for _ in 0..rounds {
                connection.send("GET", "/livez", "").await;
            }
        })
        .await
    }

    /// Cycles of 100 tasks: a push, a take, a commit.
    pub(crate) async fn batched(&self, cycles: usize, connections: usize) -> f64 {
        let push = Arc::new(format!(r#"{{"tasks":[{}]}}"#, vec![task(); BATCH].join(",")));
        let rounds = cycles / BATCH;
        let rate = self.rate(rounds, connections, move |mut connection, _, rounds| {
            let push = Arc::clone(&push);
            async move {
                for _ in 0..rounds {
                    connection.send("POST", "/v1/queues/bench/tasks", &push).await;
                    connection.send("POST", "/v1/queues/bench/take", r#"{"n":100}"#).await;
                    let commit = connection.settlements();
                    connection.send("POST", "/v1/queues/bench/commit", &commit).await;
                }
            }
        });
        rate.await * BATCH as f64
    }

    /// Cycles of one task each.
    pub(crate) async fn singles(&self, cycles: usize, connections: usize) -> f64 {
        let push = Arc::new(task());
        self.rate(cycles, connections, move |mut connection, _, rounds| {
            let push = Arc::clone(&push);
            async move {
                for _ in 0..rounds {
                    connection.send("POST", "/v1/queues/single/tasks", &push).await;
                    connection.send("POST", "/v1/queues/single/take", r#"{"wait":5}"#).await;
                    let (id, token) = connection.taken().pop().unwrap();
                    let path = format!("/v1/queues/single/tasks/{id}/commit");
                    connection.send("POST", &path, &format!(r#"{{"token":"{token}"}}"#)).await;
                }
            }
        })
        .await
    }

    /// The same with workers that commit a task when they take the next: two requests per cycle.
    pub(crate) async fn carried(&self, cycles: usize, connections: usize) -> f64 {
        let push = Arc::new(task());
        self.rate(cycles, connections, move |mut connection, _, rounds| {
            let push = Arc::clone(&push);
            async move {
                let mut take = r#"{"wait":5}"#.to_owned();
                for _ in 0..rounds {
                    connection.send("POST", "/v1/queues/carried/tasks", &push).await;
                    connection.send("POST", "/v1/queues/carried/take", &take).await;
                    let (id, token) = connection.taken().pop().unwrap();
                    take = format!(r#"{{"wait":5,"commit":[{{"id":"{id}","token":"{token}"}}]}}"#);
                }
            }
        })
        .await
    }

    /// From the start of a push, there or to another server, to the answer of a take that waits here: median and p99, in ms.
    pub(crate) async fn wake_ups(&self, pushed_to: &Self, rounds: usize) -> (f64, f64) {
        let mut pusher = pushed_to.connect().await;
        pusher.send("PUT", "/v1/queues/wake", "{}").await;
        let mut waits = Vec::new();
        for _ in 0..rounds {
            let mut taker = self.connect().await;
            let taken = tokio::spawn(async move {
                taker.send("POST", "/v1/queues/wake/take", r#"{"wait":10}"#).await;
                Instant::now()
            });
            tokio::time::sleep(Duration::from_millis(3)).await;
            let start = Instant::now();
            pusher.send("POST", "/v1/queues/wake/tasks", "{}").await;
            waits.push((taken.await.unwrap() - start).as_secs_f64() * 1_000.0);
        }
        waits.sort_by(f64::total_cmp);
        (waits[waits.len() / 2], waits[waits.len() * 99 / 100])
    }

    /// Pushes tasks into a queue, under ids that the server makes.
    pub(crate) async fn fill(&self, queue: &str, n: usize) {
        let push = format!(r#"{{"tasks":[{}]}}"#, vec![task(); 1_000].join(","));
        let mut connection = self.connect().await;
        for _ in 0..n / 1_000 {
            connection.send("POST", &format!("/v1/queues/{queue}/tasks"), &push).await;
        }
    }
}

/// A task to push.
fn task() -> String {
    format!(r#"{{"payload":"{}"}}"#, "x".repeat(PAYLOAD_BYTES - 2))
}

/// A keep-alive connection, as thin as can be, so that the server is measured and not the client.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    /// Sends a request; its answer's body is in the buffer afterwards.
    pub(crate) async fn send(&mut self, method: &str, path: &str, body: &str) {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await.unwrap();
        self.buffer.clear();
        let (head, length) = loop {
            assert!(self.stream.read_buf(&mut self.buffer).await.unwrap() > 0, "closed");
            if let Some(end) = self.buffer.windows(4).position(|w| w == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&self.buffer[..end]).to_ascii_lowercase();
                let length = head.split("content-length: ").nth(1).unwrap();
                let length: usize = length.lines().next().unwrap().trim().parse().unwrap();
                assert!(head.starts_with("http/1.1 20"), "{head}");
                break (end + 4, length);
            }
        };
        while self.buffer.len() < head + length {
            assert!(self.stream.read_buf(&mut self.buffer).await.unwrap() > 0, "closed");
        }
        self.buffer.drain(..head);
    }

    /// Asks for a stream and reads it until a text has come so many times.
    pub(crate) async fn hear(mut self, path: &'static str, text: &'static str, times: usize) {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        self.stream.write_all(request.as_bytes()).await.unwrap();
        let mut heard = 0;
        while heard < times {
            assert!(self.stream.read_buf(&mut self.buffer).await.unwrap() > 0, "closed");
            heard += memchr::memmem::find_iter(&self.buffer, text).count();
            // What may be the beginning of another stays.
            let rest = self.buffer.len().saturating_sub(text.len() - 1);
            self.buffer.drain(..rest);
        }
    }

    /// The body of the last answer.
    pub(crate) fn body(&self) -> &[u8] {
        &self.buffer
    }

    /// Ids and tokens in the answer to a take.
    fn taken(&self) -> Vec<(&str, &str)> {
        let text = std::str::from_utf8(&self.buffer).unwrap();
        let values = |name: &'static str| {
            text.match_indices(name).map(move |(at, _)| {
                let rest = &text[at + name.len()..];
                &rest[..rest.find('"').unwrap()]
            })
        };
        values(r#","id":""#).zip(values(r#""token":""#)).collect()
    }

    /// The body of a commit of all that was taken.
    pub(crate) fn settlements(&self) -> String {
        let taken = self.taken();
        let items: Vec<String> = taken
            .iter()
            .map(|(id, token)| format!(r#"{{"id":"{id}","token":"{token}"}}"#))
            .collect();
        format!(r#"{{"tasks":[{}]}}"#, items.join(","))
    }
}
