//! Every key and every field that lies in Redis is in `docs/redis.md`.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use punctual_store::conformance::Subject;
use punctual_store::{ManualClock, Store};
use punctual_testing::redis::new_prefix;

use crate::redis::Redis;

const PAGE: &str = include_str!("../../../../docs/redis.md");

/// What stands between backticks in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The part of the page from one text to another.
fn part(from: &str, to: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(from).unwrap_or_else(|| panic!("no {from:?} on the page"));
    rest.split_once(to).unwrap_or_else(|| panic!("no {to:?} on the page")).0
}

/// The names in the first columns of tables.
fn names(part: &'static str) -> BTreeSet<&'static str> {
    let first = |line: &'static str| line.strip_prefix("| ")?.split(" | ").next();
    part.lines().filter_map(first).flat_map(quoted).collect()
}

/// Whether a key is described: by its name, or up to the first part that differs.
fn is_described(key: &str) -> bool {
    quoted(PAGE).filter(|text| text.starts_with("punctual:")).any(|text| {
        match text.split_once(['<', '[', '{']) {
            Some((known, _)) => known != "punctual:" && key.starts_with(known),
            None => key == text,
        }
    })
}

/// A Redis store whose keys are compared with the page when its check has ended.
pub(crate) struct Documented {
    redis: Redis,
    url: String,
    prefix: String,
}

impl Documented {
    pub(crate) async fn new(url: String, clock: ManualClock) -> Self {
        let prefix = new_prefix();
        Self { redis: Redis::under(prefix.clone(), url.clone(), clock).await, url, prefix }
    }
}

#[async_trait]
impl Subject for Documented {
    fn store(&self) -> Arc<dyn Store> {
        self.redis.store()
    }

    async fn restart(&mut self) -> bool {
        self.redis.restart().await
    }

    fn has_one_clock(&self) -> bool {
        self.redis.has_one_clock()
    }
}

impl Drop for Documented {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let client = ::redis::Client::open(&*self.url).unwrap();
            check(&mut client.get_connection().unwrap(), &self.prefix);
        }
    }
}

/// Checks all that lies under a prefix.
fn check(connection: &mut ::redis::Connection, prefix: &str) {
    let of_queue = names(part("Fields of `punctual:q:<queue>`", "### Of a task"));
    let of_task = names(part("### Of a task", "### Of a bundle"));
    let of_bundle = names(part("| field of the record |", "### Of a plan"));
    let of_plan = names(part("| field of that |", "### Of a flow"));
    let of_others = names(part("| field of such a record |", "\n\n"));
    let all = format!("{prefix}:*");
    let keys: Vec<String> = ::redis::cmd("KEYS").arg(all).query(connection).unwrap();
    assert!(keys.len() > 2, "that is little to have looked at: {keys:?}");
    for key in &keys {
        let (_, rest) = key.split_once(':').unwrap();
        let name = format!("punctual:{rest}");
        assert!(is_described(&name), "{name} is not described");
        let fields = match rest.split(':').next().unwrap() {
            "q" => &of_queue,
            "t" => &of_task,
            "queue" if rest.ends_with(":meta") => &of_bundle,
            "plan" if rest.starts_with("plan:meta:") => &of_plan,
            "flow" | "step" | "worker" | "vote" if !rest.ends_with(":items") => &of_others,
            _ => continue,
        };
        // A key may hold spaces.
        let found: Vec<String> = ::redis::cmd("HKEYS").arg(key).query(connection).unwrap();
        for field in found {
            let name = field.split('.').next().unwrap();
            let is_piece = name.bytes().all(|byte| byte.is_ascii_digit());
            assert!(is_piece || fields.contains(name), "{field} of {key} is not described");
        }
    }
}
