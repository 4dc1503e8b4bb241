//! The bare scripts, called over one connection without a store: the ceiling of what the store can do.

use std::time::Instant;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, Value, cmd};

use super::cycle::PAYLOAD_BYTES;

const BASE: &str = include_str!("../../src/redis/lua/base.lua");
const INDEX: &str = include_str!("../../src/redis/lua/index.lua");
const STREAMS: &str = include_str!("../../src/redis/lua/streams.lua");
const KEYED: &str = include_str!("../../src/redis/lua/keyed.lua");
const CHANGES: &str = include_str!("../../src/redis/lua/changes.lua");

/// The three scripts of a cycle.
#[derive(Clone)]
pub(crate) struct Bare {
    connection: MultiplexedConnection,
    session: String,
    push: String,
    take: String,
    commit: String,
}

impl Bare {
    /// Loads the scripts.
    async fn new(url: &str) -> Self {
        let client = redis::Client::open(url).unwrap();
        let config = redis::AsyncConnectionConfig::new().set_response_timeout(None);
        let connection = client.get_multiplexed_async_connection_with_config(&config);
        let mut connection = connection.await.unwrap();
        let mut hashes = Vec::new();
        for (adds_only, part, text) in [
            (true, KEYED, include_str!("../../src/redis/lua/push.lua")),
            (false, STREAMS, include_str!("../../src/redis/lua/take.lua")),
            (false, CHANGES, include_str!("../../src/redis/lua/commit.lua")),
        ] {
            let source = format!("{BASE}\nlocal ADDS_ONLY = {adds_only}\n{INDEX}{part}{text}");
            let load = cmd("SCRIPT").arg("LOAD").arg(source).to_owned();
            hashes.push(load.query_async::<String>(&mut connection).await.unwrap());
        }
        let mut hashes = hashes.into_iter();
        let mut next = || hashes.next().unwrap();
        let session = format!("{:016x}", getrandom::u64().unwrap());
        Self { push: next(), take: next(), commit: next(), connection, session }
    }

    fn call(&self, hash: &str, caller: usize, number: u64) -> Cmd {
        let mut call = cmd("EVALSHA");
        call.arg(hash).arg(1).arg("punctual:shard").arg("");
        call.arg(&self.session).arg(caller).arg(number);
        call
    }

    /// One cycle of `n` plain tasks of the queue `bench`.
    async fn cycle(&mut self, caller: usize, round: usize, n: usize, payload: &str) {
        let number = 3 * round as u64 + 1;
        let mut push = self.call(&self.push, caller, number);
        push.arg("bench").arg("").arg("").arg(0).arg(n).arg(0).arg("");
        for i in 0..n {
            let id = format!("bare-{caller:03}-{:017}", round * n + i);
            let pieces: Vec<&str> = (0..payload.len())
                .step_by(64)
                .map(|at| &payload[at..payload.len().min(at + 64)])
                .collect();
            push.arg(&id).arg("0").arg(1).arg("").arg(0).arg(0).arg(4 + 2 * pieces.len());
            push.arg("id").arg(&id).arg("create").arg("1800000000.123");
            for (number, piece) in pieces.into_iter().enumerate() {
                push.arg(number).arg(piece);
            }
        }
        push.query_async::<Value>(&mut self.connection).await.unwrap();
        let mut take = self.call(&self.take, caller, number + 1);
        let seed = format!("{:032x}", (caller << 32) + round + 1);
        take.arg("bench").arg(7).arg(-1).arg(0);
        take.arg(seed).arg(0).arg(n).arg(0).arg("").arg(0).arg("");
        let taken: Value = take.query_async(&mut self.connection).await.unwrap();
        let mut commit = self.call(&self.commit, caller, number + 2);
        for (count, (id, birth)) in handed_out(taken).into_iter().enumerate() {
            let receipt = format!("{:04x}{:010}", (round * n + count) % 16_384, round * n + count);
            commit.arg("bench").arg(id).arg(birth).arg(1).arg("remove").arg(receipt).arg(0);
        }
        commit.query_async::<Value>(&mut self.connection).await.unwrap();
    }

    /// Whole cycles per second, by some callers at once over the one connection.
    pub(crate) async fn drive(url: &str, cycles: usize, callers: usize, batch: usize) -> f64 {
        let rounds = cycles / callers / batch;
        let payload = format!("\"{}\"", "x".repeat(PAYLOAD_BYTES - 2));
        let first = Self::new(url).await;
        let start = Instant::now();
        let mut tasks = Vec::new();
        for caller in 0..callers {
            let (payload, mut bare) = (payload.clone(), first.clone());
            tasks.push(tokio::spawn(async move {
                for round in 0..rounds {
                    bare.cycle(caller, round, batch, &payload).await;
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        (rounds * callers * batch) as f64 / start.elapsed().as_secs_f64()
    }
}

fn list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(parts) => parts,
        other => panic!("{other:?}"),
    }
}

/// Id and birth of every task that a take handed out. The record is one string, in which a birth has 16
/// digits and an id of this benchmark 26 letters.
fn handed_out(answer: Value) -> Vec<(Vec<u8>, Vec<u8>)> {
    let body = list(list(answer).swap_remove(4));
    let takers = list(body.into_iter().nth(3).unwrap());
    let mut found = Vec::new();
    for item in takers.into_iter().flat_map(list) {
        let record = list(item).swap_remove(0);
        let Value::BulkString(fields) = list(record).swap_remove(0) else { unreachable!() };
        let after = |name: &[u8], bytes: usize| {
            let place = fields.windows(name.len()).position(|window| window == name).unwrap();
            let from = place + name.len() + 1;
            fields[from..from + bytes].to_vec()
        };
        found.push((after(b"id", 26), after(b"birth", 16)));
    }
    found
}
