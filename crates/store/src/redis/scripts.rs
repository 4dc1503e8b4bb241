//! The Lua scripts: what each is made of, and the hash it is called by.

use std::sync::LazyLock;

const BASE: &str = include_str!("lua/base.lua");
const INDEX: &str = include_str!("lua/index.lua");
const STREAMS: &str = include_str!("lua/streams.lua");

/// A script as Redis runs it.
pub(super) struct Script {
    /// Its name in messages: that of its file.
    pub(super) name: &'static str,
    /// The whole text.
    pub(super) source: String,
    /// What Redis calls it.
    pub(super) hash: String,
    /// Whether it changes anything, so that a repeat must have no second effect.
    pub(super) is_writing: bool,
}

/// What a script begins with.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// It stands alone.
    Alone,
    /// It reads.
    Reads,
    /// It only adds: refused when Redis is out of memory.
    Adds,
    /// It also removes: goes on when Redis is out of memory.
    Changes,
}

impl Script {
    fn new(name: &'static str, kind: Kind, streams: bool, text: &str) -> Self {
        let mut source = String::new();
        if kind != Kind::Alone {
            source.push_str(BASE);
        }
        if matches!(kind, Kind::Adds | Kind::Changes) {
            source.push_str(&format!("\nlocal ADDS_ONLY = {}\n", kind == Kind::Adds));
            source.push_str(INDEX);
        }
        if streams {
            source.push_str(STREAMS);
        }
        source.push_str(text);
        let hash = redis::Script::new(&source).get_hash().to_owned();
        let is_writing = matches!(kind, Kind::Adds | Kind::Changes);
        Self { name, source, hash, is_writing }
    }
}

macro_rules! scripts {
    ($($(#[$doc:meta])* $constant:ident: $file:literal, $kind:ident, $streams:literal;)*) => {$(
        $(#[$doc])*
        pub(super) static $constant: LazyLock<Script> = LazyLock::new(|| {
            let text = include_str!(concat!("lua/", $file, ".lua"));
            Script::new($file, Kind::$kind, $streams, text)
        });
    )*};
}

scripts! {
    /// Sets up a shard.
    INIT: "init", Alone, false;
    /// Sees whether writing is possible.
    ALIVE: "alive", Adds, false;
    /// Pushes tasks.
    PUSH: "push", Adds, false;
    /// Hands out tasks.
    TAKE: "take", Changes, true;
    /// Commits decisions.
    COMMIT: "commit", Changes, false;
    /// Removes tasks.
    REMOVE: "remove", Changes, false;
    /// Reads tasks.
    READ: "read", Reads, false;
    /// Reads a page of tasks.
    LIST: "list", Reads, true;
    /// Counts what queues hold.
    STATS: "stats", Reads, true;
    /// Stores a queue.
    PUT_QUEUE: "put_queue", Adds, false;
    /// Drops all tasks of a queue, and perhaps the queue.
    DROP_QUEUE: "drop_queue", Changes, false;
    /// Reads queues.
    QUEUES: "queues", Reads, false;
    /// Asks for receipts.
    SETTLED: "settled", Reads, false;
    /// Reads tasks whose time is over.
    EXPIRED: "expired", Changes, false;
    /// Removes what is no longer kept.
    SWEEP: "sweep", Changes, false;
    /// Looks at what has fallen due.
    LOOK: "look", Changes, false;
    /// Names the indexes of a queue.
    LANES: "lanes", Reads, false;
    /// Compares records and indexes.
    CHECK: "check", Changes, false;
    /// Reads tasks that belong to other shards.
    OUTBOX: "outbox", Changes, false;
    /// Moves messages of the inbox between its lists.
    INBOX: "inbox", Alone, false;
    /// Makes a notice of a message of the inbox.
    RECEIVE: "receive", Changes, false;
    /// Makes tasks that were decided on in another shard.
    DELIVER: "deliver", Adds, false;
}
