//! The HTTP interface over a real Redis, which the tests start themselves.
#![expect(clippy::unwrap_used, reason = "a test may stop where its story cannot be told")]

mod api;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};

use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_store::{ManualClock, Store};
use punctual_testing::redis::Server;
use tokio::runtime::Runtime;

/// One Redis for all tests of the process; each has a prefix of its own.
static REDIS: LazyLock<Server> = LazyLock::new(Server::start);
/// Where what the stores do by themselves runs, whatever becomes of a test's own clock.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

fn store(clock: &ManualClock) -> Arc<dyn Store> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let options = RedisOptions {
        prefix: format!("test{}", NEXT.fetch_add(1, Ordering::Relaxed)),
        clock: Some(Arc::new(clock.clone())),
        ..RedisOptions::new(REDIS.url())
    };
    // The test runs on a runtime already, and one thread can be on one only.
    let open = || RUNTIME.block_on(RedisStore::open(options)).unwrap();
    std::thread::scope(|scope| scope.spawn(open).join().unwrap())
}
