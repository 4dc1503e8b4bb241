//! The Lua scripts: what each is made of, and the hash it is called by.

use std::sync::LazyLock;

use super::names;

const BASE: &str = include_str!("lua/base.lua");
const HELD: &str = include_str!("lua/held.lua");
const INDEX: &str = include_str!("lua/index.lua");
/// What several scripts need besides.
const STREAMS: &str = include_str!("lua/streams.lua");
const TURNS: &str = include_str!("lua/turns.lua");
const KEYED: &str = include_str!("lua/keyed.lua");
const CHANGES: &str = include_str!("lua/changes.lua");
const OWNERS: &str = include_str!("lua/owners.lua");
const OWNER_INDEX: &str = include_str!("lua/owner_index.lua");

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
    fn new(name: &'static str, kind: Kind, parts: &[&str], text: &str) -> Self {
        let mut source = String::new();
        if kind != Kind::Alone {
            source.push_str(&names::lua());
            source.push_str(BASE);
        }
        if matches!(kind, Kind::Adds | Kind::Changes) {
            source.push_str(&format!("\nlocal ADDS_ONLY = {}\n", kind == Kind::Adds));
            source.push_str(HELD);
            source.push_str(INDEX);
        }
        for part in parts {
            source.push_str(part);
        }
        source.push_str(text);
        let hash = redis::Script::new(&source).get_hash().to_owned();
        let is_writing = matches!(kind, Kind::Adds | Kind::Changes);
        Self { name, source, hash, is_writing }
    }
}

macro_rules! scripts {
    ($($(#[$doc:meta])* $constant:ident: $file:literal, $kind:ident, $parts:expr;)*) => {$(
        $(#[$doc])*
        pub(super) static $constant: LazyLock<Script> = LazyLock::new(|| {
            let text = include_str!(concat!("lua/", $file, ".lua"));
            Script::new($file, Kind::$kind, &$parts, text)
        });
    )*};
}

scripts! {
    /// Sets up a shard.
    INIT: "init", Alone, [];
    /// Sees whether writing is possible.
    ALIVE: "alive", Adds, [];
    /// Pushes tasks.
    PUSH: "push", Adds, [KEYED];
    /// Hands out tasks.
    TAKE: "take", Changes, [STREAMS, TURNS];
    /// Commits decisions.
    COMMIT: "commit", Changes, [CHANGES];
    /// Removes tasks.
    REMOVE: "remove", Changes, [];
    /// Reads tasks.
    READ: "read", Reads, [];
    /// Reads a page of tasks.
    LIST: "list", Reads, [STREAMS];
    /// Counts what queues hold.
    STATS: "stats", Reads, [STREAMS];
    /// Stores a queue.
    PUT_QUEUE: "put_queue", Adds, [];
    /// Drops all tasks and bundles of a queue, and perhaps the queue.
    DROP_QUEUE: "drop_queue", Changes, [];
    /// Reads queues.
    QUEUES: "queues", Reads, [];
    /// Asks for receipts.
    SETTLED: "settled", Reads, [];
    /// Reads tasks whose time is over.
    EXPIRED: "expired", Changes, [];
    /// Removes what is no longer kept.
    SWEEP: "sweep", Changes, [OWNERS, OWNER_INDEX];
    /// Appends to the stream of events.
    ANNOUNCE: "announce", Adds, [];
    /// Notes what was done.
    AUDIT: "audit", Adds, [];
    /// Reads what was done.
    AUDITED: "audited", Reads, [];
    /// Notes that a server is there, or has ended.
    ATTEND: "attend", Changes, [];
    /// Reads which servers are there.
    NODES: "nodes", Reads, [];
    /// Moves the clock.
    SHIFT: "shift", Changes, [];
    /// Looks at what has fallen due.
    LOOK: "look", Changes, [];
    /// Names the indexes of a queue.
    LANES: "lanes", Reads, [];
    /// Compares records and indexes.
    CHECK: "check", Changes, [];
    /// Reads tasks that belong to other shards.
    OUTBOX: "outbox", Changes, [];
    /// Moves messages of the inbox between its lists.
    INBOX: "inbox", Alone, [];
    /// Makes a notice of a message of the inbox.
    RECEIVE: "receive", Changes, [];
    /// Makes tasks that were decided on in another shard.
    DELIVER: "deliver", Adds, [];
    /// Carries out steps that change what is there.
    STEP: "step", Changes, [KEYED, CHANGES, OWNERS, OWNER_INDEX];
    /// Carries out steps that add something.
    ADDING_STEP: "step", Adds, [KEYED, CHANGES, OWNERS, OWNER_INDEX];
    /// Reads owners.
    READ_OWNERS: "read_owners", Reads, [OWNERS];
    /// Reads items of an owner.
    ITEMS: "items", Reads, [OWNERS];
    /// Names owners.
    OWNER_NAMES: "owner_names", Reads, [];
    /// Names the plans that wait for a time.
    TIMED: "timed", Reads, [];
    /// Finds the queue of a plan.
    STATION: "station", Reads, [OWNERS];
    /// Claims the id of a plan.
    CLAIM: "claim", Changes, [];
    /// Reads the bundle that is due first.
    FIRST_DUE: "first_due", Reads, [OWNERS];
    /// Reads owners that must be looked after.
    ALARMS: "alarms", Changes, [OWNERS];
    /// Takes an owner that cannot be read out of what is sorted by time.
    QUIET: "quiet", Changes, [OWNERS, OWNER_INDEX];
    /// Tells what workers hold.
    HOLDINGS: "holdings", Reads, [];
    /// Allows a shard to hand out tasks to workers.
    ALLOW: "allow", Changes, [];
    /// Recalls what was allowed.
    RECALL: "recall", Changes, [];
    /// Compares what workers hold with their tasks.
    CHECK_HELD: "check_held", Changes, [];
    /// Gives out births.
    BIRTHS: "births", Adds, [];
    /// Puts tasks as they are.
    ADMIT: "admit", Adds, [CHANGES];
    /// Reads what is remembered.
    REMEMBERED: "remembered", Reads, [];
    /// Remembers what another store did.
    REMEMBER: "remember", Adds, [KEYED, CHANGES];
    /// Forgets receipts and keyed requests.
    FORGET: "forget", Changes, [KEYED];
    /// Compares owners and their indexes.
    CHECK_OWNERS: "check_owners", Changes, [OWNERS, OWNER_INDEX];
}
